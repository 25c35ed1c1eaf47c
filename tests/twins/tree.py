"""TAN (Friedman, Geiger & Goldszmidt, 1997)."""

from __future__ import annotations

from itertools import combinations

from twins.estimation import Parameters
from twins.information import class_order, conditional_mutual_information
from twins.model import Network, Parents
from twins.table import Data

Edges = list[tuple[int, int]]


def connected(edges: Edges, start: int) -> set[int]:
    """The features that can be reached from one of them."""
    reached = {start}
    while grown := {v for edge in edges for v in edge if set(edge) & reached} - reached:
        reached |= grown
    return reached


def spanning_tree(data: Data) -> Edges:
    """Kruskal: the pairs by descending MI(X_i; X_j | y), each that joins two parts."""
    pairs = combinations(range(data.n_features), 2)
    edges: Edges = []
    for pair in sorted(pairs, key=lambda ij: (-conditional_mutual_information(data, *ij), ij)):
        if pair[1] not in connected(edges, pair[0]):
            edges.append(pair)
    return edges


def directed(edges: Edges, root: int) -> Parents:
    """Every edge points away from the root."""
    parents: Parents = {root: ()}
    waiting = [root]
    while waiting:
        parent = waiting.pop(0)
        ends = sorted(sum(edge) - parent for edge in edges if parent in edge)
        for child in (end for end in ends if end not in parents):
            parents[child] = (parent,)
            waiting.append(child)
    return parents


def tan(data: Data, parameters: Parameters) -> Network:
    return Network(data, parameters, directed(spanning_tree(data), class_order(data)[0]))
