"""What holds for every classifier, whatever it learns."""

import pickle
from itertools import product

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import neuralkdb as nk
from coded import coded_rows
from every import CLASSIFIERS, COUNTED, accepts, make, mixed
from strategies import coded_tables, every_cell, parameters

few = settings(max_examples=10)
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)
every_counted = pytest.mark.parametrize("classifier", COUNTED)
every_missing = pytest.mark.parametrize("missing", ["value", "impute", "marginalize"])
SINGLE = [nk.NaiveBayesClassifier, nk.TANClassifier, nk.SPTANClassifier, nk.KDBClassifier, nk.MNKDBClassifier]
AVERAGED = [nk.AODEClassifier, nk.WAODEClassifier, nk.AnDEClassifier]


def same_bits(one, other, X):
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@every_missing
@every_classifier
def test_a_row_that_weighs_two_is_the_row_twice(classifier, missing):
    X, y = mixed()
    times = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = make(classifier, missing=missing).fit(X, y, sample_weight=times)
    repeated = make(classifier, missing=missing).fit(X.iloc[rows].reset_index(drop=True), y[rows])
    same_bits(weighted, repeated, X)


@every_missing
@every_classifier
def test_rows_without_weight_do_not_exist(classifier, missing):
    X, y = mixed()
    extreme = pd.DataFrame({"size": [1e6], "count": [99.0], "colour": ["black"], "lit": [True]})
    weights = np.append(np.random.default_rng(1).integers(1, 9, len(y)) / 4, 0)
    with_row = make(classifier, missing=missing).fit(pd.concat([X, extreme]), np.append(y, 7), sample_weight=weights)
    without = make(classifier, missing=missing).fit(X, y, sample_weight=weights[:-1])
    assert with_row.classes_.tolist() == [0, 1, 2]
    same_bits(with_row, without, X)


@every_missing
@every_classifier
def test_the_order_of_rows_does_not_matter(classifier, missing):
    X, y = mixed()
    order = np.random.default_rng(1).permutation(len(y))
    weights = np.random.default_rng(2).integers(1, 9, len(y)) / 4
    in_order = make(classifier, missing=missing).fit(X, y, sample_weight=weights)
    shuffled = X.iloc[order].reset_index(drop=True)
    same_bits(in_order, make(classifier, missing=missing).fit(shuffled, y[order], sample_weight=weights[order]), X)


@every_missing
@every_classifier
def test_the_number_of_threads_does_not_matter(classifier, missing):
    X, y = mixed(200)
    one, two, three = (make(classifier, missing=missing, n_jobs=n).fit(X, y) for n in (1, 2, 3))
    same_bits(one, two, X)
    same_bits(one, three, X)


@pytest.mark.parametrize("classifier", SINGLE + AVERAGED)
@few
@given(table=coded_tables(rows=(5, 25), features=(2, 3)), estimate=parameters())
def test_the_joint_sums_to_one_over_all_cells(classifier, table, estimate):
    options = {"estimate": estimate.estimate, "smoothing": estimate.smoothing, "min_count": 0.0}
    fitted = make(classifier, discretization="codes", **options).fit(table.codes, table.y, table.weights)
    assert np.exp(fitted.predict_joint_log_proba(every_cell(table))).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("classifier", SINGLE + AVERAGED)
@few
@given(
    rows=coded_rows(features=(2, 3), rows=(4, 25), wide=False), estimate=st.sampled_from(["m", "laplace", "backoff"])
)
def test_the_joint_sums_to_one_though_rows_had_missing_values(classifier, rows, estimate):
    X = np.where(rows.codes == rows.sizes, np.nan, rows.codes)
    options = {"missing": "marginalize", "discretization": "codes", "estimate": estimate, "min_count": 0.0}
    fitted = make(classifier, **options).fit(X, rows.classes, rows.weights)
    known = [np.unique(column[~np.isnan(column)]) for column in X.T]
    if all(map(len, known)):
        cells = np.array(list(product(*known)))
        assert np.exp(fitted.predict_joint_log_proba(cells)).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (nk.KDBClassifier(0), nk.NaiveBayesClassifier()),
        (nk.MNKDBClassifier(0), nk.NaiveBayesClassifier()),
        (nk.SKDBClassifier(0), nk.NaiveBayesClassifier()),
        (nk.AnDEClassifier(0), nk.NaiveBayesClassifier()),
        (nk.AnDEClassifier(1), nk.AODEClassifier()),
        (nk.AODEClassifier(min_count=1e9), nk.NaiveBayesClassifier()),
        (nk.WAODEClassifier(min_count=1e9), nk.NaiveBayesClassifier()),
    ],
)
@every_missing
def test_simple_cases_of_a_family_coincide(one, other, missing):
    X, y = mixed()
    one, other = (clone(each).set_params(missing=missing).fit(X, y) for each in (one, other))
    if isinstance(one, nk.SKDBClassifier):
        other.fit(X[list(one.structure_)], y)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X[list(one.structure_)]), rtol=1e-12)
    else:
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-12)


@every_missing
def test_a_forest_of_kdbs_without_parents_is_naive_bayes(missing):
    X, y = mixed()
    forest = nk.KDFClassifier(0, missing=missing).fit(X, y)
    expected = nk.NaiveBayesClassifier(missing=missing).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=1e-12)


@every_classifier
def test_a_category_never_seen_is_marginalized(classifier):
    X, y = mixed()
    fitted = make(classifier, missing="marginalize").fit(X, y)
    same = X.assign(colour=None)
    np.testing.assert_array_equal(fitted.predict_proba(X.assign(colour="black")), fitted.predict_proba(same))


