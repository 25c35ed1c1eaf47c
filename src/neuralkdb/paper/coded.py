"""The paper's encoding in front of estimators that want numbers."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from neuralkdb.discretization import EqualWidth
from neuralkdb.encoding import learn_encoding
from neuralkdb.frames import mark_categorical, read_columns


class Codes(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The codes of a table by the encoding of the rows it was fitted on.

    They are what the library's own classifiers see under the paper's settings.
    """

    def __init__(self, n_bins: int = 10, missing: str = "impute") -> None:
        self.n_bins = n_bins
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the encoding of these rows."""
        columns = read_columns(self, X, reset=True)
        self.encoding_ = learn_encoding(
            columns,
            np.zeros(len(columns[0].values), dtype=np.uint32),
            n_classes=1,
            cut_points=EqualWidth(self.n_bins),
            missing=self.missing,
            categorical=mark_categorical(columns, "from_dtype"),
        )
        return self

    def transform(self, X: Any) -> NDArray[np.unsignedinteger[Any]]:
        """The codes, (n_rows, n_features)."""
        return self.encoding_.encode(read_columns(self, X, reset=False))


def one_hot_logistic_regression(**settings: Any) -> Pipeline:
    """Logistic regression on one indicator for each code."""
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000, **settings))
