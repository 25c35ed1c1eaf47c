"""A column of anything -> numbers, or positions in a list of levels."""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

MISSING = ["", "?", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "<NA>"]  # as it is spelled in text files
EXACT_INTEGERS = 2**53 - 1  # the largest below which every integer is a float64
NANOSECONDS = {
    "Y": 31556952e9, "M": 2629746e9, "W": 604800e9, "D": 86400e9, "h": 3600e9, "m": 60e9, "s": 1e9,
    "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3, "fs": 1e-6, "as": 1e-9,
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One feature of a table: numbers, or positions in its levels. Missing is NaN, or -1."""

    name: str
    values: NDArray[Any]  # (n_rows,), strided: a view of the table wherever that is possible
    levels: tuple[Hashable, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        """Whether the type of the column says that its values are categories."""
        return self.levels is not None or self.values.dtype.kind == "b"

    def rows(self, rows: slice | NDArray[Any]) -> Column:
        """The column of some of the rows."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True)
class Unhashable:
    """A cell that is no dictionary key, known by its text."""

    text: str


def as_categories(column: Column) -> Column:
    """The column with levels where its numbers could not be told apart as floating-point ones."""
    if column.values.dtype.kind == "b":
        return Column(column.name, column.values.view(np.int8), (False, True))
    if column.levels is not None or not _exceeds_floats(column.values):
        return column
    levels, positions = dictionary(column.values)
    return read_categories(column.name, levels, positions)


def _exceeds_floats(values: NDArray[Any]) -> bool:
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return False
    return bool(values.max() > EXACT_INTEGERS or values.min() < -EXACT_INTEGERS)


def as_objects(values: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional array of objects, whatever the objects are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: Any) -> bool:
    """Whether a cell says that there is no value: None, NaN, NaT or pandas' NA."""
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or _differs(value)


PART = 2**18  # rows that are worked on at once: their temporary copies stay at hand


def dictionary(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.integer]]:
    """The distinct values as Python objects, each once, and the position of every row's."""
    if values.dtype.kind in "biu" and len(values):
        return _number_off_integers(values)
    cells = values.tolist()
    try:
        return _number_off(cells, len(cells))
    except TypeError:
        return _number_off(map(_hashable, cells), len(cells))


def _number_off_integers(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.integer]]:
    lowest, highest = int(values.min()), int(values.max())
    if highest - lowest > len(values) or values.dtype.kind == "b":
        levels, positions = np.unique(values, return_inverse=True)
        return levels.tolist(), positions
    present, positions = np.zeros(highest - lowest + 1, bool), np.empty(len(values), np.uint32)
    parts = [slice(first, first + PART) for first in range(0, len(values), PART)]
    for rows in parts:
        present[_above(values[rows], lowest)] = True
    numbers = np.cumsum(present, dtype=np.uint32) - np.uint32(1)
    for rows in parts:
        positions[rows] = numbers[_above(values[rows], lowest)]
    return [lowest + step for step in np.flatnonzero(present).tolist()], positions


def _above(values: NDArray[Any], lowest: int) -> NDArray[np.int64]:
    """How far integers are above the lowest; unsigned numbers wrap around, so that no difference overflows."""
    return (values.astype(np.uint64) - np.uint64(lowest % 2**64)).astype(np.int64)


def _number_off(cells: Iterable[Any], n_cells: int) -> tuple[list[Any], NDArray[np.int64]]:
    numbered: defaultdict[Any, int] = defaultdict(count().__next__)
    positions = np.fromiter(map(numbered.__getitem__, cells), np.int64, n_cells)
    return list(numbered), positions


def _hashable(cell: Any) -> Hashable:
    try:
        hash(cell)
    except TypeError:
        # The text of a long array leaves out most of it, that of a list does not.
        cell = cell.tolist() if isinstance(cell, np.ndarray) else cell
        return Unhashable(f"{type(cell).__qualname__} {cell!r}")
    return cell  # type: ignore[no-any-return]


def _differs(value: Any) -> bool:
    """Whether a value is not itself, as NaN is not."""
    return isinstance(value, numbers.Number | np.generic) and bool(value != value)


