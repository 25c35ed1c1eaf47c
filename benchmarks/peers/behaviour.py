"""How a classifier takes what real tables hold: tried on a small table, nothing assumed."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

WORKS, REFUSES, DIFFERS = "yes", "no", "differs"


def whole_numbers(n_rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Columns of small whole numbers that follow the class, so that every classifier takes them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    columns = {f"x{j}": np.where(rng.random(n_rows) < 0.5, y + j % 2, rng.integers(0, 3, n_rows)) for j in range(4)}
    return pd.DataFrame(columns), y


def probabilities(model: Any, X: Any) -> Any:
    found = np.asarray(model.predict_proba(X), float)
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=1), 1, atol=1e-4)
    return found


def missing_numbers(build: Callable[[], Any]) -> bool:
    X, y = whole_numbers()
    X = X.astype(float).mask(np.random.default_rng(1).random(X.shape) < 0.1)
    probabilities(build().fit(X, y), X)
    return True


def strings(build: Callable[[], Any]) -> bool:
    X, y = whole_numbers()
    X["x1"] = np.array(["red", "green", "blue"], dtype=object)[X["x1"]]
    probabilities(build().fit(X, y), X)
    return True


def missing_strings(build: Callable[[], Any]) -> bool:
    X, y = whole_numbers()
    X["x1"] = np.array(["red", "green", None], dtype=object)[X["x1"]]
    probabilities(build().fit(X, y), X)
    return True


def unseen_value(build: Callable[[], Any]) -> bool:
    X, y = whole_numbers()
    probabilities(build().fit(X, y), X.assign(x1=7))
    return True


def sample_weight(build: Callable[[], Any]) -> bool:
    """Whether weight 2 is the row twice."""
    X, y = whole_numbers()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = build().fit(X, y, sample_weight=weights)
    repeated = build().fit(X.iloc[rows].reset_index(drop=True), y[rows])
    return np.allclose(probabilities(weighted, X), probabilities(repeated, X), atol=1e-6)


def partial_fit(build: Callable[[], Any]) -> bool:
    """Whether two halves make the whole, or, where the whole would be cut otherwise, nearly so."""
    X, y = whole_numbers()
    model, half = build(), len(y) // 2
    model.partial_fit(X[:half], y[:half], classes=[0, 1])
    model.partial_fit(X[half:].reset_index(drop=True), y[half:])
    return np.abs(probabilities(model, X) - probabilities(build().fit(X, y), X)).mean() < 0.05


def round_trip(build: Callable[[], Any]) -> bool:
    X, y = whole_numbers()
    model = build().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    return np.array_equal(probabilities(copy, X), probabilities(model, X))


def label_names(build: Callable[[], Any]) -> bool:
    """Whether classes may have names."""
    X, y = whole_numbers()
    names = np.array(["no", "yes"])[y]
    return set(np.asarray(build().fit(X, names).predict(X)).ravel()) <= {"no", "yes"}


TRIALS = (
    missing_numbers,
    strings,
    missing_strings,
    unseen_value,
    label_names,
    sample_weight,
    partial_fit,
    round_trip,
)


def behaviour(build: Callable[[], Any]) -> dict[str, str]:
    """What each trial came to: yes, no (an error), or something else than it should be."""
    return {trial.__name__: outcome(trial, build) for trial in TRIALS}


def outcome(trial: Callable[[Callable[[], Any]], bool], build: Callable[[], Any]) -> str:
    try:
        return WORKS if trial(build) else DIFFERS
    except Exception:
        return REFUSES


def failed_checks(model: Any) -> dict[str, int]:
    """How many of scikit-learn's checks of an estimator fail, out of how many."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings(action="ignore"):
        results = check_estimator(model, on_skip=None, on_fail=None)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    return {"failed": len(failed), "checks": len(results)}
