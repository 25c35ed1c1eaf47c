"""A long fit stops soon after Control-C, and leaves nothing behind that looks fitted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LIMIT = 0.5  # seconds of work of each thread from the signal to the exception

RUN = """
import sys
import time
import numpy as np
import neuralkdb
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

n_rows, n_features, n_values, continuous = {table}
rng = np.random.default_rng(0)
X = rng.integers(0, n_values, (n_rows, n_features), dtype=np.int32)
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.integers(0, 3, n_rows)) % 5
if continuous:
    X = X + rng.random(X.shape)
model = neuralkdb.{classifier}(**{parameters})
model.fit(X[:50], y[:50])  # everything that is loaded late is loaded, and a former fit is there
print("ready", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(time.process_time(), flush=True)
else:
    print("finished", flush=True)
try:
    check_is_fitted(model)
except NotFittedError:
    print("unfitted", flush=True)
try:
    model.predict(X[:1])
except NotFittedError:
    print("refuses", flush=True)
"""

LONG_FITS = {
    "embeddings": ("NeuralKDBClassifier", {"epochs": 500, "schedule": "instances"}, (4000, 16, 10, False)),
    "embeddings, two threads": ("NeuralKDBClassifier", {"epochs": 500, "n_jobs": 2}, (4000, 16, 10, False)),
    "dense counts": ("KDBClassifier", {"k": 2}, (300_000, 100, 6, False)),
    "sparse counts": ("KDBClassifier", {"k": 2}, (600_000, 60, 250, False)),
    "cut points": ("TANClassifier", {}, (300_000, 60, 30, True)),
    "cut points, two threads": ("TANClassifier", {"n_jobs": 2}, (300_000, 60, 30, True)),
    "sets of parents": ("AnDEClassifier", {}, (30_000, 60, 8, False)),
    "scored rows": ("SPTANClassifier", {}, (20_000, 60, 8, False)),
    "selected features": ("SKDBClassifier", {}, (100_000, 40, 8, False)),
    "an ensemble": ("ESKDBClassifier", {"random_state": 0}, (20_000, 30, 20, True)),
}


def worked(process):
    """Seconds that the processors have worked for a process: a busy machine is not the library's fault."""
    user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def interrupted_after(delay, classifier, parameters, table):
    """Seconds of work from the signal to the end of the fit, and what the process said then."""
    code = RUN.format(classifier=classifier, parameters=parameters, table=table)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        sent = worked(process)
        process.send_signal(signal.SIGINT)
        ended, *said = [line.strip() for line in process.stdout]
    assert ended != "finished"
    return float(ended) - sent, said


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux for the work of a process")
@pytest.mark.parametrize("fit", LONG_FITS.values(), ids=LONG_FITS)
def test_a_long_fit_stops_soon_and_leaves_the_classifier_unfitted(fit):
    seconds, said = interrupted_after(0.4, *fit)
    assert said == ["unfitted", "refuses"]
    assert seconds < LIMIT * fit[1].get("n_jobs", 1)
