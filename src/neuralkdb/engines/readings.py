"""Columns as engines read them, and how their values become codes."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from neuralkdb.engines.lazy import nw

EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Reading:
    """A column as the engine reads it: `values` are null where missing."""

    name: str
    values: nw.Expr
    kind: str  # "numbers", or of levels: "decimals", "integers", "bools", "text"
    is_whole: bool = False

    @property
    def has_levels(self) -> bool:
        """Whether the values are categories."""
        return self.kind != "numbers"

    def as_levels(self) -> Reading:
        """The reading of the same column as categories."""
        if self.has_levels:
            return self
        if self.is_whole:
            return replace(self, kind="integers", values=nw.col(self.name).cast(nw.Int64))
        return replace(self, kind="decimals")


def _numbers(name: str, dtype: Any) -> Reading:
    numbers = nw.col(name).cast(nw.Float64)
    if dtype.is_float():
        numbers = nw.when(~numbers.is_nan()).then(numbers)
    return Reading(name, numbers, "numbers", is_whole=dtype.is_integer())


def _bools(name: str) -> Reading:
    """Zeros and ones; no cast, which DuckDB would apply to the text of a CSV file."""
    numbers = nw.when(nw.col(name)).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)
    return Reading(name, nw.when(~nw.col(name).is_null()).then(numbers), "bools")


def _times(name: str, dtype: Any) -> Reading:
    column = nw.col(name)
    if getattr(dtype, "time_zone", None):
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    passed = column if dtype == nw.Duration else column.cast(nw.Datetime("us")) - nw.lit(EPOCH)
    return Reading(name, passed.dt.total_microseconds().cast(nw.Float64) * 1000.0, "numbers")


def reading(name: str, dtype: Any) -> Reading | None:
    """How a column of this type is read; None for types that are not known."""
    if dtype.is_numeric():
        return _numbers(name, dtype)
    if dtype in (nw.Date, nw.Datetime, nw.Duration):
        return _times(name, dtype)
    if dtype == nw.Boolean:
        return _bools(name)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return Reading(name, nw.col(name).cast(nw.String), "text")
    return None


@dataclass(frozen=True)
class Book:
    """A value's code is the number of `edges` that are at most as high, or `absent` where there is no value."""

    values: nw.Expr
    edges: Sequence[Any]  # ascending
    absent: int
    cardinality: int
    has_gaps: bool = False  # whether values are missing somewhere

    @property
    def is_marginalized(self) -> bool:
        """Whether some rows have the code after the last, and are not counted."""
        return self.has_gaps and self.absent == self.cardinality

    @property
    def code(self) -> nw.Expr:
        """The code of each value, in a type that holds all."""
        code = nw.when(self.values.is_null()).then(nw.lit(self.absent)).otherwise(_position(self.values, self.edges))
        return code.cast(nw.Int16 if self.cardinality < 2**15 else nw.Int32)


def _position(values: nw.Expr, edges: Sequence[Any], lowest: int = 0) -> nw.Expr:
    """How many of the edges are at most as high, by a decision tree."""
    if len(edges) == 0:
        return nw.lit(lowest)
    middle = len(edges) // 2
    return (
        nw.when(values < edges[middle])
        .then(_position(values, edges[:middle], lowest))
        .otherwise(_position(values, edges[middle + 1 :], lowest + middle + 1))
    )
