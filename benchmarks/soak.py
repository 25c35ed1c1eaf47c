"""Random fits and predictions of every classifier, with the extension module that is named: see scripts/soak.sh.

All kernels must have been called by then. Writes its count into docs/measurements.md if there are at least 10,000 fits.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from benchmarks.sections import machine, markdown, write_section

WRITTEN_FROM = 10_000
NEEDS_ALL_FROM = 500  # fits by which every kernel must have been called

CHOICES = {
    "k": [0, 1, 2, 3, 5],
    "n": [0, 1, 2, 3],
    "n_members": [1, 2, 3],
    "estimate": ["m", "laplace", "backoff"],
    "smoothing": [0.0, 0.5, 1.0, 10.0],
    "discretization": ["mdl", "width", "quantile"],
    "n_bins": [1, 2, 5, 300],
    "missing": ["value", "impute", "marginalize"],
    "min_count": [0.0, 1.0, 5.0],
    "embedding_dim": [1, 7, 16, 33],
    "epochs": [1, 2],
    "batch_size": [1, 5, 32],
    "activation": ["tanh", "relu", "identity"],
    "schedule": ["auto", "instances", "cells"],
    "parent_dropout": [0.0, 0.3],
    "weight_decay": [0.0, 0.1],
    "early_stopping": [False, True],
    "weighting": ["none", "discriminative"],
    "n_jobs": [1, 2, 3],
}


def use_kernels(path: str) -> Counter[str]:
    """Make this extension module the one that the library finds; how often each of its functions is called from now."""
    spec = importlib.util.spec_from_file_location("neuralkdb._kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = [name for name in dir(module) if not name.startswith("_")]
    calls = Counter(dict.fromkeys(names, 0))
    for name in names:
        setattr(module, name, counted(getattr(module, name), name, calls))
    return calls


def counted(kernel: Callable[..., Any], name: str, calls: Counter[str]) -> Callable[..., Any]:
    """The same function, which counts."""

    @wraps(kernel)
    def called(*arguments: Any, **options: Any) -> Any:
        calls[name] += 1
        return kernel(*arguments, **options)

    return called


def classifiers() -> list[type[Any]]:
    import neuralkdb

    public = [getattr(neuralkdb, name) for name in neuralkdb.__all__]
    return [value for value in public if inspect.isclass(value) and hasattr(value, "fit")]


def column(rng: np.random.Generator, n_rows: int) -> np.ndarray[Any, Any]:
    """Numbers of any type and step, some of them missing, or text."""
    n_values = int(rng.choice([1, 2, 3, 7, 40, 300]))
    codes = rng.integers(-(n_values // 2), n_values - n_values // 2, n_rows)
    kind = rng.choice(["int", "float", "extreme", "text"])
    if kind == "int":
        return codes.astype(rng.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u8"]))
    if kind == "text":
        return codes.astype(str).astype(object)
    values = codes + (rng.random(n_rows) if rng.random() < 0.5 else 0.0)
    values = values * (10.0 ** rng.integers(-300, 300) if kind == "extreme" else 1.0)
    values[rng.random(n_rows) < rng.choice([0.0, 0.1, 0.9])] = np.nan
    return values.astype(rng.choice(["f4", "f8"])) if kind == "float" else values


def table(rng: np.random.Generator, n_rows: int, n_features: int) -> Any:
    import pandas as pd

    step = int(rng.integers(1, 3))  # rows of a frame with every other row left out are further apart
    columns = {f"x{j}": column(rng, n_rows * step) for j in range(n_features)}
    return pd.DataFrame(columns).iloc[::step].reset_index(drop=True)


def model(rng: np.random.Generator, classifier: type[Any]) -> Any:
    accepted = [name for name in inspect.signature(classifier).parameters if name in CHOICES]
    chosen = {name: CHOICES[name][rng.integers(len(CHOICES[name]))] for name in accepted if rng.random() < 0.7}
    small = {"n_members": 2, "epochs": 1, "embedding_dim": 8, "random_state": int(rng.integers(2**31))}
    small = {name: value for name, value in small.items() if name in inspect.signature(classifier).parameters}
    return classifier(**{**small, **chosen})


def fit_and_predict(rng: np.random.Generator, classifier: type[Any]) -> None:
    n_rows, n_features = int(rng.choice([1, 2, 10, 60, 250])), int(rng.integers(1, 7))
    X = table(rng, n_rows, n_features)
    y = rng.integers(0, int(rng.choice([1, 2, 3, 30, 260])), n_rows)
    weights = [None, rng.integers(1, 4, n_rows), rng.random(n_rows) + 0.01][rng.integers(3)]
    fitted = model(rng, classifier).fit(X, y, weights)
    if hasattr(fitted, "partial_fit") and rng.random() < 0.3:
        fitted.partial_fit(X[::-1].reset_index(drop=True), y[::-1])
    mixed = X.sample(frac=1.0, random_state=0).reset_index(drop=True)
    mixed = mixed.mask(rng.random(mixed.shape) < 0.2) if rng.random() < 0.5 else mixed
    probabilities = fitted.predict_proba(mixed)
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(axis=1), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", help="path of the extension module")
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="where to begin, to repeat a fit")
    parser.add_argument("--process", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    calls = use_kernels(given.kernels)
    all_classifiers = classifiers()
    numbers = range(given.first + given.process, given.first + given.fits, given.processes)
    start = time.perf_counter()
    for done, number in enumerate(numbers, 1):
        try_fit(number, all_classifiers[number % len(all_classifiers)])
        if done % 500 == 0:
            print(f"{done} fits in {time.perf_counter() - start:.0f} s", flush=True)
    never = [name for name, times in calls.items() if not times]
    if never and len(numbers) >= NEEDS_ALL_FROM:
        raise SystemExit(f"Never called: {', '.join(never)}")
    report(len(numbers), len(all_classifiers), calls)


def try_fit(number: int, classifier: type[Any]) -> None:
    """One fit, named where it fails."""
    try:
        with warnings.catch_warnings(action="ignore"):
            fit_and_predict(np.random.default_rng(number), classifier)
    except BaseException:
        print(f"fit {number}: {classifier.__name__}", file=sys.stderr)
        raise


def report(n_fits: int, n_classifiers: int, calls: Counter[str]) -> None:
    """What was tried, without a finding: a finding ends the process."""
    header = ["fits and predictions", "classifiers", "kernels", "calls of kernels", "findings"]
    table = markdown(header, [[f"{count:,}" for count in (n_fits, n_classifiers, len(calls), calls.total(), 0)]])
    print(table, flush=True)
    if n_fits >= WRITTEN_FROM:
        write_section("soak", f"{table}\n\n{machine()}")


if __name__ == "__main__":
    main()
