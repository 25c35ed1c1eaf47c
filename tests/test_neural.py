"""NeuralKDB and its kin: what training sees, what it converges to, and what can be asked of the result."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

import neuralkdb as nk
from neuralkdb.structures.independent import Independent
from neuralkdb.structures.k_dependence import KDependencePerClass, RotatedKDependence
from neuralkdb.structures.parent_sets import SuperParents
from neuralkdb.structures.tree import Tree

NEURAL = [nk.NeuralKDBClassifier, nk.NeuralNBClassifier, nk.EmbeddingNetClassifier]
SCHEDULES = ["instances", "cells"]


@pytest.fixture(scope="module")
def rows():
    """A small full table: every cell of three features occurs, unevenly."""
    random = np.random.default_rng(0)
    X = np.array(np.meshgrid(range(3), range(2), range(3))).reshape(3, -1).T
    X = np.repeat(X, random.integers(3, 30, len(X)), axis=0)
    return X, random.integers(0, 2, len(X))


def small(classifier, **options):
    return classifier(embedding_dim=16, epochs=3, random_state=0, **options)


@pytest.mark.parametrize("classifier", NEURAL)
def test_the_same_seed_gives_the_same_bits_whatever_the_number_of_threads(classifier):
    X, y = load_wine(return_X_y=True)
    first, *others = (small(classifier, n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2, 3))
    for other in others:
        assert np.array_equal(first, other)


@pytest.mark.parametrize("classifier", NEURAL)
def test_row_order_does_not_matter_and_weight_two_is_the_row_twice(classifier):
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    order = np.random.default_rng(2).permutation(weights.sum())
    twice, labels = np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order]
    weighted = small(classifier).fit(X, y, weights).predict_proba(X)
    assert np.array_equal(weighted, small(classifier).fit(twice, labels).predict_proba(X))


def test_fractional_weights_scale_gradients(rows):
    X, y = rows
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    model = small(nk.NeuralKDBClassifier, schedule="instances")
    fractional, rounded, plain = (
        model.fit(X, y, weight).predict_proba(X) for weight in (weights, np.ceil(weights), np.ones(len(y)))
    )
    assert not np.array_equal(fractional, rounded)
    assert np.abs(fractional - rounded).max() < 0.1
    assert not np.array_equal(fractional, plain)


def test_training_on_cells_sees_shares_of_the_weight_alone(rows):
    X, y = rows
    model = small(nk.NeuralKDBClassifier, schedule="cells")
    once, often = (model.fit(X, y, np.full(len(y), weight)).predict_proba(X) for weight in (50.0, 400.0))
    assert np.array_equal(once, often)


def test_without_parents_and_nonlinearity_long_training_finds_the_unsmoothed_naive_bayes(rows):
    X, y = rows
    neural = nk.NeuralNBClassifier(
        activation="identity", embedding_dim=32, epochs=400, learning_rate=0.01, schedule="cells", random_state=0
    )
    counted = nk.NaiveBayesClassifier(smoothing=0.0)
    joints = [np.exp(model.fit(X, y).predict_joint_log_proba(X)) for model in (neural, counted)]
    assert np.abs(joints[0] - joints[1]).max() < 5e-3


def test_a_wide_tanh_model_finds_the_unsmoothed_kdb(rows):
    X, y = rows
    neural = nk.NeuralKDBClassifier(embedding_dim=256, epochs=400, learning_rate=0.01, schedule="cells", random_state=0)
    counted = nk.KDBClassifier(smoothing=0.0)
    joints = [np.exp(model.fit(X, y).predict_joint_log_proba(X)) for model in (neural, counted)]
    assert np.abs(joints[0] - joints[1]).max() < 5e-3


def test_the_printed_formula_cannot_learn_an_interaction_and_tanh_can():
    X = np.array(np.meshgrid(range(2), range(2))).reshape(2, -1).T.repeat(50, axis=0)
    y = X[:, 0] ^ X[:, 1]
    scores = {
        activation: nk.NeuralKDBClassifier(k=1, activation=activation, epochs=100, learning_rate=0.01, random_state=0)
        .fit(X, y)
        .predict_proba(X)[np.arange(len(y)), y]
        .mean()
        for activation in ("identity", "tanh")
    }
    assert scores["identity"] < 0.6
    assert scores["tanh"] > 0.95


@pytest.mark.parametrize(("activation", "bound"), [("identity", (0, 1e-5)), ("tanh", (0.1, np.inf))])
def test_with_one_parent_the_printed_formula_is_a_sum_over_single_features(rows, activation, bound):
    X, y = rows
    model = small(nk.NeuralKDBClassifier, k=1, activation=activation).fit(X, y)
    cells = np.array(np.meshgrid(range(3), range(2), range(3), indexing="ij"))
    log_odds = np.diff(model.predict_log_proba(cells.reshape(3, -1).T)).reshape(cells.shape[1:])
    together = [np.diff(np.diff(log_odds, axis=i), axis=j) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert bound[0] <= max(np.abs(part).max() for part in together) <= bound[1]


@pytest.mark.parametrize("structure", [Tree(), Independent(), RotatedKDependence(1), SuperParents(1)])
def test_every_structure_can_carry_embeddings(structure):
    X, y = load_iris(return_X_y=True)
    model = nk.NeuralKDBClassifier(structure=structure, epochs=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_network_for_each_class_cannot_share_embeddings():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Embeddings are shared by all classes"):
        nk.NeuralKDBClassifier(structure=KDependencePerClass(1)).fit(X, y)


def test_neural_nb_is_neural_kdb_without_parents():
    X, y = load_iris(return_X_y=True)
    without = small(nk.NeuralKDBClassifier, k=0, structure=Independent()).fit(X, y)
    assert np.array_equal(without.predict_proba(X), small(nk.NeuralNBClassifier).fit(X, y).predict_proba(X))


def test_the_joint_sums_to_one_over_all_cells(rows):
    X, y = rows
    cells = np.unique(X, axis=0)
    assert len(cells) == 18
    joint = np.exp(small(nk.NeuralKDBClassifier).fit(X, y).predict_joint_log_proba(cells))
    np.testing.assert_allclose(joint.sum(), 1.0, rtol=1e-9)


def test_combinations_computed_at_need_are_those_of_the_table(rows, monkeypatch):
    X, y = rows
    model = small(nk.NeuralKDBClassifier, missing="marginalize").fit(X, y)
    asked = X.astype(float)
    asked[::3, 0] = np.nan
    asked[::4, 2] = np.nan
    table = model.predict_proba(asked)
    monkeypatch.setattr("neuralkdb.parameters.embeddings.LARGEST_GRID", 0)
    np.testing.assert_allclose(model.predict_proba(asked), table, rtol=1e-9)


def test_partial_fit_goes_on_with_training():
    X, y = load_wine(return_X_y=True)
    model = small(nk.NeuralKDBClassifier)
    model.partial_fit(X[::2], y[::2], classes=[0, 1, 2])
    structure, before = model.structure_, model.loss_curve_
    model.partial_fit(X[1::2], y[1::2])
    assert model.structure_ == structure
    assert model.loss_curve_[: len(before)] == before
    assert len(model.loss_curve_) == 2 * len(before)


def test_partial_fit_gives_new_categories_vectors_and_keeps_the_others_near():
    X = np.array([["a", "x"], ["b", "y"]] * 20, dtype=object)
    more = np.array([["c", "x"], ["b", "z"]] * 20, dtype=object)
    y = np.array([0, 1] * 20)
    model = small(nk.NeuralKDBClassifier).partial_fit(X, y, classes=[0, 1])
    before = model.embeddings_
    after = model.partial_fit(more, y).embeddings_
    assert after.labels == (("a", "b", "c"), ("x", "y", "z"))
    for feature, value in [("x0", "a"), ("x1", "y")]:
        for old, new in zip(before[feature, value], after[feature, value], strict=True):
            assert np.abs(old - new).max() < 0.2


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_loss_falls(schedule):
    X, y = load_wine(return_X_y=True)
    curve = nk.NeuralKDBClassifier(schedule=schedule, random_state=0).fit(X, y).loss_curve_
    assert len(curve) == 10
    assert curve[-1] < curve[0]


def test_early_stopping_ends_before_it_overfits():
    X, y = load_wine(return_X_y=True)
    model = nk.NeuralKDBClassifier(epochs=200, learning_rate=0.01, early_stopping=True, random_state=0).fit(X, y)
    assert len(model.loss_curve_) < 200


def test_values_that_behave_alike_are_similar():
    random = np.random.default_rng(0)
    kind = random.integers(0, 2, 2000)
    colour = np.array([["crimson", "scarlet"], ["navy", "azure"]])[kind, random.integers(0, 2, 2000)]
    shape = np.where(random.random(2000) < 0.9, kind, 1 - kind)
    X = np.column_stack([colour, shape.astype(str)]).astype(object)
    model = nk.NeuralKDBClassifier(k=1, random_state=0).fit(X, np.where(random.random(2000) < 0.9, kind, 1 - kind))
    (closest, similarity), *_ = model.similar_values("x0", "crimson")
    assert closest == "scarlet"
    assert similarity > 0.9
    assert model.similar_values("x0", "crimson")[-1][1] < 0.0
    parent, child = model.embeddings_["x0", "navy"]
    assert parent.shape == child.shape == (128,)


def test_asking_for_what_is_not_there_says_what_is():
    X, y = load_iris(return_X_y=True)
    model = small(nk.NeuralKDBClassifier).fit(X, y)
    with pytest.raises(KeyError, match="there is no feature 'petal', only"):
        model.similar_values("petal", "long")
    with pytest.raises(KeyError, match="feature 'x0' has no value 'long', only"):
        model.similar_values("x0", "long")


def test_progress_is_shown_on_request(capsys):
    X, y = load_iris(return_X_y=True)
    small(nk.NeuralKDBClassifier, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "NeuralKDBClassifier: epoch 3 of 3, loss " in shown
    small(nk.NeuralKDBClassifier).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("schedule", ["auto", "instances", "cells"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_where_nothing_was_counted_embeddings_stay_as_drawn_and_the_prior_decides(schedule, early_stopping):
    X, y = pd.DataFrame({"nothing": [np.nan] * 4}), [0, 0, 0, 1]
    model = nk.NeuralKDBClassifier(schedule=schedule, early_stopping=early_stopping, missing="impute", random_state=0)
    model.fit(X, y)
    assert model.loss_curve_ == []
    np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.25]] * 4)
