"""Information from tables, against its definition."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from coded import Coded, coded_rows, dense
from neuralkdb import _kernels
from neuralkdb.information import (
    class_information,
    conditional_mutual_information,
    indicator_information,
    mutual_information,
    pairwise_information,
)
from neuralkdb.tables import DenseTable
from strategies import coded_tables
from twins.information import information_on_class


def counts_of(table: twins.Data):
    codes = np.asfortranarray(table.codes, np.uint8)
    return Coded(codes, table.y, table.weights, table.cardinalities, table.n_classes).counts()


@given(coded_tables())
def test_information_is_its_twin(table):
    features, counts = range(table.n_features), counts_of(table)
    on_class = [twins.mutual_information(table, i) for i in features]
    between = [
        [0.0 if i == j else twins.conditional_mutual_information(table, i, j) for j in features] for i in features
    ]
    on_each = [[information_on_class(table, i, c) for i in features] for c in range(table.n_classes)]
    np.testing.assert_allclose(class_information(counts), on_class, atol=1.5e-12)
    np.testing.assert_allclose(pairwise_information(counts), between, atol=1.5e-12)
    np.testing.assert_allclose(indicator_information(counts), on_each, atol=1.5e-12)


@given(coded_rows(features=(2, 2), rows=(1, 40), wide=False))
def test_dense_and_sparse_tables_say_the_same_to_the_last_bit(rows):
    counts = rows.counts()
    (full,), (few,) = counts._dense([(0, 1)]), counts._sparse([(0, 1)])
    parts = few.codes, few.starts, few.classes, few.weights, *few.shape, few.n_classes
    assert _kernels.dense_information(full.weights) == _kernels.sparse_information(*parts)
    (full,), (few,) = counts._dense([(0,)]), counts._sparse([(0,)])
    assert mutual_information(full) == mutual_information(few)


@given(coded_rows(features=(2, 2), wide=False))
def test_the_kernel_is_the_formula(rows):
    """sum N(a, b, y) / N ln(N(a, b, y) N(y) / (N(a, y) N(b, y)))."""
    table = dense(rows, (0, 1))
    a, b, y = table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1))
    ratio = table * y / np.maximum(a[:, None] * b[None], 1e-300)
    terms = table * np.log(np.where(table > 0, ratio, 1.0))
    expected = terms.sum() / max(table.sum(), 1.0) if table.any() else 0.0
    assert _kernels.dense_information(table) == pytest.approx(expected, abs=1e-12)


def test_a_table_without_weight_says_nothing():
    assert conditional_mutual_information(DenseTable(np.zeros((2, 3, 2)))) == 0
    assert mutual_information(DenseTable(np.zeros((2, 2)))) == 0
    nothing = Coded(np.empty((0, 2), np.uint8, order="F"), np.empty(0, np.uint8), None, (2, 2), 2)
    assert conditional_mutual_information(nothing.counts()._sparse([(0, 1)])[0]) == 0


@given(st.integers(2, 7), st.sampled_from([1.0, 0.1, 1 / 3, 1e9]))
def test_quantities_that_are_equal_are_equal_to_the_last_bit(copies, weight):
    """Relabelled and reweighed, a fair copy of the class says ln 2 and independence says nothing."""
    codes = np.asfortranarray(np.tile([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]], (copies, 1)), np.uint8)
    rows = Coded(codes, codes[:, 0], np.full(len(codes), weight), (2, 2, 2), 2)
    assert class_information(rows.counts()).tolist() == [round(log(2), 12)] * 2 + [0.0]
    assert not pairwise_information(rows.counts()).any()


def test_information_is_counted_in_passes_where_tables_are_large(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 3, (50, 5)), np.uint8)
    counts = Coded(codes, rng.integers(0, 2, 50), None, (3,) * 5, 2).counts()
    at_once = pairwise_information(counts)
    monkeypatch.setattr("neuralkdb.information.PASS_ENTRIES", 20)
    np.testing.assert_array_equal(pairwise_information(counts), at_once)
