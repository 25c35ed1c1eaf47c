import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neuralkdb import _kernels
from neuralkdb.columns import Column
from neuralkdb.discretization import EqualFrequency, EqualWidth, MinimumDescriptionLength
from neuralkdb.encoding import encoding_of, learn_encoding
from neuralkdb.summaries import summarize

NAN = np.nan
RNG = np.random.default_rng(0)
WAYS = [EqualWidth(3), EqualFrequency(3), MinimumDescriptionLength(), None]
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def mixed_table(n_rows, rng=RNG):
    return [
        Column("number", rng.choice([0.0, 1, 2, 5, 7, NAN], n_rows)),
        Column("integer", rng.integers(0, 9, n_rows)),
        Column("word", rng.integers(-1, 4, n_rows).astype(np.int8), ("a", "c", "b", "d")),
        Column("truth", rng.random(n_rows) < 0.5),
    ]


def learn(columns, **choices):
    n_rows = len(columns[0].values)
    classes = np.arange(n_rows, dtype=np.uint32) % 2
    return learn_encoding(columns, classes, 2, **{"cut_points": EqualWidth(3), **choices})


# The kernel's twin.


def codes_by_the_book(values, book):
    edges, targets, exact, missing, unseen = book
    position = np.searchsorted(edges, values.astype(float), side="right")
    if exact:
        edges, targets = np.append(NAN, edges), np.append(np.uint32(unseen), targets)
        codes = np.where(edges[position] == values, targets[position], unseen)
    else:
        codes = targets[position]
    return np.where(np.isnan(values.astype(float)), missing, codes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("code_type", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n_edges", [0, 1, 3, 30])
@pytest.mark.parametrize("exact", [False, True])
def test_the_kernel_codes_by_the_book(dtype, code_type, n_edges, exact):
    rng = np.random.default_rng(n_edges)
    X = rng.integers(-40, 200, (1300, 3)).astype(dtype)
    if X.dtype.kind == "f":
        X[::7] = NAN
    edges = np.unique(rng.integers(-30, 90, n_edges)).astype(float) + (0 if exact else 0.5)
    targets = rng.permutation(len(edges) + (not exact)).astype(np.uint32)
    book = (edges, targets, exact, 100, 101)
    columns = [X[:, 0], X[::-1, 1], np.ascontiguousarray(X[:, 2])]
    for n_threads in (1, 3):
        codes = np.empty(X.shape, code_type, order="F")
        _kernels.code_columns(columns, [book] * 3, codes, n_threads)
        expected = np.column_stack([codes_by_the_book(column, book) for column in columns])
        np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i1"])
def test_the_kernel_codes_the_extremes_of_a_type(dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.min, 0, 5, limits.max] * 20, dtype=dtype)
    for exact, expected in [(False, [int(limits.min == 0), 1, 2, 2]), (True, [9, 0, 1, 9])]:
        edges = np.array([0.0, 5.0])
        targets = np.arange(2 if exact else 3, dtype=np.uint32)
        codes = np.empty((80, 1), np.uint8, order="F")
        _kernels.code_columns([values], [(edges, targets, exact, 8, 9)], codes, 1)
        expected = [0, 0, 1, 9] if exact and limits.min == 0 else expected
        np.testing.assert_array_equal(codes[:, 0], expected * 20)


# Encodings.


@pytest.mark.parametrize("cut_points", WAYS)
@pytest.mark.parametrize("missing", ["value", "impute", "marginalize"])
def test_codes_lie_in_range_and_every_training_value_has_one(cut_points, missing):
    columns = mixed_table(400)
    encoding = learn(columns, cut_points=cut_points, missing=missing)
    codes = encoding.encode(columns)
    assert np.all(codes.max(axis=0) <= encoding.cardinalities)
    absent = np.isnan(columns[0].values)
    assert np.all(codes[~absent, 0] < encoding.cardinalities[0])
    assert np.all((codes[absent, 0] < encoding.cardinalities[0]) == (missing != "marginalize"))
    assert np.all(codes[:, [1, 3]] < np.array(encoding.cardinalities)[[1, 3]])
    assert [len(encoding.labels(j)) for j in range(4)] == list(encoding.cardinalities)


@pytest.mark.parametrize("cut_points", WAYS)
@given(
    values=arrays(float, 12, elements=st.sampled_from([-3.0, 0.0, 1.0, 4.0, NAN])),
    order=st.permutations(range(12)),
)
def test_the_order_of_the_rows_does_not_matter(cut_points, values, order):
    column, classes = Column("a", values), np.arange(12, dtype=np.uint32) % 2
    order = np.array(order)
    learned = learn_encoding([column], classes, 2, cut_points=cut_points)
    shuffled = learn_encoding([column.rows(order)], classes[order], 2, cut_points=cut_points)
    np.testing.assert_array_equal(shuffled.encode([column]), learned.encode([column]))


@pytest.mark.parametrize("cut_points", WAYS)
def test_weight_two_is_the_row_twice(cut_points):
    rng = np.random.default_rng(1)
    columns = mixed_table(60, rng)
    classes = rng.integers(0, 2, 60).astype(np.uint32)
    weights = rng.integers(1, 4, 60)
    twice = np.repeat(np.arange(60), weights)
    for missing in ("value", "impute"):
        choices = {"cut_points": cut_points, "missing": missing}
        weighted = learn_encoding(columns, classes, 2, weights.astype(float), **choices)
        repeated = learn_encoding([c.rows(twice) for c in columns], classes[twice], 2, **choices)
        np.testing.assert_array_equal(weighted.encode(columns), repeated.encode(columns))


def test_an_encoding_of_merged_summaries_is_that_of_the_whole():
    columns, names = mixed_table(200), ["number", "integer", "word", "truth"]
    parts = [summarize([c.rows(rows) for c in columns], None, 1, None) for rows in (slice(90), slice(90, None))]
    merged = encoding_of(names, [a + b for a, b in zip(*parts, strict=True)], cut_points=EqualFrequency(3))
    whole = learn(columns, cut_points=EqualFrequency(3))
    assert merged.cardinalities == whole.cardinalities
    np.testing.assert_array_equal(merged.encode(columns), whole.encode(columns))


def test_blocks_of_rows_have_the_codes_of_the_whole():
    columns = mixed_table(3000)
    encoding = learn(columns)
    codes = encoding.encode(columns, n_threads=2)
    coding = encoding.coding(columns)
    blocks = [coding.codes(slice(start, start + 700)) for start in range(0, 3000, 700)]
    np.testing.assert_array_equal(np.concatenate(blocks), codes)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_number_of_threads_changes_nothing(n_threads):
    columns = mixed_table(2000, np.random.default_rng(3)) + [
        Column("smooth", np.random.default_rng(4).normal(size=2000))
    ]
    one, many = (learn(columns, cut_points=MinimumDescriptionLength(), n_threads=n) for n in (1, n_threads))
    np.testing.assert_array_equal(one.encode(columns), many.encode(columns, n_threads))


@pytest.mark.parametrize(
    ("n_levels", "dtype"),
    [(255, np.uint8), (256, np.uint16), (65535, np.uint16), (65536, np.uint32)],
)
def test_codes_take_the_smallest_type_that_holds_the_cardinality(n_levels, dtype):
    column = Column("a", np.arange(n_levels))
    encoding = learn([column], cut_points=None)
    codes = encoding.encode([column])
    assert codes.dtype == dtype
    assert codes.flags.f_contiguous
    np.testing.assert_array_equal(codes[:, 0], np.arange(n_levels))


def test_very_many_categories_work():
    rng = np.random.default_rng(0)
    words = tuple(f"word {i}" for i in range(100_000))
    column = Column("a", rng.integers(0, 100_000, 200_000).astype(np.int32), words)
    encoding = learn([column])
    assert encoding.cardinalities[0] == len(np.unique(column.values))
    assert encoding.encode([column]).max() < encoding.cardinalities[0]


def test_an_extended_encoding_keeps_its_codes():
    first, second = mixed_table(50, np.random.default_rng(0)), mixed_table(50)
    second[2] = Column("word", np.arange(50) % 3 - 1, ("z", "a"))
    encoding = learn(first)
    extended = encoding.extended(second)
    np.testing.assert_array_equal(extended.encode(first), encoding.encode(first))
    assert extended.labels(2) == (*encoding.labels(2), "z")


def test_missing_is_never_added_where_it_is_left_out():
    encoding = learn([Column("a", np.array([1.0, 2.0]))], missing="marginalize")
    assert encoding.extended([Column("a", np.array([NAN, 1.0]))]).cardinalities == (2,)
