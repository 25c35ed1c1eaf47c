"""Counted probabilities, against their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from coded import Coded
from neuralkdb.network import Family
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.counted import BackOff, Counted, CountedLaw, Laplace, MEstimate
from strategies import coded_tables, every_cell, parameters

RULES = {"m": MEstimate, "laplace": Laplace, "backoff": BackOff}


def law_of(table: twins.Data, estimate: twins.Parameters, kind: str = "dense", last: int | None = None) -> CountedLaw:
    """The law of the last feature given all others."""
    codes = np.asfortranarray(table.codes, np.uint8)
    counts = Coded(codes, table.y, table.weights, table.cardinalities, table.n_classes).counts()
    variables = tuple(range(table.n_features))
    (counted,) = {"dense": counts._dense, "sparse": counts._sparse}[kind]([variables])
    return CountedLaw(counted, RULES[estimate.estimate](estimate.smoothing))


def expected_law(table: twins.Data, estimate: twins.Parameters, cells) -> np.ndarray:
    *parents, child = range(table.n_features)
    labels = range(table.n_classes)
    return np.array([[twins.conditional(table, child, parents, cell, c, estimate) for c in labels] for cell in cells])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@given(table=coded_tables(features=(1, 3)), estimate=parameters())
def test_a_law_is_its_formula(kind, table, estimate):
    cells = every_cell(table)
    found = law_of(table, estimate, kind).probability(np.asfortranarray(cells, np.uint8))
    np.testing.assert_allclose(found, expected_law(table, estimate, cells), rtol=1e-12)


@given(coded_tables(features=(1, 3)), parameters())
def test_the_grid_is_the_law_of_every_cell_to_the_last_bit(table, estimate):
    cells = np.asfortranarray(every_cell(table), np.uint8)
    for kind in ("dense", "sparse"):
        by_cell = law_of(table, estimate, kind).probability(cells)
        grid = law_of(table, estimate).grid()
        np.testing.assert_array_equal(grid.reshape(by_cell.shape), by_cell)


@given(coded_tables(features=(2, 3)), parameters())
def test_the_grid_knows_parents_never_seen(table, estimate):
    law = law_of(table, estimate)
    unseen = np.append(np.array(table.cardinalities[:-1]), 0)
    asked = np.asfortranarray([[*unseen[:-1], value] for value in range(table.cardinalities[-1])], np.uint8)
    np.testing.assert_array_equal(law.grid(unseen=True)[tuple(unseen[:-1])], law.probability(asked))


@given(coded_tables(features=(1, 3)), parameters(least=0.0))
def test_a_law_sums_to_one_over_its_child_even_without_smoothing(table, estimate):
    grid = law_of(table, estimate).grid(unseen=True)
    np.testing.assert_allclose(grid.sum(axis=-2), 1.0, rtol=1e-12)
    assert (grid >= 0).all()


@pytest.mark.parametrize(("estimate", "empty"), [("m", 1 / 2), ("laplace", 1 / 2), ("backoff", 3 / 4)])
def test_without_smoothing_a_context_never_seen_has_the_base(estimate, empty):
    """3 of 4 rows of the class have x = 0, none has the parent at 1; the uniform base or, backing off, the class."""
    table = twins.data([(0, 0), (0, 0), (0, 0), (0, 1)], [0] * 4, cardinalities=(2, 2))
    grid = law_of(table, twins.Parameters(estimate, 0.0)).grid()
    np.testing.assert_array_equal(grid[:, 0, 0], [3 / 4, empty])


@given(coded_tables(features=(1, 3)), parameters())
def test_the_laws_with_fewer_parents_are_laws_of_the_same_rows(table, estimate):
    law = law_of(table, estimate)
    for depth, nested in enumerate(law.nested()):
        kept = [*range(depth), table.n_features - 1]
        own = twins.data(
            table.codes[:, kept],
            table.y,
            cardinalities=np.array(table.cardinalities)[kept],
            n_classes=table.n_classes,
            weights=table.weights,
        )
        cells = every_cell(own)
        np.testing.assert_allclose(
            nested.grid().reshape(len(cells), -1), expected_law(own, estimate, cells), rtol=1e-12
        )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@given(table=coded_tables(features=(1, 3), rows=(5, 12)), estimate=parameters())
def test_leave_one_out_is_the_law_learned_without_the_row(kind, table, estimate):
    rows = twins.distinct(table)
    codes, removed = np.asfortranarray(rows.codes, np.uint8), np.minimum(rows.weights, 1.0)
    found = law_of(table, estimate, kind).leave_one_out(codes, rows.y, removed)[-1]
    for number in range(len(rows.y)):
        # Cells that only the row was in stay cells: the twin keeps the cardinalities.
        expected = expected_law(rows.without(number), estimate, rows.codes[number : number + 1])[0]
        np.testing.assert_allclose(found[number], expected, rtol=1e-9)


@given(coded_tables(features=(2, 3), rows=(5, 20)), parameters(), st.integers(0, 1))
def test_a_row_with_a_marginalized_value_is_left_out_of_nothing(table, estimate, hole):
    codes = table.codes.copy()
    codes[0, hole] = table.cardinalities[hole]
    counts = Coded(np.asfortranarray(codes, np.uint8), table.y, table.weights, table.cardinalities, table.n_classes)
    (counted,) = counts.counts().tables([tuple(range(table.n_features))])
    asked = np.asfortranarray(codes, np.uint8)
    estimator = Counted(RULES[estimate.estimate](estimate.smoothing))
    found = estimator.leave_one_out(counted, asked, table.y, np.minimum(table.weights, 1.0))
    family = Family(table.n_features - 1, tuple(range(table.n_features - 1)))
    whole = Conditional(family, CountedLaw(counted, estimator.rule)).probability(asked)
    np.testing.assert_array_equal(found[-1][0], whole[0])


@pytest.mark.parametrize(("rule", "each"), [(MEstimate(2.0), 0.5), (Laplace(2.0), 2.0), (BackOff(2.0), 0.5)])
def test_a_pseudocount_is_shared_or_given_to_every_cell(rule, each):
    assert rule.pseudocount(4) == each
