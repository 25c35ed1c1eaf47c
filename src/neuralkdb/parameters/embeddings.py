"""Vectors of feature values and classes, and the probabilities they give.

    P(x | pa, y) = softmax over the values x of the child of W_x . act(sum of V_pa + U_y)

V embeds a feature value as a parent, W as a child, U embeds a class; all families share them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Codes, Family, Floats
from neuralkdb.tables import Table, distinct

Vectors = NDArray[np.float32]
ACTIVATIONS = ("identity", "tanh", "relu")
LARGEST_GRID = 2**22  # probabilities of a family that are computed all at once


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One matrix, V of all feature values, U of all classes, W of all feature values; and the state of Adam."""

    cardinalities: tuple[int, ...]
    n_classes: int
    values: Vectors  # (rows, dimensions)
    first_moments: Vectors  # (rows, dimensions)
    second_moments: Vectors  # (rows, dimensions)
    n_steps: int = 0
    losses: tuple[float, ...] = ()  # mean loss of each epoch

    @classmethod
    def drawn(cls, cardinalities: tuple[int, ...], n_classes: int, dimensions: int, seed: int) -> Embeddings:
        """V and U from N(0, 1), W from U(-1, 1) / sqrt(dimensions)."""
        n_values, bound = sum(cardinalities), dimensions**-0.5
        values = _kernels.initial_embeddings(n_values + n_classes, n_values, dimensions, bound, seed)
        return cls(cardinalities, n_classes, values, np.zeros_like(values), np.zeros_like(values))

    def extended(self, cardinalities: tuple[int, ...], seed: int) -> Embeddings:
        """The same vectors, and newly drawn ones for codes that have none yet."""
        if cardinalities == self.cardinalities:
            return self
        fresh = Embeddings.drawn(cardinalities, self.n_classes, self.dimensions, seed)
        rows = fresh._rows_of(self)
        for name in ("values", "first_moments", "second_moments"):
            getattr(fresh, name)[rows] = getattr(self, name)
        return replace(fresh, n_steps=self.n_steps, losses=self.losses)

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.values.shape[1])

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Number of the first value of each feature among all values."""
        return tuple(accumulate(self.cardinalities[:-1], initial=0))

    @property
    def first_class(self) -> int:
        """The row of U for class 0."""
        return sum(self.cardinalities)

    @property
    def first_child(self) -> int:
        """The row of W for the first value of feature 0."""
        return self.first_class + self.n_classes

    def parents(self, feature: int) -> Vectors:
        """V of the values of a feature, (codes, dimensions)."""
        return self.values[self.starts[feature] :][: self.cardinalities[feature]]

    def children(self, feature: int) -> Vectors:
        """W of the values of a feature, (codes, dimensions)."""
        return self.values[self.first_child + self.starts[feature] :][: self.cardinalities[feature]]

    def classes(self) -> Vectors:
        """U, (classes, dimensions)."""
        return self.values[self.first_class : self.first_child]

    def parent_rows(self, codes: Codes, features: tuple[int, ...]) -> NDArray[np.int32]:
        """The row of V of each code, (rows, features); -1 for a code that has none."""
        starts = np.array([self.starts[feature] for feature in features], np.int32)
        sizes = np.array([self.cardinalities[feature] for feature in features], np.int32)
        rows = codes.astype(np.int32)
        return np.ascontiguousarray(np.where(rows < sizes, rows + starts, np.int32(-1)))

    def _rows_of(self, older: Embeddings) -> NDArray[np.intp]:
        """Where the rows of embeddings with fewer codes stand among these."""
        pairs = list(zip(self.starts, older.cardinalities, strict=True))
        values = [start + np.arange(size) for start, size in pairs]
        classes = self.first_class + np.arange(self.n_classes)
        return np.concatenate([*values, classes, *(self.first_child + value for value in values)]).astype(np.intp)


@dataclass(frozen=True, eq=False)
class EmbeddedLaw:
    """A family's probabilities by embeddings. A parent value never seen adds nothing to the sum."""

    family: Family
    table: Table  # parents, then child
    embeddings: Embeddings
    activation: str

    @property
    def is_small(self) -> bool:
        """Whether all combinations of parents are no more than the rows that were counted."""
        combinations = float(np.prod([size + 1.0 for size in self.table.shape[:-1]]))
        entries = combinations * self.table.shape[-1] * self.table.n_classes
        return entries <= LARGEST_GRID and combinations <= max(64.0, self._total)

    def grid(self, *, unseen: bool = False) -> Floats:
        """P of every combination, ``(*parents, child, classes)``."""
        sizes = [size + unseen for size in self.table.shape[:-1]]
        combinations = np.indices(sizes, np.uint32).reshape(len(sizes), int(np.prod(sizes))).T
        return np.exp(self._log_probabilities(combinations)).reshape(*sizes, self.table.shape[-1], -1)

    def probability(self, codes: Codes) -> Floats:
        """P of the cell of each row, (rows, classes)."""
        combinations, which = distinct(codes[:, :-1], [size + 1 for size in self.table.shape[:-1]])
        logs = self._log_probabilities(combinations)
        return np.exp(logs[which, codes[:, -1]])

    @cached_property
    def _total(self) -> float:
        return float(self.table.cells()[2].sum())

    def _log_probabilities(self, combinations: Codes) -> Floats:
        """Log P of every value of the child, (combinations, child, classes)."""
        embeddings, child = self.embeddings, self.family.child
        logs = _kernels.embedding_log_probabilities(
            embeddings.values,
            embeddings.first_child + embeddings.starts[child],
            embeddings.cardinalities[child],
            embeddings.parent_rows(combinations, self.family.parents),
            embeddings.first_class,
            embeddings.n_classes,
            ACTIVATIONS.index(self.activation),
            1,
        )
        return np.ascontiguousarray(logs.transpose(0, 2, 1))
