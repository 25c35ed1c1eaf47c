"""Model files damaged in every way that comes to mind, and what becomes of them."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import neuralkdb
from every import CLASSIFIERS, accepts, make, mixed

ODD = [
    None, True, False, 0, 1, -1, 2, 3, 7, 255, 256, 624, 65536, 2**31, 2**32, 2**40, 2**63, -(2**63), 10**30, 0.0,
    -0.5, 1e-9, 0.5, 1e300, -1e300, "", "a", "é", "uint8", "float64", "C", "F", [], {}, [0], [1, 2], {"float":
    "nan"}, {"float": "inf"}, {"value": 0}, {"value": 3}, {"array": 0}, {"array": 1}, {"list": []}, {"dict": []},
    {"bytes": "00"}, {"date": "2000-01-01"}, {"scalar": {"array": 0}}, {"texts": ["a", "b"], "width": 1}, {"texts":
    ["a"], "width": None}, {"decimal": "1e999999"}, {"function": "descending"}, {"random": 0}, {"unheard": 1},
]  # fmt: skip
ODD_NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 1e300, 5e-324, -0.0, 2**31, 2**53, 255, 256, 65535]


def variants() -> list[Any]:
    """Every classifier, with settings whose models are made of different parts, fitted."""
    X, y = mixed()
    settings = [
        {},
        {"estimate": "backoff", "missing": "marginalize", "discretization": "quantile", "weighting": "discriminative"},
        {"missing": "impute", "random_state": np.random.RandomState(1), "categorical_features": ["count"]},
    ]
    used = [
        (kind, {name: value for name, value in each.items() if accepts(kind, name)})
        for kind in CLASSIFIERS
        for each in settings
    ]
    labels = np.array(["no", "perhaps", "yes"])[y]
    dense = [make(kind, **each).fit(X, labels) for kind, each in used]
    wide, target = many_values()
    sparse = [make(kind, **each).fit(wide, target) for kind, each in used[::3] + used[1::3]]
    return dense + sparse


def many_values(n_rows: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Columns of text with so many values that tables of them are sparse."""
    rng = np.random.default_rng(1)
    return rng.integers(0, 90, (n_rows, 3)).astype(str).astype(object), rng.integers(0, 4, n_rows)


def rows_for(model: Any) -> Any:
    """Rows with values that the model knows, some that it does not, and missing ones."""
    if model.n_features_in_ == 4:
        X, _ = mixed(12, seed=5, missing=0.3)
        X.loc[0, "colour"] = "never seen"
        return X.set_axis(model.feature_names_in_, axis=1) if hasattr(model, "feature_names_in_") else X
    X = many_values(12)[0]
    X[0, 0], X[1, 1] = None, "never seen"
    return X


def mutated(data: bytes, random_: random.Random) -> bytes:
    """The file with one to three things changed."""
    change = random_.choice([_bytes_changed, _document_changed, _document_changed, _numbers_changed])
    for _ in range(random_.choice([1, 1, 2, 3])):
        data = change(data, random_)
        if change is _bytes_changed:
            break
    return data


def _bytes_changed(data: bytes, random_: random.Random) -> bytes:
    changed, at = bytearray(data), random_.randrange(len(data))
    kind = random_.randrange(4)
    if kind == 0:
        return bytes(changed[:at])
    if kind == 1:
        del changed[at : at + random_.randrange(1, 50)]
    elif kind == 2:
        changed[at:at] = random_.randbytes(random_.randrange(1, 50))
    else:
        for _ in range(random_.choice([1, 1, 4, 20])):
            changed[random_.randrange(len(changed))] ^= 1 << random_.randrange(8)
    return bytes(changed)


def _document_changed(data: bytes, random_: random.Random) -> bytes:
    document, numbers = unpacked(data)
    places = list(_places(document))
    holder, key = random_.choice(places)
    kind = random_.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 2:
        other, place = random_.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif kind == 3 and type(holder[key]) in (int, float):
        holder[key] += random_.choice([-2, -1, 1, 2, 0.5])
    else:
        holder[key] = copy.deepcopy(random_.choice(ODD))
    return packed(document, numbers)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inner):
        yield value, key
        yield from _places(each)


def _numbers_changed(data: bytes, random_: random.Random) -> bytes:
    """One entry of one array changed; the arrays are stored as they are used, so that odd numbers fit."""
    document, numbers = unpacked(data)
    descriptions, arrays, at = document["arrays"], [], 0
    for each in descriptions:
        stored = np.dtype(each["stored"])
        size = int(np.prod(each["shape"], dtype=int))
        arrays.append(np.frombuffer(numbers, stored, size, at).astype(each["type"]))
        at += size * stored.itemsize
        each["stored"] = each["type"] if each["type"] != "bool" else "uint8"
    array = random_.choice([array for array in arrays if array.size])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = [random_.randrange(array.size) for _ in range(random_.choice([1, 1, 5]))]
        odd = np.array(random_.choice([*ODD_NUMBERS, float(array[places[0]]) + 1, float(array[places[0]]) - 1]))
        array[places] = odd.astype(array.dtype)
    return packed(document, b"".join(array.tobytes() for array in arrays))


def unpacked(data: bytes) -> tuple[Any, bytes]:
    """The document and the numbers of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("model.json")), archive.read("numbers.bin")


def packed(document: Any, numbers: bytes, **options: Any) -> bytes:
    """A file of a document and numbers, well formed whatever they say."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, **options) as archive:
        archive.writestr("model.json", json.dumps(document))
        archive.writestr("numbers.bin", numbers)
    return file.getvalue()


def survives(data: bytes, path: Path) -> bool:
    """Whether damaged data loads; then it must predict, explain and learn more as well. It may not fail otherwise."""
    path.write_bytes(data)
    try:
        model = neuralkdb.load(path)
    except neuralkdb.ModelFileError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        return False
    X = rows_for(model)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.predict_proba(X)
        except ValueError as error:
            if not re.match("Column '.*' held (text|numbers) in fit and now", str(error)):
                raise
            return True  # a file that says the columns were others
        model.predict(X)
        model.explain(X[:3])
        if accepts(type(model), "estimate") and hasattr(model, "partial_fit"):
            with contextlib.suppress(Exception):  # more rows may be refused, but not with a crash
                model.partial_fit(X, model.classes_[np.arange(len(X)) % len(model.classes_)])
    return True
