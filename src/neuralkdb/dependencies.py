"""What depends on what, and how strongly: the arcs of a fitted classifier in nats, from its own tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neuralkdb.counting import PackedCounts, Request
from neuralkdb.information import KnownInformation, conditional_mutual_information, mutual_information
from neuralkdb.model import ClassStatistics, TableStatistics
from neuralkdb.parent_set_model import ParentSetStatistics
from neuralkdb.tables import DenseTable, Table

Arc = tuple[int, int]  # child, parent
Key = TypeVar("Key")


class Dependency(NamedTuple):
    """What a feature says about the class (no parent), or about its parent where the class is known; in nats."""

    child: str
    parent: str | None
    information: float


class Strengths(NamedTuple):
    """In nats, by number of feature: MI(X_i; y), and MI(X_i; X_j | y) of arcs."""

    features: dict[int, float]
    arcs: dict[Arc, float]


def dependencies(classifier: Any) -> list[Dependency]:
    """All that a fitted classifier makes use of, the strongest first; averaged over the members of an ensemble.

    Parameters
    ----------
    classifier : classifier of this library
        A fitted one.

    Returns
    -------
    dependencies : list of Dependency
        MI(child; class) of every feature and MI(child; parent | class) of every arc.
    """
    check_is_fitted(classifier)
    names, found = classifier._names, mean_strengths(classifier.members_)
    features = [Dependency(names[child], None, nats) for child, nats in found.features.items()]
    arcs = [Dependency(names[child], names[parent], nats) for (child, parent), nats in found.arcs.items()]
    return sorted(features + arcs, key=lambda each: -each.information)


def mean_strengths(members: Any) -> Strengths:
    """The weighted mean over the members; what a member does not make use of is zero in it."""
    total = sum(member.weight for member in members)
    parts = [(member.weight / total, strengths(member.statistics)) for member in members]
    return Strengths(_mean((w, part.features) for w, part in parts), _mean((w, part.arcs) for w, part in parts))


def _mean(parts: Iterable[tuple[float, dict[Key, float]]]) -> dict[Key, float]:
    mean: dict[Key, float] = {}
    for share, part in parts:
        for key, nats in part.items():
            mean[key] = mean.get(key, 0.0) + share * nats
    return mean


@singledispatch
def strengths(statistics: Any) -> Strengths:
    """The dependencies in the tables of one member; none where there are no tables."""
    return Strengths({}, {})


@strengths.register(TableStatistics)
def _(statistics: TableStatistics) -> Strengths:
    return _of_tables(statistics.tables)


@strengths.register(ClassStatistics)
def _(statistics: ClassStatistics) -> Strengths:
    """MI(X_i; X_j) within a class, averaged over the classes; what a feature says of the class is in no table."""
    shares = (statistics.class_weights / max(float(statistics.class_weights.sum()), 1e-300)).tolist()
    arcs = [_of_tables(member.tables).arcs for member in statistics.members]
    return Strengths(_of_classes(statistics), _mean(zip(shares, arcs, strict=True)))


@strengths.register(ParentSetStatistics)
def _(statistics: ParentSetStatistics) -> Strengths:
    """Every two features depend on each other, where pairs are what is counted."""
    singles = _of_tables(statistics.last_resort.tables)
    pairs = dict(_pairs(statistics.families)) if statistics.families.size == 2 else {}
    return Strengths(singles.features, {arc: conditional_mutual_information(table) for arc, table in pairs.items()})


@strengths.register(KnownInformation)
def _(statistics: KnownInformation) -> Strengths:
    arcs = zip(map(tuple, statistics.arcs.tolist()), statistics.of_arcs.tolist(), strict=True)
    return Strengths(dict(enumerate(statistics.features.tolist())), dict(arcs))


def _of_tables(tables: Mapping[Request, Table]) -> Strengths:
    features: dict[int, float] = {}
    arcs: dict[Arc, float] = {}
    for request, table in tables.items():
        *parents, child = range(len(request))
        if request[child] not in features or not parents:
            features[request[child]] = mutual_information(table.marginal((child,)))
        for parent in parents:
            pair = table.marginal((parent, child))
            arcs[request[child], request[parent]] = conditional_mutual_information(pair)
    return Strengths(features, arcs)


def _of_classes(statistics: ClassStatistics) -> dict[int, float]:
    """MI(X_i; y) of features that every class has counted, whose counts by class side by side are one table."""
    counts: dict[int, list[Any]] = {}
    for member in statistics.members:
        for request, table in member.tables.items():
            last = table.marginal((len(request) - 1,))
            counts.setdefault(request[-1], []).append(last.at(_every_code(last.shape[0]), (0,))[:, 0])
    whole = {feature: columns for feature, columns in counts.items() if len(columns) == len(statistics.members)}
    return {feature: mutual_information(DenseTable(np.stack(columns, axis=1))) for feature, columns in whole.items()}


def _every_code(cardinality: int) -> Any:
    return np.arange(cardinality, dtype=np.uint32).reshape(-1, 1, order="F")


def _pairs(counts: PackedCounts) -> Iterator[tuple[Arc, Table]]:
    """The table of every two features."""
    starts, dense, sparse_starts, keys, sparse = counts.parts
    for number, (one, other) in enumerate(combinations(range(len(counts.cardinalities)), 2)):
        shape = (counts.cardinalities[one], counts.cardinalities[other])
        weights = np.zeros(shape[0] * shape[1] * counts.n_classes)
        stored = dense[starts[number] : starts[number + 1]]
        weights[: len(stored)] = stored
        part = slice(sparse_starts[number], sparse_starts[number + 1])
        weights[keys[part]] += sparse[part]
        yield (other, one), DenseTable(weights.reshape(*shape, counts.n_classes))
