"""The paper's statistics, all of them scipy's."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
Verdict = Literal["win", "tie", "loss"]


def average_ranks(means: FloatArray) -> FloatArray:
    """The rank of each column averaged over the rows: 1 is the largest value, ties share ranks."""
    return np.asarray(stats.rankdata(-means, axis=1).mean(axis=0), dtype=np.float64)


def friedman_p(means: FloatArray) -> float:
    """The p-value of Friedman's test that all columns rank alike."""
    return float(stats.friedmanchisquare(*means.T).pvalue)


def wilcoxon_p(first: FloatArray, second: FloatArray) -> float:
    """The two-sided p-value of the signed-rank test, the ranks of zero differences split.

    Splitting them is what Demsar (2006) does, whom the paper follows, and it reproduces every
    p-value the paper prints; dropping the zeros does not (0.004 for KDF, printed 0.003).
    """
    differences = np.round(first - second, 10)
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def verdict(first: FloatArray, second: FloatArray, level: float = 0.05) -> Verdict:
    """Whether `first` is above `second` by a two-tailed paired t-test over the same splits."""
    differences = np.round(first - second, 10)
    if not _significant(differences, level):
        return "tie"
    return "win" if differences.mean() > 0 else "loss"


def _significant(differences: FloatArray, level: float) -> bool:
    if len(differences) < 2 or not differences.any():
        return False
    if np.ptp(differences) == 0:  # no spread: scipy would divide by zero
        return True
    return bool(stats.ttest_1samp(differences, 0.0).pvalue < level)


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """The least difference of average ranks that Nemenyi's test calls significant."""
    quantile = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def indistinguishable(ranks: FloatArray, difference: float) -> list[tuple[int, int]]:
    """The maximal runs (first, last) of the sorted ranks that span less than the difference."""
    ordered = np.sort(ranks)
    ends = [int(np.searchsorted(ordered, start + difference)) - 1 for start in ordered]
    return [(first, last) for first, last in enumerate(ends) if last > first and (first == 0 or last > ends[first - 1])]
