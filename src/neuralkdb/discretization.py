"""Cut points of a numeric column, from the weights of its distinct values.

The code of x is the number of cuts that are at most x. A column with no more distinct values than
there are bins keeps one code per value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.summaries import ColumnSummary

Cuts = NDArray[np.float64]  # ascending


class CutPoints(Protocol):
    """A way to cut numbers into intervals."""

    @property
    def needs_classes(self) -> bool:
        """Whether the weights must be told by class."""

    def cuts(self, summary: ColumnSummary, feature: int) -> Cuts:
        """The cuts of feature number `feature`, which has at least one value."""


@dataclass(frozen=True)
class EqualWidth:
    """Intervals of the same width between the lowest and the highest value."""

    n_bins: int = 10
    needs_classes: ClassVar[bool] = False

    def cuts(self, summary: ColumnSummary, feature: int = 0) -> Cuts:
        """`n_bins - 1` cuts, or those between all values."""
        values = summary.values
        if len(values) <= self.n_bins:
            return between(values, np.arange(1, len(values)))
        share = np.arange(1, self.n_bins) / self.n_bins
        # Not lowest + share * (highest - lowest), which overflows.
        return np.unique(values[0] * (1 - share) + values[-1] * share)


@dataclass(frozen=True)
class EqualFrequency:
    """Intervals of the same weight, as far as equal values stay together."""

    n_bins: int = 10
    needs_classes: ClassVar[bool] = False

    def cuts(self, summary: ColumnSummary, feature: int = 0) -> Cuts:
        """At most `n_bins - 1` cuts, or those between all values."""
        if len(summary.values) <= self.n_bins:
            return between(summary.values, np.arange(1, len(summary.values)))
        return quantiles(summary, np.arange(1, self.n_bins) / self.n_bins)


@dataclass(frozen=True)
class MinimumDescriptionLength:
    """Cuts that tell the classes apart and are worth their description (Fayyad & Irani, 1993).

    Quartiles where there are fewer than two such cuts. A column of at most `n_kept` values keeps
    them all.
    """

    n_kept: int = 0
    needs_classes: ClassVar[bool] = True

    def cuts(self, summary: ColumnSummary, feature: int = 0) -> Cuts:
        """As many cuts as the stopping rule accepts."""
        if len(summary.values) <= self.n_kept:
            return between(summary.values, np.arange(1, len(summary.values)))
        positions = _kernels.entropy_cuts(summary.starts, summary.classes, summary.weights, summary.n_classes)
        if len(positions) < 2:
            return EqualFrequency(4).cuts(summary)
        return between(summary.values, positions)


@dataclass(frozen=True)
class RandomBins:
    """Intervals of the same weight, their number drawn from `lowest` to `highest`."""

    lowest: int = 5
    highest: int = 20
    seed: int = 0
    needs_classes: ClassVar[bool] = False

    def cuts(self, summary: ColumnSummary, feature: int = 0) -> Cuts:
        """The cuts of the feature, whichever other features are cut before."""
        n_bins = draws(self.seed, feature).integers(self.lowest, self.highest, endpoint=True)
        return EqualFrequency(int(n_bins)).cuts(summary)


@dataclass(frozen=True)
class RandomQuantiles:
    """Cuts at quantiles drawn uniformly, their number so that there are `lowest` to `highest` bins.

    Intervals are narrow where values are dense, and no two draws agree.
    """

    lowest: int = 5
    highest: int = 20
    seed: int = 0
    needs_classes: ClassVar[bool] = False

    def cuts(self, summary: ColumnSummary, feature: int = 0) -> Cuts:
        """The cuts of the feature, whichever other features are cut before."""
        generator = draws(self.seed, feature)
        n_bins = generator.integers(self.lowest, self.highest, endpoint=True)
        if len(summary.values) <= n_bins:
            return between(summary.values, np.arange(1, len(summary.values)))
        return quantiles(summary, np.sort(generator.random(n_bins - 1)))


def draws(seed: int, feature: int) -> np.random.Generator:
    """Random numbers of one feature of one member of an ensemble."""
    return np.random.default_rng([seed, feature])


def quantiles(summary: ColumnSummary, shares: NDArray[np.float64]) -> Cuts:
    """Cuts with at least these shares of the weight below them, and no more than needed."""
    below = np.cumsum(summary.value_weights)
    # A sum of weights that equals the share but for rounding has reached it.
    positions = np.searchsorted(below, shares * below[-1] * (1 - 1e-12)) + 1
    return between(summary.values, np.unique(positions[positions < len(below)]))


def between(values: NDArray[np.float64], positions: NDArray[np.integer]) -> Cuts:
    """Cuts halfway between the values at these positions and the ones before."""
    lower, upper = values[positions - 1], values[positions]
    halfway = lower / 2 + upper / 2
    # Neighbouring floating-point numbers have nothing between them.
    return np.asarray(np.where(halfway > lower, halfway, upper))
