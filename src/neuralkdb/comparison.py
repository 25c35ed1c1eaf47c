"""Classifiers compared by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from neuralkdb.evaluation import Calibration, Scores, calibration, scores_of
from neuralkdb.network import Floats

HEADER = ("model", "accuracy", "log-loss", "Brier", "calibration error", "AUC", "fit s", "rows/s predicted")


@dataclass(frozen=True, eq=False)
class Result:
    """What cross-validation says of a classifier: each row was predicted by a model that had not seen it."""

    name: str
    folds: tuple[Scores, ...]
    seconds: Floats  # (folds, 2) to fit and to predict
    n_rows: int
    calibration: Calibration  # of all rows

    @property
    def header(self) -> tuple[str, ...]:
        """What the columns of a row are."""
        return HEADER

    @property
    def row(self) -> tuple[str, ...]:
        """The mean over folds, with its deviation where it matters."""
        accuracy = self.values("accuracy")
        fit, predict = self.seconds.sum(axis=0)
        auc = self.values("auc")
        return (
            self.name,
            f"{accuracy.mean():.4f} ± {accuracy.std():.4f}",
            *(f"{self.values(name).mean():.4f}" for name in ("log_loss", "brier", "calibration_error")),
            "-" if np.isnan(auc).all() else f"{np.nanmean(auc):.4f}",
            f"{fit / len(self.folds):.2f}",
            f"{self.n_rows / max(predict, 1e-9):,.0f}",
        )

    def values(self, score: str) -> Floats:
        """A score of every fold, (folds,); NaN where it is not defined."""
        assert score in {field.name for field in fields(Scores)}
        return np.array([getattr(scores, score) for scores in self.folds], float)


def cross_validated(
    name: str, model: Any, X: Any, y: Any, n_folds: int, report: Callable[[str], None] = lambda what: None
) -> Result:
    """The scores of a classifier in each of `n_folds` stratified folds, the same ones for every classifier."""
    labels = np.unique(np.asarray(y))
    if (most := int(np.unique(np.asarray(y), return_counts=True)[1].max())) < n_folds:
        raise ValueError(f"{n_folds} folds need a class of as many rows: the largest has {most}")
    probabilities = np.zeros((len(y), len(labels)))
    scores, seconds = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        parts = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
        for number, (train, test) in enumerate(parts):
            report(f"{name}: fold {number + 1} of {n_folds}")
            found, spent = _of_fold(clone(model), X.iloc[train], y.iloc[train], X.iloc[test], labels)
            probabilities[test] = found
            seconds.append(spent)
            scores.append(scores_of(y.iloc[test], found, labels))
    report("")
    return Result(name, tuple(scores), np.array(seconds), len(y), calibration(y, probabilities, labels))


def _of_fold(model: Any, X: Any, y: Any, held_out: Any, labels: NDArray[Any]) -> tuple[Floats, tuple[float, float]]:
    """The probabilities of all labels for the rows held out, and the seconds it took to fit and to predict."""
    started = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    found = np.zeros((len(held_out), len(labels)))
    found[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(held_out)
    return found, (fitted - started, time.perf_counter() - fitted)
