"""Mutual information between two features, or a feature and the class, from weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

from twins.table import Data


def between(a: NDArray[np.int64], b: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """sum P(a, b) ln(P(a, b) / (P(a) P(b))) in nats, unrounded; 0 where there is no weight."""
    total = float(weights.sum())
    information = 0.0
    for u, v in product(np.unique(a), np.unique(b)):
        joint = float(weights[(a == u) & (b == v)].sum())
        if joint > 0:
            left, right = float(weights[a == u].sum()), float(weights[b == v].sum())
            information += joint / total * log(joint * total / (left * right))
    return information


def rounded(information: float) -> float:
    return max(0.0, round(information, 12))


def mutual_information(data: Data, feature: int) -> float:
    """MI(X_i; y)."""
    return rounded(between(data.codes[:, feature], data.y, data.weights))


def information_on_class(data: Data, feature: int, label: int) -> float:
    """MI(X_i; 1[y = label])."""
    own = (data.y == label).astype(np.int64)
    return rounded(between(data.codes[:, feature], own, data.weights))


def pair_information(data: Data, i: int, j: int) -> float:
    """MI(X_i; X_j), whatever the class."""
    return rounded(between(data.codes[:, i], data.codes[:, j], data.weights))


def conditional_mutual_information(data: Data, i: int, j: int) -> float:
    """MI(X_i; X_j | y) = sum over classes of P(y) MI(X_i; X_j) among the rows of y."""
    total = data.weight()
    parts = 0.0
    for label in range(data.n_classes):
        own = data.of_class(label)
        parts += own.weight() / total * between(own.codes[:, i], own.codes[:, j], own.weights)
    return rounded(parts)


def descending(features: Iterable[int], score: Mapping[int, float]) -> tuple[int, ...]:
    """The features by descending score, ties by column order."""
    return tuple(sorted(features, key=lambda feature: (-score[feature], feature)))


def class_order(data: Data) -> tuple[int, ...]:
    """The features by descending MI(X_i; y)."""
    features = range(data.n_features)
    return descending(features, {i: mutual_information(data, i) for i in features})


def closest(data: Data, child: int, features: Iterable[int]) -> tuple[int, ...]:
    """The features by descending MI(X_child; X_j | y)."""
    others = list(features)
    score = {j: conditional_mutual_information(data, child, j) for j in others}
    return descending(others, score)
