import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from neuralkdb.frames import mark_categorical, read_columns, read_target, read_weights

NAN = np.nan
JANUARY = 1577836800e9  # 2020-01-01 in nanoseconds since 1970
DAY = 86400e9


def read(X):
    return read_columns(BaseEstimator(), X, reset=True)


def cells(column):
    """The values of a column as Python objects, with None where missing."""
    if column.levels is not None:
        return [None if i < 0 else column.levels[i] for i in column.values.tolist()]
    return [None if value != value else value for value in column.values.tolist()]


def table(X):
    return [cells(column) for column in read(X)]


MIXED = {"number": [1, 2, None], "text": ["b", None, "a"], "truth": [True, None, False]}
MIXED_CELLS = [[1, 2, None], ["b", None, "a"], [True, None, False]]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(MIXED),
        pd.DataFrame(MIXED).astype({"text": "category"}),
        pd.DataFrame(MIXED).convert_dtypes(),
        pd.DataFrame(MIXED).convert_dtypes(dtype_backend="pyarrow"),
        pd.DataFrame(MIXED, dtype=object),
        pl.DataFrame(MIXED),
        pl.DataFrame(MIXED).cast({"text": pl.Categorical}),
        pl.DataFrame(MIXED).cast({"text": pl.Enum(["c", "b", "a"])}),
        pl.DataFrame(MIXED).cast({"number": pl.Decimal(10, 2)}),
        pa.table(MIXED),
        pa.RecordBatch.from_pydict(MIXED),
        pa.table(MIXED).set_column(1, "text", pa.array(["b", None, "a"]).dictionary_encode()),
        pa.concat_tables([pa.table(MIXED).slice(0, 1), pa.table(MIXED).slice(1)]),
        pd.DataFrame(MIXED).to_numpy(dtype=object),
        [[1, "b", True], [2, None, None], [NAN, "a", False]],
    ],
)
def test_every_kind_of_table_has_the_same_columns(X):
    assert table(X) == MIXED_CELLS


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_of_a_numpy_table_are_views(dtype, order):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype, order=order)
    columns = read(X)
    assert all(np.shares_memory(column.values, X) for column in columns)
    assert table(X) == [[0, 1, 1], [1, 1, 0]]


def test_columns_of_a_numpy_backed_frame_are_views():
    X = pd.DataFrame(np.arange(6).reshape(3, 2), columns=["a", "b"])
    assert all(np.shares_memory(column.values, X.to_numpy()) for column in read(X))


@pytest.mark.parametrize("dtype", ["f2", "longdouble", ">f8", ">i4", ">u2"])
def test_numbers_of_unusual_types_are_converted_a_column_at_a_time(dtype):
    (column,) = read(np.array([[1], [2], [300]], dtype=dtype))
    assert column.values.dtype.isnative
    assert cells(column) == [1, 2, 300]


def test_a_field_of_records_is_a_column():
    records = np.array([(1, 2.5), (2, 3.5)], dtype=[("a", "i1"), ("b", "f8")])
    assert table(records["b"][:, None]) == [[2.5, 3.5]]


@pytest.mark.parametrize(
    "times",
    [
        np.array([["2020-01-01"], ["NaT"], ["2020-01-03"]], dtype="datetime64[D]"),
        np.array([["2020-01-01"], ["NaT"], ["2020-01-03"]], dtype="datetime64[s]"),
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None, "2020-01-03"])}),
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None, "2020-01-03"], utc=True)}),
        pd.DataFrame({"t": pd.PeriodIndex(["2020-01-01", None, "2020-01-03"], freq="D")}),
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None, "2020-01-03"])}).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame({"t": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 3)]}),
        pl.DataFrame({"t": [datetime.datetime(2020, 1, 1), None, datetime.datetime(2020, 1, 3)]}),
        pa.table({"t": [datetime.datetime(2020, 1, 1), None, datetime.datetime(2020, 1, 3)]}),
        pa.table({"t": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 3)]}),
        [[datetime.datetime(2020, 1, 1)], [None], [datetime.datetime(2020, 1, 3)]],
        [
            [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)],
            [pd.NaT],
            [datetime.datetime(2020, 1, 3, tzinfo=datetime.UTC)],
        ],
    ],
)
def test_times_are_nanoseconds_whatever_their_unit(times):
    assert table(times) == [[JANUARY, None, JANUARY + 2 * DAY]]


def test_months_and_durations_are_nanoseconds_too():
    assert table(np.array([["1970-02"]], dtype="datetime64[M]")) == [[31 * DAY]]
    assert table(np.array([[2]], dtype="timedelta64[D]")) == [[2 * DAY]]
    assert table(pd.DataFrame({"t": pd.to_timedelta([1, None], unit="D")})) == [[DAY, None]]


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, pd.NaT, np.datetime64("NaT"), np.float32(NAN)])
def test_whatever_says_missing_is_missing_among_objects(missing):
    objects = np.array([["a", 1], [missing, missing]], dtype=object)
    assert table(objects) == [["a", None], [1, None]]


def test_objects_that_are_numbers_are_numeric_and_a_mixture_is_not():
    from decimal import Decimal
    from fractions import Fraction

    numbers, mixture = read(np.array([[1, 1], [Decimal("2.5"), "1"], [Fraction(1, 2), 1]], object))
    assert numbers.levels is None
    assert cells(numbers) == [1, 2.5, 0.5]
    assert cells(mixture) == [1, "1", 1]


def test_a_cell_that_is_no_dictionary_key_is_a_category_of_its_own():
    X = np.array([[{"a": 1}], [{"a": 1}], [[1, 2]], ["x"]], dtype=object)
    first, second, third, fourth = table(X)[0]
    assert first == second != third
    assert fourth == "x"


