"""Weighted rows of codes, and the weight of any cell of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Data:
    codes: NDArray[np.int64]  # (rows, features)
    cardinalities: tuple[int, ...]
    y: NDArray[np.int64]  # (rows,)
    n_classes: int
    weights: NDArray[np.float64]  # (rows,)

    @property
    def n_features(self) -> int:
        return len(self.cardinalities)

    def weight(self, cell: Mapping[int, int] | None = None, label: int | None = None) -> float:
        """N(cell, label): the weight of the rows that agree with the given codes and class."""
        agrees = np.ones(len(self.y), bool)
        for feature, code in (cell or {}).items():
            agrees &= self.codes[:, feature] == code
        if label is not None:
            agrees &= self.y == label
        return float(self.weights[agrees].sum())

    def without(self, row: int) -> Data:
        """The data with min(1, w) taken off one row: what leave-one-out learns from."""
        weights = self.weights.copy()
        weights[row] -= min(1.0, weights[row])
        return replace(self, weights=weights)

    def of_class(self, label: int) -> Data:
        """The rows of one class."""
        own = self.y == label
        return replace(self, codes=self.codes[own], y=self.y[own], weights=self.weights[own])


def data(
    codes: ArrayLike,
    y: ArrayLike,
    *,
    cardinalities: ArrayLike | None = None,
    n_classes: int | None = None,
    weights: ArrayLike | None = None,
) -> Data:
    """Rows of positive weight; without cardinalities, the codes that occur are all there are."""
    codes, y = np.asarray(codes, np.int64), np.asarray(y, np.int64)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    kept = weights > 0
    codes, y, weights = codes[kept], y[kept], weights[kept]
    cardinalities = codes.max(axis=0) + 1 if cardinalities is None else np.asarray(cardinalities)
    classes = int(y.max()) + 1 if n_classes is None else n_classes
    return Data(codes, tuple(map(int, cardinalities)), y, classes, weights)


def distinct(rows: Data) -> Data:
    """The distinct (codes, class) rows, sorted, with their weights added up."""
    table: dict[tuple[int, ...], float] = {}
    for codes, label, weight in zip(rows.codes.tolist(), rows.y, rows.weights, strict=True):
        key = (*codes, int(label))
        table[key] = table.get(key, 0.0) + float(weight)
    cells = np.array(sorted(table), np.int64)
    weights = np.array([table[cell] for cell in sorted(table)])
    return replace(rows, codes=cells[:, :-1], y=cells[:, -1], weights=weights)


def left_out(rows: Data) -> Iterator[tuple[Data, NDArray[np.int64], int, float]]:
    """For each distinct row: the data without it, its codes, its class and its weight."""
    table = distinct(rows)
    for row in range(len(table.y)):
        yield table.without(row), table.codes[row], int(table.y[row]), float(table.weights[row])
