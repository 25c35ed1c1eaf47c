"""Counting a table in chunks is counting the whole, with the encoding and structure of the first chunk."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import neuralkdb as nk
from every import COUNTED, INCREMENTAL, make, mixed
from neuralkdb.classifiers.training import TrainingData
from neuralkdb.model import model_of, statistics_of
from neuralkdb.parameters.conditional import Block

LABELS = [0, 1, 2]
incremental = pytest.mark.parametrize("classifier", INCREMENTAL)
every_missing = pytest.mark.parametrize("missing", ["value", "impute", "marginalize"])


def in_chunks(classifier, X, y, cuts, weights=None):
    """The classifier after one chunk at a time."""
    for rows in np.split(np.arange(len(y)), cuts):
        own = None if weights is None else weights[rows]
        classifier.partial_fit(X.iloc[rows], y[rows], classes=LABELS, sample_weight=own)
    return classifier


def whole(classifier, X, y, weights=None):
    """log P(y | x) of the model of all rows at once, with the encoding and structure that the classifier has."""
    (member,) = classifier.members_
    data = TrainingData.read(clone(classifier), X, y, weights).of_labels(classifier.classes_)
    statistics = statistics_of(member.structure, data.counts(member.encoding, 1))
    model = model_of(member.structure, statistics, classifier._estimator())
    codes = member.encoding.encode(data.columns)
    return np.exp(model.log_posterior(Block.of(codes, member.encoding.cardinalities)))


def test_only_what_needs_all_rows_at_once_cannot_be_learned_in_chunks():
    others = {each.__name__ for each in COUNTED} - {each.__name__ for each in INCREMENTAL}
    assert others == {"SKDBClassifier", "SPTANClassifier", "ESKDBClassifier"}


@every_missing
@incremental
@settings(max_examples=5)
@given(cuts=st.lists(st.integers(1, 79), min_size=1, max_size=3, unique=True), seed=st.integers(0, 99))
def test_chunks_give_the_bits_of_the_whole(classifier, missing, cuts, seed):
    X, y = mixed(seed=seed)
    weights = np.random.default_rng(seed).integers(1, 9, len(y)) / 4
    for own in (None, weights):
        learned = in_chunks(make(classifier, missing=missing), X, y, sorted(cuts), own)
        np.testing.assert_array_equal(learned.predict_proba(X), whole(learned, X, y, own))


@incremental
def test_the_first_chunk_fixes_cut_points_and_structure(classifier):
    X, y = mixed()
    first = make(classifier).partial_fit(X[:40], y[:40], classes=LABELS)
    structure, cuts = first.structure_, first.members_[0].encoding.coders[0].cuts
    np.testing.assert_array_equal(first.predict_proba(X), make(classifier).fit(X[:40], y[:40]).predict_proba(X))
    first.partial_fit(X[40:], y[40:])
    assert first.structure_ == structure
    np.testing.assert_array_equal(first.members_[0].encoding.coders[0].cuts, cuts)


@every_missing
@incremental
def test_categories_of_later_chunks_extend_the_code_book(classifier, missing):
    X, y = mixed()
    late = X.assign(colour=np.where(np.arange(80) < 40, X["colour"], [f"c{i % 7}" for i in range(80)]))
    learned = in_chunks(make(classifier, missing=missing), late, y, [40])
    assert "c6" in learned.members_[0].encoding.labels(2)
    np.testing.assert_array_equal(learned.predict_proba(late), whole(learned, late, y))


@every_missing
@incremental
def test_values_may_be_missing_for_the_first_time_in_a_later_chunk(classifier, missing):
    X, y = mixed(missing=0.0)
    late = X.mask((np.arange(80) >= 40)[:, None] & (np.random.default_rng(0).random(X.shape) < 0.2))
    learned = in_chunks(make(classifier, missing=missing), late, y, [40, 60])
    np.testing.assert_array_equal(learned.predict_proba(late), whole(learned, late, y))


@pytest.mark.parametrize("missing", ["value", "marginalize"])
@incremental
def test_a_code_book_may_outgrow_a_dense_table(classifier, missing):
    """Two columns of thousands of names."""
    rng, n_rows = np.random.default_rng(0), 2_000
    X = pd.DataFrame({f"name{j}": [f"n{i}" for i in rng.permutation(n_rows)] for j in range(2)})
    X.iloc[:50] = "first"
    X.iloc[-9:, 0] = None
    y = rng.integers(0, 3, n_rows)
    learned = in_chunks(make(classifier, missing=missing, n=1), X, y, [50, 1_000])
    np.testing.assert_array_equal(learned.predict_proba(X), whole(learned, X, y))


@incremental
def test_a_class_may_be_missing_from_the_first_chunk(classifier):
    X, y = mixed()
    ordered = np.argsort(y, kind="stable")
    X, y = X.iloc[ordered].reset_index(drop=True), y[ordered]
    learned = make(classifier).partial_fit(X[y == 0], y[y == 0], classes=LABELS)
    assert not learned.predict(X).any()
    learned.partial_fit(X[y > 0], y[y > 0])
    np.testing.assert_array_equal(learned.predict_proba(X), whole(learned, X, y))


@incremental
def test_the_first_call_needs_all_classes(classifier):
    X, y = mixed()
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        make(classifier).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y has the label 2, which is not in the classes of the first call: \[0, 1\]"):
        make(classifier).partial_fit(X, y, classes=[0, 1])


@incremental
def test_later_calls_keep_the_classes_of_the_first(classifier):
    X, y = mixed()
    learned = make(classifier).partial_fit(X, y, classes=[2, 0, 1])
    assert learned.classes_.tolist() == LABELS
    with pytest.raises(ValueError, match="is not the same as on the first call to partial_fit"):
        learned.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="y has the label 9"):
        learned.partial_fit(X, np.where(y == 0, 9, y))
    before = learned.predict_proba(X)
    np.testing.assert_array_equal(before, whole(learned, X, y))


@incremental
def test_a_failed_call_changes_nothing(classifier):
    X, y = mixed()
    learned = make(classifier).fit(X, y)
    before = learned.predict_proba(X)
    with pytest.raises(ValueError, match="feature names"):
        learned.partial_fit(X.rename(columns={"size": "length"}), y)
    np.testing.assert_array_equal(learned.predict_proba(X), before)


@incremental
def test_labels_may_be_text_of_any_length(classifier):
    X, y = mixed()
    names = np.array(["a", "bb", "cccc"])[y]
    learned = make(classifier).partial_fit(X[y < 2], names[y < 2], classes=["cccc", "bb", "a"])
    learned.partial_fit(X, names)
    assert learned.classes_.tolist() == ["a", "bb", "cccc"]
    assert set(learned.predict(X)) <= {"a", "bb", "cccc"}


@incremental
def test_rows_without_weight_do_not_exist_in_a_chunk_either(classifier):
    X, y = mixed()
    weights = (np.arange(80) % 2).astype(float)
    learned = in_chunks(make(classifier), X, y, [40], weights)
    kept = X[weights > 0].reset_index(drop=True), y[weights > 0]
    np.testing.assert_array_equal(learned.predict_proba(X), in_chunks(make(classifier), *kept, [20]).predict_proba(X))


@incremental
def test_fit_starts_anew_and_partial_fit_continues(classifier):
    X, y = mixed()
    once = make(classifier).fit(X, y)
    again = make(classifier).partial_fit(X[:30], y[:30], classes=LABELS).fit(X, y)
    np.testing.assert_array_equal(once.predict_proba(X), again.predict_proba(X))
    again.partial_fit(X, y)
    doubled = whole(again, pd.concat([X, X], ignore_index=True), np.concatenate([y, y]))
    np.testing.assert_array_equal(again.predict_proba(X), doubled[:80])
    assert not np.array_equal(again.predict_proba(X), once.predict_proba(X))


def test_a_chunk_of_other_weights_is_counted_with_them():
    X, y = mixed()
    learned = (
        nk.NaiveBayesClassifier(discretization="width").fit(X, y).partial_fit(X, y, sample_weight=np.full(80, 2.0))
    )
    once = nk.NaiveBayesClassifier(discretization="width").fit(X, y, sample_weight=np.full(80, 3.0))
    np.testing.assert_array_equal(learned.predict_proba(X), once.predict_proba(X))
