"""Arrays as a block of bytes, each number as small as it goes, and back."""

from __future__ import annotations

import math
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.persistence.archive import read_into
from neuralkdb.persistence.errors import require

Arrays = list[NDArray[Any]]
NAMES = ["bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64"]
TYPES = {name: np.dtype(name) for name in NAMES}


def described(array: NDArray[Any]) -> dict[str, Any]:
    """How an array stands in the document: type in memory, type in the file, shape, order of its entries."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return {"type": array.dtype.name, "stored": smallest(array).name, "shape": list(array.shape), "order": order}


def smallest(array: NDArray[Any]) -> np.dtype[Any]:
    """The smallest type that holds every number of an array, bit for bit."""
    if array.dtype.kind == "b" or array.size == 0:
        return np.dtype(np.uint8)
    lowest, highest = array.min(), array.max()
    if not (lowest >= 0 and highest < 2**32):
        return array.dtype
    candidate = np.min_scalar_type(int(highest))
    if candidate.itemsize >= array.dtype.itemsize or (array.dtype.kind == "f" and np.signbit(array).any()):
        return array.dtype
    return candidate if np.array_equal(array.astype(candidate), array) else array.dtype


def write_arrays(arrays: Arrays, descriptions: list[dict[str, Any]], stream: IO[bytes]) -> int:
    """Write the arrays one after another; how many bytes they are in memory."""
    for array, description in zip(arrays, descriptions, strict=True):
        flat = array.ravel(order=description["order"])
        stream.write(np.ascontiguousarray(flat, _little(description["stored"])).data.cast("B"))
    return sum(array.nbytes for array in arrays)


def read_arrays(descriptions: Any, stream: IO[bytes], most_bytes: int) -> Arrays:
    """The arrays; they are known to fit before the first is made."""
    require(isinstance(descriptions, list), "its list of arrays is none")
    total = sum(map(_bytes_of, descriptions))
    require(total <= most_bytes, f"its arrays claim {total} bytes, more than the {most_bytes} it may need")
    arrays = [_read_array(description, stream) for description in descriptions]
    require(not stream.read(1), "it holds more numbers than it says")
    return arrays


def _bytes_of(description: Any) -> int:
    """What an array takes in memory, both as stored and as used."""
    used, stored, shape = (description[key] for key in ("type", "stored", "shape"))
    safe = stored in TYPES and used in TYPES and np.can_cast(TYPES[stored], TYPES[used], "safe")
    require(safe or (stored, used) == ("uint8", "bool"), f"it stores {used!r} as {stored!r}")
    sizes = isinstance(shape, list) and len(shape) <= 32 and all(type(size) is int and size >= 0 for size in shape)
    require(sizes and description["order"] in ("C", "F"), f"it has an array of the shape {shape!r}")
    return int(math.prod(max(size, 1) for size in shape)) * max(TYPES[used].itemsize, TYPES[stored].itemsize)


def _read_array(description: dict[str, Any], stream: IO[bytes]) -> NDArray[Any]:
    flat = np.empty(math.prod(description["shape"]), _little(description["stored"]))
    if flat.size:
        read_into(stream, flat.data.cast("B"))
    return flat.astype(description["type"], copy=False).reshape(description["shape"], order=description["order"])


def _little(name: str) -> np.dtype[Any]:
    return TYPES[name].newbyteorder("<")
