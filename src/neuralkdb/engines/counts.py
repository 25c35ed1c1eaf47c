"""Counts over a coded table that an engine holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import ArrayCounts, CodedRows, PackedCounts, Request, Sample
from neuralkdb.engines.engine import Answer, CodedTable
from neuralkdb.engines.frame import CLASS, WEIGHT
from neuralkdb.network import Codes, Floats
from neuralkdb.tables import Table, code_type, dense_limit, table_of

FETCHED = 2**16  # rows that come at a time where all of them are needed


@dataclass(frozen=True)
class TableCounts:
    """Every table is a GROUP BY of the engine. Rows come as what they are counted into: distinct coded rows."""

    coded: CodedTable
    cardinalities: tuple[int, ...]
    weights: Floats  # (classes,)
    n_rows: int
    n_threads: int = 1

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.weights)

    def class_weights(self) -> Floats:
        """N(y), (classes,)."""
        return self.weights.copy()

    def tables(self, requests: Sequence[Request]) -> list[Table]:
        """One table per request, all asked for together; from memory once `rows` has been asked."""
        if "_in_memory" in self.__dict__:
            return self._in_memory.tables(requests)
        answers = self.coded.cells(requests)
        limit = dense_limit(self._total_weight, len(requests))
        return [
            table_of(*self._cells(request, answer), self._shape(request), self.n_classes, limit)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def rows(self) -> CodedRows:
        """The distinct coded rows, which must fit into memory."""
        return self._in_memory.rows()

    def blocks(self, n_rows: int) -> Iterator[CodedRows]:
        """The same rows, so many at a time, as the engine sends them."""
        return _evenly((self._rows(answer) for answer in self.coded.batches(n_rows)), n_rows)

    def sampled(self, most: int) -> TableCounts:
        """Counts of the rows that `Sample` chooses if there are more than `most` distinct ones."""
        if self.n_rows <= most or (n_distinct := self.coded.n_cells()) <= most:
            return self
        sample = Sample.of(len(self.cardinalities), most / n_distinct)
        some, class_weights = self.coded.sampled(sample)
        return replace(self, coded=some, weights=class_weights)

    def of_class(self, label: int) -> TableCounts:
        """Counts of the rows of one class."""
        return replace(self, coded=self.coded.of_class(label), weights=self.weights[label : label + 1])

    def packed(self, size: int) -> PackedCounts:
        """Counts of every set of `size` features, in the smallest type that holds the total weight."""
        sets = list(combinations(range(len(self.cardinalities)), size))
        whole = bool((self.weights == np.floor(self.weights)).all())
        kind = np.min_scalar_type(int(self._total_weight)) if whole and self._total_weight < 2**32 else np.dtype(float)
        parts = [self._packed(table.shape, *table.cells(), kind) for table in self.tables(sets)]
        joined = tuple(
            _joined(part) if i in (0, 2) else np.concatenate(part) for i, part in enumerate(zip(*parts, strict=True))
        )
        packed = PackedCounts(size, self.cardinalities, self.n_classes, self.n_rows, joined)
        return (packed + self._nothing(size, kind)).of_type(kind)

    @cached_property
    def _in_memory(self) -> ArrayCounts:
        none = CodedRows(np.empty((0, len(self.cardinalities)), np.uint8), np.empty(0, np.intp), np.empty(0))
        rows = _joined_rows([none, *self.blocks(FETCHED)])
        return ArrayCounts.of(
            rows.codes, rows.classes, rows.weights, self.cardinalities, self.n_classes, self.n_threads
        )

    @property
    def _total_weight(self) -> float:
        return float(self.weights.sum())

    def _shape(self, request: Request) -> tuple[int, ...]:
        return tuple(self.cardinalities[variable] for variable in request)

    def _cells(self, request: Request, answer: Answer) -> tuple[Codes, NDArray[np.intp], Floats]:
        columns = [answer[f"v{i}"] for i in range(len(request))]
        codes = np.empty((len(answer[WEIGHT]), len(request)), code_type(self._shape(request)), order="F")
        for i, column in enumerate(columns):
            codes[:, i] = column
        return codes, answer[CLASS].astype(np.intp), answer[WEIGHT]

    def _rows(self, answer: Answer) -> CodedRows:
        return CodedRows(*self._cells(tuple(range(len(self.cardinalities))), answer))

    def _packed(
        self, shape: tuple[int, ...], codes: Codes, classes: NDArray[np.intp], weights: Floats, kind: np.dtype[Any]
    ) -> tuple[NDArray[Any], ...]:
        """One set, as `count_sets` stores it."""
        cells = ArrayCounts.of(codes, classes, weights, shape, self.n_classes)
        return _kernels.count_sets(
            cells.codes, cells.classes, cells.weights, np.array(shape, np.int64), self.n_classes, len(shape),
            kind.itemsize, 1,
        )  # fmt: skip

    def _nothing(self, size: int, kind: np.dtype[Any]) -> PackedCounts:
        """Counts of no rows: added to others, they are laid out for the number of rows that was counted."""
        nothing = np.empty((0, len(self.cardinalities)), np.uint8, order="F")
        sizes = np.array(self.cardinalities, np.int64)
        dtype = code_type((*self.cardinalities, self.n_classes))
        parts = _kernels.count_sets(
            nothing.astype(dtype, order="F"), np.empty(0, dtype), None, sizes, self.n_classes, size, kind.itemsize, 1
        )
        return PackedCounts(size, self.cardinalities, self.n_classes, 0, parts)


def _evenly(parts: Iterator[CodedRows], n_rows: int) -> Iterator[CodedRows]:
    """The same rows in the same order, so many in each part but the last."""
    held: list[CodedRows] = []
    for part in parts:
        held.append(part)
        if sum(len(each.classes) for each in held) >= n_rows:
            *full, last = _joined_rows(held).blocks(n_rows)
            yield from full
            held = [last]
            if len(last.classes) == n_rows:
                held = []
                yield last
    if held:
        yield _joined_rows(held)


def _joined_rows(parts: Sequence[CodedRows]) -> CodedRows:
    return CodedRows(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(CodedRows)))


def _joined(starts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where the parts of all sets start, from where each set's own end."""
    return np.concatenate([[0], np.cumsum([part[-1] for part in starts])]).astype(np.int64)
