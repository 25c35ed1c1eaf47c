"""Who depends on whom: families, networks, and what a classifier averages over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]  # (rows, features), Fortran order; cardinality = marginalized


class Family(NamedTuple):
    """A feature and its feature-parents, the closest first. The class is a parent of every feature."""

    child: int
    parents: tuple[int, ...] = ()

    @property
    def variables(self) -> tuple[int, ...]:
        """Parents, then child: the order in which a family's table counts its cells."""
        return (*self.parents, self.child)


@dataclass(frozen=True)
class Network:
    """P(y, roots) and one family per other feature. A feature without a family is left out."""

    families: tuple[Family, ...]
    roots: tuple[int, ...] = ()


Averages = Literal["joint", "posterior"]


@dataclass(frozen=True)
class Structure:
    """Weighted networks over the same codes, and whether their joints or their posteriors are averaged."""

    networks: tuple[Network, ...]
    weights: tuple[float, ...]
    averages: Averages = "joint"
    min_count: float = 0.0  # how often the roots of a network must occur for it to count


@dataclass(frozen=True)
class ClassNetworks:
    """One network per class: parents that depend on the class."""

    networks: tuple[Network, ...]


@dataclass(frozen=True)
class ParentSets:
    """Every set of `size` features once the joint parent of all others; joints are averaged."""

    n_features: int
    size: int
    weights: tuple[float, ...]  # one per set, in lexicographic order
    min_count: float = 1.0


def single(families: tuple[Family, ...] | list[Family]) -> Structure:
    """The structure of one network."""
    return Structure((Network(tuple(families)),), (1.0,))


def averaged(networks: list[Network], averages: Averages = "posterior") -> Structure:
    """Equally weighted networks."""
    return Structure(tuple(networks), (1.0 / len(networks),) * len(networks), averages)
