"""Every set of n features once the parent of all others: AODE, WAODE, AnDE."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from neuralkdb.counting import Counts
from neuralkdb.information import class_information, pairwise_information
from neuralkdb.network import Family, Network, ParentSets, Structure
from neuralkdb.tables import volume

MOST_CELLS = 2**32


@dataclass(frozen=True)
class SuperParents:
    """All sets of `n` features in turn joint parents of the rest (Webb, Boughton & Wang, 2005; Webb et al., 2012).

    With `weighted`, a feature's network weighs MI(X_p; y): WAODE (Jiang, Zhang, Cai & Wang, 2012).
    """

    n: int = 1
    weighted: bool = False
    min_count: float = 1.0

    def learn(self, counts: Counts) -> ParentSets | Structure:
        """Packed sets, or networks one by one where a family has more cells than a packed one can number."""
        largest = sorted(counts.cardinalities)[-self.n - 1 :]
        if volume(largest, counts.n_classes) >= MOST_CELLS:
            return ExpandedSuperParents(self).learn(counts)
        return self.packed(counts)

    def packed(self, counts: Counts) -> ParentSets:
        """As many sets as there are; `n` is at most the number of features."""
        n_features = len(counts.cardinalities)
        size = min(self.n, n_features)
        sets = list(combinations(range(n_features), size))
        weights = class_information(counts) if self.weighted and size == 1 else np.ones(len(sets))
        if not weights.any():
            weights = np.ones(len(sets))
        return ParentSets(n_features, size, tuple((weights / weights.sum()).tolist()), self.min_count)


@dataclass(frozen=True)
class ExpandedSuperParents:
    """The same as networks with roots, for parameters that share nothing between the roles of a table."""

    sets: SuperParents

    def learn(self, counts: Counts) -> Structure:
        """One network per set, and naive Bayes for rows whose values none of the roots was seen with."""
        packed, information = self.sets.packed(counts), pairwise_information(counts)
        features = range(packed.n_features)

        def family(child: int, roots: tuple[int, ...]) -> Family:
            closest = sorted(roots, key=lambda root: (-information[child, root], root))
            return Family(child, tuple(closest))

        networks = [
            Network(tuple(family(child, roots) for child in features if child not in roots), roots)
            for roots in combinations(features, packed.size)
        ]
        last_resort = Network(tuple(Family(child) for child in features))
        return Structure((*networks, last_resort), (*packed.weights, 1.0), "joint", packed.min_count)
