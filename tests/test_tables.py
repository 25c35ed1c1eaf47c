"""Tables: their kernels against one row at a time, and the laws of adding them up."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded import Coded, coded_rows, dense, entries
from neuralkdb import _kernels
from neuralkdb.tables import DenseTable, SparseTable, code_type, dense_limit, distinct

KINDS = ["dense", "sparse"]


def everything(rows: Coded) -> tuple[int, ...]:
    return tuple(range(len(rows.cardinalities)))


def table(rows: Coded, kind: str, variables: tuple[int, ...] | None = None) -> DenseTable | SparseTable:
    counts = rows.counts()
    count = {"dense": counts._dense, "sparse": counts._sparse}[kind]
    (counted,) = count([everything(rows) if variables is None else variables])
    return counted


def contents(counted: DenseTable | SparseTable) -> dict:
    found: dict = {}
    for cell, label, weight in zip(*counted.cells(), strict=True):
        found.setdefault(tuple(cell.tolist()), {})[int(label)] = float(weight)
    return found


small = coded_rows(features=(1, 3), wide=False)


@given(coded_rows())
def test_number_cells_counts_in_mixed_radix(rows):
    variables = np.array(everything(rows))[::-1].copy()
    shape = rows.sizes[variables]
    known = (rows.codes != rows.sizes).all(axis=1)
    clipped = np.minimum(rows.codes, rows.sizes - 1)[:, variables].astype(np.int64)
    expected = np.ravel_multi_index(clipped.T, shape.tolist())
    found = _kernels.number_cells(rows.codes, variables, shape)
    np.testing.assert_array_equal(found, np.where(known, expected, -1))


@given(coded_rows(), st.sampled_from([np.uint8, np.uint16, np.uint32]))
def test_find_cells_finds_every_cell_that_occurs_and_no_other(rows, dtype):
    counted = table(rows, "sparse")
    asked = np.asfortranarray(np.minimum(rows.codes.astype(np.int64), np.iinfo(dtype).max), dtype)
    cells = {tuple(cell): number for number, cell in enumerate(counted.codes.tolist())}
    expected = [cells.get(tuple(row), -1) for row in asked.tolist()]
    found = _kernels.find_cells(counted.codes, asked, np.array(everything(rows)))
    np.testing.assert_array_equal(found, expected)


@given(coded_rows(rows=(1, 30)))
def test_gather_cells_spreads_a_cell_over_its_classes(rows):
    counted = table(rows, "sparse")
    cells = np.arange(-1, len(counted.codes))
    gathered = _kernels.gather_cells(cells, counted.starts, counted.classes, counted.weights, rows.n_classes)
    expected = [{}, *entries(rows, everything(rows)).values()]
    np.testing.assert_array_equal(gathered, [[of.get(c, 0.0) for c in range(rows.n_classes)] for of in expected])


@pytest.mark.parametrize("kind", KINDS)
@given(rows=small)
def test_a_table_holds_the_weight_of_every_cell(kind, rows):
    assert contents(table(rows, kind)) == entries(rows, everything(rows))


@given(rows=small)
def test_a_dense_and_a_sparse_table_of_the_same_rows_are_equal(rows):
    assert table(rows, "dense") == table(rows, "sparse")
    assert table(rows, "sparse") == table(rows, "dense")


@given(rows=coded_rows(features=(1, 3), rows=(1, 30), wide=False))
def test_tables_of_other_weights_shapes_or_classes_are_not_equal(rows):
    counted = table(rows, "sparse")
    assert counted != counted + counted or not contents(counted)
    assert counted != counted.resized([size + 1 for size in counted.shape], 0)
    assert table(rows, "dense") != table(replace(rows, n_classes=rows.n_classes + 1), "sparse")
    assert counted != "a table"


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS])
@given(rows=small, data=st.data())
def test_counting_two_halves_is_counting_the_whole(kinds, rows, data):
    cut = data.draw(st.integers(0, len(rows.codes)))
    first, second = rows.rows(slice(cut)), rows.rows(slice(cut, None))
    assert table(first, kinds[0]) + table(second, kinds[1]) == table(rows, "dense")


@given(coded_rows(features=(40, 40), rows=(2, 30)), st.integers(1, 29))
def test_forty_parents_are_counted_though_their_cells_have_no_64_bit_number(rows, cut):
    (whole,) = rows.counts().tables([everything(rows)])
    (first,), (second,) = (
        part.counts().tables([everything(rows)]) for part in (rows.rows(slice(cut)), rows.rows(slice(cut, None)))
    )
    assert isinstance(whole, SparseTable)
    assert contents(whole) == entries(rows, everything(rows))
    assert first + second == whole
    looked_up = whole.at(rows.codes, everything(rows))
    assert (looked_up.sum(axis=1) > 0).tolist() == (rows.codes != rows.sizes).all(axis=1).tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(rows=small, data=st.data())
def test_at_looks_up_the_weights_of_each_row_and_zero_where_nothing_is(kind, rows, data):
    asked = data.draw(small.filter(lambda other: len(other.cardinalities) == len(rows.cardinalities)))
    codes = np.asfortranarray(np.minimum(asked.codes, rows.sizes), np.uint8)
    expected = entries(rows, everything(rows))
    found = table(rows, kind).at(codes, everything(rows))
    rows_of = [[expected.get(tuple(row), {}).get(c, 0.0) for c in range(rows.n_classes)] for row in codes.tolist()]
    np.testing.assert_array_equal(found, np.reshape(rows_of, (len(codes), rows.n_classes)))


@pytest.mark.parametrize("kind", KINDS)
@given(rows=coded_rows(features=(3, 3), wide=False))
def test_a_marginal_is_the_sum_over_what_is_left_out(kind, rows):
    counted, whole = table(rows, kind), dense(rows, (0, 1, 2))
    for size in range(4):
        for kept in permutations(range(3), size):
            summed = whole.sum(axis=tuple({0, 1, 2} - set(kept)))
            order = [*(sorted(kept).index(position) for position in kept), size]
            assert counted.marginal(kept) == DenseTable(summed.transpose(order))


@pytest.mark.parametrize("kind", KINDS)
def test_the_marginal_without_variables_is_the_class_even_where_most_classes_are_empty(kind):
    codes, classes = np.zeros((3, 2), np.uint8, order="F"), np.array([40, 7, 40], np.uint8)
    counted = table(Coded(codes, classes, None, (2, 2), 48), kind).marginal(())
    assert contents(counted) == {(): {7: 1.0, 40: 2.0}}
    np.testing.assert_array_equal(counted.at(codes, ()), np.tile(np.bincount(classes, minlength=48), (3, 1)))


@pytest.mark.parametrize("kind", KINDS)
@given(rows=small, few=st.booleans())
def test_resizing_keeps_every_cell_and_stores_it_as_asked(kind, rows, few):
    counted = table(rows, kind)
    shape = [size + 300 // 10 ** len(rows.cardinalities) for size in counted.shape]
    larger = counted.resized(shape, np.inf if few else 0)
    assert isinstance(larger, DenseTable if few else SparseTable)
    assert (contents(larger), larger.shape, larger.n_classes) == (contents(counted), tuple(shape), rows.n_classes)
    complete = np.asfortranarray(rows.codes[(rows.codes != rows.sizes).all(axis=1)])
    found = larger.at(complete, everything(rows))
    np.testing.assert_array_equal(found, counted.at(complete, everything(rows)))


@pytest.mark.parametrize(("cardinality", "dtype"), [(255, np.uint8), (256, np.uint16), (65536, np.uint32)])
def test_codes_have_the_smallest_type_that_holds_the_marginalized_one(cardinality, dtype):
    assert code_type([2, cardinality]) == dtype


def test_many_tables_share_the_memory_of_dense_ones():
    assert dense_limit(10**6, 1) == 16 * 10**6
    assert dense_limit(10**6, 10**4) < 4097
    assert dense_limit(10, 1) == 4096


@pytest.mark.parametrize("shape", [(4, 3, 5), (2**30, 2**30, 2**30)], ids=["numbered", "too many cells to number"])
def test_distinct_rows_and_their_numbers_give_the_rows_back(shape):
    codes = np.asfortranarray(np.random.default_rng(0).integers(0, 3, (200, 3)), np.uint8)
    rows, which = distinct(codes, shape)
    assert len(np.unique(rows, axis=0)) == len(rows) == len(np.unique(codes, axis=0))
    np.testing.assert_array_equal(rows[which], codes)


def test_rows_without_columns_are_all_the_same():
    rows, which = distinct(np.empty((5, 0), np.uint8), ())
    assert rows.shape == (1, 0)
    assert which.tolist() == [0] * 5
