"""A lazy table of any engine, through narwhals: what an engine is asked, and the one door through which it answers."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import Request, Sample
from neuralkdb.engines.engine import Engine
from neuralkdb.engines.errors import failing, missing
from neuralkdb.grid import grid_of

try:
    import narwhals as nw
except ModuleNotFoundError as error:
    raise missing("narwhals", "engines", "Learning from lazy tables") from error

Answer = dict[str, NDArray[Any]]
EPOCH = datetime.datetime(1970, 1, 1)
CLASS, WEIGHT = "class", "weight"


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
class Frame:
    """A lazy table, and the engine that holds it."""

    lazy: Any
    engine: Engine
    weight: str | None = None  # the column of weights; None where every row weighs one

    @classmethod
    def of(cls, native: Any, engine: Engine) -> Frame:
        """The table behind a native lazy one."""
        return cls(nw.from_native(engine.prepared(native)).lazy(), engine)

    @functools.cached_property
    def schema(self) -> Mapping[str, Any]:
        """The type of each column."""
        with failing(self.engine.name, "reading the table"):
            return dict(self.lazy.collect_schema())

    def collect(self, lazy: Any, doing: str) -> Answer:
        """The rows of an answer: the only way in which anything leaves the engine here."""
        with failing(self.engine.name, doing):
            answer = lazy.collect(**self.engine.collecting)
            return {name: _array(answer[name]) for name in answer.columns}

    def weighted(self, name: str) -> Frame:
        """The rows of positive weight."""
        return replace(self, lazy=self.lazy.filter(~(nw.col(name) == 0)), weight=name)

    def plain(self, names: Sequence[str]) -> Any:
        """The native table of some columns, categoricals as text."""
        labelled = [name for name in names if self.schema[name] in (nw.Categorical, nw.Enum)]
        chosen = [nw.col(name).cast(nw.String) if name in labelled else nw.col(name) for name in names]
        return self.lazy.select(*chosen).to_native()

    @property
    def total(self) -> nw.Expr:
        """The weight of a group."""
        return (nw.len() if self.weight is None else nw.col(self.weight).sum()).cast(nw.Float64)

    def ask(self, expressions: Mapping[str, nw.Expr], doing: str) -> dict[str, Any]:
        """One row of aggregates."""
        if not expressions:
            return {}
        answer = self.collect(self.lazy.select(**expressions), doing)
        return {name: column[0] for name, column in answer.items()}

    def bounds(self, readings: Sequence[Reading]) -> list[tuple[float, float]]:
        """The lowest and the highest number of each column; NaN where there is none."""
        low = {f"low{i}": each.values.min() for i, each in enumerate(readings)}
        high = {f"high{i}": each.values.max() for i, each in enumerate(readings)}
        answer = self.ask({**low, **high}, "finding the lowest and highest numbers")
        return [(float(answer[f"low{i}"]), float(answer[f"high{i}"])) for i in range(len(readings))]

    def weight_range(self, weight: Reading) -> tuple[float, int]:
        """The lowest weight, and how many are missing."""
        aggregates = {"lowest": weight.values.min(), "missing": weight.values.is_null().cast(nw.Int64).sum()}
        answer = self.ask(aggregates, "checking weights")
        return float(answer["lowest"] or 0.0), int(answer["missing"] or 0)

    def classes(self, target: Reading) -> Answer:
        """Each label with its weight and its number of rows."""
        named = self.lazy.with_columns(target.values.alias(CLASS))
        return self.collect(
            named.group_by(CLASS).agg(nw.len().alias("rows"), self.total.alias(WEIGHT)), "counting classes"
        )

    def n_distinct(self, readings: Sequence[Reading]) -> list[int]:
        """The number of distinct numbers of each column."""
        counts = {f"n{i}": each.values.n_unique() for i, each in enumerate(readings)}
        return [int(n) for n in self.ask(counts, "counting distinct values").values()]

    def distinct(self, each: Reading) -> NDArray[Any]:
        """The distinct numbers of a column."""
        answer = self.collect(self.lazy.select(each.values.alias("value")).unique(), "fetching distinct values")
        return answer["value"]

    def grids(
        self, readings: Sequence[Reading], bounds: Sequence[tuple[float, float]], target: Reading
    ) -> list[Answer]:
        """For each column of numbers: cells of the grid with class, weight, lowest and highest number."""
        return self._branches(
            [
                self._columns(each, target)
                .with_columns(_grid_cell(nw.col("value"), *ends).alias("cell"))
                .group_by("cell", CLASS)
                .agg(self.total.alias(WEIGHT), nw.col("value").min().alias("low"), nw.col("value").max().alias("high"))
                for each, ends in zip(readings, bounds, strict=True)
            ],
            "counting values",
        )

    def values(self, readings: Sequence[Reading], target: Reading, limit: int | None = None) -> list[Answer]:
        """For each column: values with class and weight, at most `limit` rows."""
        grouped = [
            self._columns(each, target).group_by("value", CLASS).agg(self.total.alias(WEIGHT)) for each in readings
        ]
        return self._branches([each if limit is None else each.head(limit) for each in grouped], "counting values")

    def coded(self, codes: Mapping[str, nw.Expr], close: Any) -> Frame:
        """The table of these codes, held by the engine until it is closed."""
        weight = [] if self.weight is None else [nw.col(self.weight).cast(nw.Float64).alias(WEIGHT)]
        lazy = self.lazy.select(*(code.alias(name) for name, code in codes.items()), *weight)
        with failing(self.engine.name, "coding the table"):
            held = nw.from_native(self.engine.hold(lazy, close)).lazy()
        return Frame(held, self.engine, WEIGHT if weight else None)

    def cells(self, requests: Sequence[tuple[Request, Request]], known: Mapping[int, int]) -> list[Answer]:
        """For each request of a coded table, within a wider one: its cells with class and weight.

        The wider tables are counted from the rows, and the requests from them, all in the engine. Rows are left out in
        which a variable of the request has the code in `known`.
        """
        wide = {block: self._grouped(self.lazy, block, self.total) for block in dict.fromkeys(b for _, b in requests)}
        summed, width = nw.col(WEIGHT).sum(), max(len(request) for request, _ in requests)
        branches = []
        for request, block in requests:
            lazy = wide[block]
            for variable in request:
                if variable in known:
                    lazy = lazy.filter(nw.col(code_name(variable)) != known[variable])
            named = lazy if request == block else self._grouped(lazy, request, summed)
            branches.append(named.select(*_padded(request, width), nw.col(CLASS).cast(nw.Int32), WEIGHT))
        return self._branches(branches, "counting")

    def n_cells(self, n_features: int) -> int:
        """How many distinct rows a coded table has, classes aside."""
        distinct = self.lazy.select(*map(code_name, range(n_features)), CLASS).unique()
        return int(replace(self, lazy=distinct).ask({"cells": nw.len()}, "counting distinct rows")["cells"])

    def sampled(self, sample: Sample, n_classes: int) -> tuple[Frame, NDArray[np.float64]]:
        """The rows of a coded table that are in a sample, and the weight of each class there."""
        terms = [nw.col(code_name(feature)).cast(nw.Int64) * factor for feature, factor in sample.factors]
        some = replace(self, lazy=self.lazy.filter(nw.sum_horizontal(*terms) % sample.MODULUS < sample.end))
        answer = some.collect(some.lazy.group_by(CLASS).agg(self.total.alias(WEIGHT)), "counting classes")
        return some, np.bincount(answer[CLASS].astype(np.intp), answer[WEIGHT], n_classes).astype(float)

    def rows(self, n_features: int) -> Answer:
        """The distinct rows of a coded table, with class and weight."""
        everything = tuple(range(n_features))
        (answer,) = self.cells([(everything, everything)], {})
        return answer

    def of_class(self, label: int) -> Frame:
        """The rows of a coded table that have this class, which becomes their only one."""
        mine = self.lazy.filter(nw.col(CLASS) == label).with_columns((nw.col(CLASS) * 0).alias(CLASS))
        return replace(self, lazy=mine)

    def _grouped(self, lazy: Any, request: Request, total: nw.Expr) -> Any:
        return lazy.group_by(*map(code_name, request), CLASS).agg(total.alias(WEIGHT))

    def _columns(self, each: Reading, target: Reading) -> Any:
        weight = [] if self.weight is None else [nw.col(self.weight)]
        return self.lazy.select(each.values.alias("value"), target.values.alias(CLASS), *weight)

    def _branches(self, branches: Sequence[Any], doing: str) -> list[Answer]:
        """The answers of several queries of the same columns, asked together."""
        answers: list[Answer] = []
        for first in range(0, len(branches), self.engine.branches):
            some = branches[first : first + self.engine.branches]
            numbered = [each.with_columns(nw.lit(i).alias("branch")) for i, each in enumerate(some)]
            answer = self.collect(nw.concat(numbered) if len(numbered) > 1 else numbered[0], doing)
            which = answer.pop("branch")
            order = np.argsort(which, kind="stable")
            ends = np.searchsorted(which[order], np.arange(1, len(some)))
            parts = [np.split(column[order], ends) for column in answer.values()]
            answers += [dict(zip(answer, part, strict=True)) for part in zip(*parts, strict=True)]
        return answers


def code_name(variable: int) -> str:
    """The column that holds the codes of a feature."""
    return f"f{variable}"


def _padded(request: Request, width: int) -> list[nw.Expr]:
    """The codes of the request's variables, and zeros, so that all answers have the same columns."""
    codes = [nw.col(code_name(variable)) for variable in request]
    codes += [nw.lit(0)] * (width - len(request))
    return [code.cast(nw.Int32).alias(f"v{i}") for i, code in enumerate(codes)]


