from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neuralkdb import _kernels
from neuralkdb.columns import Column
from neuralkdb.discretization import (
    EqualFrequency,
    EqualWidth,
    MinimumDescriptionLength,
    RandomBins,
    RandomQuantiles,
    between,
)
from neuralkdb.summaries import summarize

N_CLASSES = 3
WAYS = [
    EqualWidth(4),
    EqualFrequency(4),
    MinimumDescriptionLength(),
    MinimumDescriptionLength(4),
    RandomBins(2, 5),
    RandomQuantiles(2, 5),
]
some_numbers = arrays(float, 25, elements=st.integers(-8, 8).map(lambda i: i / 4))
some_classes = arrays(np.uint32, 25, elements=st.integers(0, N_CLASSES - 1))
some_weights = arrays(float, 25, elements=st.integers(1, 3).map(float))


def summary_of(values, classes=None, weights=None):
    column = Column("a", np.asarray(values, dtype=float))
    classes = None if classes is None else np.asarray(classes, dtype=np.uint32)
    n_classes = 1 if classes is None else N_CLASSES
    return next(iter(summarize([column], classes, n_classes, weights)))


def cuts(way, values, classes=None, weights=None):
    return way.cuts(summary_of(values, classes, weights), 0).tolist()


def test_equal_widths_divide_the_range():
    assert cuts(EqualWidth(4), [0, 1, 1.5, 2, 8]) == [2, 4, 6]


def test_equal_widths_of_the_widest_range_are_finite():
    widest = cuts(EqualWidth(2), [-1.7e308, 0, 1.7e308])
    assert widest == [0.0]


def test_equal_frequencies_divide_the_weight():
    assert cuts(EqualFrequency(2), [1, 2, 3, 4]) == [2.5]
    assert cuts(EqualFrequency(2), [1, 2, 3, 4], weights=np.array([3.0, 1, 1, 1])) == [1.5]
    assert cuts(EqualFrequency(3), [0, 0, 0, 0, 1, 2, 3, 4]) == [0.5, 2.5]


def test_equal_frequencies_do_not_depend_on_the_unit_of_the_weights():
    values = np.arange(30.0)
    expected = cuts(EqualFrequency(10), values)
    assert expected == [2.5, 5.5, 8.5, 11.5, 14.5, 17.5, 20.5, 23.5, 26.5]
    assert cuts(EqualFrequency(10), values, weights=np.full(30, 0.1)) == expected


@pytest.mark.parametrize("way", [EqualWidth(5), EqualFrequency(5), MinimumDescriptionLength(5)])
def test_no_more_values_than_bins_keep_one_code_each(way):
    values = [1, 2, 4, 100, 1]
    assert cuts(way, values, [0, 0, 0, 0, 0]) == [1.5, 3, 52]


@pytest.mark.parametrize("way", WAYS)
def test_one_value_needs_no_cut(way):
    assert cuts(way, [3, 3, 3], [0, 1, 2]) == []


def test_neighbouring_numbers_are_cut_at_the_upper_one():
    lower = 1.0
    upper = np.nextafter(lower, 2)
    assert between(np.array([lower, upper]), np.array([1])).tolist() == [upper]


@pytest.mark.parametrize("way", WAYS)
@given(values=some_numbers, classes=some_classes, weights=some_weights)
@settings(max_examples=30)
def test_cuts_ascend_and_separate_values(way, values, classes, weights):
    found = np.array(cuts(way, values, classes, weights))
    assert np.all(np.diff(found) > 0)
    assert np.all((found > values.min()) & (found <= values.max()))


@pytest.mark.parametrize("way", WAYS)
@given(values=some_numbers, classes=some_classes, order=st.permutations(range(25)))
@settings(max_examples=30)
def test_the_order_of_the_rows_does_not_matter(way, values, classes, order):
    order = np.array(order)
    assert cuts(way, values, classes) == cuts(way, values[order], classes[order])


@pytest.mark.parametrize("way", WAYS)
@given(values=some_numbers, classes=some_classes, weights=some_weights)
@settings(max_examples=30)
def test_weight_two_is_the_row_twice(way, values, classes, weights):
    twice = np.repeat(np.arange(25), weights.astype(int))
    assert cuts(way, values, classes, weights) == cuts(way, values[twice], classes[twice])


