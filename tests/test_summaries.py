from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neuralkdb import _kernels
from neuralkdb.columns import Column
from neuralkdb.summaries import ColumnSummary, summarize

NAN = np.nan
N_ROWS, N_CLASSES = 30, 3
some_floats = arrays(float, N_ROWS, elements=st.sampled_from([-2.5, -0.0, 0.0, 1.0, 1e300, NAN]))
some_integers = arrays(np.int64, N_ROWS, elements=st.integers(-3, 3))
far_integers = arrays(np.int64, N_ROWS, elements=st.sampled_from([-(2**40), 0, 2**40]))
positions = arrays(np.int8, N_ROWS, elements=st.integers(-1, 3))
numbers = st.one_of(some_floats, some_integers, far_integers)
some_classes = arrays(np.uint32, N_ROWS, elements=st.integers(0, N_CLASSES - 1))
some_weights = arrays(float, N_ROWS, elements=st.integers(1, 3).map(float))
LEVELS = ("red", "blue", "amber", "red-ish")


def summary_of(column, classes, weights):
    return next(iter(summarize([column], classes, N_CLASSES, weights)))


def cells_of(summary):
    """{(value, class): weight} and the missing weights: what a summary means."""
    cells = {}
    for i, value in enumerate(summary.values.tolist()):
        for cell in range(summary.starts[i], summary.starts[i + 1]):
            cells[value, int(summary.classes[cell])] = summary.weights[cell]
    return cells, summary.missing.tolist()


def counted(values, classes, weights):
    """The same, row by row."""
    cells, missing = Counter(), [0.0] * N_CLASSES
    for value, group, weight in zip(values, classes.tolist(), weights.tolist(), strict=True):
        if value is None or value != value:
            missing[group] += weight
        else:
            cells[value, group] += weight
    return dict(cells), missing


@given(values=numbers, classes=some_classes, weights=some_weights)
def test_a_summary_of_numbers_is_what_counting_row_by_row_gives(values, classes, weights):
    summary = summary_of(Column("a", values), classes, weights)
    assert cells_of(summary) == counted(values.tolist(), classes, weights)
    assert np.all(np.diff(summary.values) > 0)


@given(values=positions, classes=some_classes, weights=some_weights)
def test_a_summary_of_categories_is_what_counting_row_by_row_gives(values, classes, weights):
    summary = summary_of(Column("a", values, LEVELS), classes, weights)
    named = [None if position < 0 else LEVELS[position] for position in values]
    assert cells_of(summary) == counted(named, classes, weights)
    assert list(summary.values) == sorted(summary.values)


@given(values=numbers, classes=some_classes, weights=some_weights)
def test_sorting_a_column_is_counting_it(values, classes, weights):
    sorted_cells = ColumnSummary(*_kernels.sort_cells(values, classes, N_CLASSES, weights))
    assert sorted_cells == summary_of(Column("a", values), classes, weights)


@given(
    values=st.one_of(numbers, positions),
    classes=some_classes,
    weights=some_weights,
    cut=st.integers(1, N_ROWS - 1),
)
def test_summaries_of_two_halves_add_up_to_the_whole(values, classes, weights, cut):
    column = Column("a", values, LEVELS if values.dtype == np.int8 else None)
    first, second = (
        summary_of(column.rows(rows), classes[rows], weights[rows]) for rows in (slice(cut), slice(cut, None))
    )
    assert first + second == summary_of(column, classes, weights)
    assert second + first == first + second


@given(values=numbers, classes=some_classes, weights=some_weights)
def test_weight_two_is_the_row_twice(values, classes, weights):
    twice = np.repeat(np.arange(N_ROWS), weights.astype(int))
    repeated = summary_of(Column("a", values[twice]), classes[twice], None)
    assert repeated == summary_of(Column("a", values), classes, weights)


@given(values=numbers, classes=some_classes, order=st.permutations(range(N_ROWS)))
def test_the_order_of_the_rows_does_not_matter(values, classes, order):
    shuffled = summary_of(Column("a", values[order]), classes[order], None)
    assert shuffled == summary_of(Column("a", values), classes, None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_long_column_is_sorted_too(dtype):
    values = np.random.default_rng(0).normal(size=20_000).astype(dtype)
    summary = next(iter(summarize([Column("a", values)], None, 1, None)))
    expected, counts = np.unique(values.astype(float), return_counts=True)
    np.testing.assert_array_equal(summary.values, expected)
    np.testing.assert_array_equal(summary.value_weights, counts)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_many_columns_are_summarized_as_each_alone(n_threads):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 5, (700, 11))
    table = [Column("i", X[:, j]) for j in range(11)]
    table += [Column("f", rng.normal(size=700)), Column("b", X[:, 0] > 0)]
    classes = rng.integers(0, N_CLASSES, 700).astype(np.uint32)
    weights = rng.random(700)
    together = list(summarize(table, classes, N_CLASSES, weights, n_threads=n_threads))
    assert together == [summary_of(column, classes, weights) for column in table]


def test_integers_beyond_the_signed_range_are_not_confused():
    values = np.array([2**64 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    summary = next(iter(summarize([Column("a", values)], None, 1, None)))
    assert summary.values.tolist() == [2.0**63, 2.0**64]


def test_values_without_an_order_of_their_own_are_ordered_by_type_and_text():
    column = Column("a", np.array([0, 1, 2]), ("b", 10, "a"))
    summary = summary_of(column, np.zeros(3, np.uint32), None)
    assert summary.values.tolist() == [10, "a", "b"]


def test_the_heaviest_value_is_the_first_of_equals_whatever_the_rounding():
    values = np.array([0, 0, 1])
    column = Column("a", values, ("x", "y"))
    summary = summary_of(column, np.zeros(3, np.uint32), np.array([0.1, 0.2, 0.1 + 0.2]))
    assert summary.mode == 0
    summary = summary_of(column, np.zeros(3, np.uint32), np.array([0.1, 0.2, 0.3 + 1e-9]))
    assert summary.mode == 1
