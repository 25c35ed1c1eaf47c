"""Rows of codes as the kernels take them, and what is to be counted in them, one row at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from neuralkdb.counting import ArrayCounts

MANY = {np.uint8: 3, np.uint16: 300, np.uint32: 70_000}
"""A cardinality that makes codes of the type."""


@dataclass(frozen=True)
class Coded:
    codes: NDArray[np.unsignedinteger]  # (rows, features), Fortran order; cardinality = marginalized
    classes: NDArray[np.unsignedinteger]  # (rows,)
    weights: NDArray[np.float64] | None  # (rows,)
    cardinalities: tuple[int, ...]
    n_classes: int

    @property
    def row_weights(self) -> NDArray[np.float64]:
        return np.ones(len(self.codes)) if self.weights is None else self.weights

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array(self.cardinalities, np.int64)

    def rows(self, rows: slice | NDArray[np.intp]) -> Coded:
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=np.asfortranarray(self.codes[rows]), classes=self.classes[rows], weights=weights)

    def counts(self, n_threads: int = 1) -> ArrayCounts:
        shared = self.codes, self.classes, self.weights
        return ArrayCounts.of(*shared, self.cardinalities, self.n_classes, n_threads)


def entries(
    rows: Coded, variables: Sequence[int], *, keep_marginalized: bool = False
) -> dict[tuple[int, ...], dict[int, float]]:
    """{cell: {class: weight}} of every cell that occurs, cells and classes ascending."""
    found: defaultdict[tuple[int, ...], defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, label, weight in zip(rows.codes.tolist(), rows.classes.tolist(), rows.row_weights, strict=True):
        cell = tuple(row[v] for v in variables)
        if keep_marginalized or all(row[v] != rows.cardinalities[v] for v in variables):
            found[cell][label] += float(weight)
    return {cell: dict(sorted(found[cell].items())) for cell in sorted(found)}


def dense(rows: Coded, variables: Sequence[int]) -> NDArray[np.float64]:
    """The whole table, (*cardinalities, classes)."""
    table = np.zeros((*(rows.cardinalities[v] for v in variables), rows.n_classes))
    for cell, of_class in entries(rows, variables).items():
        for label, weight in of_class.items():
            table[(*cell, label)] = weight
    return table


@st.composite
def coded_rows(
    draw: st.DrawFn, *, features: tuple[int, int] = (1, 4), rows: tuple[int, int] = (0, 40), wide: bool = True
) -> Coded:
    """Few codes that repeat, now and then marginalized, of each type; weights none, whole or in quarters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(*rows)), draw(st.integers(*features))
    dtype = draw(st.sampled_from([np.uint8, np.uint16, np.uint32] if wide else [np.uint8]))
    cardinalities = rng.integers(1, 4, n_features)
    spread = np.ones(n_features, int)
    if dtype != np.uint8:
        spread[0] = MANY[dtype] // cardinalities[0]
        cardinalities[0] = MANY[dtype]
    codes = rng.integers(0, np.minimum(cardinalities, 3), (n_rows, n_features)) * spread
    holes = rng.random(codes.shape) < draw(st.sampled_from([0.0, 0.2]))
    n_classes = draw(st.sampled_from([2, 1, 3, 5]))
    units = rng.integers(1, 9, n_rows).astype(float)
    return Coded(
        np.asfortranarray(np.where(holes, cardinalities, np.minimum(codes, cardinalities - 1)), dtype),
        rng.integers(0, n_classes, n_rows).astype(dtype),
        draw(st.sampled_from([None, units, units / 4])),
        tuple(cardinalities.tolist()),
        n_classes,
    )
