"""Leave-one-out: what a learner that scores rows asks of the estimate it scores with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import CodedRows, Counts
from neuralkdb.network import Codes, Floats
from neuralkdb.tables import Table

TIE = 1e-9  # log joints closer than this are equal
BLOCK_ENTRIES = 2**17  # rows x classes scored at once
MANY_CLASSES = 8  # from which on a reduction within each row is the faster one


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


def leave_one_out_logs(estimate: LeaveOneOut, table: Table, rows: CodedRows, variables: Sequence[int]) -> list[Floats]:
    """Log P of a family with 0, 1, ... of its parents, for each row without itself, [(rows, classes), ...].

    Rows alike in family and class have the same probabilities where one of each is left out: these are found once.
    """
    codes, removed = columns_of(rows, variables), removed_weights(rows)
    kinds = _kinds(codes, rows.classes, table) if (removed == 1).all() else None
    if kinds is None:
        return [log(each) for each in estimate.leave_one_out(table, codes, rows.classes, removed)]
    one, of_row = kinds
    nested = estimate.leave_one_out(table, np.asfortranarray(codes[one]), rows.classes[one], removed[one])
    return [log(each).take(of_row, axis=0) for each in nested]


def _kinds(codes: Codes, classes: NDArray[np.intp], table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """A row of each kind, and the number of each row's kind; nothing where kinds may be about as many as rows."""
    shape = (*(size + 1 for size in table.shape), table.n_classes)  # the code after the last is marginalized
    if 2 * math.prod(shape) > len(classes):
        return None
    kind = np.ravel_multi_index((*codes.T, classes), shape)
    one = np.full(math.prod(shape), -1)
    one[kind] = np.arange(len(kind))
    occurs = one >= 0
    return one[occurs], (np.cumsum(occurs) - 1)[kind]


def over_classes(combine: np.ufunc, values: Floats) -> Floats:
    """The sum or the maximum over classes, (..., rows): a class at a time where they are so few that this is faster."""
    if values.shape[-1] >= MANY_CLASSES:
        return np.asarray(combine.reduce(values, axis=-1))
    return np.asarray(reduce(combine, np.moveaxis(values, -1, 0)))


def predicted(log_joint: Floats) -> NDArray[np.intp]:
    """The first class whose log joint is the largest, ties included, (..., rows)."""
    largest = over_classes(np.maximum, log_joint)[..., None]
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
