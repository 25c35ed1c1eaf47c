from math import log

import numpy as np
import pytest

import twins
import worked
from strategies import every_cell
from twins import Parameters, data
from twins.estimation import joint_with_class
from twins.model import leave_one_out, predicted
from twins.selective import chosen_among
from twins.superparent import eligible_orphans

FOUR = data([[0], [0], [1], [1]], [0, 0, 0, 1])


def test_information_is_what_comes_out_by_hand():
    table = worked.chain()
    assert twins.mutual_information(table, 3) == round(log(2), 12)
    assert [twins.mutual_information(table, i) for i in range(3)] == [0, 0, 0]
    between = twins.conditional_mutual_information
    assert between(table, 0, 1) == between(table, 1, 2) == round(worked.AGREEMENT, 12)
    assert between(table, 0, 2) == between(table, 0, 3) == 0


def test_conditional_information_weighs_each_class_by_its_share():
    """Class 0 (three quarters) has a copy, class 1 two independent features: 3/4 ln 2."""
    copied, independent = [(0, 0), (1, 1)] * 6, [(0, 0), (0, 1), (1, 0), (1, 1)]
    table = data(copied + independent, [0] * 12 + [1] * 4)
    assert twins.conditional_mutual_information(table, 0, 1) == round(3 / 4 * log(2), 12)


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        ("m", (2 + 0.5) / (3 + 1)),
        ("laplace", (2 + 1) / (3 + 2)),
        ("backoff", (2 + 1 * (2 + 0.5) / (4 + 1)) / (3 + 1)),
    ],
)
def test_each_estimate_is_what_comes_out_by_hand(estimate, expected):
    found = twins.conditional(FOUR, 0, (), np.array([0]), 0, Parameters(estimate, 1.0))
    assert found == pytest.approx(expected, abs=1e-15)


def test_naive_bayes_posterior_is_what_comes_out_by_hand():
    """P(y=0) 3/4, P(x=0 | y=0) 5/8, P(x=0 | y=1) 1/4: 15 to 2."""
    found = twins.naive_bayes(FOUR, Parameters()).posterior([[0]])
    np.testing.assert_allclose(found, [[15 / 17, 2 / 17]])


def test_back_off_shrinks_level_by_level():
    """N(x=1) 3 of 4, N(x=1, y=0) 1 of 2, N(x=1, p=1, y=0) 1 of 1; s = 2."""
    table = data([(0, 0), (1, 1), (1, 0), (1, 1)], [0, 0, 1, 1])
    marginal = (3 + 1) / (4 + 2)
    of_class = (1 + 2 * marginal) / (2 + 2)
    expected = (1 + 2 * of_class) / (1 + 2)
    found = twins.conditional(table, 0, (1,), np.array([1, 1]), 0, Parameters("backoff", 2.0))
    assert found == pytest.approx(expected, abs=1e-15)


def test_back_off_drops_the_last_parent_first():
    """x=1 given (p, q) = (1, 1) and y=0 is unseen; given p = 1 alone it has 1 of 2, s = 1."""
    table = data([(1, 1, 0), (0, 1, 0), (1, 0, 1), (0, 0, 0)], [0, 0, 0, 0])
    how, row = Parameters("backoff", 1.0), np.array([1, 1, 1])
    of_class = (2 + 1 / 2) / (4 + 1)
    of_class = (2 + 1 * of_class) / (4 + 1)
    given_p = (1 + 1 * of_class) / (2 + 1)
    assert twins.conditional(table, 0, (1, 2), row, 0, how) == pytest.approx(given_p, abs=1e-15)


@pytest.mark.parametrize("estimate", ["m", "laplace", "backoff"])
def test_without_smoothing_an_empty_context_takes_the_level_before(estimate):
    """Nothing has p=1 and y=0, but half of y=0 has x=0; class 2 is empty, half of all have x=0."""
    table = data([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 1, 1], n_classes=3)
    plain = Parameters(estimate, 0.0)
    assert twins.conditional(table, 0, (1,), np.array([0, 1]), 0, plain) == 0.5
    assert twins.conditional(table, 0, (1,), np.array([0, 1]), 2, plain) == 0.5


def test_the_joint_with_the_class_is_smoothed_as_one_variable():
    """N(y=0, x=0) = 2 of 4 rows, 2 classes times 2 codes."""
    row = np.array([0])
    assert joint_with_class(FOUR, [0], row, 0, Parameters("m", 1.0)) == (2 + 1 / 4) / (4 + 1)
    assert joint_with_class(FOUR, [0], row, 0, Parameters("laplace", 1.0)) == (2 + 1) / (4 + 4)


