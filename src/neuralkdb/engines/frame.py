"""A lazy table of any engine, through narwhals: what an engine is asked, and the one door through which it answers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.engines.engine import Answer, CodedTable, Engine
from neuralkdb.engines.errors import failing
from neuralkdb.engines.lazy import nw
from neuralkdb.engines.readings import Book, Reading

CLASS, WEIGHT = "class", "weight"


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

    def selected(self, columns: Mapping[str, nw.Expr]) -> Any:
        """The lazy table of some expressions, beside the weight of each row if there are weights."""
        weight = {} if self.weight is None else {WEIGHT: nw.col(self.weight).cast(nw.Float64)}
        return self.lazy.select(**columns, **weight)

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
        return self.engine.grids(self, [each.values for each in readings], bounds, target.values)

    def values(self, readings: Sequence[Reading], target: Reading, limit: int | None = None) -> list[Answer]:
        """For each column: values with class and weight; where there are more than `limit`, at least so many."""
        return self.engine.values(self, [each.values for each in readings], target.values, limit)

    def coded(self, books: Sequence[Book], classes: Book, close: ExitStack) -> CodedTable:
        """The coded rows, held by the engine until it is closed."""
        with failing(self.engine.name, "coding the table"):
            return self.engine.coded(self, books, classes, close)


def _array(series: Any) -> NDArray[Any]:
    """Numbers, NaN where missing; whole numbers and text as objects where some are missing."""
    if series.dtype.is_float():
        return np.asarray(series.to_numpy(), np.float64)
    if series.null_count() or series.dtype == nw.String:
        objects = np.empty(len(series), dtype=object)
        objects[:] = series.to_list()
        return objects
    return np.asarray(series.to_numpy())
