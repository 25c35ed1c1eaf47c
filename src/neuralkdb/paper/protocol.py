"""The paper's protocol: random 70/30 splits, a method fitted on one side, scored on the other."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from neuralkdb.paper.coded import Codes
from neuralkdb.paper.datasets import Dataset
from neuralkdb.paper.methods import PAPER_SETTINGS, Method

LEAST_PROBABILITY = 1e-15  # the log-loss of a class that was held impossible stays finite
TEST_SHARE = 0.3


@dataclass(frozen=True)
class Score:
    """How a method did on one split of one data set."""

    dataset: str
    method: str
    split: int
    accuracy: float
    log_loss: float
    version: str
    seed: int


@dataclass(frozen=True)
class Seconds:
    """How long that took: by the clock, and what of it the processor worked."""

    dataset: str
    method: str
    split: int
    fit: float
    predict: float
    fit_cpu: float
    predict_cpu: float


def split_rows(n_rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The training and the test rows of a split."""
    train, test = train_test_split(np.arange(n_rows), test_size=TEST_SHARE, random_state=seed)
    return train, test


def evaluate(dataset: Dataset, method: Method, split: int) -> tuple[Score, Seconds]:
    """Fit on the training rows of a split, score on its test rows; one thread."""
    train, test = split_rows(dataset.n_rows, seed=split)
    known, labels = np.unique(dataset.classes[train], return_inverse=True)
    estimator = own_or_given_codes(method.estimator(split), dataset)
    with threadpool_limits(1):
        started = _clocks()
        estimator.fit(dataset.rows(train), labels)
        fitted = _clocks()
        probabilities = probabilities_or_certainty(estimator, dataset.rows(test))
        ended = _clocks()
    key = (dataset.name, method.name, split)
    accuracy, loss = score(spread(probabilities, known, dataset), dataset.classes[test])
    known_loss = loss if hasattr(estimator, "predict_proba") else float("nan")
    return (
        Score(*key, accuracy, known_loss, method.version, seed=split),
        Seconds(*key, *np.column_stack([fitted - started, ended - fitted]).ravel().round(6).tolist()),
    )


def _clocks() -> NDArray[np.float64]:
    """Seconds by the clock, and of work by this process."""
    return np.array([time.perf_counter(), time.process_time()])


def own_or_given_codes(estimator: Any, dataset: Dataset) -> Any:
    """The estimator itself where it encodes tables, else behind the paper's encoding."""
    own = estimator.get_params().get("discretization")
    if own is None:
        return estimator if dataset.coded else make_pipeline(Codes(), estimator)
    if dataset.coded and own == PAPER_SETTINGS["discretization"]:
        return estimator.set_params(discretization="codes")
    return estimator


def probabilities_or_certainty(estimator: Any, features: Any) -> NDArray[np.float64]:
    """The probabilities of the classes; of an estimator that has none, all of it for what it predicts."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(features), dtype=np.float64)
    return np.asarray(np.equal.outer(estimator.predict(features), estimator.classes_), dtype=np.float64)


def spread(probabilities: NDArray[np.float64], known: NDArray[np.intp], dataset: Dataset) -> NDArray[np.float64]:
    """The probabilities over all classes: none for those that training did not show."""
    wide = np.zeros((len(probabilities), dataset.n_classes))
    wide[:, known] = probabilities
    return wide


def score(probabilities: NDArray[np.float64], classes: NDArray[np.intp]) -> tuple[float, float]:
    """Accuracy and log-loss."""
    right = probabilities.argmax(axis=1) == classes
    of_class = probabilities[np.arange(len(classes)), classes]
    losses = -np.log(np.maximum(of_class, LEAST_PROBABILITY))
    return float(right.mean()), float(losses.mean())


def discretized_whole(dataset: Dataset) -> Dataset:
    """The data set with all of its rows discretized together, as the paper did."""
    return replace(dataset, features=Codes().fit_transform(dataset.features), coded=True)