@pytest.mark.parametrize(
    "X",
    [
        pl.DataFrame({"a": [[1], [2, 3], [1], None]}),
        pa.table({"a": [[1], [2, 3], [1], None]}),
        pl.DataFrame({"a": [{"x": 1}, {"x": 2}, {"x": 1}, None]}),
        pa.table({"a": [{"x": 1}, {"x": 2}, {"x": 1}, None]}),
    ],
)
def test_nested_cells_are_categories(X):
    (column,) = read(X)
    assert column.values.tolist() == [0, 1, 0, -1]


def test_long_arrays_are_told_apart():
    first, second = np.zeros(5000), np.zeros(5000)
    second[2500] = 1
    (column,) = read(pd.DataFrame({"a": [first, second, first]}))
    assert column.values.tolist() == [0, 1, 0]


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert table(X) == [[None, 3], [2, 4]]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 2 has this type")
def test_text_of_any_length_in_numpy_is_text():
    X = np.array([["a"], [None]], dtype=np.dtypes.StringDType(na_object=None))
    assert table(X) == [["a", None]]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("s")])
def test_arrow_times_in_pandas_are_nanoseconds(kind):
    times = pa.array([18262, None], pa.date32()).cast(pa.timestamp("s")).cast(pa.timestamp("us"))
    frame = pd.DataFrame({"t": pd.Series(times.cast(kind), dtype=pd.ArrowDtype(kind))})
    assert table(frame) == [[JANUARY, None]]


def test_categories_of_numbers_stay_categories():
    (column,) = read(pd.DataFrame({"a": pd.Categorical([3, 1, None])}))
    assert cells(column) == [3, 1, None]
    assert column.is_categorical


def test_text_that_looks_missing_or_empty_is_a_category():
    assert table(np.array([["nan"], [""], ["a"]])) == [["nan", "", "a"]]


def test_a_column_without_a_value_has_no_levels():
    assert table(np.array([[None], [None]], dtype=object)) == [[None, None]]
    assert table(pd.DataFrame({"a": [NAN, NAN]})) == [[None, None]]
    assert table(pl.DataFrame({"a": [None, None]})) == [[None, None]]
    assert table(pa.table({"a": pa.nulls(2)})) == [[None, None]]


def test_names_and_number_of_features_are_set_on_the_estimator():
    estimator = BaseEstimator()
    read_columns(estimator, pl.DataFrame({"a": [1], "b": ["x"]}), reset=True)
    assert estimator.n_features_in_ == 2
    assert list(estimator.feature_names_in_) == ["a", "b"]


@pytest.mark.parametrize("X", [np.zeros((1, 2)), pd.DataFrame(np.zeros((1, 2)))])
def test_columns_without_names_are_numbered(X):
    assert [column.name for column in read(X)] == ["x0", "x1"]


def test_an_array_for_a_fitted_frame_keeps_the_names_and_warns():
    estimator = BaseEstimator()
    read_columns(estimator, pd.DataFrame({"a": [1.0]}), reset=True)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        (column,) = read_columns(estimator, np.array([[2.0]]), reset=False)
    assert column.name == "a"


def test_rows_of_a_column_are_a_view_where_they_are_a_slice():
    column = read(np.arange(10)[:, None])[0]
    assert np.shares_memory(column.rows(slice(2, 5)).values, column.values)
    assert cells(column.rows(np.arange(10) > 7)) == [8, 9]


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string"),
        pl.Series(["b", "a", "b"]),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
    ],
)
def test_every_kind_of_target_has_the_same_classes(y):
    classes, codes = read_target(y)
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.uint32


@pytest.mark.parametrize(
    "y",
    [
        np.array([7, -3, 7]),
        np.array([7, 0, 7], dtype=np.uint8),
        np.array([10**12, 0, 10**12]),
        np.array([2.0, 1.0, 2.0]),
        np.array([True, False, True]),
        pd.Series([2, 1, 2], dtype="Int64"),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series([2, 1, 2]),
    ],
)
def test_classes_are_the_distinct_labels_in_their_own_type(y):
    classes, codes = read_target(y)
    expected, positions = np.unique(np.asarray(y), return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(codes, positions)


def test_one_class_is_enough():
    classes, codes = read_target(["a", "a"])
    assert classes.tolist() == ["a"]
    assert codes.tolist() == [0, 0]


def test_a_target_that_is_a_column_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning):
        assert read_target([[1], [0]])[1].tolist() == [1, 0]


def test_weights_are_floats_and_zeros_stay_for_the_caller():
    assert read_weights(None, 3) is None
    assert read_weights([0, 1, 2], 3).tolist() == [0.0, 1.0, 2.0]
    assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert read_weights(pd.Series([1, 2, 3]), 3).dtype == np.float64


@pytest.mark.parametrize("listed", [["number"], [0], [True, False, False], np.array([0], "u1")])
def test_columns_are_categorical_by_type_and_by_list(listed):
    columns = read(pd.DataFrame({"number": [1, 2], "text": ["a", "b"], "other": [0.5, 1]}))
    assert mark_categorical(columns, "from_dtype").tolist() == [False, True, False]
    assert mark_categorical(columns, listed).tolist() == [True, True, False]


@pytest.mark.parametrize("listed", [None, [], "from_dtype", [False, False]])
def test_nothing_listed_leaves_the_types_to_decide(listed):
    columns = read(pd.DataFrame({"truth": [True, False], "number": [1, 2]}))
    assert mark_categorical(columns, listed).tolist() == [True, False]
