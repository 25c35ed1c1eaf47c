"""One classifier at one size, in a process of its own: `python -m benchmarks.scaling.cell rows 100000 KDB`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from benchmarks.own_process import peak_megabytes, timed
from benchmarks.scaling.grid import AXES, MODELS, WITH_K

QUICK = 0.3  # seconds below which work is repeated for about as long, and its mean counts


def table(rows: int, features: int, values: int, classes: int) -> tuple[Any, Any]:
    """Codes that follow the class and the column before, in part."""
    random = np.random.default_rng(0)
    y = random.integers(0, classes, rows).astype(np.uint8)
    X = np.empty((rows, features), np.uint8, order="F")
    for j in range(features):
        copied = (X[:, j - 1].astype(np.intp) + y if j else y.astype(np.intp)) % values
        X[:, j] = np.where(random.random(rows) < 0.3, copied, random.integers(0, values, rows))
    return X, y


def repeated(work: Any) -> float:
    """CPU seconds."""
    once, _ = timed(work)
    if once >= QUICK:
        return once
    times = min(max(int(QUICK / max(once, 1e-3)), 1), 50)
    return timed(lambda: [work() for _ in range(times)])[0] / times


def measure(axis: str, size: int, name: str) -> dict[str, float]:
    """Seconds and megabytes; by the clock where threads are what grows, processor time elsewhere."""
    sizes = {**{each.name: each.base for each in AXES.values()}, axis: size}
    options = {"k": sizes["k"]} if name in WITH_K else {}
    X, y = table(*(sizes[each] for each in ("rows", "features", "values", "classes")))
    model = MODELS[name].build(**options)
    if axis == "threads":
        X, y = table(500_000, 20, 5, 2)
        model.set_params(n_jobs=size)
        return {"fit": by_the_clock(lambda: model.fit(X, y)), "predict": by_the_clock(lambda: model.predict_proba(X))}
    loaded = peak_megabytes()
    fit = repeated(lambda: model.fit(X, y))
    fitted = peak_megabytes()
    return {"fit": fit, "predict": repeated(lambda: model.predict_proba(X)), "growth": fitted - loaded}


def by_the_clock(work: Any) -> float:
    """The least of three times."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    print("\n" + json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
