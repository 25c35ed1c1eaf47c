"""Regressions of numbers against their formula, evaluated slowly; leaving a row out is fitting without it."""

from math import lgamma, log, pi

import numpy as np
import pytest

from neuralkdb.counting import CodedRows
from neuralkdb.network import Family
from neuralkdb.parameters.regressions import LEAST_VARIANCE, Moments, Numbers, fit_regressions
from neuralkdb.weighting import leave_one_out_terms

STRENGTH, MOST_FREEDOM = 10.0, 30.0
FAMILIES = [Family(0), Family(1, (0,)), Family(2, (1, 0))]


@pytest.fixture(scope="module")
def data():
    """Three numbers, the first missing in some rows, and two classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 60)
    codes = np.column_stack([rng.permutation(60) for _ in range(3)]).astype(np.uint8)
    values = rng.normal(size=(3, 60))
    values[1, codes[:, 1]] = 0.7 * values[0, codes[:, 0]] + classes + 0.3 * rng.normal(size=60)
    values[0, :5] = np.nan
    numbers = Numbers((0, 1, 2), tuple(each.astype(np.float32) for each in values))
    return numbers, CodedRows(np.asfortranarray(codes), classes, np.ones(60))


def slow_density(numbers, rows, family, label, row, *, left_out):
    """The log-density, by least squares; the line that all classes share is that of all rows."""
    table = np.column_stack([np.ones(len(rows.classes)), numbers.of(rows.codes)])
    parents, child, n = [parent + 1 for parent in family.parents], family.child + 1, len(table)
    centred = table.copy()
    for each in range(2):
        centred[rows.classes == each] -= table[rows.classes == each].mean(axis=0)
    within = centred.T @ centred / n
    spread = within[np.ix_(parents, parents)] + 1e-6 * np.eye(len(parents))
    slope = np.linalg.solve(spread, within[parents, child]) if parents else np.zeros(0)
    variance = max(within[child, child] - slope @ within[parents, child], LEAST_VARIANCE)
    shared = np.append(table[:, child].mean() - slope @ table[:, parents].mean(axis=0), slope)
    prior = np.zeros((len(shared), len(shared)))
    prior[0, 0], prior[1:, 1:] = 1.0, STRENGTH * spread
    mine = (rows.classes == label) & ~(left_out & (np.arange(n) == row))
    lines, values = table[mine][:, [0, *parents]], table[mine, child]
    precision = lines.T @ lines + prior
    fitted = np.linalg.solve(precision, lines.T @ values + prior @ shared)
    squares = STRENGTH * variance + values @ values + shared @ prior @ shared - fitted @ precision @ fitted
    freedom = mine.sum() + STRENGTH
    squares = max(squares, LEAST_VARIANCE * freedom)
    rest = table[row, child] - fitted @ table[row, [0, *parents]]
    variance, tails = squares / freedom, min(freedom, MOST_FREEDOM)
    peak = lgamma((tails + 1) / 2) - lgamma(tails / 2) - 0.5 * log(tails * pi) - 0.5 * log(variance)
    return peak - (tails + 1) / 2 * np.log1p(rest**2 / (tails * variance))


def slow_terms(numbers, rows, family, row, own):
    """Log-densities minus their mean, the row left out of its `own` class; zero where the number is missing."""
    if np.isnan(numbers.values[family.child][rows.codes[row, family.child]]):
        return np.zeros(2)
    densities = [slow_density(numbers, rows, family, label, row, left_out=label == own) for label in (0, 1)]
    return densities - np.mean(densities)


def test_terms_are_log_densities_minus_their_mean(data):
    numbers, rows = data
    fitted = fit_regressions(numbers, Moments.of(numbers, rows, 2), FAMILIES, STRENGTH, MOST_FREEDOM).regressions
    for number, family in enumerate(FAMILIES):
        found = np.zeros((60, 2))
        fitted.only(number).add_to(found, rows.codes, np.ones((1, 2)))
        expected = [slow_terms(numbers, rows, family, row, None) for row in range(60)]
        np.testing.assert_allclose(found, expected, atol=2e-4)


def test_leaving_a_row_out_is_fitting_its_class_without_it(data):
    numbers, rows = data
    fitted = fit_regressions(numbers, Moments.of(numbers, rows, 2), FAMILIES, STRENGTH, MOST_FREEDOM)
    terms = leave_one_out_terms([fitted], rows, 2)
    for number, family in enumerate(FAMILIES):
        for row, own in enumerate(rows.classes):
            expected = slow_terms(numbers, rows, family, row, own)
            np.testing.assert_allclose(terms[row // 16, number, :, row % 16], expected, atol=2e-3)


def test_a_code_that_was_never_seen_is_missing(data):
    numbers, rows = data
    fitted = fit_regressions(numbers, Moments.of(numbers, rows, 2), FAMILIES, STRENGTH, MOST_FREEDOM).regressions
    codes, found = np.full((1, 3), 60, np.uint8, order="F"), np.zeros((1, 2))
    fitted.add_to(found, codes, np.ones((3, 2)))
    assert (found == 0).all()