def test_aode_is_what_comes_out_by_hand():
    """Two features; each super-parent gives P(y, x_p) P(x_other | x_p, y) with s = 1."""
    table = data([(0, 0), (0, 1), (1, 1), (1, 1)], [0, 0, 1, 1])
    first = np.array([(2 + 1 / 4) / 5 * (1 + 1 / 2) / 3, (0 + 1 / 4) / 5 * 1 / 2])
    second = np.array([(1 + 1 / 4) / 5 * (1 + 1 / 2) / 2, (0 + 1 / 4) / 5 * 1 / 2])
    expected = (first + second) / 2
    found = np.exp(twins.aode(table, Parameters()).log_joint([[0, 0]])[0])
    np.testing.assert_allclose(found, expected)
    # MI(X_0; y) = ln 2; X_1 against y is (1, 1; 0, 2) in four rows.
    weights = np.array([log(2), 1 / 4 * log(2) + 1 / 4 * log(2 / 3) + 1 / 2 * log(4 / 3)])
    expected = (weights[0] * first + weights[1] * second) / weights.sum()
    found = np.exp(twins.waode(table, Parameters()).log_joint([[0, 0]])[0])
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_a_rare_super_parent_does_not_count_and_none_left_is_naive_bayes():
    table = data([(0, 0), (0, 1), (1, 1), (1, 1), (1, 2)], [0, 0, 1, 1, 1])
    assert twins.aode(table, Parameters(), min_count=2).counting(np.array([0, 2])) == {(0,): 1.0}
    alone = twins.aode(table, Parameters(), min_count=9).log_joint([[0, 2]])
    np.testing.assert_array_equal(alone, twins.naive_bayes(table, Parameters()).log_joint([[0, 2]]))


def test_a_super_parent_without_information_counts_for_nothing():
    """X_1 is noise and the only super-parent seen with the query: naive Bayes is left."""
    rows = worked.one_that_knows()
    table = data(rows.codes, rows.y, cardinalities=[3, 2])
    np.testing.assert_array_equal(
        twins.waode(table, Parameters()).log_joint([[2, 0]]),
        twins.naive_bayes(table, Parameters()).log_joint([[2, 0]]),
    )


def test_super_parents_without_information_weigh_alike():
    table = worked.per_class([worked.A, worked.B], [worked.A, worked.B])
    cells = every_cell(table)
    np.testing.assert_array_equal(
        twins.waode(table, Parameters()).log_joint(cells),
        twins.aode(table, Parameters()).log_joint(cells),
    )


def test_tan_finds_the_forced_trees():
    assert twins.tan(worked.chain(), Parameters()).parents == worked.CHAIN_TAN
    assert twins.tan(worked.copied(), Parameters()).parents == worked.COPIED_TAN


@pytest.mark.parametrize("k", worked.CHAIN_KDB)
def test_kdb_finds_the_forced_parents_of_a_chain(k):
    parents = twins.kdb(worked.chain(), Parameters(), k).parents
    assert parents == worked.CHAIN_KDB[k]
    assert list(parents) == list(worked.CHAIN_KDB[k])


@pytest.mark.parametrize("k", worked.COPIED_KDB)
def test_kdb_finds_the_forced_parents_of_a_copy(k):
    parents = twins.kdb(worked.copied(), Parameters(), k).parents
    assert parents == worked.COPIED_KDB[k]


def test_mnkdb_gives_each_class_its_own_parents():
    assert twins.mnkdb(worked.switching(), Parameters(), 1).parents == worked.SWITCHING_MNKDB


def test_mnkdb_orders_the_features_of_each_class_by_what_they_say_on_it():
    """X_0 tells class 1 from the rest, X_1 class 2; each says as much on class 0 as the other."""
    table = data([(0, 0), (1, 0), (0, 1)], [0, 1, 2])
    orders = [list(own) for own in twins.mnkdb(table, Parameters(), 1).parents]
    assert orders == [[0, 1], [0, 1], [1, 0]]


def test_mnkdb_counts_only_rows_of_the_class():
    """Cell (0, 1, 1): class 0 has 1/2 1/2 (2.5/3 once), class 1 the copy is wrong (0.5/3)."""
    found = np.exp(twins.mnkdb(worked.switching(), Parameters(), 1).log_joint([[0, 1, 1]])[0])
    half = (1 + 1 / 2) / (2 + 1)
    expected = [1 / 2 * 1 / 2 * half * 2.5 / 3, 1 / 2 * 1 / 2 * half * 0.5 / 3]
    np.testing.assert_allclose(found, expected)


