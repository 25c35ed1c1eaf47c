"""Every classifier on random tables: any shape, any types, weights, missing and unseen values, odd names."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from every import CLASSIFIERS, make

NUMBERS = {
    "whole": st.integers(-3, 3),
    "wide": st.integers(-(2**62), 2**62),
    "real": st.floats(-1e300, 1e300, allow_nan=False, width=64),
    "tiny": st.floats(-1e-300, 1e-300),
}
CATEGORIES = {
    "text": st.text(max_size=3),
    "bool": st.booleans(),
    "bytes": st.binary(max_size=2),
    "pair": st.tuples(st.integers(0, 2), st.text("ab", max_size=1)),
    "mixed": st.one_of(st.integers(0, 2), st.text("ab", max_size=1), st.booleans(), st.floats(0, 1)),
}
TIMES = {
    "date": st.dates(datetime.date(1700, 1, 1), datetime.date(2200, 1, 1)),
    "time": st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
}
KINDS = {**NUMBERS, **CATEGORIES, **TIMES}
ODD_NAMES = ["", " ", "class", "y", "x0", "x1", "é", "日本", "a\nb", "{}", "%s", "__init__", "0", "a" * 200]
LABELS = {
    "numbers": st.integers(-2, 2),
    "text": st.sampled_from(["", "no", "yes", "ß"]),
    "bools": st.booleans(),
}


@st.composite
def columns(draw, kind, n_rows):
    """Objects, or what pandas makes of them; some missing, or all."""
    values = draw(st.lists(KINDS[kind], min_size=n_rows, max_size=n_rows))
    holes = draw(st.sampled_from(["none", "some", "all"]))
    missing = {"none": [False] * n_rows, "all": [True] * n_rows}.get(holes) or draw(
        st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)
    )
    cells = pd.Series([None if hole else value for value, hole in zip(values, missing, strict=True)], dtype=object)
    typed = draw(st.sampled_from(["object", "inferred", "category"]))
    if typed == "category" and kind != "mixed":
        return cells.astype("category")
    return cells.infer_objects() if typed == "inferred" else cells


@st.composite
def tables(draw, most_rows=25):
    """A frame to learn from and one to predict, with the same names and kinds of columns, a target and weights."""
    n_rows, n_new = draw(st.integers(1, most_rows)), draw(st.integers(1, 5))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    names = draw(st.permutations(ODD_NAMES))[: len(kinds)]
    X = pd.DataFrame({name: draw(columns(kind, n_rows)) for name, kind in zip(names, kinds, strict=True)})
    new = pd.DataFrame({name: draw(columns(kind, n_new)) for name, kind in zip(names, kinds, strict=True)})
    labels = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    y = np.array(draw(st.lists(labels, min_size=n_rows, max_size=n_rows)))
    weights = draw(st.none() | arrays.arrays(float, n_rows, elements=st.floats(0, 9)).filter(lambda w: w.any()))
    return X, y, weights, new


def options():
    """For those classifiers that have them."""
    choices = {
        "missing": ["value", "impute", "marginalize"],
        "estimate": ["m", "laplace", "backoff"],
        "discretization": ["mdl", "width", "quantile"],
        "weighting": ["none", "discriminative"],
        "schedule": ["auto", "instances", "cells"],
        "early_stopping": [False, True],
    }
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in choices.items()})


def check_probabilities(fitted, X):
    found = fitted.predict_proba(X)
    assert found.shape == (len(X), len(fitted.classes_))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    assert set(fitted.predict(X)) <= set(fitted.classes_)
    return found


def change_of_type(error):
    """Text where numbers were, or numbers where text was: the error names the column."""
    return "held" in str(error) and "in fit" in str(error)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@given(table=tables(), options=options())
def test_any_table_can_be_learned_and_predicted(classifier, table, options):
    X, y, weights, new = table
    fitted = make(classifier, **options).fit(X, y, weights)
    expected = check_probabilities(fitted, X)
    kept = y if weights is None else y[weights > 0]
    assert fitted.classes_.tolist() == np.unique(kept).tolist()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), expected)
    try:
        check_probabilities(fitted, new)
    except ValueError as error:
        if not change_of_type(error):
            raise
