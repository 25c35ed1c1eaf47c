"""How good predicted probabilities are: scores of a table whose classes are known, and their calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from neuralkdb.frames import read_target
from neuralkdb.network import Floats

N_BINS = 15
UNKNOWN = -1  # the number of a class that the model does not know


@dataclass(frozen=True)
class Scores:
    """What is said of probabilities, given the true classes. All but accuracy and AUC are better when lower."""

    accuracy: float
    log_loss: float  # the mean of -log P(true class), P no less than the float's epsilon
    brier: float  # the mean squared distance to the truth, summed over classes; half of it with two classes
    calibration_error: float  # of the most probable class, in `N_BINS` intervals of equal width
    auc: float | None  # area under the ROC curve of the second class; None unless two classes occur


@dataclass(frozen=True, eq=False)
class Calibration:
    """In each interval of confidence: how many rows, how confident, how often right. Empty intervals hold NaN."""

    edges: Floats  # (bins + 1,)
    counts: NDArray[np.int64]  # (bins,)
    confidence: Floats  # (bins,) mean probability of the most probable class
    accuracy: Floats  # (bins,) share of rows whose most probable class is the true one

    @property
    def error(self) -> float:
        """The mean distance of confidence and accuracy over the rows: the expected calibration error."""
        filled = self.counts > 0
        gaps = np.abs(self.confidence[filled] - self.accuracy[filled])
        return float(gaps @ self.counts[filled] / self.counts.sum())


def scores_of(y: Any, probabilities: Floats, classes: NDArray[Any]) -> Scores:
    """The scores of `predict_proba(X)` of a model with these `classes_`, where `y` are the true classes."""
    truth, probabilities = class_numbers(y, classes), np.asarray(probabilities, float)
    known = truth != UNKNOWN
    own = np.where(known, probabilities[np.arange(len(truth)), truth], 0.0)
    return Scores(
        float(np.mean(probabilities.argmax(axis=1) == truth)),
        float(-np.log(np.maximum(own, np.finfo(float).eps)).mean()),
        _brier(truth, probabilities),
        calibration(y, probabilities, classes).error,
        _auc(truth, probabilities),
    )


def calibration(y: Any, probabilities: Floats, classes: NDArray[Any], n_bins: int = N_BINS) -> Calibration:
    """Confidence against accuracy in `n_bins` intervals of equal width; an interval holds its upper end."""
    truth, edges = class_numbers(y, classes), np.linspace(0.0, 1.0, n_bins + 1)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    bins = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(bins, values, n_bins) / counts for values in (confidence, right)]
    return Calibration(edges, counts, means[0], means[1])


def class_numbers(y: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each row's class among `classes`; `UNKNOWN` for one that is not there."""
    labels, positions = read_target(y)
    known = {label: number for number, label in enumerate(classes.tolist())}
    numbers = np.array([known.get(label, UNKNOWN) for label in labels.tolist()], np.int64)
    if (numbers == UNKNOWN).all():
        raise ValueError(f"y holds no class that the model knows: {labels.tolist()[:5]} instead of {list(known)[:5]}.")
    return numbers[positions]


def _brier(truth: NDArray[np.int64], probabilities: Floats) -> float:
    n_classes = probabilities.shape[1]
    wanted = truth[:, None] == np.arange(n_classes)
    return float(((probabilities - wanted) ** 2).sum(axis=1).mean() / (2 if n_classes == 2 else 1))


def _auc(truth: NDArray[np.int64], probabilities: Floats) -> float | None:
    if probabilities.shape[1] != 2 or set(truth.tolist()) != {0, 1}:
        return None
    return float(roc_auc_score(truth, probabilities[:, 1]))
