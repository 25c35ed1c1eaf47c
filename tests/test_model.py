"""Log joints and posteriors of models, by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded import Coded, coded_rows
from neuralkdb.model import families_of, fit_model, model_of, requests_of, statistics_of
from neuralkdb.network import ClassNetworks, Family, Network, Structure, averaged, single
from neuralkdb.network_model import normalized
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.counted import Counted, MEstimate
from neuralkdb.structures.independent import Independent

SMOOTHED, PLAIN = Counted(MEstimate(1.0)), Counted(MEstimate(0.0))
NAIVE = Network((Family(0), Family(1)))
CHAIN = Network((Family(0), Family(1, (0,))))
ROOTED = Network((Family(1, (0,)),), roots=(0,))
LAST_RESORT = NAIVE
some_rows = coded_rows(features=(2, 2), rows=(1, 20), wide=False)


def model(rows: Coded, structure, estimator=SMOOTHED):
    return model_of(structure, statistics_of(structure, rows.counts()), estimator)


def cells(rows: Coded) -> Block:
    """Every combination of codes."""
    every = list(product(*map(range, rows.cardinalities)))
    return Block.of(np.asfortranarray(every, np.uint8), rows.cardinalities)


def four() -> Coded:
    """Two binary features; class 2 never occurs."""
    codes = np.asfortranarray([[0, 0], [0, 1], [1, 1], [1, 1]], np.uint8)
    return Coded(codes, np.array([0, 0, 1, 1], np.uint8), None, (2, 2), 3)


@given(some_rows)
def test_a_network_adds_up_its_class_and_its_families(rows):
    """P(y) P(x_0 | y) P(x_1 | x_0, y), with m = 1, from sums over the rows."""
    found = np.exp(model(rows, single(CHAIN.families)).log_joint(cells(rows)))
    total, complete = rows.row_weights.sum(), (rows.codes != rows.sizes).all(axis=1)
    for row, (a, b) in zip(found, cells(rows).codes.tolist(), strict=True):
        for c in range(rows.n_classes):
            own = rows.classes == c
            first, both = (rows.codes[:, 0] == a) & own, (rows.codes == (a, b)).all(axis=1) & own
            weigh = lambda mask: rows.row_weights[mask].sum()  # noqa: E731
            known = own & (rows.codes[:, 0] != rows.cardinalities[0])
            p_a = (weigh(first) + 1 / rows.cardinalities[0]) / (weigh(known) + 1)
            p_b = (weigh(both) + 1 / rows.cardinalities[1]) / (weigh(first & complete) + 1)
            assert row[c] == pytest.approx(weigh(own) / total * p_a * p_b, rel=1e-12)


@given(some_rows)
def test_joints_are_averaged_as_probabilities(rows):
    structure = Structure((NAIVE, CHAIN), (0.25, 0.75), "joint")
    one, other = (np.exp(model(rows, single(network.families)).log_joint(cells(rows))) for network in (NAIVE, CHAIN))
    found = model(rows, structure)
    np.testing.assert_allclose(np.exp(found.log_joint(cells(rows))), 0.25 * one + 0.75 * other, rtol=1e-12)
    assert found.has_joint


@given(some_rows)
def test_posteriors_are_averaged_as_probabilities(rows):
    structure = averaged([NAIVE, CHAIN])
    members = [np.exp(model(rows, single(n.families)).log_posterior(cells(rows))) for n in (NAIVE, CHAIN)]
    found = model(rows, structure)
    np.testing.assert_allclose(np.exp(found.log_posterior(cells(rows))), sum(members) / 2, rtol=1e-12)
    assert not found.has_joint


def test_roots_and_class_are_smoothed_as_one_variable():
    """N(y, x_0) + m / 6 over N + m."""
    found = np.exp(model(four(), Structure((ROOTED,), (1.0,))).log_joint(cells(four())))
    np.testing.assert_allclose(found[0, :2], [(2 + 1 / 6) / 5 * (1 + 1 / 2) / 3, (1 / 6) / 5 * 1 / 2])


@pytest.mark.parametrize("min_count", [0, 1, 2, 3])
def test_a_network_counts_where_its_roots_occur_often_enough_and_else_the_last_resort_does(min_count):
    rows = four()
    wide = Coded(rows.codes, rows.classes, None, (3, 2), 3)
    structure = Structure((ROOTED, LAST_RESORT), (1.0, 1.0), "joint", min_count)
    found = model(wide, structure).log_joint(cells(wide))
    rooted = model(wide, Structure((ROOTED,), (1.0,))).log_joint(cells(wide))
    naive = model(wide, single(NAIVE.families)).log_joint(cells(wide))
    seen = np.array([2, 2, 0])[cells(wide).codes[:, 0]]
    np.testing.assert_allclose(found, np.where((seen >= min_count)[:, None], rooted, naive))


@pytest.mark.parametrize("min_count", [0, 1])
def test_a_network_whose_root_is_missing_does_not_count(min_count):
    structure = Structure((ROOTED, LAST_RESORT), (1.0, 1.0), "joint", min_count)
    hole = Block.of(np.asfortranarray([[2, 1]], np.uint8), (2, 2))
    found = model(four(), structure).log_joint(hole)
    np.testing.assert_array_equal(found, model(four(), single(NAIVE.families)).log_joint(hole))


def test_networks_of_zero_weight_leave_their_rows_to_the_last_resort():
    structure = Structure((ROOTED, LAST_RESORT), (0.0, 1.0), "joint", 1.0)
    naive = model(four(), single(NAIVE.families)).log_joint(cells(four()))
    np.testing.assert_array_equal(model(four(), structure).log_joint(cells(four())), naive)


def test_each_class_has_the_joint_of_its_own_network_among_its_own_rows():
    found = np.exp(model(four(), ClassNetworks((NAIVE, CHAIN, CHAIN))).log_joint(cells(four())))
    for label, network in enumerate((NAIVE, CHAIN)):
        mine = four().classes == label
        own = Coded(np.asfortranarray(four().codes[mine]), np.zeros(2, np.uint8), None, (2, 2), 1)
        alone = np.exp(model(own, single(network.families)).log_joint(cells(four())))
        np.testing.assert_allclose(found[:, label], 1 / 2 * alone[:, 0])
    assert not found[:, 2].any()


@pytest.mark.parametrize(
    "structure",
    [single(NAIVE.families), averaged([NAIVE, CHAIN]), Structure((ROOTED, NAIVE), (1.0, 1.0), "joint", 1.0)]
    + [ClassNetworks((NAIVE, CHAIN, CHAIN))],
)
@pytest.mark.parametrize("estimator", [SMOOTHED, PLAIN])
def test_a_class_that_never_occurs_has_probability_zero(structure, estimator):
    found = np.exp(model(four(), structure, estimator).log_posterior(cells(four())))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert not found[:, 2].any() or structure == Structure((ROOTED, NAIVE), (1.0, 1.0), "joint", 1.0)


def test_where_every_class_is_impossible_the_posterior_is_the_prior():
    """Without smoothing nothing has x_0 = 2."""
    wide = Coded(four().codes, np.array([0, 1, 1, 1], np.uint8), None, (3, 2), 2)
    never = Block.of(np.asfortranarray([[2, 0]], np.uint8), (3, 2))
    found = model(wide, single(NAIVE.families), PLAIN)
    assert np.isneginf(found.log_joint(never)).all()
    np.testing.assert_allclose(np.exp(found.log_posterior(never)), [[1 / 4, 3 / 4]])


@given(st.lists(st.floats(-800, 0), min_size=1, max_size=5))
def test_posteriors_add_up_to_one_however_small_the_joint(logs):
    found = normalized(np.array([logs]), np.ones(len(logs)))
    assert np.exp(found).sum() == pytest.approx(1)
    np.testing.assert_allclose(found - found[0, 0], np.array([logs]) - logs[0], atol=1e-9)


@given(some_rows, st.data())
def test_statistics_of_two_halves_give_the_model_of_the_whole(rows, data):
    cut = data.draw(st.integers(0, len(rows.codes)))
    networks = ClassNetworks((NAIVE, CHAIN, CHAIN, NAIVE, CHAIN)[: rows.n_classes])
    for structure in (single(CHAIN.families), averaged([NAIVE, CHAIN]), networks):
        parts = [statistics_of(structure, rows.rows(part).counts()) for part in (slice(cut), slice(cut, None))]
        together = model_of(structure, parts[0] + parts[1], SMOOTHED)
        whole = model(rows, structure)
        np.testing.assert_array_equal(together.log_posterior(cells(rows)), whole.log_posterior(cells(rows)))


@pytest.mark.parametrize("weight", [None, 0.25, 1.0, 1000.0])
def test_sums_of_tables_are_stored_as_if_counted_at_once(weight):
    """Dense where the total weight pays for it; the code book of the second half is larger."""
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 60, (600, 2)), np.uint8)
    weights = None if weight is None else np.full(600, weight)
    rows = Coded(codes, rng.integers(0, 3, 600).astype(np.uint8), weights, (60, 60), 3)
    first = replace(rows.rows(codes.max(axis=1) < 50), cardinalities=(50, 50))
    second = rows.rows(codes.max(axis=1) >= 50)
    structure = averaged([NAIVE, CHAIN])
    together = statistics_of(structure, first.counts()) + statistics_of(structure, second.counts())
    whole = statistics_of(structure, rows.counts())
    assert together.tables == whole.tables
    assert [type(t) for t in together.tables.values()] == [type(t) for t in whole.tables.values()]


def test_tables_are_asked_for_once():
    assert families_of([NAIVE, CHAIN]) == [Family(0), Family(1), Family(1, (0,))]
    assert requests_of([NAIVE, ROOTED, CHAIN]) == [(0,), (1,), (0, 1)]


def test_what_no_model_is_registered_for_is_named():
    with pytest.raises(NotImplementedError, match="str"):
        statistics_of("a structure", four().counts())
    with pytest.raises(NotImplementedError, match="str"):
        model_of("a structure", None, SMOOTHED)


def test_fitting_is_counting_learning_and_estimating():
    fitted = fit_model(four().counts(), Independent(), SMOOTHED)
    expected = model(four(), single(NAIVE.families)).log_joint(cells(four()))
    np.testing.assert_array_equal(fitted.log_joint(cells(four())), expected)
