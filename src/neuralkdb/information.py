"""How much variables say about each other, in nats, from tables.

Values are rounded to twelve decimals: quantities that are equal in exact arithmetic are ties, and ties
go to the lower column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import Counts, Request
from neuralkdb.network import Family, Floats
from neuralkdb.tables import DenseTable, Table, volume

DECIMALS = 12
PASS_ENTRIES = 2**24  # entries of the dense tables counted in one pass


@dataclass(frozen=True, eq=False)
class KnownInformation:
    """What was known when a model was learned whose tables are not kept: MI(X_i; y), and MI(X_i; X_j | y) of arcs."""

    features: Floats  # (features,)
    arcs: NDArray[np.int64]  # (arcs, 2): child, parent; two features depend on each other once
    of_arcs: Floats  # (arcs,)

    @classmethod
    def of(cls, features: Floats, pairs: Floats, families: Sequence[Family]) -> KnownInformation:
        """That of the arcs of families, out of that of all pairs; of both directions, the first that occurs."""
        first: dict[frozenset[int], tuple[int, int]] = {}
        for child, parents in families:
            for parent in parents:
                first.setdefault(frozenset((child, parent)), (child, parent))
        arcs = np.array(list(first.values()), np.int64).reshape(-1, 2)
        return cls(features, arcs, pairs[arcs[:, 0], arcs[:, 1]])


def mutual_information(table: Table) -> float:
    """MI(X; y) of a table of one feature."""
    joint = table.at(_every_code(table.shape[0]), (0,))
    return _information(joint)


def conditional_mutual_information(table: Table) -> float:
    """MI(X_i; X_j | y) of a table of two features."""
    if isinstance(table, DenseTable):
        return float(np.round(_kernels.dense_information(table.weights), DECIMALS))
    cells, (a, b) = (table.codes, table.starts, table.classes, table.weights), table.shape
    return float(np.round(_kernels.sparse_information(*cells, a, b, table.n_classes), DECIMALS))


def class_information(counts: Counts) -> Floats:
    """MI(X_i; y) of every feature, (features,)."""
    singles = [(feature,) for feature in range(len(counts.cardinalities))]
    return np.array([mutual_information(table) for table in counts.tables(singles)])


def indicator_information(counts: Counts) -> Floats:
    """MI(X_i; 1[y = c]) of every class and feature, (classes, features)."""
    singles = [(feature,) for feature in range(len(counts.cardinalities))]
    joints = [table.at(_every_code(table.shape[0]), (0,)) for table in counts.tables(singles)]
    return np.array(
        [
            [_information(np.stack([joint[:, c], joint.sum(axis=1) - joint[:, c]], axis=1)) for joint in joints]
            for c in range(counts.n_classes)
        ]
    )


def pairwise_information(counts: Counts) -> Floats:
    """MI(X_i; X_j | y) of every two features, (features, features), zero on the diagonal."""
    n_features = len(counts.cardinalities)
    information = np.zeros((n_features, n_features))
    for pairs in _passes(counts, list(combinations(range(n_features), 2))):
        for (i, j), table in zip(pairs, counts.tables(pairs), strict=True):
            information[i, j] = information[j, i] = conditional_mutual_information(table)
    return information


def _information(joint: Floats) -> float:
    """MI of the two sides of a table of weights."""
    total = joint.sum()
    if total == 0:
        return 0.0
    terms = [
        _n_log_n(joint),
        _n_log_n(np.array([total])),
        _n_log_n(joint.sum(axis=0)),
        _n_log_n(joint.sum(axis=1)),
    ]
    return float(np.round((terms[0] + terms[1] - terms[2] - terms[3]) / total, DECIMALS))


def _n_log_n(weights: Floats) -> float:
    occupied = weights[weights > 0]
    return float(np.sum(occupied * np.log(occupied)))


def _every_code(cardinality: int) -> NDArray[np.uint32]:
    return np.arange(cardinality, dtype=np.uint32).reshape(-1, 1, order="F")


def _passes(counts: Counts, requests: Sequence[Request]) -> Iterator[list[Request]]:
    """The requests in batches whose tables together stay small."""
    batch: list[Request] = []
    entries = 0
    for request in requests:
        size = volume([counts.cardinalities[variable] for variable in request], counts.n_classes)
        if batch and entries + size > PASS_ENTRIES:
            yield batch
            batch, entries = [], 0
        batch.append(request)
        entries += size
    if batch:
        yield batch
