"""Networks with their conditionals -> log joint and posteriors of coded rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from neuralkdb.network import Codes, Floats
from neuralkdb.parameters.conditional import Block, Conditional
from neuralkdb.tables import Table


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
