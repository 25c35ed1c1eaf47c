"""Scores are those of scikit-learn, and the calibration error that of a plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from neuralkdb.evaluation import calibration, scores_of

LABELS = {2: np.array(["no", "yes"]), 4: np.array([3, 5, 7, 9])}


def case(seed, n_classes, n_rows=200):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_rows)
    probabilities = rng.dirichlet(np.ones(n_classes), n_rows)
    return LABELS[n_classes][truth], probabilities, LABELS[n_classes]


@given(seed=st.integers(0, 1000), n_classes=st.sampled_from([2, 4]))
def test_accuracy_and_log_loss_are_those_of_scikit_learn(seed, n_classes):
    y, probabilities, classes = case(seed, n_classes)
    scores = scores_of(y, probabilities, classes)
    assert scores.accuracy == pytest.approx(metrics.accuracy_score(y, classes[probabilities.argmax(axis=1)]))
    assert scores.log_loss == pytest.approx(metrics.log_loss(y, probabilities, labels=classes))


@given(seed=st.integers(0, 1000))
def test_with_two_classes_brier_and_auc_are_those_of_scikit_learn(seed):
    y, probabilities, classes = case(seed, 2)
    scores = scores_of(y, probabilities, classes)
    assert scores.brier == pytest.approx(metrics.brier_score_loss(y, probabilities[:, 1], pos_label="yes"))
    assert scores.auc == pytest.approx(metrics.roc_auc_score(y == "yes", probabilities[:, 1]))


def test_with_more_classes_brier_sums_over_classes_and_there_is_no_auc():
    y, probabilities, classes = case(0, 4)
    scores = scores_of(y, probabilities, classes)
    plain = sum((row[c] - (y[i] == classes[c])) ** 2 for i, row in enumerate(probabilities) for c in range(4))
    assert scores.brier == pytest.approx(plain / len(y))
    assert scores.auc is None


@given(seed=st.integers(0, 1000), n_classes=st.sampled_from([2, 4]), n_bins=st.integers(1, 20))
def test_the_calibration_error_is_that_of_a_plain_loop(seed, n_classes, n_bins):
    y, probabilities, classes = case(seed, n_classes)
    error = 0.0
    for number in range(n_bins):
        low, high = number / n_bins, (number + 1) / n_bins
        inside = [i for i, row in enumerate(probabilities) if low < max(row) <= high]
        if inside:
            confidence = np.mean([max(probabilities[i]) for i in inside])
            right = np.mean([classes[np.argmax(probabilities[i])] == y[i] for i in inside])
            error += len(inside) / len(y) * abs(confidence - right)
    assert calibration(y, probabilities, classes, n_bins).error == pytest.approx(error)


def test_certainty_that_is_right_has_no_error_and_that_is_wrong_has_all():
    sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    right, wrong = (scores_of(y, sure, LABELS[2]) for y in (["no", "yes"], ["yes", "no"]))
    assert (right.accuracy, right.brier, right.calibration_error, right.auc) == (1.0, 0.0, 0.0, 1.0)
    assert (wrong.accuracy, wrong.brier, wrong.calibration_error, wrong.auc) == (0.0, 1.0, 1.0, 0.0)
    assert np.isfinite(wrong.log_loss)


def test_a_class_the_model_does_not_know_counts_as_wrong():
    sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    scores = scores_of(["no", "maybe"], sure, LABELS[2])
    assert scores.accuracy == 0.5
    assert scores.auc is None
    with pytest.raises(ValueError, match="no class that the model knows"):
        scores_of(["perhaps", "maybe"], sure, LABELS[2])