@every_missing
@every_classifier
def test_rows_of_missing_and_unseen_values_are_predicted(classifier, missing):
    X, y = mixed()
    nothing = pd.DataFrame({"size": [np.nan], "count": [np.nan], "colour": [None], "lit": [None]})
    strange = pd.DataFrame({"size": [1e300], "count": [-1e300], "colour": [""], "lit": ["?"]})
    fitted = make(classifier, missing=missing).fit(X, y)
    for row in (nothing, strange):
        found = fitted.predict_proba(row)
        assert np.isfinite(found).all()
        assert found.sum() == pytest.approx(1)


@every_counted
def test_where_everything_is_marginalized_the_posterior_is_the_prior(classifier):
    X, y = mixed(missing=0.0)
    nothing = pd.DataFrame({"size": [np.nan], "count": [np.nan], "colour": [None], "lit": [None]})
    found = make(classifier, missing="marginalize").fit(X, y).predict_proba(nothing)[0]
    np.testing.assert_allclose(found, np.bincount(y) / len(y), rtol=1e-12)


@every_classifier
def test_fitted_classifiers_survive_pickling_and_joblib(classifier, tmp_path):
    X, y = mixed()
    fitted = make(classifier).fit(X, y)
    fitted.predict(X)
    joblib.dump(fitted, tmp_path / "fitted.joblib")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "fitted.joblib")):
        same_bits(copy, fitted, X)
        assert copy.structure_ == fitted.structure_


@every_classifier
def test_a_clone_learns_the_same(classifier):
    X, y = mixed()
    original = make(classifier, smoothing=2.0, missing="marginalize")
    same_bits(clone(original).fit(X, y), original.fit(X, y), X)
    assert clone(original).get_params() == original.get_params()


@every_classifier
def test_classifiers_work_in_searches_scores_and_pipelines(classifier):
    X, y = mixed()
    search = GridSearchCV(make(classifier), {"missing": ["value", "marginalize"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.2
    assert (cross_val_score(make(classifier), X, y, cv=3) > 0.1).all()
    pipeline = make_pipeline(FunctionTransformer(), make(classifier)).fit(X, y)
    same_bits(pipeline, make(classifier).fit(X, y), X)


@every_classifier
def test_structures_speak_the_names_of_the_columns(classifier):
    X, y = mixed()
    fitted = make(classifier).fit(X, y)
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    assert "'size'" in repr(fitted.structure_)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.rename(columns={"size": "length"}))
    assert "x0" in repr(make(classifier).fit(X.to_numpy(), y).structure_)


@every_missing
@every_classifier
def test_the_library_of_a_table_does_not_matter(classifier, missing):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y = mixed()
    expected = make(classifier, missing=missing).fit(X, y)
    objects = X.astype(object).where(X.notna(), None)
    forms = [pyarrow.Table.from_pandas(X), polars.from_pandas(X), objects.to_numpy(), objects.to_numpy().tolist()]
    for form in forms:
        found = make(classifier, missing=missing).fit(form, y)
        np.testing.assert_array_equal(found.predict_proba(form), expected.predict_proba(X))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1, 2], [3, 4], [3, 5]], ["only"] * 3),
        ([[1.5, 2.5]], [4]),
        ([[1], [2], [2], [3]], [0, 1, 1, 0]),
        ([[7, 7], [7, 7], [7, 7]], [0, 1, 1]),
        ([[np.nan, 1], [np.nan, 2], [np.nan, 2]], [0, 1, 1]),
        (np.arange(288).reshape(144, 2) % 5, np.arange(144) % 48),
        (np.random.default_rng(0).integers(0, 3, (6, 30)), [0, 0, 1, 1, 2, 2]),
        ([["a", 1], ["b", 2]] * 3, [0, 1] * 3),
    ],
    ids=["one class", "one row", "one feature", "constants", "nothing known", "48 classes", "wide", "text"],
)
@every_missing
@every_classifier
def test_odd_tables_are_learned_and_predicted(classifier, missing, X, y):
    fitted = make(classifier, missing=missing, n=2).fit(X, y)
    found = fitted.predict_proba(X)
    assert found.shape == (len(y), len(set(np.asarray(y).tolist())))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(found, np.exp(fitted.predict_log_proba(X)))
    assert set(fitted.predict(X)) <= set(y)


@pytest.mark.parametrize(
    "labels", [["no", "so", "yes"], [5, -3, 9], [0.0, 1.0, 2.0], [False, True, True], np.array(["x", "y", "z"], object)]
)
@every_classifier
def test_labels_of_any_type_come_back(classifier, labels):
    X, y = mixed()
    named = np.array(labels)[y]
    fitted = make(classifier).fit(X, named)
    assert fitted.classes_.tolist() == np.unique(named).tolist()
    assert fitted.predict(X).dtype == fitted.classes_.dtype
    assert set(fitted.predict(X)) <= set(named)


@every_classifier
def test_blocks_of_rows_are_predicted_like_single_rows(classifier, monkeypatch):
    X, y = mixed(300)
    fitted = make(classifier, missing="marginalize").fit(X, y)
    at_once = fitted.predict_proba(X)
    monkeypatch.setattr("neuralkdb.classifiers.base.BLOCK_ENTRIES", 1)
    np.testing.assert_array_equal(
        fitted.set_params(n_jobs=2).predict_proba(X) if accepts(classifier, "n_jobs") else at_once, at_once
    )
    np.testing.assert_array_equal(fitted.predict_proba(X.iloc[:1]), at_once[:1])


def test_laws_are_tested_for_every_public_classifier():
    assert {each.__name__ for each in CLASSIFIERS} == {name for name in nk.__all__ if name.endswith("Classifier")}
