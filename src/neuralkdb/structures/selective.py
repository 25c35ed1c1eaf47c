"""The part of a KDB that predicts best without the row it predicts: SKDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from neuralkdb import _kernels
from neuralkdb.counting import CodedRows, Counts
from neuralkdb.information import class_information, pairwise_information
from neuralkdb.network import Family, Floats, Structure, single
from neuralkdb.structures.k_dependence import closest_predecessors, descending
from neuralkdb.structures.scoring import (
    LeaveOneOut,
    blocks,
    leave_one_out_logs,
    log_prior,
    predicted,
)
from neuralkdb.tables import Table

Loss = Literal["rmse", "zero_one"]


@dataclass(frozen=True)
class SelectiveKDependence:
    """The first s features with the first k' parents each, s and k' chosen by leave-one-out (Martinez et al., 2016).

    Every pair (s, k') is scored in one pass over the rows; of equal ones the fewest features win, then the fewest
    parents.
    """

    estimate: LeaveOneOut
    k: int = 5
    loss: Loss = "rmse"
    order: Callable[[Floats], list[int]] = descending

    def learn(self, counts: Counts) -> Structure:
        """The selected features of a KDB of order `k`, with their selected parents."""
        order = self.order(class_information(counts))
        families = closest_predecessors(order, pairwise_information(counts), self.k)
        losses = self.losses(counts, families)
        n_features, k = np.unravel_index(losses.argmin(), losses.shape)
        return single([Family(child, parents[:k]) for child, parents in families[: n_features + 1]])

    def losses(self, counts: Counts, families: Sequence[Family]) -> Floats:
        """Leave-one-out loss of the first 1, 2, ... features with up to 0, 1, ... parents, (features, k + 1)."""
        tables = counts.tables([family.variables for family in families])
        total, weight = np.zeros(()), 0.0
        for rows in blocks(counts):
            total = total + self._block_losses(counts, families, tables, rows)
            weight += float(rows.weights.sum())
        losses: Floats = total / weight
        return np.round(np.sqrt(losses) if self.loss == "rmse" else losses, 12)

    def _block_losses(
        self, counts: Counts, families: Sequence[Family], tables: Sequence[Table], rows: CodedRows
    ) -> Floats:
        depth = max(len(family.parents) for family in families) + 1
        log_joint = np.repeat(log_prior(counts, rows)[None], depth, axis=0)
        losses = np.empty((len(families), depth))
        for number, (family, table) in enumerate(zip(families, tables, strict=True)):
            terms = leave_one_out_logs(self.estimate, table, rows, family.variables)
            for k in range(depth):
                log_joint[k] += terms[min(k, len(terms) - 1)]
            losses[number] = LOSSES[self.loss](log_joint, rows)
        return losses


def _squared_error(log_joint: Floats, rows: CodedRows) -> Floats:
    """The sum of (1 - P(y | x))^2, (models,); where every class is impossible P is uniform."""
    return _kernels.squared_errors(log_joint, rows.classes.astype(np.uint32), rows.weights)


def _zero_one(log_joint: Floats, rows: CodedRows) -> Floats:
    return np.asarray((predicted(log_joint) != rows.classes) @ rows.weights, float)


LOSSES: dict[str, Callable[[Floats, CodedRows], Floats]] = {
    "rmse": _squared_error,
    "zero_one": _zero_one,
}
