"""One classifier on one table, in a process of its own: `python -m benchmarks.peers.cell codes car "endgame KDB"`."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
from benchmarks.own_process import peak_megabytes, timed
from benchmarks.peers.behaviour import behaviour, failed_checks
from benchmarks.peers.data import load, load_codes
from benchmarks.peers.models import bare, on_codes, on_tables
from threadpoolctl import threadpool_limits

QUICK = 0.5  # seconds below which work is repeated for about as long, and its mean counts


def measure(model: Any, split: Any) -> dict[str, float]:
    """Fitted on one part, scored on the other."""
    from neuralkdb.evaluation import scores_of

    loaded = peak_megabytes()
    fit = repeated(lambda: model.fit(split.X, split.y))
    fitted = peak_megabytes()
    predict = repeated(lambda: model.predict_proba(split.X_test))
    probabilities = np.asarray(model.predict_proba(split.X_test), float)
    scores = scores_of(split.y_test, probabilities, np.arange(probabilities.shape[1]))
    return {
        "accuracy": scores.accuracy,
        "log_loss": scores.log_loss,
        "fit": fit,
        "predict": predict,
        "fit_growth": fitted - loaded,
        "growth": peak_megabytes() - loaded,
        "peak": peak_megabytes(),
    }


def repeated(work: Any) -> float:
    """CPU seconds. A clock that is limited moves in steps of milliseconds, so what is quick is timed together."""
    once, _ = timed(work)
    if once >= QUICK:
        return once
    times = min(max(int(QUICK / max(once, 1e-3)), 1), 200)
    return timed(lambda: [work() for _ in range(times)])[0] / times


SUITES: dict[str, Any] = {
    "codes": lambda data, model: measure(on_codes()[model](), load_codes(data)),
    "tables": lambda data, model: measure(on_tables()[model](), load(data)),
    "behaviour": lambda _, model: behaviour(bare()[model]),
    "checks": lambda _, model: failed_checks(bare()[model]()),
}


if __name__ == "__main__":
    suite, data, model = sys.argv[1:]
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        print("\n" + json.dumps(SUITES[suite](data, model)))
