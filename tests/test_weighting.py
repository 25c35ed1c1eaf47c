"""The weighted log-loss and its gradient against numpy and finite differences; single networks that are weighted."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import neuralkdb as nk
from every import mixed
from neuralkdb import _kernels
from neuralkdb.counting import CodedRows
from neuralkdb.weighting import Weighting, Weights, best_shares, expected_weights, log_posteriors, side_by_side

WEIGHTABLE = [
    nk.NaiveBayesClassifier,
    nk.TANClassifier,
    nk.SPTANClassifier,
    nk.KDBClassifier,
    nk.SKDBClassifier,
]


def rows_of(classes, weights) -> CodedRows:
    return CodedRows(np.zeros((len(classes), 1), np.uint8), classes, np.asarray(weights, float))


def problem(n_rows=37, n_families=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    logs = np.log(rng.dirichlet(np.ones(5), (n_rows, n_families, n_classes))[..., 0] + 0.01)
    rows = rows_of(rng.integers(0, n_classes, n_rows), rng.integers(1, 4, n_rows) / 2)
    return logs, rows, Weights(rng.random((n_families, n_classes)), rng.normal(size=n_classes))


def slow_loss(logs, rows, weights):
    logits = (logs * weights.families).sum(axis=1) + weights.bias
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -(rows.weights * logits[np.arange(len(logits)), rows.classes]).sum(), logits


def from_flat(flat, like):
    return Weights(flat[: like.families.size].reshape(like.families.shape), flat[like.families.size :])


def differences(function, flat, step=1e-6):
    return np.array([(function(flat + d) - function(flat - d)) / (2 * step) for d in step * np.eye(len(flat))])


@pytest.mark.parametrize("n_rows", [1, 16, 37, 1500])
def test_loss_and_posteriors_are_those_of_numpy(n_rows):
    logs, rows, weights = problem(n_rows)
    terms, (expected, logits) = side_by_side(logs), slow_loss(logs, rows, weights)
    found, _ = _kernels.weighted_loss(terms, rows.classes.astype(np.uint32), rows.weights, weights.flat)
    assert found == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(log_posteriors(terms, weights, n_rows), logits, atol=1e-4)


def test_the_gradient_is_that_of_finite_differences():
    logs, rows, weights = problem()
    _, found = _kernels.weighted_loss(side_by_side(logs), rows.classes.astype(np.uint32), rows.weights, weights.flat)
    expected = differences(lambda flat: slow_loss(logs, rows, from_flat(flat, weights))[0], weights.flat)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_the_gradient_of_the_pull_is_that_of_finite_differences():
    _, _, weights = problem()
    weighting, expected = Weighting(), expected_weights([0, 1, 1, 2], np.array([3.0, 4.0, 5.0]))
    np.testing.assert_allclose(expected.families[:, 0], [1, 0.5, 0.5, 1])
    _, found = weighting.penalty(weights.flat, expected)
    slow = differences(lambda flat: weighting.penalty(flat, expected)[0], weights.flat)
    np.testing.assert_allclose(found, slow, rtol=1e-6, atol=1e-6)


def test_learned_weights_are_a_minimum():
    logs, rows, _ = problem(200)
    weighting, expected = Weighting(n_steps=500), expected_weights(range(4), np.ones(3))
    learned = weighting.learn(side_by_side(logs), rows, expected, expected)

    def objective(flat):
        return slow_loss(logs, rows, from_flat(flat, learned))[0] + weighting.penalty(flat, expected)[0]

    least, rng = objective(learned.flat), np.random.default_rng(0)
    assert least < objective(expected.flat)
    assert all(objective(learned.flat + 0.05 * rng.normal(size=15)) > least - 1e-3 for _ in range(50))


def test_a_strong_pull_leaves_weights_where_they_are_expected():
    logs, rows, _ = problem(100)
    expected = expected_weights(range(4), np.ones(3))
    learned = Weighting(pull=1e6).learn(side_by_side(logs), rows, expected, expected)
    np.testing.assert_allclose(learned.families, 1.0, atol=1e-3)


def test_shares_go_to_what_is_right():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 500)
    knows, guesses = np.full((500, 3), -3.0), np.log(rng.dirichlet(np.ones(3), 500))
    knows[np.arange(500), classes] = -0.1
    shares = best_shares([guesses, knows], rows_of(classes, np.ones(500)), np.array([0.75, 0.25]))
    assert shares[0] < 0.3 < 1 < shares[1]


def test_shares_stay_where_nothing_is_known():
    nothing = [np.full((4, 3), np.log(1 / 3))] * 2
    shares = best_shares(nothing, rows_of(np.arange(4) % 3, np.ones(4)), np.array([0.75, 0.25]))
    np.testing.assert_allclose(shares, [0.75, 0.25], atol=1e-6)


@pytest.mark.parametrize("classifier", [each for each in WEIGHTABLE if each is not nk.SKDBClassifier])
def test_weights_help_a_single_network_on_rows_it_has_not_seen(classifier):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=2000)
    X = np.column_stack([*(hidden + rng.normal(size=2000) * 0.1 for _ in range(6)), rng.normal(size=2000)])
    y = (hidden + rng.normal(size=2000) > 0).astype(int)
    plain, weighted = (
        log_loss(y[1000:], classifier(weighting=each).fit(X[:1000], y[:1000]).predict_proba(X[1000:]))
        for each in ("none", "discriminative")
    )
    assert weighted < plain


@pytest.mark.parametrize("classifier", WEIGHTABLE)
def test_a_weighted_network_explains_itself_without_a_rest(classifier):
    X, y = mixed()
    model = classifier(weighting="discriminative").fit(X, y)
    explained, logs = model.explain(X), model.predict_log_proba(X)
    log_odds = logs - (logs.sum(axis=1, keepdims=True) - logs) / 2
    np.testing.assert_allclose(explained.log_odds, log_odds, atol=1e-9)
    np.testing.assert_allclose(explained.values[:, :, -1], 0, atol=1e-9)


@pytest.mark.parametrize("classifier", WEIGHTABLE)
def test_what_is_weighted_has_no_joint_and_takes_no_more_rows(classifier):
    model = classifier(weighting="discriminative").fit(*mixed())
    assert not hasattr(model, "predict_joint_log_proba")
    assert not hasattr(model, "partial_fit")


@pytest.mark.parametrize("classifier", WEIGHTABLE)
def test_weight_two_is_the_row_twice_for_weights_as_well(classifier):
    X, y = mixed(60)
    twice = np.arange(60) % 3 == 0
    rows = np.append(np.arange(60), np.flatnonzero(twice))
    one = classifier(weighting="discriminative").fit(X, y, 1.0 + twice)
    other = classifier(weighting="discriminative").fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
