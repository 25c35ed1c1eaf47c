"""What a structure and its parameters say about rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twins.estimation import Parameters, class_probability, conditional
from twins.table import Data, left_out

Parents = dict[int, tuple[int, ...]]
"""The feature-parents of each feature of a network, in the order the features were visited."""


class Classifier(Protocol):
    def posterior(self, queries: ArrayLike) -> NDArray[np.float64]: ...


def logarithm(probability: float) -> float:
    return log(probability) if probability > 0 else -inf


def normalized(log_joint: Sequence[float]) -> list[float]:
    """P(y | x) of one row; uniform where no class is possible."""
    top = max(log_joint)
    if top == -inf:
        return [1 / len(log_joint)] * len(log_joint)
    shares = [exp(value - top) for value in log_joint]
    return [share / sum(shares) for share in shares]


def predicted(log_joint: Sequence[float]) -> int:
    """The first class within 1e-9 of the largest log joint."""
    top = max(log_joint)
    return next(c for c, value in enumerate(log_joint) if value == top or value >= top - 1e-9)


def row_log_joint(
    data: Data, parents: Sequence[Parents], parameters: Parameters, row: NDArray[np.int64]
) -> list[float]:
    """ln P(y, x) of one row for each class, each class with parents of its own."""
    result = []
    for label, own in enumerate(parents):
        terms = [logarithm(class_probability(data, label))]
        for child, of_child in own.items():
            terms.append(logarithm(conditional(data, child, of_child, row, label, parameters)))
        result.append(sum(terms))
    return result


@dataclass(frozen=True)
class NetworkPerClass:
    """P(y) prod P(x_i | pa_y(x_i), y): the parents depend on the class."""

    data: Data
    parameters: Parameters
    parents: tuple[Parents, ...]  # one for each class

    def log_joint(self, queries: ArrayLike) -> NDArray[np.float64]:
        rows = np.asarray(queries, np.int64)
        found = [row_log_joint(self.data, self.parents, self.parameters, row) for row in rows]
        return np.array(found)

    def posterior(self, queries: ArrayLike) -> NDArray[np.float64]:
        return np.array([normalized(row) for row in self.log_joint(queries)])


@dataclass(frozen=True)
class Network:
    """P(y) prod P(x_i | pa(x_i), y) over the features that `parents` names."""

    data: Data
    parameters: Parameters
    parents: Parents

    def log_joint(self, queries: ArrayLike) -> NDArray[np.float64]:
        alike = (self.parents,) * self.data.n_classes
        return NetworkPerClass(self.data, self.parameters, alike).log_joint(queries)

    def posterior(self, queries: ArrayLike) -> NDArray[np.float64]:
        return np.array([normalized(row) for row in self.log_joint(queries)])


@dataclass(frozen=True)
class AveragedPosteriors:
    """The mean of the members' posteriors: no joint of its own."""

    members: tuple[Classifier, ...]

    def posterior(self, queries: ArrayLike) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = np.mean([m.posterior(queries) for m in self.members], axis=0)
        return mean


def leave_one_out(data: Data, parents: Parents, parameters: Parameters) -> list[tuple[list[float], int, float]]:
    """For each distinct row its log joint learned without it, its class and its weight."""
    alike = (parents,) * data.n_classes
    return [(row_log_joint(rest, alike, parameters, row), label, weight) for rest, row, label, weight in left_out(data)]


def accuracy(data: Data, parents: Parents, parameters: Parameters) -> float:
    """The weighted share of rows that leave-one-out classifies right."""
    scored = leave_one_out(data, parents, parameters)
    right = sum(weight for joint, label, weight in scored if predicted(joint) == label)
    return right / sum(weight for _, _, weight in scored)
