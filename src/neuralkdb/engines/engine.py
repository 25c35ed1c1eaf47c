"""What engines do each in their own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import Request, Sample
from neuralkdb.network import Floats

if TYPE_CHECKING:
    from neuralkdb.engines.frame import Frame
    from neuralkdb.engines.readings import Book

Answer = dict[str, NDArray[Any]]  # by column
Expression = Any  # of narwhals


class CodedTable(Protocol):
    """Coded rows that an engine holds, and counts."""

    def cells(self, requests: Sequence[Request]) -> list[Answer]:
        """For each request: its cells with class and weight; rows are left out in which it is marginalized."""

    def batches(self, n_rows: int) -> Iterator[Answer]:
        """The distinct rows in lexicographic order, class last, with their weights, about so many at a time."""

    def n_cells(self) -> int:
        """How many distinct rows there are, those of different classes told apart."""

    def sampled(self, sample: Sample) -> tuple[CodedTable, Floats]:
        """The rows that are in a sample, and the weight of each class there."""

    def of_class(self, label: int) -> CodedTable:
        """The rows of this class, which becomes their only one."""


class Engine(Protocol):
    """What narwhals leaves to the engine."""

    @property
    def name(self) -> str:
        """What error messages call it."""

    @property
    def collecting(self) -> Mapping[str, Any]:
        """What narwhals needs to know to fetch an answer."""

    def prepared(self, native: Any) -> Any:
        """The table, its columns of types that narwhals cannot convert made numbers."""

    def values(
        self, frame: Frame, columns: Sequence[Expression], classes: Expression, limit: int | None
    ) -> list[Answer]:
        """For each column: values with class and weight; where there are more than `limit`, at least so many."""

    def grids(
        self,
        frame: Frame,
        columns: Sequence[Expression],
        bounds: Sequence[tuple[float, float]],
        classes: Expression,
    ) -> list[Answer]:
        """For each column of numbers: cells of the grid with class, weight, lowest and highest number."""

    def coded(self, frame: Frame, books: Sequence[Book], classes: Book, close: ExitStack) -> CodedTable:
        """The coded rows, computed once and kept outside this process until `close`."""


class StreamingEngine(Engine, Protocol):
    """An engine whose rows can be had here, a few at a time."""

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """The rows in order, about so many at a time, as tables that classifiers read."""


@runtime_checkable
class DistributedEngine(Engine, Protocol):
    """An engine that predicts where its rows are."""

    def write_predictions(
        self, native: Any, classifier: Any, predictor: Any, features: Sequence[str], keep: Sequence[str], out: Path
    ) -> None:
        """What `predictor(classifier, features)` makes of each batch, beside the columns to keep, as a folder."""


def divided(answer: Answer, n_branches: int) -> list[Answer]:
    """The parts of an answer to several questions, told apart by its column `branch`."""
    which = answer.pop("branch")
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(1, n_branches))
    parts = [np.split(column[order], ends) for column in answer.values()]
    return [dict(zip(answer, part, strict=True)) for part in zip(*parts, strict=True)]
