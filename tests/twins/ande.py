"""AODE (Webb, 2005), WAODE (Jiang, 2012) and AnDE (Webb, 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twins.estimation import Parameters, conditional, joint_with_class
from twins.information import closest, mutual_information
from twins.kdb import naive_bayes
from twins.model import Parents, logarithm, normalized
from twins.table import Data

SuperParents = tuple[int, ...]


@dataclass(frozen=True)
class AveragedJoints:
    """The weighted mean of P(y, x_S) prod P(x_i | x_S, y) over the sets S that count.

    A set counts for a row where N(x_S) >= min_count; where those that count weigh nothing
    together, the joint is naive Bayes'.
    """

    data: Data
    parameters: Parameters
    weights: dict[SuperParents, float]
    min_count: float
    families: dict[SuperParents, Parents]  # for each set, every child with its parents

    def counting(self, row: NDArray[np.int64]) -> dict[SuperParents, float]:
        """The sets that count for a row, with their weights."""
        return {
            s: weight
            for s, weight in self.weights.items()
            if weight > 0 and self.data.weight({p: int(row[p]) for p in s}) >= self.min_count
        }

    def member_joint(self, super_parents: SuperParents, row: NDArray[np.int64], label: int) -> float:
        """P(y, x_S) prod P(x_i | x_S, y) of one set."""
        return joint_with_class(self.data, super_parents, row, label, self.parameters) * prod(
            conditional(self.data, child, parents, row, label, self.parameters)
            for child, parents in self.families[super_parents].items()
        )

    def row_log_joint(self, row: NDArray[np.int64]) -> list[float]:
        counting = self.counting(row)
        if not counting:
            return list(naive_bayes(self.data, self.parameters).log_joint([row])[0])
        total = sum(counting.values())
        return [
            logarithm(sum(w / total * self.member_joint(s, row, c) for s, w in counting.items()))
            for c in range(self.data.n_classes)
        ]

    def log_joint(self, queries: ArrayLike) -> NDArray[np.float64]:
        return np.array([self.row_log_joint(row) for row in np.asarray(queries, np.int64)])

    def posterior(self, queries: ArrayLike) -> NDArray[np.float64]:
        return np.array([normalized(row) for row in self.log_joint(queries)])


def averaged(
    data: Data, parameters: Parameters, weights: dict[SuperParents, float], min_count: float
) -> AveragedJoints:
    families = {
        s: {child: closest(data, child, s) for child in range(data.n_features) if child not in s} for s in weights
    }
    return AveragedJoints(data, parameters, weights, min_count, families)


def ande(data: Data, parameters: Parameters, n: int, min_count: float = 1) -> AveragedJoints:
    """All sets of n super-parents, with equal weight."""
    sets = combinations(range(data.n_features), n)
    return averaged(data, parameters, dict.fromkeys(sets, 1.0), min_count)


def aode(data: Data, parameters: Parameters, min_count: float = 1) -> AveragedJoints:
    return ande(data, parameters, 1, min_count)


def waode(data: Data, parameters: Parameters, min_count: float = 1) -> AveragedJoints:
    """AODE with weights MI(X_p; y); equal weights where all of them are zero."""
    weights: dict[SuperParents, float] = {(p,): mutual_information(data, p) for p in range(data.n_features)}
    if not any(weights.values()):
        return aode(data, parameters, min_count)
    return averaged(data, parameters, weights, min_count)
