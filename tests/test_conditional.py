"""The term of a family where values are missing, against its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded import Coded, coded_rows
from neuralkdb import _kernels
from neuralkdb.network import Family
from neuralkdb.parameters.conditional import Block, Conditional
from neuralkdb.parameters.counted import BackOff, CountedLaw, Laplace, MEstimate

KINDS = ["dense", "sparse"]
families = coded_rows(features=(1, 4), rows=(0, 30), wide=False)
rules = st.sampled_from([MEstimate(1.0), Laplace(0.5), BackOff(2.0), MEstimate(0.0), BackOff(0.0)])


def conditional(rows: Coded, kind: str, rule) -> Conditional:
    """The last feature given all others."""
    *parents, child = range(len(rows.cardinalities))
    counts = rows.counts()
    (table,) = {"dense": counts._dense, "sparse": counts._sparse}[kind]([(*parents, child)])
    return Conditional(Family(child, tuple(parents)), CountedLaw(table, rule))


def log_term(of_family: Conditional, rows: Coded, codes) -> np.ndarray:
    term = np.zeros((len(codes), rows.n_classes))
    of_family.add_to(term, Block.of(codes, rows.cardinalities))
    return term


def every_pattern(rows: Coded) -> np.ndarray:
    """Every combination of codes and holes."""
    return np.asfortranarray(list(product(*(range(size + 1) for size in rows.cardinalities))), np.uint8)


def by_definition(of_family: Conditional, rows: Coded, cell: tuple[int, ...], label: int) -> float:
    """One for a missing child; else the law, averaged over the values of the missing parents."""
    *parents, child = cell
    sizes = rows.cardinalities
    if child == sizes[-1]:
        return 1.0
    ask = lambda known: of_family.law.probability(np.asfortranarray([[*known, child]], np.uint8))[0, label]  # noqa: E731
    values = [range(size) if code == size else [code] for code, size in zip(parents, sizes, strict=False)]
    counted = (rows.codes != rows.sizes).all(axis=1) & (rows.classes == label)
    weighed = {v: rows.row_weights[counted & (rows.codes[:, :-1] == v).all(axis=1)].sum() for v in product(*values)}
    if list(weighed) == [tuple(parents)] or not any(weighed.values()):
        return ask(parents)
    return sum(weight * ask(v) for v, weight in weighed.items()) / sum(weighed.values())


@pytest.mark.parametrize("kind", KINDS)
@given(rows=families, rule=rules)
def test_a_term_is_its_definition_whatever_is_missing(kind, rows, rule):
    of_family, codes = conditional(rows, kind, rule), every_pattern(rows)
    labels = range(rows.n_classes)
    expected = [[by_definition(of_family, rows, tuple(cell), c) for c in labels] for cell in codes.tolist()]
    np.testing.assert_allclose(of_family.probability(codes), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_term(of_family, rows, codes)), expected, rtol=1e-12)


@given(families, rules)
def test_dense_and_sparse_terms_of_complete_rows_are_the_same_bits(rows, rule):
    codes = np.asfortranarray(every_pattern(rows))
    complete = np.asfortranarray(codes[(codes != rows.sizes).all(axis=1)])
    terms = [log_term(conditional(rows, kind, rule), rows, complete) for kind in KINDS]
    np.testing.assert_array_equal(*terms)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=families, rule=rules)
def test_holes_in_other_rows_change_nothing_for_a_complete_row(kind, rows, rule):
    of_family, codes = conditional(rows, kind, rule), every_pattern(rows)
    complete = (codes != rows.sizes).all(axis=1)
    together = log_term(of_family, rows, codes)[complete]
    np.testing.assert_array_equal(log_term(of_family, rows, np.asfortranarray(codes[complete])), together)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=families, rule=rules)
def test_the_term_of_a_missing_child_is_left_out(kind, rows, rule):
    codes = every_pattern(rows)
    left_out = codes[:, -1] == rows.cardinalities[-1]
    assert not log_term(conditional(rows, kind, rule), rows, codes)[left_out].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_parent_is_averaged_as_worked_by_hand(kind):
    """Parent 0 three times (child 0, 0, 1), parent 1 once (child 1); m = 1: 3/4 of 2.5/4 and 1/4 of 0.5/2."""
    codes = np.asfortranarray([[0, 0], [0, 0], [0, 1], [1, 1]], np.uint8)
    rows = Coded(codes, np.zeros(4, np.uint8), None, (2, 2), 2)
    found = conditional(rows, kind, MEstimate(1.0)).probability(np.asfortranarray([[2, 0]], np.uint8))
    np.testing.assert_allclose(found, [[3 / 4 * 2.5 / 4 + 1 / 4 * 0.5 / 2, 1 / 2]])


@given(coded_rows(features=(1, 3)), st.randoms())
def test_add_term_adds_the_cell_of_each_row(rows, random):
    variables = np.array(random.sample(range(len(rows.cardinalities)), random.randint(0, len(rows.cardinalities))), int)
    shape = rows.sizes[variables] + 1
    if shape.prod() > 1e6:
        return
    rng = np.random.default_rng(0)
    table, before = rng.random((shape.prod(), rows.n_classes)), rng.random((len(rows.codes), rows.n_classes))
    after = before.copy()
    _kernels.add_term(table, rows.codes, variables, shape, after)
    codes = rows.codes[:, variables].astype(np.int64)
    cells = np.ravel_multi_index(codes.T, shape.tolist()) if len(variables) else np.zeros(len(codes), int)
    np.testing.assert_array_equal(after, before + table[cells])


def test_add_term_refuses_what_does_not_fit_together():
    codes = np.zeros((3, 1), np.uint8, order="F")
    with pytest.raises(ValueError, match="do not fit together"):
        _kernels.add_term(np.zeros((2, 2)), codes, np.array([0]), np.array([3]), np.zeros((3, 2)))
