"""Counting: the kernels and what is asked of counts, against one row at a time."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded import Coded, coded_rows, dense, entries
from neuralkdb import _kernels
from neuralkdb.counting import PackedCounts, flat

THREADS = [1, 2, 3]


def every_request(rows: Coded) -> list[tuple[int, ...]]:
    features = range(len(rows.cardinalities))
    return [(), *((i,) for i in features), *((j, i) for i, j in combinations(features, 2)), tuple(features)]


@pytest.mark.parametrize("n_threads", THREADS)
@given(rows=coded_rows(features=(1, 2)))
def test_count_dense_counts_each_row_in_its_cell(n_threads, rows):
    requests = [request for request in every_request(rows) if request]
    asked = rows.codes, rows.classes, rows.weights, *flat(requests), rows.sizes, rows.n_classes, n_threads
    for request, counted in zip(requests, _kernels.count_dense(*asked), strict=True):
        np.testing.assert_array_equal(counted, dense(rows, request).reshape(-1, rows.n_classes))


@pytest.mark.parametrize("n_threads", THREADS)
@given(rows=coded_rows(), keep=st.booleans())
def test_count_sparse_lists_the_cells_that_occur_in_order(n_threads, rows, keep):
    requests = every_request(rows)
    asked = rows.codes, rows.classes, rows.weights, *flat(requests), rows.sizes, rows.n_classes, keep, n_threads
    for request, counted in zip(requests, _kernels.count_sparse(*asked), strict=True):
        codes, starts, classes, weights = counted
        expected = entries(rows, request, keep_marginalized=keep)
        assert [tuple(cell) for cell in codes.tolist()] == list(expected)
        assert np.diff(starts).tolist() == [len(of_class) for of_class in expected.values()]
        assert classes.tolist() == [label for of_class in expected.values() for label in of_class]
        assert weights.tolist() == [weight for of_class in expected.values() for weight in of_class.values()]


def test_a_kernel_refuses_columns_of_different_lengths():
    codes, sizes = np.zeros((3, 1), np.uint8, order="F"), np.array([1])
    with pytest.raises(ValueError, match="same number of rows"):
        _kernels.count_dense(codes, np.zeros(2, np.uint8), None, *flat([(0,)]), sizes, 1, 1)
    with pytest.raises(ValueError, match="same number of rows"):
        _kernels.count_sparse(codes, np.zeros(3, np.uint8), np.ones(2), *flat([(0,)]), sizes, 1, False, 1)


@given(coded_rows(features=(1, 3)))
def test_tables_answer_every_request_in_its_order(rows):
    requests = every_request(rows)
    for request, counted in zip(requests, rows.counts().tables(requests), strict=True):
        assert counted.shape == tuple(rows.cardinalities[v] for v in request)
        cells = [tuple(cell) for cell in counted.cells()[0].tolist()]
        assert list(dict.fromkeys(cells)) == list(entries(rows, request))


@given(coded_rows())
def test_class_weights_are_the_sums_of_their_rows(rows):
    expected = [rows.row_weights[rows.classes == c].sum() for c in range(rows.n_classes)]
    np.testing.assert_array_equal(rows.counts().class_weights(), expected)


@given(coded_rows(), st.randoms())
def test_canonical_rows_are_distinct_sorted_and_the_same_in_any_order(rows, random):
    order = random.sample(range(len(rows.codes)), len(rows.codes))
    shuffled = rows.rows(np.array(order, np.intp)).counts().rows()
    canonical = rows.counts().rows()
    expected = entries(rows, range(len(rows.cardinalities)), keep_marginalized=True)
    cells = [(*cell, label, weight) for cell, of in expected.items() for label, weight in of.items()]
    for found in (canonical, shuffled):
        columns = [*found.codes.T.tolist(), found.classes.tolist(), found.weights.tolist()]
        assert list(zip(*columns, strict=True)) == cells


@given(coded_rows())
def test_counts_of_a_class_are_those_of_its_rows(rows):
    for label in range(rows.n_classes):
        own, rest = rows.counts().of_class(label), rows.rows(rows.classes == label)
        assert own.n_classes == 1
        assert own.class_weights().tolist() == [rest.row_weights.sum()]
        (counted,) = own.tables([(0,)])
        expected = entries(rest, (0,))
        assert counted.cells()[2].tolist() == [of_class[label] for of_class in expected.values()]


def unpacked(packed: PackedCounts) -> list[dict[int, float]]:
    """{cell number: weight} of every set, the class last in a cell."""
    starts, weights, sparse_starts, keys, sparse = packed.parts
    found = []
    for part in range(len(starts) - 1):
        table = weights[starts[part] : starts[part + 1]]
        some = slice(sparse_starts[part], sparse_starts[part + 1])
        cells = dict(zip(keys[some].tolist(), sparse[some].tolist(), strict=True))
        found.append(cells | {int(cell): float(table[cell]) for cell in np.flatnonzero(table)})
    return found


def numbered(rows: Coded, members: tuple[int, ...]) -> dict[int, float]:
    shape = [*(rows.cardinalities[j] for j in members), rows.n_classes]
    cells = entries(rows, members).items()
    return {int(np.ravel_multi_index((*cell, c), shape)): w for cell, of in cells for c, w in of.items()}


@pytest.mark.parametrize("n_threads", THREADS)
@given(rows=coded_rows(features=(2, 4)), size=st.integers(1, 3))
def test_count_sets_counts_every_set_of_features(n_threads, rows, size):
    packed = rows.counts(n_threads).packed(size)
    expected = [numbered(rows, members) for members in combinations(range(len(rows.cardinalities)), size)]
    assert unpacked(packed) == expected


@given(coded_rows(features=(2, 4)), st.integers(1, 3), st.data())
def test_packed_counts_of_two_halves_add_up_though_codes_are_new_in_the_second(rows, size, data):
    cut = data.draw(st.integers(0, len(rows.codes)))
    first, second = rows.rows(slice(cut)), rows.rows(slice(cut, None))
    seen = tuple(int(max([0, *c[c < r].tolist()])) + 1 for c, r in zip(first.codes.T, rows.cardinalities, strict=True))
    holes = first.codes == rows.sizes
    narrow = np.asfortranarray(np.where(holes, seen, first.codes), first.codes.dtype)
    added = Coded(narrow, first.classes, first.weights, seen, rows.n_classes).counts().packed(size)
    total = added + second.counts().packed(size)
    assert unpacked(total) == unpacked(rows.counts().packed(size))
    assert (total.cardinalities, total.n_rows) == (rows.cardinalities, len(rows.codes))


@pytest.mark.parametrize("weight", [1.0, 60.0, 20_000.0, 3e9, 0.25])
def test_packed_counts_never_overflow(weight):
    codes, classes = np.zeros((6, 2), np.uint8, order="F"), np.zeros(6, np.uint8)
    packed = Coded(codes, classes, np.full(6, weight), (1, 1), 1).counts().packed(1)
    assert unpacked(packed + packed) == [{0: 12 * weight}] * 2
