"""What the user gave, validated: the rows to learn from, and the parameters every classifier shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length

from neuralkdb.columns import Column
from neuralkdb.counting import ArrayCounts
from neuralkdb.discretization import CutPoints, EqualFrequency, EqualWidth, MinimumDescriptionLength
from neuralkdb.encoding import Encoding, learn_encoding
from neuralkdb.frames import mark_categorical, read_columns, read_target, read_weights
from neuralkdb.network import Floats
from neuralkdb.parameters.counted import BackOff, Laplace, MEstimate, Rule
from neuralkdb.summaries import ColumnSummary, summarize

RULES: dict[str, Callable[[float], Rule]] = {"m": MEstimate, "laplace": Laplace, "backoff": BackOff}

SHARED_CONSTRAINTS: dict[str, Any] = {
    "discretization": [StrOptions({"width", "quantile", "mdl", "codes"})],
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "missing": [StrOptions({"value", "impute", "marginalize"})],
    "categorical_features": "no_validation",  # needs the columns
    "n_jobs": [Integral, None],
}
COUNTED_CONSTRAINTS: dict[str, Any] = {
    "estimate": [StrOptions(set(RULES))],
    "smoothing": [Interval(Real, 0, None, closed="left")],
    **SHARED_CONSTRAINTS,
}
K_CONSTRAINT = [Interval(Integral, 0, None, closed="left")]


def cut_points_of(discretization: str, n_bins: int) -> CutPoints | None:
    """The cut points a user asked for; None for ready codes."""
    choices: dict[str, CutPoints | None] = {
        "width": EqualWidth(n_bins),
        "quantile": EqualFrequency(n_bins),
        "mdl": MinimumDescriptionLength(n_bins),
        "codes": None,
    }
    return choices[discretization]


def rule_of(estimate: str, smoothing: float) -> Rule:
    """The rule a user asked for."""
    return RULES[estimate](float(smoothing))


def n_threads_of(n_jobs: int | None) -> int:
    """The number of threads a user asked for."""
    return int(joblib.effective_n_jobs(n_jobs))


@dataclass(frozen=True)
class TrainingData:
    """Rows of positive weight: columns, class codes and weights."""

    columns: tuple[Column, ...]
    labels: NDArray[Any]  # (classes,)
    classes: NDArray[np.uint32]  # (rows,)
    weights: Floats | None  # (rows,)

    @classmethod
    def read(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingData:
        """The rows that the user gave, validated as scikit-learn does."""
        columns = read_columns(estimator, X, reset=reset)
        labels, classes = read_target(y)
        check_consistent_length(columns[0].values, classes)
        weights = read_weights(sample_weight, len(classes))
        return cls(columns, labels, classes, weights)._without_empty_rows()

    def of_labels(self, labels: NDArray[Any]) -> TrainingData:
        """The same rows, their classes numbered as in `labels`."""
        unknown = np.setdiff1d(self.labels, labels).tolist()
        if unknown:
            known = labels.tolist()
            raise ValueError(f"y has the label {unknown[0]!r}, which is not in the classes of the first call: {known}")
        renumbered = np.searchsorted(labels, self.labels).astype(np.uint32)
        return replace(self, labels=labels, classes=renumbered[self.classes])

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def summaries(self, categorical_features: Any, n_threads: int) -> list[ColumnSummary]:
        """The weight of each value of each column in each class."""
        categorical = mark_categorical(self.columns, categorical_features)
        rows = self.columns, self.classes, len(self.labels), self.weights
        return list(summarize(*rows, categorical=categorical, n_threads=n_threads))

    def encoding(
        self, cut_points: CutPoints | None, missing: str, categorical_features: Any, n_threads: int
    ) -> Encoding:
        """The code books of these rows."""
        return learn_encoding(
            self.columns,
            self.classes,
            len(self.labels),
            self.weights,
            cut_points=cut_points,
            missing=missing,
            categorical=mark_categorical(self.columns, categorical_features),
            n_threads=n_threads,
        )

    def counts(self, encoding: Encoding, n_threads: int) -> ArrayCounts:
        """The coded rows, ready to be counted."""
        codes = encoding.encode(self.columns, n_threads)
        return ArrayCounts.of(codes, self.classes, self.weights, encoding.cardinalities, len(self.labels), n_threads)

    def _without_empty_rows(self) -> TrainingData:
        if self.weights is None or self.weights.all():
            return self
        rows = np.flatnonzero(self.weights)
        kept, classes = np.unique(self.classes[rows], return_inverse=True)
        columns = tuple(column.rows(rows) for column in self.columns)
        return TrainingData(columns, self.labels[kept], classes.astype(np.uint32), self.weights[rows])