def test_members_of_kdf_start_with_each_feature_in_turn():
    members = twins.kdf(worked.chain(), Parameters(), 1).members
    orders = [list(member.parents) for member in members]
    assert orders == [[0, 3, 1, 2], [1, 3, 0, 2], [2, 3, 0, 1], [3, 0, 1, 2]]
    assert members[2].parents == {2: (), 3: (2,), 0: (2,), 1: (0,)}


def test_kdf_averages_posteriors():
    table, cells = worked.chain(), every_cell(worked.chain())
    ensemble = twins.kdf(table, Parameters(), 1)
    expected = sum(member.posterior(cells) for member in ensemble.members) / 4
    np.testing.assert_allclose(ensemble.posterior(cells), expected)


def test_skdb_keeps_the_feature_that_knows():
    """Without its own row 9 to 4 speak for the class; with the noise feature 9 to 8."""
    network, chosen = twins.skdb(worked.one_that_knows(), Parameters(), 1)
    assert (network.parents, chosen) == ({0: ()}, (1, 0))
    found = twins.scores(worked.one_that_knows(), Parameters(), 1)
    assert found[1, 0] == found[1, 1] == round(4 / 13, 12)
    assert found[2, 0] == found[2, 1] == round(8 / 17, 12)


def test_skdb_breaks_ties_by_features_before_parents():
    tied = {(1, 0): 0.5, (1, 1): 0.5, (2, 0): 0.5, (2, 1): 0.1, (3, 0): 0.1, (3, 1): 0.1}
    assert chosen_among(tied) == (2, 1)


def test_skdb_by_zero_one_loss_keeps_the_smallest_of_equals():
    _, chosen = twins.skdb(worked.one_that_knows(), Parameters(), 1, "zero_one")
    assert chosen == (1, 0)


def test_skdb_keeps_the_parent_that_an_exclusive_or_needs():
    network, chosen = twins.skdb(worked.exclusive_or(), Parameters(), 2)
    assert (network.parents, chosen) == ({0: (), 1: (0,)}, (2, 1))


def test_sptan_adds_the_one_arc_that_an_exclusive_or_needs():
    assert twins.sptan(worked.exclusive_or(), Parameters()).parents == worked.EXCLUSIVE_OR_SPTAN


def test_the_root_of_the_super_parents_own_tree_is_no_orphan_of_its():
    parents = {0: (), 1: (0,), 2: (1,), 3: ()}
    assert [eligible_orphans(parents, p) for p in range(4)] == [[3], [3], [3], [0]]


def test_leave_one_out_takes_one_off_a_heavier_row_and_all_of_a_lighter_one():
    """Weights 2.5 and 0.5 of equal codes: 1.5 stays of the one, nothing of the other."""
    table = data([[0], [0], [1]], [0, 1, 1], weights=[2.5, 0.5, 1.0])
    (first, *_), (second, *_), _ = leave_one_out(table, {0: ()}, Parameters())
    one_left = twins.naive_bayes(data([[0], [0], [1]], [0, 1, 1], weights=[1.5, 0.5, 1.0]), Parameters())
    none_left = twins.naive_bayes(data([[0], [1]], [0, 1], weights=[2.5, 1.0]), Parameters())
    np.testing.assert_allclose(first, one_left.log_joint([[0]])[0])
    np.testing.assert_allclose(second, none_left.log_joint([[0]])[0])


def test_equal_rows_are_one_heavier_row_to_leave_one_out():
    table = data([[0], [0], [1]], [0, 0, 1], weights=[0.5, 0.75, 1.0])
    scored = leave_one_out(table, {0: ()}, Parameters())
    assert [(label, weight) for _, label, weight in scored] == [(0, 1.25), (1, 1.0)]


def test_the_first_of_practically_equal_classes_is_predicted():
    assert predicted([-2.0, -1.0 - 1e-10, -1.0]) == 1
    assert predicted([-2.0, -1.0 - 1e-8, -1.0]) == 2
    assert predicted([-np.inf, -np.inf]) == 0


def test_a_row_that_no_class_can_have_is_any_class():
    table = data([(0, 0), (1, 1)], [0, 1])
    found = twins.naive_bayes(table, Parameters("m", 0.0)).posterior([[0, 1]])
    np.testing.assert_array_equal(found, [[0.5, 0.5]])
