"""TANClassifier and SPTANClassifier."""

from __future__ import annotations

from neuralkdb.classifiers.counted import IncrementalSingleNetworkClassifier, SingleNetworkClassifier
from neuralkdb.classifiers.documentation import documented
from neuralkdb.structures.super_parent_tree import SuperParentTree
from neuralkdb.structures.tree import Tree


@documented
class TANClassifier(IncrementalSingleNetworkClassifier):
    """Tree-augmented naive Bayes: each feature depends on the class and one other feature.

    The tree has the largest sum of conditional mutual information, and its root says most about the class [1]_.

    Parameters
    ----------
    {estimate}
    {weighting}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] N. Friedman, D. Geiger, M. Goldszmidt. "Bayesian network classifiers." Machine Learning 29 (1997).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import TANClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(TANClassifier().fit(X, y).score(X, y), 2)
    0.95
    """

    def _learner(self) -> Tree:
        return Tree()


@documented
class SPTANClassifier(SingleNetworkClassifier):
    """Super-parent TAN: arcs are added while they improve leave-one-out accuracy.

    Each step finds the feature that helps most as parent of all features without one, then the single feature it
    helps most [1]_.

    Parameters
    ----------
    {estimate}
    {weighting}
    {encoding}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] E. J. Keogh, M. J. Pazzani. "Learning augmented Bayesian classifiers: A comparison of distribution-based and
       classification-based approaches." AISTATS (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import SPTANClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SPTANClassifier().fit(X, y).score(X, y), 2)
    0.95
    """

    def _learner(self) -> SuperParentTree:
        return SuperParentTree(self._estimator())
