"""Contingency tables: the distinct cells of a few variables and the weight each carries in each class.

A table is what a counting loop or a GROUP BY produces. Tables of two halves add up to the table of the
whole. Whether the cells are stored dense or sparse is the table's secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Codes, Floats


def code_type(cardinalities: Sequence[int]) -> np.dtype[np.unsignedinteger]:
    """The smallest type that holds every code and the code of a marginalized value."""
    return np.min_scalar_type(max(cardinalities, default=0))


@dataclass(frozen=True, eq=False)
class DenseTable:
    """A table that stores every cell: `weights[v1, v2, ..., class]`."""

    weights: Floats  # (*shape, classes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cardinalities of the variables."""
        return self.weights.shape[:-1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.weights.shape[-1])

    def at(self, codes: Codes, variables: Sequence[int]) -> Floats:
        """Weight of each class in the cell of each row, (rows, classes); zero where a code is marginalized."""
        cells = _kernels.number_cells(codes, np.array(variables, np.int64), np.array(self.shape, np.int64))
        weights = self.weights.reshape(-1, self.n_classes).take(cells, axis=0, mode="wrap")
        unknown = cells < 0
        if unknown.any():
            weights[unknown] = 0.0
        return weights

    def marginal(self, positions: Sequence[int]) -> DenseTable:
        """The table of some of the variables, in the order given."""
        summed = self.weights.sum(axis=tuple(set(range(len(self.shape))) - set(positions)))
        kept = sorted(positions)
        order = [kept.index(position) for position in positions]
        return DenseTable(np.ascontiguousarray(summed.transpose(*order, len(order))))

    def resized(self, shape: Sequence[int], limit: float) -> Table:
        """The same cells in a table with room for more codes, dense if it has at most `limit` entries."""
        if volume(shape, self.n_classes) > limit:
            return _sparse(*self.cells(), tuple(shape), self.n_classes)
        after = np.subtract((*shape, self.n_classes), self.weights.shape)
        return DenseTable(np.pad(self.weights, [(0, more) for more in after]))

    def cells(self) -> tuple[Codes, NDArray[np.intp], Floats]:
        """Codes (entries, variables), class and weight of every occupied cell."""
        *codes, classes = np.nonzero(self.weights)
        stacked = np.asfortranarray(np.stack(codes, axis=1)) if codes else np.empty((len(classes), 0))
        return stacked.astype(code_type(self.shape)), classes, self.weights[(*codes, classes)]

    def __add__(self, other: Table) -> Table:
        return DenseTable(self.weights + other.weights) if isinstance(other, DenseTable) else other + self

    def __eq__(self, other: object) -> bool:
        return _same_cells(self, other)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A table that stores the cells that occur, in lexicographic order, and for each its classes."""

    codes: Codes  # (cells, variables), C order
    starts: NDArray[np.int64]  # (cells + 1,) where the entries of a cell begin
    classes: Codes  # (entries,)
    weights: Floats  # (entries,)
    shape: tuple[int, ...]
    n_classes: int

    def at(self, codes: Codes, variables: Sequence[int]) -> Floats:
        """Weight of each class in the cell of each row, (rows, classes); zero where it does not occur."""
        found = _kernels.find_cells(self.codes, codes, np.array(variables, np.int64))
        return _kernels.gather_cells(found, self.starts, self.classes, self.weights, self.n_classes)

    def marginal(self, positions: Sequence[int]) -> Table:
        """The table of some of the variables, in the order given; dense where that is no larger."""
        codes, classes, weights = self.cells()
        codes, shape = (
            codes[:, list(positions)],
            tuple(self.shape[position] for position in positions),
        )
        if volume(shape, self.n_classes) > 4 * len(weights):
            return _sparse(codes, classes, weights, shape, self.n_classes)
        return _dense(codes, classes, weights, shape, self.n_classes)

    def resized(self, shape: Sequence[int], limit: float) -> Table:
        """The same cells in a table with room for more codes, dense if it has at most `limit` entries."""
        if volume(shape, self.n_classes) <= limit:
            return _dense(*self.cells(), shape, self.n_classes)
        wider = code_type((*shape, self.n_classes))
        codes, classes = self.codes.astype(wider), self.classes.astype(wider)
        return SparseTable(codes, self.starts, classes, self.weights, tuple(shape), self.n_classes)

    def cells(self) -> tuple[Codes, NDArray[np.intp], Floats]:
        """Codes (entries, variables), class and weight of every occupied cell."""
        codes = np.repeat(self.codes, np.diff(self.starts), axis=0)
        return np.asfortranarray(codes), self.classes.astype(np.intp), self.weights

    def __add__(self, other: Table) -> SparseTable:
        (codes, classes, weights), (more_codes, more_classes, more) = self.cells(), other.cells()
        return _sparse(
            np.concatenate([codes, more_codes]),
            np.concatenate([classes, more_classes]),
            np.concatenate([weights, more]),
            self.shape,
            self.n_classes,
        )

    def __eq__(self, other: object) -> bool:
        return _same_cells(self, other)


Table = DenseTable | SparseTable


def table_of(
    codes: Codes, classes: NDArray[np.intp], weights: Floats, shape: Sequence[int], n_classes: int, limit: float
) -> Table:
    """Cells in any order, some perhaps more than once, as a table that is dense if it has at most `limit` entries."""
    if volume(shape, n_classes) <= limit:
        return _dense(codes, classes, weights, shape, n_classes)
    return _sparse(codes, classes, weights, tuple(shape), n_classes)


def _dense(
    codes: Codes, classes: NDArray[np.intp], weights: Floats, shape: Sequence[int], n_classes: int
) -> DenseTable:
    """Cells in any order, some perhaps more than once, as a dense table."""
    summed = np.zeros((*shape, n_classes))
    np.add.at(summed, (*codes.T, classes), weights)
    return DenseTable(summed)


def _sparse(
    codes: Codes, classes: NDArray[np.intp], weights: Floats, shape: tuple[int, ...], n_classes: int
) -> SparseTable:
    """Cells in any order, some perhaps more than once, as a sparse table."""
    dtype = code_type((*shape, n_classes))
    variables = np.arange(len(shape))
    (parts,) = _kernels.count_sparse(
        np.asfortranarray(codes, dtype),
        classes.astype(dtype),
        np.ascontiguousarray(weights),
        variables,
        np.array([0, len(shape)]),
        np.array(shape, np.int64),
        n_classes,
        keep_marginalized=True,
        n_threads=1,
    )
    return SparseTable(*parts, shape, n_classes)


def _same_cells(one: Table, other: object) -> bool:
    if not isinstance(other, DenseTable | SparseTable) or one.shape != other.shape:
        return False
    pairs = zip(one.cells(), other.cells(), strict=True)
    return one.n_classes == other.n_classes and all(np.array_equal(a, b) for a, b in pairs)


def dense_limit(weight: float, n_tables: int) -> float:
    """Number of entries up to which a table is stored dense, so that all tables together stay small.

    It depends on the total weight and not on the number of rows: a row that weighs two is stored like two rows.
    """
    return min(max(4096.0, 16.0 * weight), max(4096.0, 2.0**25 / max(n_tables, 1)), 2.0**24)


def volume(shape: Sequence[int], n_classes: int) -> int:
    """Number of entries of a dense table."""
    return prod(shape) * n_classes


def distinct(codes: Codes, shape: Sequence[int]) -> tuple[Codes, NDArray[np.intp]]:
    """The distinct rows of codes below `shape`, and which of them each row is."""
    if volume(shape, 1) >= 2**62:
        rows, which = np.unique(codes, axis=0, return_inverse=True)
        return rows, which.reshape(-1)
    strides = np.cumprod([1, *shape[:0:-1]])[::-1][: len(shape)]
    _, first, which = np.unique(codes @ strides.astype(np.int64), return_index=True, return_inverse=True)
    return codes[first], which
