"""The tree that says most: TAN."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from neuralkdb.counting import Counts
from neuralkdb.information import class_information, pairwise_information
from neuralkdb.network import Family, Floats, Structure, single

Edge = tuple[int, int]


@dataclass(frozen=True)
class Tree:
    """The maximum spanning tree over conditional mutual information (Friedman, Geiger & Goldszmidt, 1997)."""

    def learn(self, counts: Counts) -> Structure:
        """Arcs point away from the feature that says most about the class."""
        edges = maximum_spanning_tree(pairwise_information(counts))
        root = int(np.argmax(class_information(counts)))
        return single(arcs_away_from(root, edges, len(counts.cardinalities)))


def maximum_spanning_tree(information: Floats) -> list[Edge]:
    """Kruskal's tree; of equal edges the lexicographically first is taken."""
    component = list(range(len(information)))
    edges = []
    for i, j in sorted(combinations(component, 2), key=lambda edge: (-information[edge], edge)):
        if component[i] != component[j]:
            edges.append((i, j))
            component = [component[i] if name == component[j] else name for name in component]
    return edges


def arcs_away_from(root: int, edges: list[Edge], n_features: int) -> list[Family]:
    """Each feature with its neighbour on the way to the root as its parent."""
    parents: dict[int, tuple[int, ...]] = {root: ()}
    waiting = deque([root])
    while waiting:
        parent = waiting.popleft()
        for edge in edges:
            if parent in edge and (child := sum(edge) - parent) not in parents:
                parents[child] = (parent,)
                waiting.append(child)
    return [Family(child, parents[child]) for child in range(n_features)]
