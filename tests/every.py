"""All public classifiers, as small as tests want them, and one table for all of them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier

import neuralkdb


def accepts(classifier: type[BaseEstimator], parameter: str) -> bool:
    return parameter in inspect.signature(classifier).parameters


CLASSIFIERS = [
    value
    for name in neuralkdb.__all__
    if inspect.isclass(value := getattr(neuralkdb, name))
    and issubclass(value, BaseEstimator)
    and is_classifier(value())
]
COUNTED = [classifier for classifier in CLASSIFIERS if accepts(classifier, "estimate")]
INCREMENTAL = [classifier for classifier in COUNTED if hasattr(classifier, "partial_fit")]
SMALL = {"n_members": 3, "embedding_dim": 8, "epochs": 2, "schedule": "instances", "random_state": 0}


def make(classifier: type[BaseEstimator], **parameters: Any) -> BaseEstimator:
    """The classifier with those of the parameters that it has; ensembles small, draws fixed."""
    wanted = {**SMALL, **parameters}
    return classifier(**{name: value for name, value in wanted.items() if accepts(classifier, name)})


def mixed(n_rows: int = 80, seed: int = 0, *, missing: float = 0.1) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, whole numbers, text and bools that follow the class; cells are missing at random."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    table = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0).round(3),
            "count": rng.poisson(y + 1.0).astype(float),
            "colour": np.array(["blue", "green", "red", "white"], dtype=object)[(y + rng.integers(0, 2, n_rows))],
            "lit": rng.random(n_rows) < 0.2 + 0.3 * y,
        }
    )
    for name in ("size", "count", "colour"):
        table.loc[rng.random(n_rows) < missing, name] = None
    return table, y


def fitted_probabilities(classifier, seed):
    """Here, where processes that joblib starts can import it."""
    X, y = mixed(120, seed)
    return make(classifier, n_jobs=2).fit(X, y).predict_proba(X)
