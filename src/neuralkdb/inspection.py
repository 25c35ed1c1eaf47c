"""Why a model said so: each prediction as a sum of terms, one per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.network import Floats


@dataclass(frozen=True, eq=False)
class Explanation:
    """The log-odds of every row and class as the sum of what each feature says.

    The log-odds of class y are log P(y | x) minus the mean of log P(y' | x) over the other classes y'; with two
    classes these are the usual log-odds. The first term is that of the class frequencies, the last what averaging
    several networks adds; it is zero for a single network.
    """

    terms: tuple[str, ...]
    classes: NDArray[Any]  # (classes,)
    values: Floats  # (rows, classes, terms)

    @property
    def log_odds(self) -> Floats:
        """The sum of all terms, (rows, classes)."""
        return np.asarray(self.values.sum(axis=2))

    def strongest(self, row: int, label: Any, n: int = 5) -> list[tuple[str, float]]:
        """The terms that say most for or against a class, the strongest first."""
        values = self.values[row, list(self.classes).index(label)]
        order = np.argsort(-np.abs(values), kind="stable")[:n]
        return [(self.terms[term], float(values[term])) for term in order]


def explanation(log_terms: Floats, log_posterior: Floats, names: Sequence[str], classes: NDArray[Any]) -> Explanation:
    """Terms (rows, features + 1, classes) and posteriors (rows, classes) as log-odds."""
    terms, total = against_others(log_terms), against_others(log_posterior)
    residual = total - terms.sum(axis=1)
    values = np.concatenate([terms, residual[:, None]], axis=1).transpose(0, 2, 1)
    return Explanation(("class", *names, "averaging"), classes, values)


def against_others(logs: Floats) -> Floats:
    """Each class minus the mean of the others, along the last axis; with one class, nothing is against it."""
    n_others = logs.shape[-1] - 1
    if n_others == 0:
        return np.zeros_like(logs)
    return np.asarray(logs - (logs.sum(axis=-1, keepdims=True) - logs) / n_others)
