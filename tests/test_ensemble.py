"""The ensemble: what its predictions are the sum of, and what they do not depend on."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from every import mixed
from neuralkdb.classifiers import ensemble
from neuralkdb.classifiers.members import EVERY, plans_of
from neuralkdb.weighted_model import PlainModel, WeightedModel


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed(150)
    return nk.NeuralKDBEnsembleClassifier(6, random_state=0).fit(X, y)


def test_one_member_of_four_is_neural_and_the_first_of_a_single_one_is_counted(fitted):
    kinds = [type(member) for member in fitted.members_[0].model.members[:6]]
    assert kinds == [WeightedModel, WeightedModel, PlainModel, WeightedModel, WeightedModel, WeightedModel]
    plans, _ = plans_of(range(24), n_rows=100)
    assert sum(plan.is_embedded for plan in plans) == 24 // EVERY
    for kind in (False, True):
        numbers = [plan.number for plan in plans if plan.is_embedded == kind]
        assert numbers == list(range(len(numbers)))


def test_explanations_add_up_to_the_log_odds_without_a_rest(fitted):
    X, _ = mixed(40, seed=5, missing=0.3)
    explained, logs = fitted.explain(X), fitted.predict_log_proba(X)
    log_odds = logs - (logs.sum(axis=1, keepdims=True) - logs) / 2
    assert explained.values.shape == (40, 3, 4 + 2)
    np.testing.assert_allclose(explained.log_odds, log_odds, atol=1e-9)
    np.testing.assert_allclose(explained.values[:, :, -1], 0, atol=1e-9)


def test_importances_are_shares_and_go_to_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    model = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X, X[:, 3] > 0)
    assert model.feature_importances_.shape == (5,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() == 3
    assert model.feature_importances_[3] > 0.5


def test_results_do_not_depend_on_threads_nor_on_the_order_of_rows():
    X, y = mixed(120)
    order = np.random.default_rng(0).permutation(120)
    one = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X, y)
    threads = nk.NeuralKDBEnsembleClassifier(4, random_state=0, n_jobs=3).fit(X, y)
    shuffled = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(one.predict_proba(X), threads.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba(X), shuffled.predict_proba(X))


def test_weight_two_is_the_row_twice():
    X, y = mixed(80)
    twice = np.arange(80) % 3 == 0
    rows = np.append(np.arange(80), np.flatnonzero(twice))
    one = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X, y, 1.0 + twice)
    other = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_of_many_rows_memory_and_engines_learn_from_the_same_sample(monkeypatch):
    monkeypatch.setattr(ensemble, "MOST_ROWS", 100)
    X, y = mixed(600)
    table = X.assign(y=np.array(["no", "so", "yes"], dtype=object)[y])
    here = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X, table["y"].to_numpy(object))
    there = nk.NeuralKDBEnsembleClassifier(4, random_state=0).fit_table(pl.from_pandas(table).lazy())
    np.testing.assert_array_equal(here.predict_proba(X), there.predict_proba(X))
    learned = here.members_[0].model.class_weights.sum()
    assert 60 < learned < 150


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 9])
def test_few_rows_are_enough(n_rows):
    X, y = mixed(n_rows)
    found = nk.NeuralKDBEnsembleClassifier(random_state=0).fit(X, y).predict_proba(mixed(20)[0])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_class_of_a_single_row_keeps_a_probability():
    X, y = mixed(200)
    y[7] = 9
    found = nk.NeuralKDBEnsembleClassifier(random_state=0).fit(X, y).predict_proba(X)
    assert (found[:, 3] > 1e-8).all()


def test_many_classes_can_be_told_apart():
    rng = np.random.default_rng(0)
    y = np.arange(960) % 48
    X = pd.DataFrame({f"x{j}": np.sin(y * (j + 1)) + 0.1 * rng.normal(size=960) for j in range(6)})
    model = nk.NeuralKDBEnsembleClassifier(6, random_state=0).fit(X[:720], y[:720])
    assert model.score(X[720:], y[720:]) > 0.9
