"""Discriminative weights: how much each log-conditional counts for each class, learned on leave-one-out estimates.

    log P(y | x) = bias_y + sum over families f of weight_fy log P(x_f | parents, y) - log of the sum over classes

A term of a training row comes from counts without that row: a model that has seen the row would find its own
conditionals too good, and weigh them too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from neuralkdb import _kernels
from neuralkdb.counting import CodedRows
from neuralkdb.network import Floats

LANES = 16  # rows that stand side by side in terms
MOST_TERMS = 2**25  # held in memory at once
Terms = NDArray[np.float32]  # (blocks of LANES rows, families, classes, LANES)


class Fitted(Protocol):
    """Estimates that can leave out a row they were made from."""

    @property
    def n_terms(self) -> int:
        """How many families there are."""

    def leave_one_out(self, rows: CodedRows, removed: Floats, terms: Terms, first: int) -> None:
        """Write the terms of every row, `removed` of its weight left out of its own class, from family `first` on."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each family for each class, and a bias for each class."""

    families: Floats  # (families, classes)
    bias: Floats  # (classes,)

    @property
    def flat(self) -> Floats:
        """All numbers, the bias last."""
        return np.append(self.families, self.bias)


@dataclass(frozen=True)
class Weighting:
    """Weights that minimize the log-loss, pulled to the family's mean weight, and that to what is expected of it."""

    pull: float = 3.0
    pull_of_bias: float = 0.1
    n_steps: int = 60

    def learn(
        self, terms: Terms, rows: CodedRows, expected: Weights, start: Weights, n_steps: int | None = None
    ) -> Weights:
        """The weights of rows with these terms, searched from `start`."""
        classes, shape = rows.classes.astype(np.uint32), expected.families.shape

        def objective(flat: Floats) -> tuple[float, Floats]:
            loss, slope = _kernels.weighted_loss(terms, classes, rows.weights, flat)
            penalty, its_slope = self.penalty(flat, expected)
            return loss + penalty, slope + its_slope

        options = {"maxiter": n_steps or self.n_steps, "ftol": 1e-6, "gtol": 1e-4}
        flat = minimize(objective, start.flat, jac=True, method="L-BFGS-B", options=options).x
        return Weights(flat[: -shape[1]].reshape(shape), flat[-shape[1] :])

    def penalty(self, flat: Floats, expected: Weights) -> tuple[float, Floats]:
        """The pull on weights and biases, and its gradient.

        The mean weight v of a family is where pull / 2 (sum of (w - v)^2 + (v - expected)^2) is least.
        """
        n_classes, prior = len(expected.bias), expected.families[:, :1]
        weights, bias = flat[:-n_classes].reshape(-1, n_classes), flat[-n_classes:] - expected.bias
        mean = (weights.sum(axis=1, keepdims=True) + prior) / (n_classes + 1.0)
        away = weights - mean
        penalty = self.pull / 2 * ((away**2).sum() + ((mean - prior) ** 2).sum())
        penalty += self.pull_of_bias / 2 * (bias @ bias)
        return float(penalty), np.append(self.pull * away, self.pull_of_bias * bias)


def expected_weights(features: Sequence[int], class_weights: Floats) -> Weights:
    """The terms of a feature share one, and the bias is the logarithm of the classes' shares."""
    _, position, counts = np.unique(features, return_inverse=True, return_counts=True)
    shares = 1.0 / counts[position]
    return Weights(np.repeat(shares[:, None], len(class_weights), axis=1), log_shares(class_weights))


def log_shares(class_weights: Floats) -> Floats:
    """Logarithm of the share of each class, one row added to each."""
    return np.asarray(np.log((class_weights + 1.0) / (class_weights.sum() + len(class_weights))))


def side_by_side(values: Floats) -> Terms:
    """Terms of (rows, families, classes) as kernels read them; rows that are not there are zero."""
    n_rows, *shape = values.shape
    padded = np.zeros((-(-n_rows // LANES) * LANES, *shape), np.float32)
    padded[:n_rows] = values
    return np.ascontiguousarray(padded.reshape(-1, LANES, *shape).transpose(0, 2, 3, 1))


def rows_in_room(n_rows: int, n_terms: int, n_classes: int, seed: int | list[int]) -> NDArray[np.intp]:
    """The rows whose terms are held at once, in random order: all, unless they have no room."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return order[: max(MOST_TERMS // (n_terms * n_classes), 256)]


def leave_one_out_terms(parts: Sequence[Fitted], rows: CodedRows, n_classes: int) -> Terms:
    """The terms of all families of all parts."""
    n_blocks, n_terms = -(-len(rows.classes) // LANES), sum(part.n_terms for part in parts)
    terms = np.zeros((n_blocks, n_terms, n_classes, LANES), np.float32)
    removed, first = np.minimum(rows.weights, 1.0), 0
    for part in parts:
        part.leave_one_out(rows, removed, terms, first)
        first += part.n_terms
    return terms


def log_posteriors(terms: Terms, weights: Weights, n_rows: int) -> Floats:
    """Log P(y | x) of the rows with these terms, (rows, classes)."""
    posteriors = _kernels.weighted_posteriors(terms, weights.flat, n_rows)
    return np.asarray(np.log(np.maximum(posteriors.astype(float), 1e-30)))


def best_shares(
    log_posteriors: Sequence[Floats], rows: CodedRows, prior: Floats, corrections: Sequence[Floats] = ()
) -> Floats:
    """What to multiply log-posteriors and corrections by before they are added, for the least log-loss on rows.

    As by ten rows, shares of log-posteriors are pulled to the prior, their sum to one, those of corrections to zero.
    """
    stacked, own = np.stack([*log_posteriors, *corrections]), (np.arange(len(rows.classes)), rows.classes)
    is_posterior = np.arange(len(stacked)) < len(prior)
    start = np.append(prior, np.zeros(len(corrections)))

    def objective(shares: Floats) -> tuple[float, Floats]:
        logits = np.tensordot(shares, stacked, 1)
        logits -= logits.max(axis=1, keepdims=True)
        probabilities = np.exp(logits)
        total = probabilities.sum(axis=1, keepdims=True)
        probabilities /= total
        loss = rows.weights @ (np.log(total[:, 0]) - logits[own])
        probabilities[own] -= 1.0
        slope = np.einsum("src,rc->s", stacked, probabilities * rows.weights[:, None])
        away, excess = shares - start, shares @ is_posterior - 1.0
        penalty = 10.0 * (away @ away + excess**2)
        return float(loss + penalty), slope + 20.0 * (away + excess * is_posterior)

    bounds = [(0.0, 4.0)] * len(start)
    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
