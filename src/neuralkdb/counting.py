"""Asking for counts: the protocol every engine answers, and the one over arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Codes, Floats
from neuralkdb.tables import DenseTable, SparseTable, Table, code_type, dense_limit, volume

Request = tuple[int, ...]  # the features of a table, the class always counted with them

PART = 2**18  # rows whose classes are counted at once: temporary copies of them stay at hand


@dataclass(frozen=True)
class CodedRows:
    """The canonical table: distinct coded rows in lexicographic order, with class and weight."""

    codes: Codes  # (rows, features)
    classes: NDArray[np.intp]  # (rows,)
    weights: Floats  # (rows,)

    def blocks(self, n_rows: int) -> Iterator[CodedRows]:
        """The rows, so many at a time."""
        for first in range(0, len(self.classes), n_rows):
            part = slice(first, first + n_rows)
            yield CodedRows(np.asfortranarray(self.codes[part]), self.classes[part], self.weights[part])


@dataclass(frozen=True)
class PackedCounts:
    """One block of counts for every set of `size` features, in lexicographic order.

    A set is stored dense or sparse, whichever is smaller; `parts` are where the dense sets start, their weights, where
    the sparse sets start, their cell numbers and their weights.
    """

    size: int
    cardinalities: tuple[int, ...]
    n_classes: int
    n_rows: int
    parts: tuple[NDArray[Any], ...]

    @property
    def weight_type(self) -> np.dtype[Any]:
        """The type of the weights."""
        return self.parts[1].dtype

    def of_type(self, dtype: np.dtype[Any]) -> PackedCounts:
        """The same counts with weights of another type."""
        starts, dense, sparse_starts, keys, sparse = self.parts
        return replace(self, parts=(starts, dense.astype(dtype), sparse_starts, keys, sparse.astype(dtype)))

    def __add__(self, other: PackedCounts) -> PackedCounts:
        """Counts of both together; code books may have grown between them."""
        cardinalities = np.maximum(self.cardinalities, other.cardinalities).astype(np.int64)
        kind = _type_of_sum(self, other)
        n_rows = self.n_rows + other.n_rows
        parts = _kernels.merge_sets(
            *self.of_type(kind).parts,
            np.array(self.cardinalities, np.int64),
            *other.of_type(kind).parts,
            np.array(other.cardinalities, np.int64),
            cardinalities,
            self.n_classes,
            self.size,
            n_rows,
            1,
        )
        return PackedCounts(self.size, tuple(cardinalities.tolist()), self.n_classes, n_rows, parts)


def _type_of_sum(one: PackedCounts, other: PackedCounts) -> np.dtype[Any]:
    """A type that holds the largest possible sum of two weights."""
    kinds = [one.weight_type, other.weight_type]
    if any(kind.kind == "f" for kind in kinds):
        return np.dtype(float)
    largest = sum(max([*(int(part.max()) for part in (c.parts[1], c.parts[4]) if len(part)), 0]) for c in (one, other))
    return max(*kinds, np.min_scalar_type(largest)) if largest < 2**32 else np.dtype(float)


@dataclass(frozen=True)
class Sample:
    """A part of all coded rows, the same wherever they are: equal rows are in it together, or not at all.

    A row is in it if the sum of its codes, each times a number of its own, has a remainder below `end`.
    """

    factors: tuple[tuple[int, int], ...]  # of a feature
    end: int

    MODULUS: ClassVar[int] = 2**31 - 1
    MOST_FEATURES: ClassVar[int] = 64  # are looked at, the last ones

    @classmethod
    def of(cls, n_features: int, share: float) -> Sample:
        """About this share of distinct rows."""
        factors = np.random.default_rng(n_features).integers(1, cls.MODULUS, n_features).tolist()
        return cls(tuple(enumerate(factors))[-cls.MOST_FEATURES :], int(share * cls.MODULUS))

    def has(self, codes: Codes) -> NDArray[np.bool_]:
        """Which rows are in it."""
        total = np.zeros(len(codes), np.int64)
        for feature, factor in self.factors:
            total += codes[:, feature].astype(np.int64) * factor
        return np.asarray(total % self.MODULUS < self.end)


class Counts(Protocol):
    """What structures and parameters are learned from."""

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of codes of each feature."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    def class_weights(self) -> Floats:
        """N(y), (classes,)."""

    def tables(self, requests: Sequence[Request]) -> list[Table]:
        """One table per request, all counted in one pass where the engine can."""

    def rows(self) -> CodedRows:
        """What learners see that score rows."""

    def blocks(self, n_rows: int) -> Iterator[CodedRows]:
        """The same rows, so many at a time, for learners that need no others beside them."""

    def sampled(self, most: int) -> Counts:
        """Counts of the rows that `Sample` chooses if there are more than `most` distinct ones."""

    def of_class(self, label: int) -> Counts:
        """Counts of the rows of one class, which is their only class."""

    def packed(self, size: int) -> PackedCounts:
        """Counts of every set of `size` features."""


@dataclass(frozen=True)
class ArrayCounts:
    """Counts over coded rows in memory. A row is not counted where a variable of the table is marginalized."""

    codes: Codes  # (rows, features), Fortran order
    classes: Codes  # (rows,)
    weights: Floats | None  # (rows,), None where every row weighs one
    cardinalities: tuple[int, ...]
    n_classes: int
    n_threads: int = 1

    @classmethod
    def of(
        cls,
        codes: Codes,
        classes: NDArray[np.integer],
        weights: Floats | None,
        cardinalities: Sequence[int],
        n_classes: int,
        n_threads: int = 1,
    ) -> ArrayCounts:
        """Counts whose codes and classes share the smallest type that holds both."""
        dtype = code_type((*cardinalities, n_classes))
        shared = np.asfortranarray(codes, dtype), np.ascontiguousarray(classes, dtype)
        return cls(*shared, weights, tuple(cardinalities), n_classes, n_threads)

    def class_weights(self) -> Floats:
        """N(y), (classes,)."""
        parts = [slice(first, first + PART) for first in range(0, len(self.classes), PART)]
        weights = [None if self.weights is None else self.weights[rows] for rows in parts]
        counts = [np.bincount(self.classes[rows], w, self.n_classes) for rows, w in zip(parts, weights, strict=True)]
        return np.sum(counts, axis=0, dtype=float) if counts else np.zeros(self.n_classes)

    def tables(self, requests: Sequence[Request]) -> list[Table]:
        """One table per request."""
        limit = dense_limit(self._total_weight, len(requests))
        is_dense = [volume(self._shape(request), self.n_classes) <= limit for request in requests]
        dense = iter(self._dense([r for r, small in zip(requests, is_dense, strict=True) if small]))
        sparse = iter(self._sparse([r for r, small in zip(requests, is_dense, strict=True) if not small]))
        return [next(dense) if small else next(sparse) for small in is_dense]

    def rows(self) -> CodedRows:
        """The canonical table of the rows."""
        (table,) = self._sparse([tuple(range(len(self.cardinalities)))], keep_marginalized=True)
        return CodedRows(*table.cells())

    def blocks(self, n_rows: int) -> Iterator[CodedRows]:
        """The same rows, so many at a time."""
        return self.rows().blocks(n_rows)

    def sampled(self, most: int) -> ArrayCounts:
        """Counts of the rows that `Sample` chooses if there are more than `most` distinct ones."""
        if len(self.codes) <= most or (n_distinct := len(self.rows().classes)) <= most:
            return self
        return self.chosen(Sample.of(len(self.cardinalities), most / n_distinct))

    def chosen(self, sample: Sample) -> ArrayCounts:
        """Counts of the rows that are in a sample."""
        chosen = np.flatnonzero(sample.has(self.codes))
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, codes=np.asfortranarray(self.codes[chosen]), classes=self.classes[chosen], weights=weights)

    def of_class(self, label: int) -> ArrayCounts:
        """Counts of the rows of one class."""
        mine = self.classes == label
        weights = None if self.weights is None else self.weights[mine]
        classes = np.zeros(mine.sum(), self.classes.dtype)
        codes = np.asfortranarray(self.codes[mine])
        return ArrayCounts(codes, classes, weights, self.cardinalities, 1, self.n_threads)

    def packed(self, size: int) -> PackedCounts:
        """Counts of every set of `size` features, in the smallest type that holds the total weight."""
        whole = self.weights is None or bool((self.weights == np.floor(self.weights)).all())
        total = self._total_weight
        kind = np.min_scalar_type(int(total)) if whole and total < 2**32 else np.dtype(float)
        parts = _kernels.count_sets(
            self.codes,
            self.classes,
            self.weights,
            self._cardinalities,
            self.n_classes,
            size,
            kind.itemsize,
            self.n_threads,
        )
        return PackedCounts(size, self.cardinalities, self.n_classes, len(self.codes), parts)

    @cached_property
    def _total_weight(self) -> float:
        return float(len(self.codes) if self.weights is None else self.weights.sum())

    @cached_property
    def _cardinalities(self) -> NDArray[np.int64]:
        return np.array(self.cardinalities, np.int64)

    def _shape(self, request: Request) -> tuple[int, ...]:
        return tuple(self.cardinalities[variable] for variable in request)

    def _dense(self, requests: Sequence[Request]) -> list[DenseTable]:
        counted = _kernels.count_dense(
            self.codes,
            self.classes,
            self.weights,
            *flat(requests),
            self._cardinalities,
            self.n_classes,
            self.n_threads,
        )
        return [
            DenseTable(weights.reshape(*self._shape(request), self.n_classes))
            for request, weights in zip(requests, counted, strict=True)
        ]

    def _sparse(self, requests: Sequence[Request], *, keep_marginalized: bool = False) -> list[SparseTable]:
        counted = _kernels.count_sparse(
            self.codes,
            self.classes,
            self.weights,
            *flat(requests),
            self._cardinalities,
            self.n_classes,
            keep_marginalized,
            self.n_threads,
        )
        return [
            SparseTable(*parts, self._shape(request), self.n_classes)
            for request, parts in zip(requests, counted, strict=True)
        ]


def flat(requests: Sequence[Request]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Requests end to end, and where each starts."""
    variables = np.array([variable for request in requests for variable in request], np.int64)
    starts = np.concatenate([[0], np.cumsum([len(request) for request in requests])]).astype(np.int64)
    return variables, starts
