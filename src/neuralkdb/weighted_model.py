"""Weighted sums of log-conditionals -> posteriors of coded rows; and what several of them say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import CodedRows, Counts
from neuralkdb.network import Codes, Floats
from neuralkdb.network_model import NetworkModel, log_prior, normalized
from neuralkdb.parameters.conditional import Block, Conditional
from neuralkdb.tables import Table
from neuralkdb.weighting import Weighting, Weights, expected_weights, rows_in_room, side_by_side

LEAST_LOG = -50.0  # of a term: without smoothing, or by underflow, some are minus infinity


class LeavesOneOut(Protocol):
    """An estimate of families' probabilities that can leave out a row."""

    def leave_one_out(self, table: Table, codes: Codes, classes: NDArray[np.intp], removed: Floats) -> list[Floats]:
        """P with 0, 1, ..., all parents of the table, each row's weight `removed` from its own cells."""


class Part(Protocol):
    """Log-conditionals of some families."""

    @property
    def children(self) -> tuple[int, ...]:
        """The feature of each term."""

    def add_to(self, log_joint: Floats, codes: Codes, weights: Floats) -> None:
        """Add the weighted terms of every row to `log_joint` (rows, classes); weights are (families, classes)."""

    def only(self, family: int) -> Part:
        """The part with one family."""


class PoolMember(Protocol):
    """Log-odds that are a sum of terms of the features."""

    def add_to(self, log_joint: Floats, block: Block, share: float) -> None:
        """Add a share of the sum to `log_joint` (rows, classes)."""

    def add_terms_to(self, terms: Floats, block: Block, share: float) -> None:
        """Add a share of each feature's terms to `terms` (features + 1, rows, classes), that of the class the first."""


@dataclass(frozen=True, eq=False)
class PlainModel:
    """A network as it is, all weights one."""

    network: NetworkModel

    def add_to(self, log_joint: Floats, block: Block, share: float) -> None:
        """Add a share of the sum to `log_joint` (rows, classes)."""
        log_joint += share * log_prior(self.network.class_weights)
        for conditional in self.network.conditionals:
            log_joint += share * _term(conditional, block, log_joint.shape)

    def add_terms_to(self, terms: Floats, block: Block, share: float) -> None:
        """Add a share of each feature's terms to `terms` (features + 1, rows, classes), that of the class the first."""
        terms[0] += share * log_prior(self.network.class_weights)
        for conditional in self.network.conditionals:
            mine = _term(conditional, block, terms.shape[1:])
            terms[1 + conditional.family.child % (len(terms) - 1)] += share * mine


@dataclass(frozen=True, eq=False)
class WeightedModel:
    """Log-odds as a bias for each class plus a weighted sum over families."""

    parts: tuple[Part, ...]
    weights: Weights

    def add_to(self, log_joint: Floats, block: Block, share: float) -> None:
        """Add a share of the sum to `log_joint` (rows, classes)."""
        log_joint += share * self.weights.bias
        for part, weights in self._weighted():
            part.add_to(log_joint, block.codes, share * weights)

    def add_terms_to(self, terms: Floats, block: Block, share: float) -> None:
        """Add a share of each feature's terms to `terms` (features + 1, rows, classes), the bias the first."""
        terms[0] += share * self.weights.bias
        for part, weights in self._weighted():
            for family, child in enumerate(part.children):
                target = terms[1 + child % (len(terms) - 1)]
                part.only(family).add_to(target, block.codes, share * weights[family : family + 1])

    def _weighted(self) -> list[tuple[Part, Floats]]:
        ends = np.cumsum([len(part.children) for part in self.parts])[:-1]
        return list(zip(self.parts, np.split(self.weights.families, ends), strict=True))


@dataclass(frozen=True, eq=False)
class WeightedNetworkModel:
    """A bias for each class plus the weighted terms of the families of one network."""

    network: NetworkModel
    weights: Weights  # of the network's families
    has_joint = False

    def log_joint(self, block: Block) -> Floats:
        """Log P(y | x) up to a constant of each row, (rows, classes)."""
        return np.asarray(self.log_terms(block).sum(axis=1))

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        return normalized(self.log_joint(block), self.network.class_weights)

    def log_terms(self, block: Block) -> Floats:
        """What the log joint is the sum of: the bias, then each feature, (rows, features + 1, classes)."""
        n_rows, n_features = block.codes.shape
        terms = np.zeros((n_features + 1, n_rows, len(self.weights.bias)))
        terms[0] = self.weights.bias
        for conditional, weights in zip(self.network.conditionals, self.weights.families, strict=True):
            terms[conditional.family.child + 1] = weights * _term(conditional, block, terms.shape[1:])
        return terms.transpose(1, 0, 2)


def weighted_network(model: NetworkModel, counts: Counts, estimate: LeavesOneOut) -> WeightedNetworkModel:
    """The network, its log-conditionals weighted discriminatively by what they are without the row itself."""
    families = [conditional.family for conditional in model.conditionals]
    rows = counts.rows()
    chosen = np.sort(rows_in_room(len(rows.classes), len(families), counts.n_classes, len(rows.classes)))
    rows = CodedRows(rows.codes[chosen], rows.classes[chosen], rows.weights[chosen])
    removed = np.minimum(rows.weights, 1.0)
    terms = [
        estimate.leave_one_out(each.law.table, rows.codes[:, [*each.family.variables]], rows.classes, removed)[-1]
        for each in model.conditionals
    ]
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(np.stack(terms, axis=1)), LEAST_LOG)
    expected = expected_weights([family.child for family in families], model.class_weights)
    return WeightedNetworkModel(model, Weighting().learn(side_by_side(logs), rows, expected, expected))


@dataclass(frozen=True, eq=False)
class Pool:
    """A logarithmic opinion pool: the sum of the members' log-odds, each times its share.

    Codes are those of several encodings of `n_features` features side by side.
    """

    members: tuple[PoolMember, ...]
    shares: tuple[float, ...]
    class_weights: Floats  # (classes,)
    n_features: int
    has_joint = False

    def log_joint(self, block: Block) -> Floats:
        """Log P(y | x) up to a constant of each row, (rows, classes)."""
        total = np.zeros((len(block.codes), len(self.class_weights)))
        for member, share in zip(self.members, self.shares, strict=True):
            member.add_to(total, block, share)
        return total

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        return normalized(self.log_joint(block), self.class_weights)

    def log_terms(self, block: Block) -> Floats:
        """What the log joint is the sum of: the bias, then each feature, (rows, features + 1, classes)."""
        terms = np.zeros((self.n_features + 1, len(block.codes), len(self.class_weights)))
        for member, share in zip(self.members, self.shares, strict=True):
            member.add_terms_to(terms, block, share)
        return terms.transpose(1, 0, 2)


def _term(conditional: Conditional, block: Block, shape: tuple[int, ...]) -> Floats:
    """Log P(child | parents, class) of every row, (rows, classes), and never minus infinity."""
    term = np.zeros(shape)
    conditional.add_to(term, block)
    return np.maximum(term, LEAST_LOG)
