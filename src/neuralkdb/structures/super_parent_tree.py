"""The tree that grows while leave-one-out accuracy does: SP-TAN."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import CodedRows, Counts
from neuralkdb.network import Family, Floats, Structure, single
from neuralkdb.structures.scoring import (
    LeaveOneOut,
    leave_one_out_logs,
    log_prior,
    predicted,
    weighted_mean,
)

IMPOSSIBLE = np.log(1e-300)  # stands for log 0, so that gains are finite


@dataclass(frozen=True)
class SuperParentTree:
    """Arcs from super-parents to the orphan each helps most (Keogh & Pazzani, 1999).

    A super-parent is tried as parent of all orphans at once, features without a feature-parent; the root of its own
    tree is no orphan to it. The best one's best single arc is added if it improves leave-one-out accuracy.
    """

    estimate: LeaveOneOut

    def learn(self, counts: Counts) -> Structure:
        """A forest whose arcs were added one at a time."""
        search = _Search(counts, counts.rows(), self.estimate)
        search.run()
        return single([Family(child, parents) for child, parents in enumerate(search.parents)])


@dataclass
class _Search:
    """Log joints of all rows under the arcs so far, and what each super-parent would add to them.

    `gain(p, i)` is what the arc p -> i adds to the log joint of each row, and `sums[p]` the gains of all eligible
    orphans of p. An added arc changes each sum by one gain: either the new child is no orphan any more, or it was the
    root of p's tree and the root of the new parent's tree takes its place.
    """

    counts: Counts
    rows: CodedRows
    estimate: LeaveOneOut
    parents: list[tuple[int, ...]] = field(init=False)
    root: list[int] = field(init=False)

    def __post_init__(self) -> None:
        features = range(len(self.counts.cardinalities))
        self.parents = [() for _ in features]
        self.root = list(features)

    def run(self) -> None:
        """Add arcs while one improves accuracy."""
        features = range(len(self.parents))
        log_joint = self._naive()
        accuracy = self._accuracy(log_joint)
        sums = [sum((self._gain(p, i) for i in self._orphans(p)), np.zeros_like(log_joint)) for p in features]
        while candidates := [p for p in features if self._orphans(p)]:
            parent = max(candidates, key=lambda p: (self._accuracy(log_joint + sums[p]), -p))
            gains = {orphan: self._gain(parent, orphan) for orphan in self._orphans(parent)}
            scores = {orphan: self._accuracy(log_joint + gain) for orphan, gain in gains.items()}
            child = max(gains, key=lambda orphan: (scores[orphan], -orphan))
            if scores[child] <= accuracy:
                return
            accuracy = scores[child]
            log_joint = log_joint + gains[child]
            for p in features:
                sums[p] -= self._gain(p, self.root[parent] if self.root[p] == child else child)
            self._add(parent, child)

    def _add(self, parent: int, child: int) -> None:
        self.parents[child] = (parent,)
        top = self.root[parent]
        self.root = [top if root == child else root for root in self.root]

    def _orphans(self, parent: int) -> list[int]:
        own = (parent, self.root[parent])
        return [i for i, parents in enumerate(self.parents) if not parents and i not in own]

    def _gain(self, parent: int, child: int) -> Floats:
        before, after = self._terms((parent, child))
        return after - before

    def _naive(self) -> Floats:
        features = range(len(self.parents))
        return log_prior(self.counts, self.rows) + sum(self._terms((feature,))[0] for feature in features)

    def _terms(self, variables: tuple[int, ...]) -> list[Floats]:
        """Leave-one-out log-probabilities of a family with 0, 1, ... of its parents."""
        (table,) = self.counts.tables([variables])
        nested = leave_one_out_logs(self.estimate, table, self.rows, variables)
        return [np.maximum(logs, IMPOSSIBLE) for logs in nested]

    def _accuracy(self, log_joint: Floats) -> float:
        right: NDArray[np.bool_] = predicted(log_joint) == self.rows.classes
        return weighted_mean(right, self.rows.weights)
