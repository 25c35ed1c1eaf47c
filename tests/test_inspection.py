"""Explanations add up to what was predicted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import neuralkdb as nk

ADDITIVE = [nk.NaiveBayesClassifier, nk.TANClassifier, nk.KDBClassifier, nk.SPTANClassifier, nk.MNKDBClassifier]
AVERAGED = [nk.KDFClassifier, nk.AODEClassifier, nk.AnDEClassifier, nk.ESKDBClassifier]


def small(classifier):
    return classifier(n_members=3, random_state=0) if classifier is nk.ESKDBClassifier else classifier()


@pytest.mark.parametrize("classifier", ADDITIVE + AVERAGED)
def test_terms_add_up_to_the_log_odds(classifier):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6].mask(np.random.default_rng(0).random((len(X), 6)) < 0.05)
    model = small(classifier).fit(X, y)
    logs = model.predict_log_proba(X)
    others = (logs.sum(axis=1, keepdims=True) - logs) / 2
    np.testing.assert_allclose(model.explain(X).log_odds, logs - others, atol=1e-9)


@pytest.mark.parametrize("classifier", ADDITIVE)
def test_a_single_network_leaves_nothing_unexplained(classifier):
    X, y = load_wine(return_X_y=True)
    explained = small(classifier).fit(X, y).explain(X)
    assert explained.terms[-1] == "averaging"
    np.testing.assert_allclose(explained.values[..., -1], 0.0, atol=1e-9)


def test_with_two_classes_log_odds_are_the_usual_ones():
    X, y = load_breast_cancer(return_X_y=True)
    model = nk.TANClassifier().fit(X[:, :8], y)
    probabilities = model.predict_proba(X[:, :8])
    expected = np.log(probabilities[:, 1] / probabilities[:, 0])
    np.testing.assert_allclose(model.explain(X[:, :8]).log_odds[:, 1], expected, rtol=1e-6)


def test_the_strongest_terms_come_first_with_their_names():
    X, y = load_wine(return_X_y=True, as_frame=True)
    explained = nk.NaiveBayesClassifier().fit(X, y).explain(X[:2])
    strongest = explained.strongest(0, y[0], n=3)
    sizes = [abs(value) for _, value in strongest]
    assert sizes == sorted(sizes, reverse=True)
    assert {name for name, _ in strongest} <= set(X.columns) | {"class"}
