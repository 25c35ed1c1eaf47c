"""A fitted model: class weights and conditionals -> log joint and posteriors of coded rows.

`fit_model` is the library in three lines: counts, structure, parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import Counts, Request
from neuralkdb.network import ClassNetworks, Codes, Family, Floats, Network, Structure
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


@dataclass(frozen=True)
class Root:
    """P(y, roots), smoothed as one variable."""

    features: tuple[int, ...]
    table: Table
    pseudocount: float  # of each cell

    def log_probability(self, codes: Codes) -> Floats:
        """Log P(y, roots) of every row, (rows, classes); that of a cell never seen where a root is marginalized."""
        n_cells = prod(self.table.shape) * self.table.n_classes
        weights, total = self.table.at(codes, self.features), self.table.weights.sum() + self.pseudocount * n_cells
        return _log((weights + self.pseudocount) / (total if total > 0 else 1.0))

    def occurs(self, block: Block, min_count: float) -> NDArray[np.bool_]:
        """Whether the value of the roots is known and was seen at least `min_count` times, (rows,)."""
        known = np.all(block.codes[:, list(self.features)] != np.array(self.table.shape), axis=1)
        seen = self.table.at(block.codes, self.features).sum(axis=1)
        return np.asarray(known & (seen >= min_count))


@dataclass(frozen=True)
class NetworkModel:
    """log P(y) + sum of the terms of the families."""

    class_weights: Floats  # (classes,)
    conditionals: tuple[Conditional, ...]
    root: Root | None = None
    has_joint = True

    def log_joint(self, block: Block) -> Floats:
        """Log P(x, y) of every row, (rows, classes)."""
        log_joint = self._log_root(block)
        for conditional in self.conditionals:
            conditional.add_to(log_joint, block)
        return log_joint

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        return normalized(self.log_joint(block), self.class_weights)

    def log_terms(self, block: Block) -> Floats:
        """What the log joint is the sum of: the class and root, then each feature, (rows, features + 1, classes)."""
        n_rows, n_features = block.codes.shape
        terms = np.zeros((n_features + 1, n_rows, len(self.class_weights)))
        terms[0] = self._log_root(block)
        for conditional in self.conditionals:
            conditional.add_to(terms[conditional.family.child + 1], block)
        return terms.transpose(1, 0, 2)

    def occurs(self, block: Block, min_count: float) -> NDArray[np.bool_]:
        """Whether the value of the roots is known and was seen at least `min_count` times, (rows,)."""
        if self.root is None:
            return np.ones(len(block.codes), bool)
        return self.root.occurs(block, min_count)

    def _log_root(self, block: Block) -> Floats:
        if self.root is not None:
            return self.root.log_probability(block.codes)
        return np.tile(log_prior(self.class_weights), (len(block.codes), 1))


@dataclass(frozen=True)
class AveragedModel:
    """The weighted mean of the joints, or of the posteriors, of several networks over the same codes.

    A network with roots counts for a row only where their value occurs; a row for which none counts is left to the
    networks without roots.
    """

    models: tuple[NetworkModel, ...]
    weights: tuple[float, ...]
    has_joint: bool
    min_count: float = 0.0

    def log_joint(self, block: Block) -> Floats:
        """Log P(x, y) of every row, (rows, classes)."""
        return self._mean((model.log_joint(block) for model in self.models), block)

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        if self.has_joint:
            return normalized(self.log_joint(block), self.models[0].class_weights)
        return self._mean((model.log_posterior(block) for model in self.models), block)

    def log_terms(self, block: Block) -> Floats:
        """The weighted mean of the terms of the networks, (rows, features + 1, classes)."""
        weights = self._row_weights(block)
        shares = (weights / weights.sum(axis=0))[..., None, None]
        pairs = zip(self.models, shares, strict=True)
        return np.asarray(sum(share * model.log_terms(block) for model, share in pairs))

    def _mean(self, logs: Iterable[Floats], block: Block) -> Floats:
        weights = self._row_weights(block)
        mean: Floats = np.full((len(block.codes), len(self.models[0].class_weights)), -np.inf)
        for log, weight in zip(logs, _log(weights / weights.sum(axis=0)), strict=True):
            mean = np.logaddexp(mean, log + weight[:, None])
        return mean

    def _row_weights(self, block: Block) -> Floats:
        """Weight of each model for each row, (models, rows)."""
        occurs = [model.occurs(block, self.min_count) for model in self.models]
        weights = np.array(self.weights)[:, None] * np.array(occurs)
        rooted = np.array([model.root is not None for model in self.models])
        if rooted.any():
            weights[~rooted] *= weights[rooted].sum(axis=0) == 0
        return weights


@dataclass(frozen=True)
class PerClassModel:
    """log P(y) + log P(x | y) by the network of the class."""

    class_weights: Floats  # (classes,)
    models: tuple[NetworkModel, ...]  # each of one class
    has_joint = True

    def log_joint(self, block: Block) -> Floats:
        """Log P(x, y) of every row, (rows, classes)."""
        terms = [model.log_joint(block)[:, 0] for model in self.models]
        return np.stack(terms, axis=1) + log_prior(self.class_weights)

    def log_terms(self, block: Block) -> Floats:
        """What the log joint is the sum of: the class, then each feature, (rows, features + 1, classes)."""
        terms = np.concatenate([model.log_terms(block) for model in self.models], axis=2)
        terms[:, 0] += log_prior(self.class_weights)
        return terms

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        return normalized(self.log_joint(block), self.class_weights)


def normalized(log_joint: Floats, class_weights: Floats) -> Floats:
    """Log P(y | x); the prior where every class is impossible."""
    largest = log_joint.max(axis=1, keepdims=True)
    impossible = np.isneginf(largest[:, 0])
    if impossible.any():
        log_joint = log_joint.copy()
        log_joint[impossible] = log_prior(class_weights)
        largest = log_joint.max(axis=1, keepdims=True)
    shifted = log_joint - largest
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def log_prior(class_weights: Floats) -> Floats:
    """Log N(y) / N, (classes,); uniform where nothing was counted."""
    total = class_weights.sum()
    return _log(class_weights / total if total > 0 else np.full(len(class_weights), 1.0 / len(class_weights)))


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(values)
