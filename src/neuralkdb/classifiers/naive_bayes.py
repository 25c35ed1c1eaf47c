"""NaiveBayesClassifier."""

from __future__ import annotations

from neuralkdb.classifiers.counted import IncrementalSingleNetworkClassifier
from neuralkdb.classifiers.documentation import documented
from neuralkdb.structures.independent import Independent


@documented
class NaiveBayesClassifier(IncrementalSingleNetworkClassifier):
    """Naive Bayes: P(y) times the product of P(x_i | y).

    Parameters
    ----------
    {estimate}
    {weighting}
    {encoding}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import NaiveBayesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NaiveBayesClassifier().fit(X, y).score(X, y), 2)
    0.95
    """

    def _learner(self) -> Independent:
        return Independent()
