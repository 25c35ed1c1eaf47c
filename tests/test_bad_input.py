"""What is wrong with the input, and what the error says: one row for each mistake."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import neuralkdb

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])
FRAME = pd.DataFrame({"age": [1.5, 2.5, 3, 4, 5, 6], "city": ["a", "b", "c", "a", "b", "c"]})
NAN, INF = np.nan, np.inf


def fit(X, y=Y, *, sample_weight=None, **parameters):
    """A fitted classifier."""
    return neuralkdb.KDBClassifier(**parameters).fit(X, y, sample_weight)


def put(value, table=X, dtype=None):
    """The table with this value in its second row and first column."""
    table = np.array(table, dtype=dtype or table.dtype)
    table[1, 0] = value
    return table


def column(values, **types):
    return pd.DataFrame({"a": pd.Series(values, **types)})


BAD_X = {
    "one dimension": (X[:, 0], "Expected 2D array, got 1D array instead"),
    "a list of numbers": ([1, 2, 3, 4, 5, 6], "Expected 2D array, got 1D array instead"),
    "a list of dicts": ([{"a": 1}] * 6, "Expected 2D array, got 1D array instead"),
    "a number": (3.0, "Expected 2D array, got scalar array instead"),
    "text": ("data.csv", "Expected 2D array, got scalar array instead"),
    "None": (None, "Expected 2D array, got scalar array instead"),
    "a dict": ({"a": [1, 2]}, "Expected 2D array, got scalar array instead"),
    "three dimensions": (X.reshape(3, 2, 2), "Found array with dim 3"),
    "ragged rows": ([[1, 2], [3]], "inhomogeneous shape"),
    "a pandas series": (FRAME["age"], "Expected a 2-dimensional container but got .*Series"),
    "a polars series": (pl.Series([1, 2]), "Expected 2D array, got 1D array instead"),
    "no rows": (X[:0], r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no columns": (X[:, :0], r"Found array with 0 feature\(s\) \(shape=\(6, 0\)\)"),
    "no rows in pandas": (FRAME[:0], r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no columns in pandas": (FRAME[[]], r"Found array with 0 feature\(s\) \(shape=\(6, 0\)\)"),
    "no rows in polars": (pl.DataFrame({"a": []}), r"Found array with 0 sample\(s\)"),
    "no columns in polars": (pl.DataFrame(), r"Found array with 0 sample\(s\)"),
    "no rows in arrow": (pa.table({"a": []}), r"Found array with 0 sample\(s\)"),
    "complex": (X + 1j, "Complex data not supported"),
    "complex in a list": ([[1 + 2j], [3]], "Complex data not supported"),
    "complex in pandas": (column([1 + 2j, 3]), "Complex data not supported"),
    "complex among objects": (column([1j, "a"]), "Complex data not supported"),
    "infinity": (put(INF), "Input X contains infinity or a value too large"),
    "minus infinity": (put(-INF), "Input X contains infinity or a value too large"),
    "infinity and NaN": (put(INF, put(NAN)), "Input X contains infinity or a value too large"),
    "infinity in single precision": (put(INF, dtype="f4"), "contains infinity .*float32"),
    "infinity in half precision": (put(INF, dtype="f2"), "contains infinity .*float16"),
    "infinity in a list": ([[1.0], [INF]], "Input X contains infinity"),
    "infinity in pandas": (column([1.0, INF]), r"X \(column 'a'\) contains infinity"),
    "infinity in Float64": (column([1, INF], dtype="Float64"), r"\(column 'a'\) contains infinity"),
    "infinity in polars": (pl.DataFrame({"a": [1.0, INF]}), r"\(column 'a'\) contains infinity"),
    "infinity in arrow": (pa.table({"a": [1.0, INF]}), r"\(column 'a'\) contains infinity"),
    "infinity among objects": (put(INF, dtype=object), r"\(column 'x0'\) contains infinity"),
    "a huge integer": (put(10**400, dtype=object), r"\(column 'x0'\) contains infinity"),
    "records": (np.array([[(1, 2.0)]], dtype="i4,f8"), "structured array: pass pandas.DataFrame"),
    "equal names in pandas": (
        pd.DataFrame(X, columns=["a", "a"]),
        "more than one column named 'a': give each its own name",
    ),
    "equal names in arrow": (
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]),
        "more than one column named 'a': give each its own name",
    ),
}

BAD_X_TYPES = {
    "a sparse matrix": (sp.csr_matrix(X), "Sparse data was passed"),
    "a sparse array": (sp.csr_array(X), "Sparse data was passed"),
    "a matrix": (np.asmatrix(X), "np.matrix is not supported"),
    "a lazy frame": (pl.LazyFrame({"a": [1, 2]}), r"X is a LazyFrame.*pass X.collect\(\)"),
    "names of several types": (
        pd.DataFrame(X, columns=["a", 1]),
        "Feature names are only supported if all input features have string names",
    ),
}

BAD_Y = {
    "no target": (None, "y should be a 1d array"),
    "NaN": ([0, 1, NAN, 1, 0, 1], "Input y contains NaN"),
    "None": (["a", "b", None, "b", "a", "b"], "Input y contains NaN or None: drop the rows"),
    "NaN among text": (np.array(["a", "b", NAN] * 2, dtype=object), "Input y contains NaN"),
    "NaN in a list of text": (pd.Series(["a", "b", None] * 2), "Input y contains NaN"),
    "NA": (pd.array([1, 0, None] * 2, dtype="Int64"), "Input y contains NaN"),
    "NA in pandas text": (pd.Series(["a", "b", None] * 2, dtype="string"), "Input y contains NaN"),
    "NaN in a categorical": (pd.Series(["a", "b", None] * 2, dtype="category"), "y contains NaN"),
    "null in polars": (pl.Series(["a", "b", None] * 2), "Input y contains NaN"),
    "null in polars numbers": (pl.Series([1, 0, None] * 2), "Input y contains NaN"),
    "infinity": ([0, 1, INF, 1, 0, 1], "Input y contains infinity"),
    "continuous": ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "Unknown label type: continuous"),
    "objects": (np.array([0, 1] * 3, dtype=object), "Unknown label type: unknown"),
    "two columns": (np.c_[Y, Y], r"y should be a 1d array, got an array of shape \(6, 2\)"),
    "one number": (1, "y should be a 1d array"),
    "too short": (Y[:5], r"inconsistent numbers of samples: \[6, 5\]"),
    "empty": (Y[:0], r"inconsistent numbers of samples: \[6, 0\]"),
    "complex": (Y + 1j, "Complex data not supported"),
}

BAD_WEIGHTS = {
    "negative": ([1, -1, 1, 1, 1, 1], "Negative values in data passed to `sample_weight`"),
    "a negative number": (-1.0, "Negative values in data passed to `sample_weight`"),
    "NaN": ([1, NAN, 1, 1, 1, 1], "Input sample_weight contains NaN"),
    "infinite": ([1, INF, 1, 1, 1, 1], "Input sample_weight contains infinity"),
    "all zero": (np.zeros(6), "Sample weights must contain at least one non-zero number"),
    "too few": (np.ones(5), r"sample_weight.shape == \(5,\), expected \(6,\)!"),
    "two-dimensional": (np.ones((6, 1)), "Sample weights must be 1D array or scalar"),
    "text": (["a"] * 6, "could not convert string to float"),
    "complex": (np.ones(6) + 1j, "Complex data not supported"),
}

BAD_CATEGORICAL_FEATURES = {
    "an unknown name": (["town"], r"'town', which is no column of X: it has \['age', 'city'\]"),
    "names and numbers": (np.array(["age", 1], dtype=object), "names 1, which is no column of X"),
    "a number too large": ([0, 2], r"lists the columns \[0, 2\].*numbered 0 to 1"),
    "a negative number": ([-1], r"lists the columns \[-1\].*numbered 0 to 1"),
    "a mask too short": ([True], "has 1 bools, but X has 2 columns"),
    "a mask too long": ([True, False, True], "has 3 bools, but X has 2 columns"),
    "fractions": ([0.5], 'must be "from_dtype" or a list of names'),
    "a name alone": ("age", 'must be "from_dtype" or a list of names'),
    "a number alone": (0, 'must be "from_dtype" or a list of names'),
    "two dimensions": ([[0], [1]], 'must be "from_dtype" or a list of names'),
}

BAD_AT_PREDICTION = {
    "too few columns": (FRAME[["age"]], "Feature names seen at fit time, yet now missing:\n- city"),
    "too many columns": (FRAME.assign(new=1), "Feature names unseen at fit time:\n- new"),
    "another name": (FRAME.rename(columns={"age": "Age"}), "Feature names unseen at fit time"),
    "another order": (FRAME[["city", "age"]], "must be in the same order as they were in fit"),
    "no rows": (FRAME[:0], r"Found array with 0 sample\(s\)"),
    "infinity": (FRAME.assign(age=INF), r"Input X \(column 'age'\) contains infinity"),
    "text for numbers": (
        FRAME.assign(age="old"),
        "Column 'age' held numbers in fit and now holds 'old', .* replace it with a number or NaN",
    ),
    "infinite text": (FRAME.assign(age="inf"), "now holds 'inf', which cannot be read as a finite"),
    "a dict for a number": (
        FRAME.assign(age=[{"years": 3}] * 6),
        "Column 'age' held numbers in fit and now holds Unhashable",
    ),
    "numbers for text": (
        FRAME.assign(city=1),
        r"Column 'city' held text in fit and now holds numbers: .*astype\(str\)",
    ),
    "bools for text": (FRAME.assign(city=True), "Column 'city' held text in fit"),
    "times for text": (FRAME.assign(city=pd.Timestamp(0)), "Column 'city' held text in fit"),
}

BAD_ARRAYS_AT_PREDICTION = {
    "too few columns": (X[:, :1], "X has 1 features, but KDBClassifier is expecting 2 features"),
    "too many columns": (np.c_[X, X], "X has 4 features, but KDBClassifier is expecting 2"),
    "one dimension": (X[0], "Expected 2D array, got 1D array instead"),
    "text": ([["a", 1.0]], "Column 'x0' held numbers in fit and now holds 'a'"),
    "infinity": (put(INF), "Input X contains infinity"),
}


def rows(table):
    return [pytest.param(value, message, id=name) for name, (value, message) in table.items()]


@pytest.mark.parametrize(("bad", "message"), rows(BAD_X))
def test_a_bad_table_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        fit(bad)


@pytest.mark.parametrize(("bad", "message"), rows(BAD_X_TYPES))
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_table_of_an_unusable_type_is_refused(bad, message):
    with pytest.raises(TypeError, match=message):
        fit(bad)


@pytest.mark.parametrize(("bad", "message"), rows(BAD_Y))
def test_a_bad_target_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        fit(X, bad)


def test_a_target_of_bytes_is_refused():
    # scikit-learn 1.6 still warns, and warnings are errors here.
    refused = (TypeError, FutureWarning)
    with pytest.raises(refused, match="Support for labels represented as bytes is"):
        fit(X, np.array([b"a", b"b"] * 3))


def test_a_target_of_several_types_is_refused():
    with pytest.raises(TypeError, match=r"y mixes labels of the types \['int', 'str'\]: use one"):
        fit(X, np.array(["a", 1] * 3, dtype=object))


@pytest.mark.parametrize(("bad", "message"), rows(BAD_WEIGHTS))
def test_bad_weights_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        fit(X, sample_weight=bad)


@pytest.mark.parametrize(("bad", "message"), rows(BAD_CATEGORICAL_FEATURES))
def test_bad_categorical_features_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        fit(FRAME, categorical_features=bad)


def test_names_of_categorical_features_need_names_of_columns():
    with pytest.raises(ValueError, match=r"'age', which is no column of X: it has \['x0', 'x1'\]"):
        fit(X, categorical_features=["age"])


def test_ready_codes_are_whole_numbers():
    with pytest.raises(ValueError, match=r"takes whole numbers .* column 'x0' holds 0.5: choose"):
        fit(put(0.5), discretization="codes")


@pytest.mark.parametrize(("bad", "message"), rows(BAD_AT_PREDICTION))
def test_a_frame_that_differs_from_the_fitted_one_is_refused(bad, message):
    fitted = fit(FRAME)
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        fitted.predict(bad)


@pytest.mark.parametrize(("bad", "message"), rows(BAD_ARRAYS_AT_PREDICTION))
def test_an_array_that_differs_from_the_fitted_one_is_refused(bad, message):
    fitted = fit(X)
    with pytest.raises(ValueError, match=message):
        fitted.predict(bad)


BAD_PARAMETERS = {
    "no bins": ({"n_bins": 0}, "The 'n_bins' parameter of KDBClassifier must be an int"),
    "negative bins": ({"n_bins": -3}, "The 'n_bins' parameter of KDBClassifier must be an int"),
    "fractional bins": ({"n_bins": 2.5}, "The 'n_bins' parameter of KDBClassifier must be an int"),
    "bins as text": ({"n_bins": "10"}, "The 'n_bins' parameter of KDBClassifier must be an int"),
    "unknown discretization": (
        {"discretization": "foo"},
        "The 'discretization' parameter of KDBClassifier must be a str among",
    ),
    "no discretization": (
        {"discretization": None},
        "The 'discretization' parameter of KDBClassifier must be a str among",
    ),
    "unknown policy for missing": (
        {"missing": "bar"},
        "The 'missing' parameter of KDBClassifier must be a str among",
    ),
    "missing as a number": (
        {"missing": 0},
        "The 'missing' parameter of KDBClassifier must be a str among",
    ),
    "unknown estimate": (
        {"estimate": "x"},
        "The 'estimate' parameter of KDBClassifier must be a str among",
    ),
    "negative smoothing": (
        {"smoothing": -1.0},
        "The 'smoothing' parameter of KDBClassifier must be a float",
    ),
    "smoothing is NaN": (
        {"smoothing": NAN},
        "The 'smoothing' parameter of KDBClassifier must be a float",
    ),
    "smoothing as text": (
        {"smoothing": "1"},
        "The 'smoothing' parameter of KDBClassifier must be a float",
    ),
    "negative k": ({"k": -1}, "The 'k' parameter of KDBClassifier must be an int"),
    "fractional k": ({"k": 1.5}, "The 'k' parameter of KDBClassifier must be an int"),
    "jobs as text": ({"n_jobs": "a"}, "The 'n_jobs' parameter of KDBClassifier must be"),
    "a categorical feature as a dict": (
        {"categorical_features": {"age": True}},
        'categorical_features must be "from_dtype" or a list of names',
    ),
}


@pytest.mark.parametrize(("parameters", "message"), rows(BAD_PARAMETERS))
def test_a_bad_parameter_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(X, **parameters)
