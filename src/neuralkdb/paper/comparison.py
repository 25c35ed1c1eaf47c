"""Methods compared over data sets: the table under every table and figure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuralkdb.paper.statistics import (
    FloatArray,
    average_ranks,
    friedman_p,
    verdict,
    wilcoxon_p,
)

Accuracies = Mapping[tuple[str, str, int], float]
"""(data set, method, split) -> the share of test rows that were right."""


@dataclass(frozen=True)
class Comparison:
    """Accuracies in percent, rounded as printed so that every summary follows from the print."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]  # the first is the one the others are compared with
    means: FloatArray  # (data sets, methods)
    deviations: FloatArray  # (data sets, methods), the sample's
    verdicts: NDArray[np.str_]  # (data sets, methods): what the t-test says of the first method

    def average_accuracies(self) -> FloatArray:
        """The mean of each column."""
        # rounded, so that half a hundredth prints alike whatever the order of the sum
        return np.asarray(self.means.mean(axis=0).round(10), dtype=np.float64)

    def average(self, method: str) -> float:
        """The mean of a method's column."""
        return float(self.average_accuracies()[self.methods.index(method)])

    def average_ranks(self) -> FloatArray:
        """The mean rank of each method, 1 the best."""
        return average_ranks(self.means)

    def friedman_p(self) -> float:
        """Friedman's p-value that all methods rank alike."""
        return friedman_p(self.means)

    def wins_ties_losses(self, method: str) -> tuple[int, int, int]:
        """How often the first method is better, as good and worse by the t-test."""
        column = list(self.verdicts[:, self.methods.index(method)])
        return column.count("win"), column.count("tie"), column.count("loss")

    def wilcoxon_p(self, method: str) -> float:
        """The p-value that the first method and this one are as good."""
        return wilcoxon_p(self.means[:, 0], self.column(method))

    def column(self, method: str) -> FloatArray:
        """The method's accuracy on each data set."""
        return np.asarray(self.means[:, self.methods.index(method)], dtype=np.float64)

    def mean(self, dataset: str, method: str) -> float | None:
        """The mean accuracy, or None where there is none."""
        if dataset not in self.datasets or method not in self.methods:
            return None
        return float(self.means[self.datasets.index(dataset), self.methods.index(method)])

    def on(self, datasets: Iterable[str]) -> "Comparison":
        """The same comparison over those of the data sets that it has."""
        rows = [self.datasets.index(name) for name in datasets if name in self.datasets]
        names = tuple(self.datasets[row] for row in rows)
        return Comparison(names, self.methods, self.means[rows], self.deviations[rows], self.verdicts[rows])

    def among(self, methods: Sequence[str]) -> "Comparison":
        """The same comparison of fewer methods, of which the first stays the first."""
        columns = [self.methods.index(name) for name in methods]
        return Comparison(
            self.datasets,
            tuple(methods),
            self.means[:, columns],
            self.deviations[:, columns],
            self.verdicts[:, columns],
        )


def compare(accuracies: Accuracies, datasets: Iterable[str], methods: Sequence[str], n_splits: int) -> Comparison:
    """The comparison over the data sets on which every method has run every split."""
    grids = {
        name: [[accuracies.get((name, method, split)) for split in range(n_splits)]
               for method in methods]
        for name in datasets
    }  # fmt: skip
    complete = {
        name: np.array(grid, dtype=float)
        for name, grid in grids.items()
        if all(value is not None for row in grid for value in row)
    }
    shape = (len(complete), len(methods), n_splits)
    cube = 100 * np.array(list(complete.values()), dtype=float).reshape(shape)
    return Comparison(
        tuple(complete),
        tuple(methods),
        cube.mean(axis=2).round(2),
        _deviations(cube).round(2),
        np.array([[verdict(rows[0], row) for row in rows] for rows in cube], dtype=str).reshape(shape[:2]),
    )


def _deviations(cube: FloatArray) -> FloatArray:
    if cube.shape[2] < 2:
        return np.zeros(cube.shape[:2])
    return np.asarray(cube.std(axis=2, ddof=1), dtype=np.float64)
