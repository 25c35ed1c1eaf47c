"""Counts -> statistics -> model: what a structure asks of the counts, and the model it makes of the answers.

`fit_model` is the library in three lines: counts, structure, parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Any, Protocol

import numpy as np

from neuralkdb.counting import Counts, Request
from neuralkdb.network import ClassNetworks, Family, Floats, Network, Structure
from neuralkdb.network_model import AveragedModel, NetworkModel, PerClassModel, Root
from neuralkdb.parameters.conditional import Block, Conditional, ParameterEstimator
from neuralkdb.tables import Table, dense_limit


class StructureLearner(Protocol):
    """Learns who depends on whom."""

    def learn(self, counts: Counts) -> Any:
        """A structure: any value that `statistics_of` and `model_of` know."""


class Model(Protocol):
    """What is asked of a fitted model."""

    @property
    def has_joint(self) -> bool:
        """Whether `log_joint` is the logarithm of a distribution over rows and classes."""

    def log_joint(self, block: Block) -> Floats:
        """Log P(x, y) of every row, (rows, classes)."""

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""

    def log_terms(self, block: Block) -> Floats:
        """The log joint by feature, the class first, (rows, features + 1, classes); for averages, their mean."""


class Statistics(Protocol):
    """All that a model of a given structure is computed from. Statistics of two tables add up."""

    def __add__(self, other: Any) -> Any:
        """The statistics of both together."""


def fit_model(counts: Counts, learner: StructureLearner, estimator: ParameterEstimator) -> Model:
    """Counts -> structure -> parameters."""
    structure = learner.learn(counts)
    return model_of(structure, statistics_of(structure, counts), estimator)


@singledispatch
def statistics_of(structure: Any, counts: Counts) -> Any:
    """The counts that a model of this structure needs."""
    raise NotImplementedError(type(structure).__name__)


@singledispatch
def model_of(structure: Any, statistics: Any, estimator: ParameterEstimator) -> Model:
    """The model of this structure."""
    raise NotImplementedError(type(structure).__name__)


@dataclass(frozen=True)
class TableStatistics:
    """Class weights and the tables a structure asks for."""

    class_weights: Floats  # (classes,)
    tables: Mapping[Request, Table]

    def __add__(self, other: TableStatistics) -> TableStatistics:
        class_weights = self.class_weights + other.class_weights
        limit = dense_limit(class_weights.sum(), len(self.tables))
        tables = {request: _sum(table, other.tables[request], limit) for request, table in self.tables.items()}
        return TableStatistics(class_weights, tables)

    def __getstate__(self) -> dict[str, Any]:
        """Without tuples as keys, which skops cannot write."""
        return {**vars(self), "tables": tuple(self.tables.items())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({**state, "tables": dict(state["tables"])})


@dataclass(frozen=True)
class ClassStatistics:
    """Class weights and, for every class, the tables its network asks for."""

    class_weights: Floats  # (classes,)
    members: tuple[TableStatistics, ...]

    def __add__(self, other: ClassStatistics) -> ClassStatistics:
        members = tuple(mine + its for mine, its in zip(self.members, other.members, strict=True))
        return ClassStatistics(self.class_weights + other.class_weights, members)


def _sum(one: Table, other: Table, limit: float) -> Table:
    """The sum of two tables whose code books may have grown since, stored as if counted at once."""
    shape = tuple(np.maximum(one.shape, other.shape).tolist())
    return one.resized(shape, limit) + other.resized(shape, limit)


@statistics_of.register(Structure)
def _(structure: Structure, counts: Counts) -> TableStatistics:
    requests = requests_of(structure.networks)
    return TableStatistics(counts.class_weights(), dict(zip(requests, counts.tables(requests), strict=True)))


@statistics_of.register(ClassNetworks)
def _(structure: ClassNetworks, counts: Counts) -> ClassStatistics:
    def of_class(label: int, network: Network) -> TableStatistics:
        mine, requests = counts.of_class(label), requests_of([network])
        return TableStatistics(mine.class_weights(), dict(zip(requests, mine.tables(requests), strict=True)))

    members = tuple(of_class(label, network) for label, network in enumerate(structure.networks))
    return ClassStatistics(counts.class_weights(), members)


@model_of.register(Structure)
def _(structure: Structure, statistics: TableStatistics, estimator: ParameterEstimator) -> Model:
    models = _network_models(structure.networks, statistics, estimator)
    if len(models) == 1:
        return models[0]
    return AveragedModel(models, structure.weights, structure.averages == "joint", structure.min_count)


@model_of.register(ClassNetworks)
def _(structure: ClassNetworks, statistics: ClassStatistics, estimator: ParameterEstimator) -> Model:
    models = tuple(
        _network_models((network,), member, estimator)[0]
        for network, member in zip(structure.networks, statistics.members, strict=True)
    )
    return PerClassModel(statistics.class_weights, models)


def _network_models(
    networks: Sequence[Network], statistics: TableStatistics, estimator: ParameterEstimator
) -> tuple[NetworkModel, ...]:
    families = families_of(networks)
    conditionals = estimator.fit({family: statistics.tables[family.variables] for family in families})
    return tuple(network_model(network, statistics, conditionals, estimator) for network in networks)


def families_of(networks: Sequence[Network]) -> list[Family]:
    """The distinct families, in the order in which they first occur."""
    return list(dict.fromkeys(family for network in networks for family in network.families))


def requests_of(networks: Sequence[Network]) -> list[Request]:
    """The distinct tables that the networks need."""
    roots = [network.roots for network in networks if network.roots]
    return list(dict.fromkeys([*roots, *(family.variables for family in families_of(networks))]))


def network_model(
    network: Network,
    statistics: TableStatistics,
    conditionals: Mapping[Family, Conditional],
    estimator: ParameterEstimator,
) -> NetworkModel:
    """The model of one network, its conditionals chosen from those given."""
    mine = tuple(conditionals[family] for family in network.families)
    if not network.roots:
        return NetworkModel(statistics.class_weights, mine)
    table = statistics.tables[network.roots]
    n_cells = prod(table.shape) * table.n_classes
    return NetworkModel(statistics.class_weights, mine, Root(network.roots, table, estimator.pseudocount(n_cells)))
