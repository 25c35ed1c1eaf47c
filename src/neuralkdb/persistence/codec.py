"""Values <-> a document of plain JSON and a list of arrays.

Frozen dataclasses and named tuples become numbered entries [name, fields], each once however often it occurs, and come
after whatever they hold: reading them is one loop. Which names there are is a matter of `types.py`, never of the file.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.persistence import pool_checks  # noqa: F401, further checks
from neuralkdb.persistence.checks import check
from neuralkdb.persistence.conformity import conforms, kinds_of_fields
from neuralkdb.persistence.errors import ModelFileError, require
from neuralkdb.persistence.numbers import TYPES, Arrays
from neuralkdb.persistence.types import FUNCTIONS, TYPES_BY_NAME

AS_THEY_ARE = (type(None), bool, int, str)
# Values of these types are {tag: text or numbers}.
PLAIN: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, repr, float),  # NaN and infinities, which JSON has not
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "decimal": (Decimal, str, Decimal),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "time": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "timedelta": (
        datetime.timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
}
TAGS = {kind: (tag, write) for tag, (kind, write, _) in PLAIN.items()}
COLLECTIONS: dict[str, type] = {"list": list, "set": set, "frozenset": frozenset}
COLLECTION_TAGS = {kind: tag for tag, kind in COLLECTIONS.items()}


class Encoder:
    """Collects the entries and arrays of the values it encodes."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.arrays: Arrays = []
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []  # so that no other object gets the same id

    def encode(self, value: Any) -> Any:
        """The value as JSON."""
        kind = type(value)
        if kind in AS_THEY_ARE or (kind is float and math.isfinite(value)):
            return value
        if kind is tuple:
            return [self.encode(each) for each in value]
        if kind in TAGS:
            tag, write = TAGS[kind]
            return {tag: write(value)}
        return self._tagged(value, kind)

    def _tagged(self, value: Any, kind: type) -> Any:
        if kind in COLLECTION_TAGS:
            return {COLLECTION_TAGS[kind]: [self.encode(each) for each in value]}
        if kind is dict:
            return {"dict": [[self.encode(key), self.encode(each)] for key, each in value.items()]}
        if kind is np.ndarray:
            return self._array(value)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if kind is np.random.RandomState:
            return {"random": self.encode(value.get_state(legacy=True))}
        if TYPES_BY_NAME.get(kind.__name__) is kind:
            return {"value": self._numbered(value, self._entry)}
        name = getattr(value, "__name__", "")
        if FUNCTIONS.get(name) is value:
            return {"function": name}
        raise ModelFileError(
            f"A model file cannot hold {value!r} of the type {kind.__module__}.{kind.__qualname__}: use text or "
            "numbers for it, or write the model with pickle or joblib, for readers who trust you."
        )

    def _numbered(self, value: Any, add: Callable[[Any], int]) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = add(value)
            self._held.append(value)
        return number

    def _entry(self, value: Any) -> int:
        kind: Any = type(value)
        stored = {name: self.encode(getattr(value, name)) for name in kinds_of_fields(kind)}
        self.entries.append([kind.__name__, stored])
        return len(self.entries) - 1

    def _array(self, array: NDArray[Any]) -> Any:
        if array.dtype.kind in "UO" and array.ndim == 1:
            width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else None
            return {"texts": [self.encode(each) for each in array.tolist()], "width": width}
        require(array.dtype.name in TYPES, f"A model file cannot hold an array of the type {array.dtype}.")
        return {"array": self._numbered(array, self._numeric)}

    def _numeric(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1


class Decoder:
    """Makes values of JSON, given the arrays; `most_bytes` bounds what they may need besides."""

    def __init__(self, arrays: Arrays, most_bytes: int) -> None:
        self.arrays = arrays
        self.most_bytes = most_bytes
        self.values: list[Any] = []

    def read(self, entries: Any) -> None:
        """Make the values of all entries."""
        require(isinstance(entries, list), "its list of values is none")
        for name, stored in entries:
            self.values.append(self._value(name, stored))

    def decode(self, value: Any) -> Any:
        """The value that JSON stands for."""
        if isinstance(value, list):
            return tuple(self.decode(each) for each in value)
        if not isinstance(value, dict):
            return value
        tag = next(iter(value))
        if tag in PLAIN:
            return PLAIN[tag][2](value[tag])
        if tag in COLLECTIONS:
            return COLLECTIONS[tag](self.decode(value[tag]))
        return DECODERS[tag](self, value)

    def _value(self, name: str, stored: dict[str, Any]) -> Any:
        require(name in TYPES_BY_NAME, f"it holds a {name!r}, which this version does not know")
        kind: Any = TYPES_BY_NAME[name]
        given = {field: self.decode(each) for field, each in stored.items()}
        expected = kinds_of_fields(kind)
        require(given.keys() <= expected.keys(), f"{name} has no {sorted(given.keys() - expected.keys())}")
        missing = sorted(expected.keys() - given.keys() - _optional(kind))
        require(not missing, f"{name} lacks {missing}")
        for field, each in given.items():
            require(conforms(each, expected[field]), f"the {field} of {name} is a {type(each).__name__}")
        value = kind(**given)
        check(value)
        return value

    def _scalar(self, array: Any) -> Any:
        value = self.decode(array)
        require(isinstance(value, np.ndarray) and value.ndim == 0, "a number is no number")
        return value[()]

    def _texts(self, value: dict[str, Any]) -> NDArray[Any]:
        texts, width = self.decode(value["texts"]), value["width"]
        if width is None:
            array = np.empty(len(texts), dtype=object)
            array[:] = texts
            return array
        require(all(isinstance(text, str) and len(text) <= width for text in texts), "a text is none")
        require(0 < width * 4 * max(len(texts), 1) <= self.most_bytes, "its texts are too long")
        return np.array(texts, dtype=f"<U{width}")

    def _random(self, state: Any) -> np.random.RandomState:
        name, key, position, *rest = self.decode(state)
        whole = isinstance(key, np.ndarray) and key.shape == (624,) and 0 <= position <= 624
        require(whole, "a random state is none")
        random = np.random.RandomState()
        random.set_state((name, key, position, *rest))
        return random


def _optional(kind: type) -> set[str]:
    """Fields that an older file may not have."""
    if hasattr(kind, "_field_defaults"):
        return set(kind._field_defaults)
    return {field.name for field in fields(kind) if (field.default, field.default_factory) != (MISSING, MISSING)}


def _at(values: list[Any], number: Any) -> Any:
    require(type(number) is int and 0 <= number < len(values), f"it refers to {number!r} before it is there")
    return values[number]


DECODERS: dict[str, Callable[[Decoder, dict[str, Any]], Any]] = {
    "value": lambda decoder, value: _at(decoder.values, value["value"]),
    "array": lambda decoder, value: _at(decoder.arrays, value["array"]),
    "scalar": lambda decoder, value: decoder._scalar(value["scalar"]),
    "texts": lambda decoder, value: decoder._texts(value),
    "dict": lambda decoder, value: {decoder.decode(key): decoder.decode(each) for key, each in value["dict"]},
    "random": lambda decoder, value: decoder._random(value["random"]),
    "function": lambda decoder, value: FUNCTIONS[value["function"]],
}
