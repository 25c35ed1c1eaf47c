"""AODEClassifier, WAODEClassifier and AnDEClassifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval

from neuralkdb import parent_set_model  # noqa: F401  (registers the model of parent sets)
from neuralkdb.classifiers.counted import IncrementalCountedClassifier
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.training import COUNTED_CONSTRAINTS
from neuralkdb.model import StructureLearner
from neuralkdb.parameters.counted import Counted
from neuralkdb.structures.independent import Independent
from neuralkdb.structures.parent_sets import ExpandedSuperParents, SuperParents

MIN_COUNT_CONSTRAINT = [Interval(Real, 0, None, closed="left")]


def super_parents(sets: SuperParents, estimator: Counted) -> StructureLearner:
    """Packed counts where the estimate allows; no parents at all are naive Bayes."""
    if sets.n == 0:
        return Independent()
    return ExpandedSuperParents(sets) if estimator.rule.backs_off else sets


@documented
class AODEClassifier(IncrementalCountedClassifier):
    """Averaged one-dependence estimators: each feature in turn is the parent of all others.

    The joint is the mean over super-parents p of P(y, x_p) times the product of P(x_i | y, x_p) [1]_.

    Parameters
    ----------
    min_count : float, default=1.0
        How often the value of a set of parents must occur for the set to count for a row. A row for which none does
        is left to naive Bayes.
    {estimate}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] G. I. Webb, J. R. Boughton, Z. Wang. "Not so naive Bayes: Aggregating one-dependence estimators." Machine
       Learning 58 (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import AODEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(AODEClassifier().fit(X, y).score(X, y), 2)
    0.95
    """

    _parameter_constraints = {**COUNTED_CONSTRAINTS, "min_count": MIN_COUNT_CONSTRAINT}

    def __init__(
        self,
        *,
        min_count: float = 1.0,
        estimate: str = "m",
        smoothing: float = 1.0,
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
        self.min_count = min_count

    def _learner(self) -> StructureLearner:
        return super_parents(SuperParents(1, min_count=self.min_count), self._estimator())


@documented
class WAODEClassifier(IncrementalCountedClassifier):
    """AODE with each super-parent weighted by its mutual information with the class [1]_.

    Parameters
    ----------
    min_count : float, default=1.0
        How often the value of a set of parents must occur for the set to count for a row. A row for which none does
        is left to naive Bayes.
    {estimate}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] L. Jiang, H. Zhang, Z. Cai, D. Wang. "Weighted average of one-dependence estimators." Journal of Experimental
       & Theoretical Artificial Intelligence 24 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import WAODEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(WAODEClassifier().fit(X, y).score(X, y), 2)
    0.96
    """

    _parameter_constraints = {**COUNTED_CONSTRAINTS, "min_count": MIN_COUNT_CONSTRAINT}

    def __init__(
        self,
        *,
        min_count: float = 1.0,
        estimate: str = "m",
        smoothing: float = 1.0,
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
        self.min_count = min_count

    def _learner(self) -> StructureLearner:
        return super_parents(SuperParents(1, weighted=True, min_count=self.min_count), self._estimator())


@documented
class AnDEClassifier(IncrementalCountedClassifier):
    """Averaged n-dependence estimators: each set of n features in turn is the parent of all others [1]_.

    Time and memory grow with the number of features to the power of n + 1.

    Parameters
    ----------
    n : int, default=2
        Size of the parent sets; 0 is naive Bayes, 1 is AODE.
    min_count : float, default=1.0
        How often the value of a set of parents must occur for the set to count for a row. A row for which none does
        is left to naive Bayes.
    {estimate}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] G. I. Webb, J. R. Boughton, F. Zheng, K. M. Ting, H. Salem. "Learning by extrapolation from marginal to
       full-multivariate probability distributions: Decreasingly naive Bayesian classification." Machine Learning
       86 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import AnDEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(AnDEClassifier().fit(X, y).score(X, y), 2)
    0.97
    """

    _parameter_constraints = {
        **COUNTED_CONSTRAINTS,
        "n": [Interval(Integral, 0, None, closed="left")],
        "min_count": MIN_COUNT_CONSTRAINT,
    }

    def __init__(
        self,
        n: int = 2,
        *,
        min_count: float = 1.0,
        estimate: str = "m",
        smoothing: float = 1.0,
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
        self.n = n
        self.min_count = min_count

    def _learner(self) -> StructureLearner:
        return super_parents(SuperParents(self.n, min_count=self.min_count), self._estimator())
