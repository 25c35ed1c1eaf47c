"""Several discretizations of one table side by side, and the numbers that were cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from neuralkdb.coders import Intervals
from neuralkdb.discretization import CutPoints, EqualFrequency
from neuralkdb.encoding import SideBySide, encoding_of
from neuralkdb.parameters.regressions import Numbers
from neuralkdb.summaries import ColumnSummary

FINE = EqualFrequency(1000)  # so narrow that the mean of an interval stands for its numbers
LARGEST_SCORE = 1e6  # of a number that weighs next to nothing
FEWEST_VALUES = 5  # fewer numbers than this are hardly more than categories


@dataclass(frozen=True, eq=False)
class Views:
    """The views that members look at, and the fine one behind them that numbers are read from."""

    encoding: SideBySide
    normal_scores: Numbers
    standard_scores: Numbers

    @classmethod
    def learn(
        cls, names: Sequence[str], summaries: Sequence[ColumnSummary], cut_points: Sequence[CutPoints], missing: str
    ) -> Views:
        """A view for each way to cut."""
        views = [encoding_of(names, summaries, cut_points=cuts, missing=missing) for cuts in (*cut_points, FINE)]
        encoding = SideBySide(tuple(coder for view in views for coder in view.coders), missing, len(names))
        fine, first = views[-1], len(cut_points) * len(names)
        cut = {j: coder for j, coder in enumerate(fine.coders) if isinstance(coder, Intervals)}
        numbers = {j: coder for j, coder in cut.items() if coder.n_intervals >= FEWEST_VALUES}
        features = tuple(first + j for j in numbers)
        pairs = [_scores(coder, summaries[j]) for j, coder in numbers.items()]
        scores = [Numbers(features, tuple(pair[kind] for pair in pairs)) for kind in (0, 1)]
        return cls(encoding, *scores)

    def columns(self, view: int) -> slice:
        """Where the codes of a view stand."""
        n = self.encoding.n_columns
        return slice(view * n, (view + 1) * n)


def _scores(coder: Intervals, summary: ColumnSummary) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The normal and the standard score of each code of a column; NaN is missing."""
    values, weights = summary.values.astype(float), summary.value_weights
    bins = np.searchsorted(coder.cuts, values, side="right")
    inside = np.bincount(bins, weights, coder.n_intervals)
    below = (np.cumsum(inside) - inside / 2) / inside.sum()
    lowest = 0.5 / max(inside.sum(), 1.0)
    normal = ndtri(np.clip(below, lowest, 1 - lowest))
    share, values = weights / weights.sum(), values / (np.abs(values).max() or 1.0)  # squares must not overflow
    centre = share @ values
    deviation = np.sqrt(share @ (values - centre) ** 2) or 1.0
    means = np.bincount(bins, weights * ((values - centre) / deviation), coder.n_intervals)
    standard = np.clip(means / np.where(inside > 0, inside, 1.0), -LARGEST_SCORE, LARGEST_SCORE)
    n_missing = coder.cardinality - coder.n_intervals
    return tuple(np.append(score, np.full(n_missing, np.nan)).astype(np.float32) for score in (normal, standard))  # type: ignore[return-value]
