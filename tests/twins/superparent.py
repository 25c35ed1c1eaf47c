"""SP-TAN (Keogh & Pazzani, 1999)."""

from __future__ import annotations

from collections.abc import Iterable

from twins.estimation import Parameters
from twins.model import Network, Parents, accuracy
from twins.table import Data


def root(parents: Parents, feature: int) -> int:
    """The orphan at the top of the feature's own tree."""
    while parents[feature]:
        feature = parents[feature][0]
    return feature


def eligible_orphans(parents: Parents, super_parent: int) -> list[int]:
    """Features without a parent that `super_parent` may take: not itself, not its own root."""
    own = root(parents, super_parent)
    return [f for f, of_f in parents.items() if not of_f and f not in (super_parent, own)]


def with_arcs(parents: Parents, parent: int, children: Iterable[int]) -> Parents:
    return parents | dict.fromkeys(children, (parent,))


def best(scored: dict[int, float]) -> int:
    """The feature of highest accuracy, ties by column order."""
    return min(scored, key=lambda feature: (-round(scored[feature], 12), feature))


def sptan(data: Data, parameters: Parameters) -> Network:
    parents: Parents = dict.fromkeys(range(data.n_features), ())
    current = accuracy(data, parents, parameters)
    while open_to := {p: o for p in parents if (o := eligible_orphans(parents, p))}:
        as_super = {p: with_arcs(parents, p, orphans) for p, orphans in open_to.items()}
        chosen = best({p: accuracy(data, arcs, parameters) for p, arcs in as_super.items()})
        single = {o: with_arcs(parents, chosen, [o]) for o in open_to[chosen]}
        reached = {o: accuracy(data, arcs, parameters) for o, arcs in single.items()}
        orphan = best(reached)
        if reached[orphan] <= current + 1e-12:
            break
        parents, current = single[orphan], reached[orphan]
    return Network(data, parameters, parents)
