"""SKDB (Martínez, Webb, Chen & Zaidi, 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt

from twins.estimation import Parameters
from twins.information import class_order
from twins.kdb import dependence
from twins.model import Network, Parents, leave_one_out, normalized, predicted
from twins.table import Data


def nested(parents: Parents, n_features: int, k: int) -> Parents:
    """The first features visited, each with its first k parents."""
    return {feature: parents[feature][:k] for feature in list(parents)[:n_features]}


def loss(data: Data, parents: Parents, parameters: Parameters, loss_name: str) -> float:
    """Leave-one-out "rmse" of the true class's probability, or share of "zero_one" errors."""
    scored = leave_one_out(data, parents, parameters)
    total = sum(weight for _, _, weight in scored)
    if loss_name == "zero_one":
        return sum(w for joint, label, w in scored if predicted(joint) != label) / total
    squares = [w * (1 - normalized(joint)[label]) ** 2 for joint, label, w in scored]
    return sqrt(sum(squares) / total)


def scores(
    data: Data,
    parameters: Parameters,
    k: int,
    loss_name: str = "rmse",
    order: Sequence[int] | None = None,
) -> dict[tuple[int, int], float]:
    """The loss of every (features s = 1..m, parents k' = 0..k), rounded to 12 decimals."""
    parents = dependence(data, class_order(data) if order is None else order, k)
    return {
        (size, few): round(loss(data, nested(parents, size, few), parameters, loss_name), 12)
        for size, few in product(range(1, data.n_features + 1), range(k + 1))
    }


def chosen_among(losses: dict[tuple[int, int], float]) -> tuple[int, int]:
    """The (features, k') of lowest loss; ties: fewest features, then smallest k'."""
    return min(losses, key=lambda size_and_k: (losses[size_and_k], size_and_k))


def skdb(
    data: Data,
    parameters: Parameters,
    k: int,
    loss_name: str = "rmse",
    order: Sequence[int] | None = None,
) -> tuple[Network, tuple[int, int]]:
    """The network of lowest loss and its (features, k').

    With `order` it is a member of ESKDB, on the member's own codes.
    """
    chosen = chosen_among(scores(data, parameters, k, loss_name, order))
    parents = dependence(data, class_order(data) if order is None else order, k)
    return Network(data, parameters, nested(parents, *chosen)), chosen
