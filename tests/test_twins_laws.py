import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twins
from strategies import coded_tables, every_cell, parameters
from twins import Data, Parameters, data
from twins.model import accuracy
from twins.superparent import root

few = settings(max_examples=20, deadline=None)


def all_networks(table: Data, how: Parameters) -> list:
    return [
        twins.naive_bayes(table, how),
        twins.tan(table, how),
        twins.kdb(table, how, 2),
        twins.mnkdb(table, how, 2),
        twins.aode(table, how, min_count=0),
        twins.waode(table, how, min_count=0),
        twins.ande(table, how, 2, min_count=0),
    ]


@few
@given(table=coded_tables(rows=(5, 15), features=(2, 3)), how=parameters())
def test_joints_sum_to_one_over_all_cells(table, how):
    for network in all_networks(table, how):
        assert np.exp(network.log_joint(every_cell(table))).sum() == pytest.approx(1, abs=1e-9)


@few
@given(table=coded_tables(rows=(5, 15), features=(2, 3), weights=("integer",)), how=parameters())
def test_weight_two_is_the_row_twice(table, how):
    times = table.weights.astype(int)
    unrolled = data(
        np.repeat(table.codes, times, axis=0),
        np.repeat(table.y, times),
        cardinalities=table.cardinalities,
        n_classes=table.n_classes,
    )
    cells = every_cell(table)
    for one, other in zip(all_networks(table, how), all_networks(unrolled, how), strict=True):
        np.testing.assert_allclose(one.log_joint(cells), other.log_joint(cells), atol=1e-9)
    assert twins.scores(table, how, 1) == pytest.approx(twins.scores(unrolled, how, 1), abs=1e-9)


@few
@given(table=coded_tables(rows=(5, 15), features=(2, 3)), how=parameters())
def test_simple_cases_of_a_family_coincide(table, how):
    cells = every_cell(table)
    plain = twins.naive_bayes(table, how).log_joint(cells)
    np.testing.assert_allclose(twins.kdb(table, how, 0).log_joint(cells), plain)
    np.testing.assert_allclose(twins.mnkdb(table, how, 0).log_joint(cells), plain)
    np.testing.assert_allclose(
        twins.kdf(table, how, 0).posterior(cells), twins.naive_bayes(table, how).posterior(cells)
    )


@few
@given(table=coded_tables(rows=(5, 15), features=(2, 3)), how=parameters(), data_=st.data())
def test_the_order_of_rows_does_not_matter(table, how, data_):
    order = np.array(data_.draw(st.permutations(range(len(table.y)))))
    shuffled = data(table.codes[order], table.y[order], weights=table.weights[order])
    assert twins.skdb(table, how, 2)[1] == twins.skdb(shuffled, how, 2)[1]
    assert twins.sptan(table, how).parents == twins.sptan(shuffled, how).parents


@few
@given(table=coded_tables(rows=(5, 15)), how=parameters())
def test_sptan_never_makes_a_loop_and_never_loses_accuracy(table, how):
    parents = twins.sptan(table, how).parents
    assert all(parents[root(parents, feature)] == () for feature in parents)
    nothing = dict.fromkeys(parents, ())
    assert accuracy(table, parents, how) >= accuracy(table, nothing, how)