def position_of(values: nw.Expr, edges: Sequence[Any], lowest: int = 0) -> nw.Expr:
    """How many of the ascending `edges` are at most as high, by a decision tree."""
    if len(edges) == 0:
        return nw.lit(lowest)
    middle = len(edges) // 2
    return (
        nw.when(values < edges[middle])
        .then(position_of(values, edges[:middle], lowest))
        .otherwise(position_of(values, edges[middle + 1 :], lowest + middle + 1))
    )


def code_of(values: nw.Expr, edges: Sequence[Any], absent: int, largest: int) -> nw.Expr:
    """The code of each value, `absent` where it is missing, in a type that holds `largest`."""
    code = nw.when(values.is_null()).then(nw.lit(absent)).otherwise(position_of(values, edges))
    return code.cast(nw.Int16 if largest < 2**15 else nw.Int32)


def _grid_cell(values: nw.Expr, low: float, high: float) -> nw.Expr:
    """The same arithmetic as `summaries.grid_cells`."""
    grid = grid_of(low, high)
    if grid is None:
        return values
    distance = (values - grid.centre).abs() / grid.radius
    cell = (distance.sqrt().sqrt() * float(grid.size)).floor()
    return nw.when(values < grid.centre).then(-1.0 - cell).otherwise(cell)


def _array(series: Any) -> NDArray[Any]:
    """Numbers, NaN where missing; whole numbers and text as objects where some are missing."""
    if series.dtype.is_float():
        return np.asarray(series.to_numpy(), np.float64)
    if series.null_count() or series.dtype == nw.String:
        objects = np.empty(len(series), dtype=object)
        objects[:] = series.to_list()
        return objects
    return np.asarray(series.to_numpy())
