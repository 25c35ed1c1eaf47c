"""Structures in the user's words: feature names and class labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import combinations
from typing import Any

from numpy.typing import NDArray

from neuralkdb.network import ClassNetworks, Network, ParentSets, Structure

Parents = dict[str, tuple[str, ...]]


@singledispatch
def describe(structure: Any, names: Sequence[str], labels: NDArray[Any]) -> Any:
    """Who depends on whom, by name."""
    raise NotImplementedError(type(structure).__name__)


@describe.register(Structure)
def _(structure: Structure, names: Sequence[str], labels: NDArray[Any]) -> Parents | tuple[Parents, ...]:
    parents = tuple(_parents(network, names) for network in structure.networks)
    return parents[0] if len(parents) == 1 else parents


@describe.register(ClassNetworks)
def _(structure: ClassNetworks, names: Sequence[str], labels: NDArray[Any]) -> dict[Any, Parents]:
    return {label: _parents(network, names) for label, network in zip(labels, structure.networks, strict=True)}


@describe.register(ParentSets)
def _(structure: ParentSets, names: Sequence[str], labels: NDArray[Any]) -> tuple[Parents, ...]:
    sets = combinations(range(structure.n_features), structure.size)
    return tuple(
        {
            name: () if feature in parents else tuple(names[parent] for parent in parents)
            for feature, name in enumerate(names)
        }
        for parents in sets
    )


def _parents(network: Network, names: Sequence[str]) -> Parents:
    families = {names[family.child]: tuple(names[p] for p in family.parents) for family in network.families}
    return {**{names[root]: () for root in network.roots}, **families}
