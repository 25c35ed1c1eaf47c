"""Classifiers whose probabilities are counted."""

from __future__ import annotations

from typing import Any

from neuralkdb.classifiers.base import BayesianNetworkClassifier
from neuralkdb.classifiers.incremental import IncrementalClassifier
from neuralkdb.classifiers.training import COUNTED_CONSTRAINTS, rule_of
from neuralkdb.parameters.counted import Counted


class CountedClassifier(BayesianNetworkClassifier):
    """A classifier with counted parameters and no hyper-parameter of its own."""

    _parameter_constraints = COUNTED_CONSTRAINTS

    estimate: str
    smoothing: float

    def __init__(
        self,
        *,
        estimate: str = "m",
        smoothing: float = 1.0,
        discretization: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.estimate = estimate
        self.smoothing = smoothing
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _estimator(self) -> Counted:
        return Counted(rule_of(self.estimate, self.smoothing))


class IncrementalCountedClassifier(CountedClassifier, IncrementalClassifier):
    """The same, with `partial_fit`."""