def test_random_cuts_are_those_of_the_seed_and_the_feature():
    summary = summary_of(np.arange(100.0))
    draw = [RandomQuantiles(5, 20, seed).cuts(summary, j).tolist() for seed in (0, 1) for j in (0, 1)]
    assert draw[0] == RandomQuantiles(5, 20, 0).cuts(summary, 0).tolist()
    assert len({tuple(each) for each in draw}) == 4
    assert all(1 <= len(each) <= 19 for each in draw)


def test_random_bins_have_equal_weights():
    counts = {len(RandomBins(5, 8, seed).cuts(summary_of(np.arange(840.0)), 0)) for seed in range(40)}
    assert counts == {4, 5, 6, 7}


# The entropy search, from its definition: the oracle of the kernel.


def weighted_entropy(weights):
    """N times the entropy in bits of the class weights."""
    total = weights.sum()
    present = weights[weights > 0]
    return float(-(present * np.log2(present / total)).sum())


def best_cut(cells):
    """The first cut of (n_values, n_classes) weights whose halves have the least entropy."""
    entropies = [
        weighted_entropy(cells[:cut].sum(axis=0)) + weighted_entropy(cells[cut:].sum(axis=0))
        for cut in range(1, len(cells))
    ]
    lowest = min(entropies)
    return 1 + next(i for i, e in enumerate(entropies) if e <= lowest + 1e-9 * cells.sum())


def is_worth_its_description(whole, left, right):
    total = whole.sum()
    parts = [(int((p > 0).sum()), weighted_entropy(p) / p.sum()) for p in (whole, left, right)]
    (k, entropy), (k1, entropy1), (k2, entropy2) = parts
    gain = entropy - (left.sum() * entropy1 + right.sum() * entropy2) / total
    delta = np.log2(3.0**k - 2) - (k * entropy - k1 * entropy1 - k2 * entropy2)
    return gain > (np.log2(max(total - 1, 1)) + delta) / total


def entropy_cuts(cells, first=0):
    """Positions of values before which to cut, by recursion."""
    if len(cells) < 2 or (cells.sum(axis=0) > 0).sum() < 2:
        return []
    cut = best_cut(cells)
    left, right = cells[:cut], cells[cut:]
    if not is_worth_its_description(*(part.sum(axis=0) for part in (cells, left, right))):
        return []
    return [*entropy_cuts(left, first), first + cut, *entropy_cuts(right, first + cut)]


def dense(summary):
    cells = np.zeros((len(summary.values), summary.n_classes))
    cells[np.repeat(np.arange(len(cells)), np.diff(summary.starts)), summary.classes] = summary.weights
    return cells


def kernel_cuts(summary):
    return _kernels.entropy_cuts(summary.starts, summary.classes, summary.weights, summary.n_classes).tolist()


@given(values=some_numbers, classes=some_classes, weights=some_weights)
@settings(max_examples=200)
def test_the_entropy_search_is_that_of_its_definition(values, classes, weights):
    summary = summary_of(values, np.minimum(classes, (values > 0) + (values > 1)), 4 * weights)
    assert kernel_cuts(summary) == entropy_cuts(dense(summary))


def test_the_entropy_search_finds_several_cuts_in_a_long_column():
    rng = np.random.default_rng(0)
    values = rng.normal(size=600)
    noise = rng.random(600) < 0.1
    classes = np.where(noise, rng.integers(0, 3, 600), np.digitize(values, [-0.5, 0.5]))
    summary = summary_of(values, classes)
    found = kernel_cuts(summary)
    assert found == entropy_cuts(dense(summary))
    np.testing.assert_allclose(summary.values[found[0]], -0.5, atol=0.05)
    assert len(found) == 2


def test_two_rows_of_two_classes_are_cut():
    # N = 2: the gain of one bit exceeds (log2(1) + log2(7) - 2) / 2.
    summary = summary_of([1, 2], [0, 1])
    assert Fraction(1) > (Fraction(np.log2(7)) - 2) / 2
    assert kernel_cuts(summary) == [1]


def test_fewer_than_two_entropy_cuts_give_quartiles():
    values = np.arange(100.0)
    assert cuts(MinimumDescriptionLength(), values, (values > 49).astype(int)) == [24.5, 49.5, 74.5]


def test_an_empty_entropy_search_has_no_cut():
    assert kernel_cuts(summary_of([], [])) == []
