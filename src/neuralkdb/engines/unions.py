"""Groupings of one table, asked for together: a query each, and one that unites their answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from neuralkdb.counting import Request, Sample
from neuralkdb.engines.blocks import blocks_of
from neuralkdb.engines.engine import Answer, divided
from neuralkdb.engines.errors import failing
from neuralkdb.engines.frame import CLASS, WEIGHT, Frame
from neuralkdb.engines.lazy import nw
from neuralkdb.engines.readings import Book
from neuralkdb.grid import grid_of
from neuralkdb.network import Floats

BRANCHES = 64  # groupings that are asked for in one query


class UnitingEngine(ABC):
    """An engine that counts by queries alone."""

    collecting: ClassVar[Mapping[str, Any]] = {}

    def prepared(self, native: Any) -> Any:
        """The table as it is."""
        return native

    @abstractmethod
    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """The rows of a lazy table, computed once and kept outside this process until `close`."""

    @abstractmethod
    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """The rows in order, about so many at a time."""

    def streamed(self, lazy: Any, n_rows: int) -> Iterator[Any]:
        """The rows of a lazy table in order, about so many at a time."""
        return self.batches(lazy.to_native(), n_rows)

    def values(self, frame: Frame, columns: Sequence[nw.Expr], classes: nw.Expr, limit: int | None) -> list[Answer]:
        """For each column: values with class and weight, at most `limit` rows."""
        tables = [frame.selected({"value": each, CLASS: classes}) for each in columns]
        grouped = [table.group_by("value", CLASS).agg(_weight(frame)) for table in tables]
        return _united(frame, [each if limit is None else each.head(limit) for each in grouped], "counting values")

    def grids(
        self, frame: Frame, columns: Sequence[nw.Expr], bounds: Sequence[tuple[float, float]], classes: nw.Expr
    ) -> list[Answer]:
        """For each column of numbers: cells of the grid with class, weight, lowest and highest number."""
        ends = nw.col("value").min().alias("low"), nw.col("value").max().alias("high")
        grouped = [
            frame.selected({"value": each, CLASS: classes})
            .with_columns(_grid_cell(nw.col("value"), *those).alias("cell"))
            .group_by("cell", CLASS)
            .agg(_weight(frame), *ends)
            for each, those in zip(columns, bounds, strict=True)
        ]
        return _united(frame, grouped, "counting values")

    def coded(self, frame: Frame, books: Sequence[Book], classes: Book, close: ExitStack) -> CodedFrame:
        """A column of codes for each book."""
        codes = {code_name(variable): book.code for variable, book in enumerate(books)}
        held = nw.from_native(self.hold(frame.selected({**codes, CLASS: classes.code}), close)).lazy()
        weight = None if frame.weight is None else WEIGHT
        cardinalities = tuple(book.cardinality for book in books)
        holes = {variable: book.absent for variable, book in enumerate(books) if book.is_marginalized}
        return CodedFrame(Frame(held, frame.engine, weight), self.streamed, cardinalities, classes.cardinality, holes)


@dataclass(frozen=True)
class CodedFrame:
    """Codes as columns of a lazy table."""

    frame: Frame  # columns of codes, class and weight
    streamed: Callable[[Any, int], Iterator[Any]]  # the rows of a lazy table, about so many at a time
    cardinalities: tuple[int, ...]
    n_classes: int
    holes: Mapping[int, int]  # features marginalized in some rows, and their code for it

    def cells(self, requests: Sequence[Request]) -> list[Answer]:
        """For each request: its cells with class and weight; rows are left out in which it is marginalized.

        Wider tables are counted from the rows, and the requests from them, all in the engine.
        """
        blocks = blocks_of(requests, self.cardinalities, self.n_classes)
        wide = {block: _grouped(self.frame.lazy, block).agg(_weight(self.frame)) for block in dict.fromkeys(blocks)}
        width = max(map(len, requests))
        branches = []
        for request, block in zip(requests, blocks, strict=True):
            lazy = wide[block]
            for variable in self.holes.keys() & set(request):
                lazy = lazy.filter(nw.col(code_name(variable)) != self.holes[variable])
            named = lazy if request == block else _grouped(lazy, request).agg(nw.col(WEIGHT).sum())
            branches.append(named.select(*_padded(request, width)))
        return _united(self.frame, branches, "counting")

    def batches(self, n_rows: int) -> Iterator[Answer]:
        """The distinct rows in lexicographic order, class last, with their weights, about so many at a time."""
        everything = tuple(range(len(self.cardinalities)))
        grouped = _grouped(self.frame.lazy, everything).agg(_weight(self.frame))
        ordered = grouped.sort(*map(code_name, everything), CLASS).select(*_padded(everything, len(everything)))
        with failing(self.frame.engine.name, "sending coded rows"):
            for batch in self.streamed(ordered, n_rows):
                rows = nw.from_native(batch, eager_only=True)
                yield {name: rows[name].to_numpy() for name in rows.columns}

    def n_cells(self) -> int:
        """How many distinct rows there are, those of different classes told apart."""
        distinct = self.frame.lazy.select(*map(code_name, range(len(self.cardinalities))), CLASS).unique()
        counted = replace(self.frame, lazy=distinct).ask({"cells": nw.len()}, "counting distinct rows")
        return int(counted["cells"])

    def sampled(self, sample: Sample) -> tuple[CodedFrame, Floats]:
        """The rows that are in a sample, and the weight of each class there."""
        terms = [nw.col(code_name(feature)).cast(nw.Int64) * factor for feature, factor in sample.factors]
        some = replace(self.frame, lazy=self.frame.lazy.filter(nw.sum_horizontal(*terms) % sample.MODULUS < sample.end))
        answer = some.collect(some.lazy.group_by(CLASS).agg(_weight(some)), "counting classes")
        weights = np.bincount(answer[CLASS].astype(np.intp), answer[WEIGHT], self.n_classes)
        return replace(self, frame=some), weights.astype(float)

    def of_class(self, label: int) -> CodedFrame:
        """The rows of this class, which becomes their only one."""
        mine = self.frame.lazy.filter(nw.col(CLASS) == label).with_columns((nw.col(CLASS) * 0).alias(CLASS))
        return replace(self, frame=replace(self.frame, lazy=mine), n_classes=1)


def code_name(variable: int) -> str:
    """The column that holds the codes of a feature."""
    return f"f{variable}"


def _weight(frame: Frame) -> nw.Expr:
    return frame.total.alias(WEIGHT)


def _grouped(lazy: Any, request: Request) -> Any:
    return lazy.group_by(*map(code_name, request), CLASS)


def _united(frame: Frame, branches: Sequence[Any], doing: str) -> list[Answer]:
    """The answers of several queries of the same columns, asked together."""
    answers: list[Answer] = []
    for first in range(0, len(branches), BRANCHES):
        some = branches[first : first + BRANCHES]
        numbered = [each.with_columns(nw.lit(i).alias("branch")) for i, each in enumerate(some)]
        answers += divided(frame.collect(nw.concat(numbered) if len(numbered) > 1 else numbered[0], doing), len(some))
    return answers


def _padded(request: Request, width: int) -> list[nw.Expr]:
    """The codes of the request's variables, and zeros, so that all answers have the same columns; class and weight."""
    codes = [nw.col(code_name(variable)) for variable in request]
    codes += [nw.lit(0)] * (width - len(request))
    padded = (code.cast(nw.Int32).alias(f"v{i}") for i, code in enumerate(codes))
    return [*padded, nw.col(CLASS).cast(nw.Int32), nw.col(WEIGHT)]


def _grid_cell(values: nw.Expr, low: float, high: float) -> nw.Expr:
    """The same arithmetic as `Grid.cells`."""
    grid = grid_of(low, high)
    if grid is None:
        return values
    distance = (values - grid.centre).abs() / grid.radius
    cell = (distance.sqrt().sqrt() * float(grid.size)).floor()
    return nw.when(values < grid.centre).then(-1.0 - cell).otherwise(cell)
