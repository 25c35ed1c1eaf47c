"""The same posteriors from scikit-learn and scikit-bayes, on codes.

Both count rows only (scikit-bayes takes no weights) and take a feature's cardinality to be its
largest code + 1, so every code 0..r-1 has to occur. Declaring all features categorical keeps
scikit-bayes from dropping constant columns and from treating two-valued ones on their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

from twins import Data


def categorical_nb(table: Data, queries: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    """P(y | x) of `CategoricalNB`: naive Bayes with estimate "laplace"."""
    model = CategoricalNB(alpha=alpha, min_categories=list(table.cardinalities))
    model.fit(table.codes, table.y, sample_weight=table.weights)
    return np.asarray(model.predict_proba(queries))


def averaged_estimators(
    table: Data, queries: NDArray[np.int64], n: int, alpha: float, min_count: int = 1
) -> NDArray[np.float64]:
    """P(y | x) of `AnDE(n)`: estimate "laplace", smoothing alpha, the same `min_count` >= 1."""
    from skbn.ande import AnDE

    features = list(range(table.n_features))
    model = AnDE(
        n_dependence=n,
        alpha=alpha,
        min_parent_count=min_count,
        unseen_state="laplace",
        categorical_features=features,
    )
    return np.asarray(model.fit(table.codes, table.y).predict_proba(queries))
