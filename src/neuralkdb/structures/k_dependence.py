"""The k closest predecessors of every feature: KDB, and the ensemble of all its starting points, KDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuralkdb.counting import Counts
from neuralkdb.information import class_information, indicator_information, pairwise_information
from neuralkdb.network import ClassNetworks, Family, Floats, Network, Structure, averaged, single


@dataclass(frozen=True)
class KDependence:
    """The `k` most informative predecessors of each feature: KDB (Sahami, 1996)."""

    k: int = 2

    def learn(self, counts: Counts) -> Structure:
        """Features are visited by descending information about the class."""
        order = descending(class_information(counts))
        return single(closest_predecessors(order, pairwise_information(counts), self.k))


@dataclass(frozen=True)
class RotatedKDependence:
    """A KDB for every feature, which it visits first: KDF (Duan & Wang, 2017)."""

    k: int = 2

    def learn(self, counts: Counts) -> Structure:
        """One network per feature; their posteriors are averaged."""
        order, information = descending(class_information(counts)), pairwise_information(counts)
        orders = ([first, *(feature for feature in order if feature != first)] for first in range(len(order)))
        return averaged([Network(tuple(closest_predecessors(each, information, self.k))) for each in orders])


@dataclass(frozen=True)
class KDependencePerClass:
    """A KDB of its own for every class: MNKDB (Khodayari-Samghabadi et al., 2024).

    The network of class c visits features by MI(X_i; 1[y = c]) and draws arcs by MI(X_i; X_j) among the rows of c.
    """

    k: int = 2

    def learn(self, counts: Counts) -> ClassNetworks:
        """One network per class."""
        orders = [descending(information) for information in indicator_information(counts)]
        within = [pairwise_information(counts.of_class(label)) for label in range(counts.n_classes)]
        pairs = zip(orders, within, strict=True)
        return ClassNetworks(tuple(Network(tuple(closest_predecessors(*pair, self.k))) for pair in pairs))


def descending(information: Floats) -> list[int]:
    """Features by descending information, ties by column."""
    return [int(feature) for feature in np.argsort(-information, kind="stable")]


def closest_predecessors(order: Sequence[int], information: Floats, k: int) -> list[Family]:
    """Each feature with the k features visited before it that say most about it, the closest first."""
    families = []
    for position, child in enumerate(order):
        nearest = sorted(order[:position], key=lambda parent: (-information[child, parent], parent))
        families.append(Family(child, tuple(nearest[:k])))
    return families
