"""KDBClassifier and what was made of it: SKDB, MNKDB, KDF."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import StrOptions

from neuralkdb.classifiers.counted import (
    IncrementalCountedClassifier,
    IncrementalSingleNetworkClassifier,
    SingleNetworkClassifier,
)
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.training import COUNTED_CONSTRAINTS, K_CONSTRAINT
from neuralkdb.structures.k_dependence import KDependence, KDependencePerClass, RotatedKDependence
from neuralkdb.structures.selective import SelectiveKDependence


@documented
class KDBClassifier(IncrementalSingleNetworkClassifier):
    """k-dependence Bayesian classifier: each feature depends on the class and up to k other features.

    Features are visited by descending mutual information with the class; the parents of each are the visited
    features of largest conditional mutual information with it [1]_.

    Parameters
    ----------
    k : int, default=2
        Largest number of feature-parents of a feature.
    {estimate}
    {weighting}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] M. Sahami. "Learning limited dependence Bayesian classifiers." KDD (1996).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import KDBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KDBClassifier().fit(X, y).score(X, y), 2)
    0.97
    """

    _parameter_constraints = {**SingleNetworkClassifier._parameter_constraints, "k": K_CONSTRAINT}

    def __init__(
        self,
        k: int = 2,
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
            weighting=weighting,
            discretization=discretization,
            n_bins=n_bins,
            missing=missing,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
        )
        self.k = k

    def _learner(self) -> KDependence:
        return KDependence(self.k)


@documented
class SKDBClassifier(SingleNetworkClassifier):
    """Selective KDB: as many features and parents as predict best.

    Leave-one-out chooses, among the first s features of a KDB with their first k' parents each, the s and k' of
    lowest loss [1]_.

    Parameters
    ----------
    k : int, default=5
        Largest number of feature-parents of a feature.
    loss : {"rmse", "zero_one"}, default="rmse"
        What leave-one-out adds up: the root mean squared error of the probability of the true class, or errors.
    {estimate}
    {weighting}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] A. M. Martinez, G. I. Webb, S. Chen, N. A. Zaidi. "Scalable learning of Bayesian network classifiers." JMLR
       17 (2016).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import SKDBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SKDBClassifier().fit(X, y).score(X, y), 2)
    0.96
    """

    _parameter_constraints = {
        **SingleNetworkClassifier._parameter_constraints,
        "k": K_CONSTRAINT,
        "loss": [StrOptions({"rmse", "zero_one"})],
    }

    def __init__(
        self,
        k: int = 5,
        *,
        loss: Literal["rmse", "zero_one"] = "rmse",
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
            weighting=weighting,
            discretization=discretization,
            n_bins=n_bins,
            missing=missing,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
        )
        self.k = k
        self.loss = loss

    def _learner(self) -> SelectiveKDependence:
        return SelectiveKDependence(self._estimator(), self.k, self.loss)


@documented
class MNKDBClassifier(IncrementalCountedClassifier):
    """A KDB of its own for every class, so that parents depend on the class.

    The network of class c visits features by their mutual information with the event y = c and chooses parents by
    mutual information among the rows of c. The idea is that of MNKDB (Khodayari-Samghabadi et al., 2024); this
    definition is the library's own.

    Parameters
    ----------
    k : int, default=2
        Largest number of feature-parents of a feature.
    {estimate}
    {encoding}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import MNKDBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(MNKDBClassifier().fit(X, y).score(X, y), 2)
    0.97
    """

    _parameter_constraints = {**COUNTED_CONSTRAINTS, "k": K_CONSTRAINT}

    def __init__(
        self,
        k: int = 2,
        *,
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
        self.k = k

    def _learner(self) -> KDependencePerClass:
        return KDependencePerClass(self.k)


@documented
class KDFClassifier(IncrementalCountedClassifier):
    """A forest of KDBs, one starting at each feature.

    Member i visits feature i first and the others by descending mutual information with the class; posteriors are
    averaged [1]_.

    Parameters
    ----------
    k : int, default=1
        Largest number of feature-parents of a feature.
    {estimate}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] Z. Duan, L. Wang. "K-dependence Bayesian classifier ensemble." Entropy 19 (2017).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import KDFClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KDFClassifier().fit(X, y).score(X, y), 2)
    0.96
    """

    _parameter_constraints = {**COUNTED_CONSTRAINTS, "k": K_CONSTRAINT}
    _averages_joint: ClassVar[bool] = False

    def __init__(
        self,
        k: int = 1,
        *,
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
        self.k = k

    def _learner(self) -> RotatedKDependence:
        return RotatedKDependence(self.k)
