"""Naive Bayes, KDB (Sahami, 1996) and KDF (Duan & Wang, 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from twins.estimation import Parameters
from twins.information import class_order, closest
from twins.model import AveragedPosteriors, Network, Parents
from twins.table import Data


def naive_bayes(data: Data, parameters: Parameters) -> Network:
    return Network(data, parameters, dict.fromkeys(range(data.n_features), ()))


def dependence(data: Data, order: Sequence[int], k: int) -> Parents:
    """Each feature's min(k, visited) closest features among those that come before it."""
    return {feature: closest(data, feature, order[:position])[:k] for position, feature in enumerate(order)}


def kdb(data: Data, parameters: Parameters, k: int, order: Sequence[int] | None = None) -> Network:
    """KDB; `order` replaces the order of descending MI(X_i; y)."""
    visited = class_order(data) if order is None else order
    return Network(data, parameters, dependence(data, visited, k))


def kdf(data: Data, parameters: Parameters, k: int) -> AveragedPosteriors:
    """One KDB for each feature: it comes first, the others follow by descending MI(X_i; y)."""
    order = class_order(data)
    return AveragedPosteriors(
        tuple(
            kdb(data, parameters, k, (first, *(other for other in order if other != first)))
            for first in range(data.n_features)
        )
    )
