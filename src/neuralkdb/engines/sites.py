"""Tables at several sites as one table: each site answers with counts, which add up; rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neuralkdb.counting import Request, Sample
from neuralkdb.engines.engine import Answer, CodedTable
from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.frame import Frame
from neuralkdb.engines.readings import Book, Reading, reading
from neuralkdb.grid import MOST_VALUES
from neuralkdb.network import Floats


@dataclass(frozen=True)
class Sites:
    """What `Frame` is for one table, for the rows of several: their answers, one after another."""

    frames: tuple[Frame, ...]

    @classmethod
    def of(cls, frames: Sequence[Frame]) -> Sites:
        """Sites whose tables have the same columns."""
        first = frames[0].schema
        for number, frame in enumerate(frames):
            different = [name for name in (*first, *frame.schema) if _kind(first, name) != _kind(frame.schema, name)]
            if different:
                raise ValueError(
                    f"Column {different[0]!r} is of type {first.get(different[0], 'nothing')} in table 0 and of type "
                    f"{frame.schema.get(different[0], 'nothing')} in table {number}: make them the same."
                )
        return cls(tuple(frames))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The type of each column."""
        return self.frames[0].schema

    def weighted(self, name: str) -> Sites:
        """The rows of positive weight."""
        return self._each(lambda frame: frame.weighted(name))

    def weight_range(self, weight: Reading) -> tuple[float, int]:
        """The lowest weight, and how many are missing."""
        lowest, missing = zip(*(frame.weight_range(weight) for frame in self.frames), strict=True)
        return min(lowest), sum(missing)

    def bounds(self, readings: Sequence[Reading]) -> list[tuple[float, float]]:
        """The lowest and the highest number of each column; NaN where there is none."""
        ends = np.array([frame.bounds(readings) for frame in self.frames]).reshape(len(self.frames), -1, 2)
        return list(zip(np.fmin.reduce(ends[:, :, 0]).tolist(), np.fmax.reduce(ends[:, :, 1]).tolist(), strict=True))

    def n_distinct(self, readings: Sequence[Reading]) -> list[int]:
        """The number of distinct numbers of each column, or a number that is too large already."""
        counts = [frame.n_distinct(readings) for frame in self.frames]
        return [
            max(here) if max(here) > MOST_VALUES + 1 else self._n_distinct(each)
            for each, here in zip(readings, zip(*counts, strict=True), strict=True)
        ]

    def _n_distinct(self, each: Reading) -> int:
        return len(np.unique(np.concatenate([frame.distinct(each) for frame in self.frames])))

    def classes(self, target: Reading) -> Answer:
        """Each label with its weight and its number of rows, once for each site that has it."""
        return _joined([frame.classes(target) for frame in self.frames])

    def grids(
        self, readings: Sequence[Reading], bounds: Sequence[tuple[float, float]], target: Reading
    ) -> list[Answer]:
        """For each column of numbers: cells of the grid with class, weight, lowest and highest number."""
        return self._all(lambda frame: frame.grids(readings, bounds, target))

    def values(self, readings: Sequence[Reading], target: Reading, limit: int | None = None) -> list[Answer]:
        """For each column: values with class and weight."""
        return self._all(lambda frame: frame.values(readings, target, limit))

    def coded(self, books: Sequence[Book], classes: Book, close: ExitStack) -> CodedSites:
        """The coded rows, each held by its engine."""
        return CodedSites(tuple(frame.coded(books, classes, close) for frame in self.frames))

    def _each(self, change: Callable[[Frame], Frame]) -> Sites:
        return replace(self, frames=tuple(map(change, self.frames)))

    def _all(self, ask: Callable[[Frame], list[Answer]]) -> list[Answer]:
        return [_joined(answers) for answers in zip(*map(ask, self.frames), strict=True)]


LazyTable = Frame | Sites


@dataclass(frozen=True)
class CodedSites:
    """Coded rows of several sites, which stay where they are."""

    tables: tuple[CodedTable, ...]

    def cells(self, requests: Sequence[Request]) -> list[Answer]:
        """For each request: its cells with class and weight, once for each site that has them."""
        return [_joined(parts) for parts in zip(*(table.cells(requests) for table in self.tables), strict=True)]

    def batches(self, n_rows: int) -> Iterator[Answer]:
        """Not asked for."""
        raise _rows_stay()

    def n_cells(self) -> int:
        """Not asked for."""
        raise _rows_stay()

    def sampled(self, sample: Sample) -> tuple[CodedSites, Floats]:
        """Not asked for."""
        raise _rows_stay()

    def of_class(self, label: int) -> CodedSites:
        """The rows of this class, which becomes their only one."""
        return CodedSites(tuple(table.of_class(label) for table in self.tables))


def _kind(schema: Mapping[str, Any], name: str) -> Any:
    known = reading(name, schema[name]) if name in schema else None
    return known and (known.kind, known.is_whole)


def _joined(answers: Sequence[Answer]) -> Answer:
    return {name: np.concatenate([answer[name] for answer in answers]) for name in answers[0]}


def _rows_stay() -> EngineError:
    return EngineError(
        "This classifier must see rows, which do not leave their sites: take one that learns from counts alone."
    )