def view_column(name: str, values: NDArray[Any]) -> Column:
    """A column that the kernels can read where it stands."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    if not values.dtype.isnative or not values.flags.aligned or _is_torn(values):
        values = values.astype(values.dtype.newbyteorder("="))
    return Column(name, values)


def _is_torn(values: NDArray[Any]) -> bool:
    return values.strides[0] % values.dtype.itemsize != 0


def read_array(name: str, values: NDArray[Any]) -> Column:
    """The column that a numpy array of any type holds."""
    return ARRAYS.get(values.dtype.kind, read_objects)(name, values)


def read_numbers(name: str, values: NDArray[Any]) -> Column:
    """Numbers that are finite or NaN."""
    check_array(
        values,
        ensure_2d=False,
        dtype=None,
        ensure_all_finite="allow-nan",
        ensure_min_samples=0,
        input_name=f"X (column {name!r})",
    )
    return view_column(name, values)


def read_times(name: str, values: NDArray[Any]) -> Column:
    """Nanoseconds since 1970, or of duration."""
    if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] in "YM":
        values = values.astype("datetime64[D]")
    unit, n_units = np.datetime_data(values.dtype)
    ticks = values.astype(values.dtype.newbyteorder("=")).view(np.int64)
    nanoseconds = ticks * (n_units * NANOSECONDS.get(unit, np.nan))
    return Column(name, np.where(np.isnat(values), np.nan, nanoseconds))


def written_time(nanoseconds: float) -> str:
    """A time since 1970 as text, its day alone if that is all it says."""
    text = str(np.datetime64(int(nanoseconds), "ns").astype("datetime64[s]"))
    return text.removesuffix("T00:00:00").replace("T", " ")


def read_objects(name: str, values: NDArray[Any]) -> Column:
    """Numbers where all that is not missing is a number, times likewise, categories otherwise."""
    levels, positions = dictionary(values)
    if any(isinstance(level, complex | np.complexfloating) for level in levels):
        raise ValueError(f"Complex data not supported: column {name!r} holds complex numbers.")
    column = read_categories(name, levels, positions)
    for kind, convert in OBJECTS.items():
        if column.levels and all(_is_only(kind, level) for level in column.levels):
            return convert(name, column)
    return column


def read_categories(name: str, levels: Sequence[Any], positions: NDArray[Any]) -> Column:
    """Categories from levels that may contain missing ones."""
    present = np.array([not is_missing(level) for level in levels], dtype=bool)
    positions = positions.astype(np.min_scalar_type(-max(len(levels), 1)), copy=False)
    if not present.all():
        renumbered = np.where(present, np.cumsum(present) - 1, -1).astype(positions.dtype)
        positions = np.append(renumbered, positions.dtype.type(-1))[positions]
    known = (level for level, here in zip(levels, present, strict=True) if here)
    return Column(name, positions, tuple(known))


def _is_only(kind: type | tuple[type, ...], level: Any) -> bool:
    return isinstance(level, kind) and not isinstance(level, bool | np.bool_)


def _float(level: Any) -> float:
    try:
        return float(level)
    except OverflowError:
        return float("inf")


def _utc(level: Any) -> Any:
    zone = getattr(level, "tzinfo", None)
    return level if zone is None else level.astimezone(datetime.UTC).replace(tzinfo=None)


def _spread(column: Column, numbers_of_levels: Iterable[float]) -> NDArray[np.float64]:
    numbers = np.append(np.fromiter(numbers_of_levels, np.float64), np.nan)
    return np.asarray(numbers[column.values])


def _numbers_of_objects(name: str, column: Column) -> Column:
    return read_numbers(name, _spread(column, map(_float, column.levels or ())))


def _times_of_objects(name: str, column: Column) -> Column:
    times = np.array([_utc(level) for level in column.levels or ()], dtype="datetime64[us]")
    return Column(name, _spread(column, read_times(name, times).values))


ARRAYS: dict[str, Callable[[str, NDArray[Any]], Column]] = {
    **dict.fromkeys("biufc", read_numbers),
    **dict.fromkeys("mM", read_times),
}
OBJECTS: dict[Any, Callable[[str, Column], Column]] = {
    (numbers.Real, decimal.Decimal): _numbers_of_objects,
    datetime.date: _times_of_objects,
}
