"""Classifiers whose probabilities are counted."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from neuralkdb.classifiers.base import BayesianNetworkClassifier
from neuralkdb.classifiers.incremental import IncrementalClassifier
from neuralkdb.classifiers.training import COUNTED_CONSTRAINTS, rule_of
from neuralkdb.counting import Counts
from neuralkdb.model import Model
from neuralkdb.parameters.counted import Counted
from neuralkdb.weighted_model import weighted_network


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


class SingleNetworkClassifier(CountedClassifier):
    """The same, with one network, whose log-conditionals may be weighted."""

    _parameter_constraints = {**COUNTED_CONSTRAINTS, "weighting": [StrOptions({"none", "discriminative"})]}

    def __init__(
        self,
        *,
        estimate: str = "m",
        smoothing: float = 1.0,
        weighting: str = "none",
        discretization: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimate=estimate,
            smoothing=smoothing,
            discretization=discretization,
            n_bins=n_bins,
            missing=missing,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
        )
        self.weighting = weighting

    def _model(self, structure: Any, statistics: Any, counts: Counts) -> Model:
        model = super()._model(structure, statistics, counts)
        if self.weighting == "none":
            return model
        return weighted_network(model, counts, self._estimator())  # type: ignore[arg-type]  # of a single network


class IncrementalSingleNetworkClassifier(SingleNetworkClassifier, IncrementalClassifier):
    """The same, with `partial_fit` where nothing is weighted."""


class IncrementalCountedClassifier(CountedClassifier, IncrementalClassifier):
    """The same, with `partial_fit`."""
