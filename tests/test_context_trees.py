"""Trees of contexts against their formula, evaluated slowly: all rows, and each row left out of its own class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuralkdb.counting import ArrayCounts, CodedRows
from neuralkdb.network import Family
from neuralkdb.parameters.context_trees import grow_trees
from neuralkdb.weighting import leave_one_out_terms

STRENGTH = 5.0
SIZES = (3, 4, 2)
FAMILIES = [Family(0), Family(1, (0,)), Family(2, (1, 0)), Family(0, (2, 1))]


def some_rows(seed: int, n_rows: int) -> CodedRows:
    """Distinct rows with weights, some codes marginalized."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size + 1, n_rows) for size in SIZES])
    rows = ArrayCounts.of(codes, rng.integers(0, 3, n_rows), None, SIZES, 3).rows()
    return CodedRows(np.asfortranarray(rows.codes, np.uint8), rows.classes, rows.weights * rng.integers(1, 4) / 2)


def estimate(rows, family, code, label, least, removed=0.0):
    """P by the formula; `removed` is how much of this row is taken from its own class."""
    child = rows.codes[:, family.child]
    inside, value, weights = child != SIZES[family.child], code[family.child], rows.weights
    frequency = weights[child == value].sum() + STRENGTH / SIZES[family.child]
    probability = frequency / (weights[inside].sum() + STRENGTH)
    for level in range(len(family.parents) + 1):
        of_class = inside & (rows.classes == label)
        cell, total = weights[of_class & (child == value)].sum(), weights[of_class].sum()
        probability = (max(cell - removed, 0) + STRENGTH * probability) / (max(total - removed, 0) + STRENGTH)
        if level == len(family.parents) or (level > 0 and weights[inside].sum() < least):
            break
        parent = family.parents[level]
        inside = inside & (rows.codes[:, parent] == code[parent])
        if code[parent] == SIZES[parent] or not inside.any():
            break
    return probability


@given(seed=st.integers(0, 10**6), n_rows=st.integers(3, 60), least=st.sampled_from([2.0, 5.0]))
def test_terms_are_those_of_the_formula(seed, n_rows, least):
    rows, new = some_rows(seed, n_rows), some_rows(seed + 1, 20)
    trees = grow_trees(rows, FAMILIES, SIZES, 3, STRENGTH, least).trees
    for number, family in enumerate(FAMILIES):
        found = np.zeros((len(new.classes), 3))
        trees.only(number).add_to(found, new.codes, np.ones((1, 3)))
        counted = np.unique(rows.classes[rows.codes[:, family.child] != SIZES[family.child]])
        for row, code in enumerate(new.codes):
            if code[family.child] == SIZES[family.child]:
                assert (found[row] == 0).all()
                continue
            for label in counted:
                expected = np.log(estimate(rows, family, code, label, least))
                assert found[row, label] == pytest.approx(expected, abs=1e-5)


@given(seed=st.integers(0, 10**6), n_rows=st.integers(3, 60))
def test_leaving_a_row_out_takes_it_from_the_counts_of_its_own_class(seed, n_rows):
    rows = some_rows(seed, n_rows)
    terms = leave_one_out_terms([grow_trees(rows, FAMILIES, SIZES, 3, STRENGTH, 2.0)], rows, 3)
    for row, (code, label) in enumerate(zip(rows.codes, rows.classes, strict=True)):
        for number, family in enumerate(FAMILIES):
            if code[family.child] != SIZES[family.child]:
                expected = estimate(rows, family, code, label, 2.0, min(rows.weights[row], 1.0))
                assert terms[row // 16, number, label, row % 16] == pytest.approx(np.log(expected), abs=1e-5)


def test_weights_multiply_terms_and_families_add_up():
    rows = some_rows(3, 50)
    trees = grow_trees(rows, FAMILIES, SIZES, 3, STRENGTH, 2.0).trees
    weights = np.random.default_rng(0).random((len(FAMILIES), 3))
    whole, parts = np.zeros((len(rows.classes), 3)), np.zeros((len(rows.classes), 3))
    trees.add_to(whole, rows.codes, weights)
    for number in range(len(FAMILIES)):
        term = np.zeros_like(parts)
        trees.only(number).add_to(term, rows.codes, np.ones((1, 3)))
        parts += term * weights[number]
    np.testing.assert_allclose(whole, parts, rtol=1e-9)
