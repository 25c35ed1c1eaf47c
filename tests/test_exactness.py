"""When leaving out and averaging family by family is exact inference: the joint summed over what is missing.

It is wherever every child of a missing feature is missing too: always for naive Bayes, and for missing leaves of any
network. A missing feature with children that are known is averaged by frequencies counted, so it is exact only without
smoothing, with one known child whose other parents are those of the missing feature.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neuralkdb as nk
from strategies import coded_tables, parameters
from twins import Data, Parameters

NETWORKS = [nk.TANClassifier(), nk.KDBClassifier(1), nk.KDBClassifier(2), nk.KDBClassifier(3), nk.MNKDBClassifier(2)]


def fitted(classifier, table: Data, estimate: Parameters):
    smoothing = {"estimate": estimate.estimate, "smoothing": estimate.smoothing}
    options = {"discretization": "codes", "missing": "marginalize", **smoothing}
    return classifier.set_params(**options).fit(table.codes, table.y, table.weights)


def with_holes(table: Data, missing: set[int]) -> np.ndarray:
    holes = np.isin(np.arange(table.n_features), list(missing))
    return np.where(holes, np.nan, table.codes)


def summed(classifier, table: Data, missing: set[int]) -> np.ndarray:
    """P(known values, y) of every row: the joint over all values of what is missing."""
    columns = sorted(missing)
    total = 0.0
    for values in product(*(range(table.cardinalities[j]) for j in columns)):
        codes = table.codes.copy()
        codes[:, columns] = values
        total = total + np.exp(classifier.predict_joint_log_proba(codes))
    return total


def children(classifier) -> dict[int, set[int]]:
    """The children of each feature, in any of the networks."""
    structure = classifier.structure_
    networks = [structure] if isinstance(next(iter(structure)), str) else structure.values()
    found: dict[int, set[int]] = {j: set() for j in range(classifier.n_features_in_)}
    for network in networks:
        for child, parents in network.items():
            for parent in parents:
                found[int(parent[1:])].add(int(child[1:]))
    return found


def with_descendants(missing: set[int], children_of: dict[int, set[int]]) -> set[int]:
    while more := set().union(*(children_of[j] for j in missing)) - missing:
        missing = missing | more
    return missing


@given(coded_tables(), parameters(), st.sets(st.integers(0, 4)))
def test_naive_bayes_is_exact_whatever_is_missing(table, estimate, missing):
    missing &= set(range(table.n_features))
    classifier = fitted(nk.NaiveBayesClassifier(), table, estimate)
    found = np.exp(classifier.predict_joint_log_proba(with_holes(table, missing)))
    np.testing.assert_allclose(found, summed(classifier, table, missing), rtol=1e-9)


@pytest.mark.parametrize("classifier", NETWORKS)
@given(table=coded_tables(features=(3, 5)), estimate=parameters(), some=st.sets(st.integers(0, 4), max_size=2))
def test_a_network_is_exact_where_the_children_of_what_is_missing_are_missing(classifier, table, estimate, some):
    classifier = fitted(classifier, table, estimate)
    missing = with_descendants(some & set(range(table.n_features)), children(classifier))
    found = np.exp(classifier.predict_joint_log_proba(with_holes(table, missing)))
    np.testing.assert_allclose(found, summed(classifier, table, missing), rtol=1e-9)


def parents_of_one_child(classifier) -> list[int]:
    """The features whose one child has no other parents than theirs."""
    structure = {int(c[1:]): {int(p[1:]) for p in parents} for c, parents in classifier.structure_.items()}
    only = {j: min(found) for j, found in children(classifier).items() if len(found) == 1}
    return [j for j, child in only.items() if structure[child] - {j} == structure[j]]


@pytest.mark.parametrize("classifier", [nk.TANClassifier(), nk.KDBClassifier(1), nk.KDBClassifier(2)])
@given(table=coded_tables(features=(2, 4)))
def test_without_smoothing_a_missing_parent_of_one_child_is_exact(classifier, table):
    classifier = fitted(classifier, table, Parameters("m", 0.0))
    averaged = parents_of_one_child(classifier)
    assert averaged or table.n_features > 2, "the one arc of two features leads from such a parent"
    for missing in averaged:
        found = np.exp(classifier.predict_joint_log_proba(with_holes(table, {missing})))
        seen = found > 0  # a context never seen has the uniform base, whatever is summed
        np.testing.assert_allclose(found[seen], summed(classifier, table, {missing})[seen], rtol=1e-9)


def test_with_smoothing_a_missing_parent_is_averaged_by_counts_and_not_by_its_smoothed_probability():
    """N(v) = 3 and 1, N(x = 0, v) = 3 and 0, m = 1: 3/4 and 1/4 against 3.5/5 and 1.5/5."""
    table = Data(np.array([[0, 0]] * 3 + [[1, 1]]), (2, 2), np.zeros(4, int), 1, np.ones(4))
    classifier = fitted(nk.KDBClassifier(1), table, Parameters("m", 1.0))
    assert classifier.structure_ == {"x0": (), "x1": ("x0",)}
    given_first, given_second = 3.5 / 4, 0.5 / 2
    found = np.exp(classifier.predict_joint_log_proba([[np.nan, 0]]))[0, 0]
    assert found == pytest.approx(3 / 4 * given_first + 1 / 4 * given_second)
    exact = summed(classifier, table, {0})[0, 0]
    assert exact == pytest.approx(3.5 / 5 * given_first + 1.5 / 5 * given_second)


def test_children_that_are_known_are_averaged_each_on_its_own():
    """Two copies of a fair missing feature: 1/2 times 1/2 where the exact answer is 1/2."""
    table = Data(np.array([[0, 0, 0], [1, 1, 1]]), (2, 2, 2), np.zeros(2, int), 1, np.ones(2))
    classifier = fitted(nk.TANClassifier(), table, Parameters("m", 0.0))
    assert classifier.structure_ == {"x0": (), "x1": ("x0",), "x2": ("x0",)}
    assert np.exp(classifier.predict_joint_log_proba([[np.nan, 0, 0]]))[0, 0] == pytest.approx(1 / 4)
    assert summed(classifier, table, {0})[0, 0] == pytest.approx(1 / 2)
