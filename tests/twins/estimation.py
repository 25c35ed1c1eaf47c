"""Smoothed probabilities: m-estimate, Laplace, back-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from twins.table import Data


@dataclass(frozen=True)
class Parameters:
    estimate: str = "m"  # "m", "laplace" or "backoff"
    smoothing: float = 1.0


def class_probability(data: Data, label: int) -> float:
    """P(y) = N(y) / N; uniform where nothing is left to count."""
    total = data.weight()
    return data.weight(label=label) / total if total > 0 else 1 / data.n_classes


def marginal(data: Data, child: int, value: int, s: float) -> float:
    """P(x), below every level that knows the class: uniform where there is nothing to count."""
    size, total = data.cardinalities[child], data.weight() + s
    return (data.weight({child: value}) + s / size) / total if total > 0 else 1 / size


def conditional(
    data: Data,
    child: int,
    parents: Sequence[int],
    row: NDArray[np.int64],
    label: int,
    parameters: Parameters,
) -> float:
    """P(x_child | x_parents, label) at the codes of `row`.

    The level before drops the last parent; below the level without parents stands P(x).
    It is what back-off shrinks to, and what 0 / 0 becomes under every estimate.
    """
    s, size, value = parameters.smoothing, data.cardinalities[child], int(row[child])
    context = {parent: int(row[parent]) for parent in parents}
    both, given = data.weight(context | {child: value}, label), data.weight(context, label)

    def before() -> float:
        if not parents:
            return marginal(data, child, value, s)
        return conditional(data, child, parents[:-1], row, label, parameters)

    if given + s == 0:
        return before()
    if parameters.estimate == "backoff":
        return (both + s * before()) / (given + s)
    if parameters.estimate == "laplace":
        return (both + s) / (given + s * size)
    return (both + s / size) / (given + s)


def joint_with_class(
    data: Data, features: Sequence[int], row: NDArray[np.int64], label: int, parameters: Parameters
) -> float:
    """P(label, x_features), class and features smoothed as one variable of V values.

    Back-off has no level below it and smooths like the m-estimate.
    """
    s = parameters.smoothing
    values = data.n_classes * prod(data.cardinalities[feature] for feature in features)
    count = data.weight({feature: int(row[feature]) for feature in features}, label)
    if parameters.estimate == "laplace":
        return (count + s) / (data.weight() + s * values)
    return (count + s / values) / (data.weight() + s)
