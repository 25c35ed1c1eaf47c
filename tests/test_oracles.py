"""Every classical classifier equals its brute-force twin, and its peers elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neuralkdb as nk
import twins
from neuralkdb.classifiers.eskdb import SampledOrder
from peers import averaged_estimators, categorical_nb
from strategies import coded_tables, every_cell, parameters
from worked import (
    CHAIN_KDB,
    CHAIN_TAN,
    COPIED_KDB,
    COPIED_TAN,
    EXCLUSIVE_OR_SPTAN,
    SWITCHING_MNKDB,
    chain,
    copied,
    exclusive_or,
    switching,
)

CELLS = 400  # every cell is asked about where there are no more


def fitted(classifier, table, estimate=None, **options):
    """A classifier fitted on ready codes."""
    if estimate is not None:
        options = {"estimate": estimate.estimate, "smoothing": estimate.smoothing, **options}
    return classifier(discretization="codes", **options).fit(table.codes, table.y, table.weights)


def queries(table):
    """Every cell of a small table, its own rows otherwise."""
    return every_cell(table) if np.prod(table.cardinalities) <= CELLS else table.codes


def parents_by_number(structure):
    """Parents by feature number, in the order in which features were visited."""
    return {int(name[1:]): tuple(int(parent[1:]) for parent in parents) for name, parents in structure.items()}


def assert_same_posteriors(classifier, twin, asked):
    np.testing.assert_allclose(classifier.predict_proba(asked), twin.posterior(asked), rtol=1e-9, atol=1e-12)


def assert_same_joints(classifier, twin, asked):
    mine, expected = np.exp(classifier.predict_joint_log_proba(asked)), np.exp(twin.log_joint(asked))
    np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-300)


@given(coded_tables(), parameters())
def test_naive_bayes_is_its_twin(table, estimate):
    mine, twin = fitted(nk.NaiveBayesClassifier, table, estimate), twins.naive_bayes(table, estimate)
    assert_same_joints(mine, twin, queries(table))
    assert_same_posteriors(mine, twin, queries(table))


@given(coded_tables(), parameters())
def test_tan_is_its_twin(table, estimate):
    mine, twin = fitted(nk.TANClassifier, table, estimate), twins.tan(table, estimate)
    assert parents_by_number(mine.structure_) == twin.parents
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(), parameters(), st.integers(0, 4))
def test_kdb_is_its_twin(table, estimate, k):
    mine, twin = fitted(nk.KDBClassifier, table, estimate, k=k), twins.kdb(table, estimate, k)
    assert list(parents_by_number(mine.structure_).items()) == list(twin.parents.items())
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(), parameters(), st.integers(0, 3))
def test_kdf_is_its_twin(table, estimate, k):
    mine, twin = fitted(nk.KDFClassifier, table, estimate, k=k), twins.kdf(table, estimate, k)
    assert_same_posteriors(mine, twin, queries(table))
    assert not hasattr(mine, "predict_joint_log_proba")


@given(coded_tables(), parameters(("m", "laplace")), st.integers(0, 3))
def test_mnkdb_is_its_twin(table, estimate, k):
    mine, twin = fitted(nk.MNKDBClassifier, table, estimate, k=k), twins.mnkdb(table, estimate, k)
    assert [parents_by_number(mine.structure_[label]) for label in mine.classes_] == list(twin.parents)
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(), parameters(("backoff",)))
def test_mnkdb_backs_off_within_the_class(table, estimate):
    joint = np.exp(fitted(nk.MNKDBClassifier, table, estimate, k=0).predict_joint_log_proba(queries(table)))
    for label in range(table.n_classes):
        rows = table.y == label
        own = twins.data(
            table.codes[rows], table.y[rows] * 0, cardinalities=table.cardinalities, weights=table.weights[rows]
        )
        share = table.weights[rows].sum() / table.weights.sum()
        alone = np.exp(twins.naive_bayes(own, estimate).log_joint(queries(table)))[:, 0]
        np.testing.assert_allclose(joint[:, label], share * alone, rtol=1e-9)


@given(coded_tables(), parameters(), st.integers(0, 3), st.sampled_from(["rmse", "zero_one"]))
def test_skdb_chooses_what_exhaustive_leave_one_out_chooses(table, estimate, k, loss):
    mine = fitted(nk.SKDBClassifier, table, estimate, k=k, loss=loss)
    twin, _ = twins.skdb(table, estimate, k, loss_name=loss)
    assert list(parents_by_number(mine.structure_).items()) == list(twin.parents.items())
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(rows=(12, 30), features=(2, 4)), parameters())
def test_sptan_adds_the_arcs_that_exhaustive_search_adds(table, estimate):
    mine, twin = fitted(nk.SPTANClassifier, table, estimate), twins.sptan(table, estimate)
    assert parents_by_number(mine.structure_) == twin.parents
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(), parameters(), st.sampled_from([0, 1, 3]))
def test_aode_is_its_twin(table, estimate, min_count):
    mine = fitted(nk.AODEClassifier, table, estimate, min_count=min_count)
    assert_same_joints(mine, twins.aode(table, estimate, min_count=min_count), queries(table))


@given(coded_tables(), parameters(), st.sampled_from([0, 1, 3]))
def test_waode_is_its_twin(table, estimate, min_count):
    mine = fitted(nk.WAODEClassifier, table, estimate, min_count=min_count)
    assert_same_joints(mine, twins.waode(table, estimate, min_count=min_count), queries(table))


@given(coded_tables(rows=(12, 24)), parameters(), st.integers(1, 3), st.sampled_from([0, 1, 3]))
def test_ande_is_its_twin(table, estimate, n, min_count):
    mine = fitted(nk.AnDEClassifier, table, estimate, n=n, min_count=min_count)
    twin = twins.ande(table, estimate, min(n, table.n_features), min_count=min_count)
    assert_same_joints(mine, twin, queries(table))


@given(coded_tables(), st.integers(0, 2**16))
def test_members_of_eskdb_are_skdbs_on_their_own_codes_and_order(table, seed):
    mine = nk.ESKDBClassifier(3, k=2, smoothing=2.0, random_state=seed).fit(table.codes, table.y, table.weights)
    estimate, posteriors = twins.Parameters("backoff", 2.0), []
    seeds = np.random.RandomState(seed).randint(2**31, size=3)
    for member, own_seed in zip(mine.members_, seeds, strict=True):
        cuts = [coder.cuts for coder in member.encoding.coders]
        codes = np.column_stack([c.searchsorted(x, "right") for c, x in zip(cuts, table.codes.T, strict=True)])
        own = twins.data(
            codes,
            table.y,
            cardinalities=member.encoding.cardinalities,
            n_classes=table.n_classes,
            weights=table.weights,
        )
        information = np.array([twins.mutual_information(own, feature) for feature in range(own.n_features)])
        twin, _ = twins.skdb(own, estimate, 2, order=SampledOrder(int(own_seed))(information))
        (network,) = member.structure.networks
        assert [(family.child, family.parents) for family in network.families] == list(twin.parents.items())
        posteriors.append(twin.posterior(codes))
    np.testing.assert_allclose(mine.predict_proba(table.codes), np.mean(posteriors, axis=0), rtol=1e-9)


@given(coded_tables(), st.sampled_from([0.5, 1.0, 3.0]))
def test_naive_bayes_with_laplace_is_scikit_learns_categorical_nb(table, alpha):
    mine = fitted(nk.NaiveBayesClassifier, table, twins.Parameters("laplace", alpha))
    expected = categorical_nb(table, table.codes, alpha)
    np.testing.assert_allclose(mine.predict_proba(table.codes), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "classifier"), [(1, nk.AODEClassifier), (2, nk.AnDEClassifier)])
@given(
    table=coded_tables(weights=("none",), features=(3, 5)),
    alpha=st.sampled_from([0.5, 1.0]),
    min_count=st.sampled_from([1, 4]),
)
def test_averaged_estimators_are_those_of_scikit_bayes(n, classifier, table, alpha, min_count):
    pytest.importorskip("skbn")
    mine = fitted(classifier, table, twins.Parameters("laplace", alpha), min_count=min_count)
    expected = averaged_estimators(table, queries(table), n, alpha, min_count)
    np.testing.assert_allclose(mine.predict_proba(queries(table)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("classifier", "options", "table", "expected"),
    [
        (nk.TANClassifier, {}, chain(), CHAIN_TAN),
        (nk.TANClassifier, {}, copied(), COPIED_TAN),
        *((nk.KDBClassifier, {"k": k}, chain(), parents) for k, parents in CHAIN_KDB.items()),
        *((nk.KDBClassifier, {"k": k}, copied(), parents) for k, parents in COPIED_KDB.items()),
        (nk.SPTANClassifier, {}, exclusive_or(), EXCLUSIVE_OR_SPTAN),
    ],
)
def test_structures_are_those_worked_out_by_hand(classifier, options, table, expected):
    assert parents_by_number(fitted(classifier, table, **options).structure_) == expected


def test_parents_depend_on_the_class_where_the_dependence_does():
    structure = fitted(nk.MNKDBClassifier, switching(), k=1).structure_
    assert [parents_by_number(parents) for parents in structure.values()] == list(SWITCHING_MNKDB)
