"""Leave-one-out: what a learner that scores rows asks of the estimate it scores with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import CodedRows, Counts
from neuralkdb.network import Codes, Floats
from neuralkdb.tables import Table

TIE = 1e-9  # log joints closer than this are equal
BLOCK_ENTRIES = 2**17  # rows x classes scored at once


class LeaveOneOut(Protocol):
    """Estimates of a family without the row they are for."""

    def leave_one_out(self, table: Table, codes: Codes, classes: NDArray[np.intp], removed: Floats) -> list[Floats]:
        """P with 0, 1, ..., all parents of the table, each row's weight `removed` from its own cells."""


def removed_weights(rows: CodedRows) -> Floats:
    """One of each distinct row is left out, or all of it where it weighs less."""
    return np.minimum(rows.weights, 1.0)


def blocks(counts: Counts) -> Iterator[CodedRows]:
    """The rows, a few at a time."""
    return counts.blocks(max(BLOCK_ENTRIES // counts.n_classes, 64))


def log_prior(counts: Counts, rows: CodedRows) -> Floats:
    """Log P(y) without the row, (rows, classes)."""
    weights = np.tile(counts.class_weights(), (len(rows.classes), 1))
    own = np.arange(len(rows.classes)), rows.classes
    weights[own] = np.maximum(weights[own] - removed_weights(rows), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return log(weights / np.where(total > 0, total, 1.0))


def predicted(log_joint: Floats) -> NDArray[np.intp]:
    """The first class whose log joint is the largest, ties included, (..., rows)."""
    largest = log_joint.max(axis=-1, keepdims=True)
    return np.asarray((log_joint >= np.where(np.isneginf(largest), largest, largest - TIE)).argmax(axis=-1))


def weighted_mean(values: Floats | NDArray[np.bool_], weights: Floats) -> float:
    """Rounded, so that equal scores are ties."""
    return float(np.round(np.sum(values * weights) / np.sum(weights), 12))


def columns_of(rows: CodedRows, variables: Sequence[int]) -> Codes:
    """The codes of a family: parents, then child."""
    return np.asfortranarray(rows.codes[:, list(variables)])


def log(probabilities: Floats) -> Floats:
    """Natural logarithm, -inf at zero."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
