"""MNKDB: a KDB for each class (after Khodayari-Samghabadi, 2024)."""

from __future__ import annotations

from twins.estimation import Parameters
from twins.information import descending, information_on_class, pair_information
from twins.model import NetworkPerClass, Parents
from twins.table import Data


def class_dependence(data: Data, label: int, k: int) -> Parents:
    """Order by MI(X_i; 1[y = label]), parents by MI(X_i; X_j) among the rows of the class."""
    features = range(data.n_features)
    order = descending(features, {i: information_on_class(data, i, label) for i in features})
    own = data.of_class(label)
    parents: Parents = {}
    for position, child in enumerate(order):
        score = {j: pair_information(own, child, j) for j in order[:position]}
        parents[child] = descending(score, score)[:k]
    return parents


def mnkdb(data: Data, parameters: Parameters, k: int) -> NetworkPerClass:
    parents = tuple(class_dependence(data, label, k) for label in range(data.n_classes))
    return NetworkPerClass(data, parameters, parents)
