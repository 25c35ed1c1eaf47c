"""ESKDBClassifier."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from neuralkdb.classifiers.base import Member
from neuralkdb.classifiers.counted import CountedClassifier
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.training import (
    COUNTED_CONSTRAINTS,
    K_CONSTRAINT,
    TrainingData,
    n_threads_of,
)
from neuralkdb.discretization import RandomQuantiles
from neuralkdb.model import model_of, statistics_of
from neuralkdb.network import Floats
from neuralkdb.persistence.types import storable
from neuralkdb.structures.k_dependence import descending
from neuralkdb.structures.selective import SelectiveKDependence


@dataclass(frozen=True)
class SampledOrder:
    """Features drawn one after another with probability proportional to their information."""

    seed: int

    def __call__(self, information: Floats) -> list[int]:
        """An order of all features; those that say nothing come last."""
        noise = np.random.default_rng(self.seed).gumbel(size=len(information))
        with np.errstate(divide="ignore"):
            return descending(np.log(np.maximum(information, 0.0)) + noise)


storable(SampledOrder)


@documented
class ESKDBClassifier(CountedClassifier):
    """Ensemble of selective KDBs, each with random cut points and a random order of features.

    Cut points of numeric columns are quantiles drawn at random; features are drawn in proportion to their mutual
    information with the class; each member selects its features and parents by leave-one-out; posteriors are averaged
    [1]_.

    Parameters
    ----------
    n_members : int, default=20
        Number of selective KDBs.
    k : int, default=5
        Largest number of feature-parents of a feature.
    fewest_bins, most_bins : int, default=5, 20
        Range of the number of random bins of a numeric column.
    {estimate}
    missing : {"value", "impute", "marginalize"}, default="value"
        As in the other classifiers.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        As in the other classifiers.
    n_jobs : int, default=None
        Number of threads; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of cut points and orders.

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] H. Zhang, F. Petitjean, W. Buntine. "Bayesian network classifiers using ensembles and smoothing." Knowledge
       and Information Systems 62 (2020).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import ESKDBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ESKDBClassifier(random_state=0).fit(X, y).score(X, y), 2)
    0.97
    """

    _averages_joint: ClassVar[bool] = False
    _parameter_constraints = {
        **{name: kinds for name, kinds in COUNTED_CONSTRAINTS.items() if name not in {"discretization", "n_bins"}},
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "k": K_CONSTRAINT,
        "fewest_bins": [Interval(Integral, 1, None, closed="left")],
        "most_bins": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_members: int = 20,
        *,
        k: int = 5,
        fewest_bins: int = 5,
        most_bins: int = 20,
        estimate: str = "backoff",
        smoothing: float = 5.0,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_members = n_members
        self.k = k
        self.fewest_bins = fewest_bins
        self.most_bins = most_bins
        self.estimate = estimate
        self.smoothing = smoothing
        self.missing = missing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_members(self, data: TrainingData) -> tuple[Member, ...]:
        seeds = check_random_state(self.random_state).randint(2**31, size=self.n_members)
        return tuple(self._member(data, int(seed)) for seed in seeds)

    def _member(self, data: TrainingData, seed: int) -> Member:
        n_threads = n_threads_of(self.n_jobs)
        cut_points = RandomQuantiles(self.fewest_bins, max(self.most_bins, self.fewest_bins), seed)
        encoding = data.encoding(cut_points, self.missing, self.categorical_features, n_threads)
        counts = data.counts(encoding, n_threads)
        structure = self._learner_of(seed).learn(counts)
        statistics = statistics_of(structure, counts)
        return Member(encoding, structure, statistics, model_of(structure, statistics, self._estimator()))

    def _learner_of(self, seed: int) -> SelectiveKDependence:
        return SelectiveKDependence(self._estimator(), self.k, order=SampledOrder(seed))

    def _learner(self) -> SelectiveKDependence:
        raise NotImplementedError("each member has its own learner")
