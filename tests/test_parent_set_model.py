"""AnDE from packed counts, against the same networks one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded import Coded, coded_rows
from neuralkdb.model import fit_model, model_of, statistics_of
from neuralkdb.network import Structure
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.counted import Counted, Laplace, MEstimate
from neuralkdb.structures.parent_sets import ExpandedSuperParents, SuperParents

rules = st.sampled_from([MEstimate(1.0), Laplace(0.5), MEstimate(0.0)])


def every_row(rows: Coded) -> Block:
    return Block.of(rows.codes, rows.cardinalities)


@pytest.mark.parametrize("min_count", [0, 1, 4])
@given(rows=coded_rows(features=(2, 4), rows=(1, 30)), rule=rules, n=st.integers(1, 2), weighted=st.booleans())
def test_packed_sets_score_like_their_networks_also_where_values_are_missing(rows, rule, n, weighted, min_count):
    sets, estimator = SuperParents(n, weighted, min_count), Counted(rule)
    packed = model_of(sets.packed(rows.counts()), statistics_of(sets.packed(rows.counts()), rows.counts()), estimator)
    expanded = fit_model(rows.counts(), ExpandedSuperParents(sets), estimator)
    joints = [np.exp(model.log_joint(every_row(rows))) for model in (packed, expanded)]
    np.testing.assert_allclose(*joints, rtol=1e-9, atol=1e-300)


@given(coded_rows(features=(2, 3), rows=(1, 30), wide=False), st.integers(1, 2))
def test_the_joint_sums_to_one_also_where_rows_had_missing_values(rows, n):
    sets = SuperParents(n, min_count=0.0)
    cells = np.asfortranarray(list(product(*map(range, rows.cardinalities))), np.uint8)
    log_joint = fit_model(rows.counts(), sets, Counted(MEstimate(1.0))).log_joint(Block.of(cells, rows.cardinalities))
    assert np.exp(log_joint).sum() == pytest.approx(1)


@given(coded_rows(features=(2, 4), rows=(1, 30), wide=False), st.integers(1, 2), st.data())
def test_halves_add_up_to_the_model_of_the_whole(rows, n, data):
    cut = data.draw(st.integers(0, len(rows.codes)))
    structure, estimator = SuperParents(n).learn(rows.counts()), Counted(MEstimate(1.0))
    parts = [statistics_of(structure, rows.rows(part).counts()) for part in (slice(cut), slice(cut, None))]
    together = model_of(structure, parts[0] + parts[1], estimator)
    whole = model_of(structure, statistics_of(structure, rows.counts()), estimator)
    np.testing.assert_array_equal(together.log_joint(every_row(rows)), whole.log_joint(every_row(rows)))


def test_counts_of_parents_may_need_a_larger_type_than_those_of_families():
    """Two chunks of 250 rows: no pair of values occurs 256 times, single values do."""
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 2, (500, 3)), np.uint8)
    codes[:, 0] = rng.random(500) < 0.1
    rows = Coded(codes, np.zeros(500, np.uint8), None, (2, 2, 2), 1)
    structure, estimator = SuperParents(1).learn(rows.counts()), Counted(MEstimate(1.0))
    halves = [statistics_of(structure, rows.rows(part).counts()) for part in (slice(250), slice(250, None))]
    together = halves[0] + halves[1]
    assert together.parents.weight_type != (halves[0].families + halves[1].families).weight_type
    whole = model_of(structure, statistics_of(structure, rows.counts()), estimator)
    np.testing.assert_array_equal(
        model_of(structure, together, estimator).log_joint(every_row(rows)), whole.log_joint(every_row(rows))
    )


def test_sets_with_more_cells_than_can_be_numbered_are_counted_one_by_one():
    codes = np.asfortranarray(np.arange(3 * 4).reshape(3, 4).T, np.uint16)
    rows = Coded(codes, np.array([0, 1, 0, 1]), None, (2000, 2000, 2000), 2)
    structure = SuperParents(2).learn(rows.counts())
    assert isinstance(structure, Structure)
    joint = fit_model(rows.counts(), SuperParents(2), Counted(MEstimate(1.0))).log_joint(every_row(rows))
    assert joint.argmax(axis=1).tolist() == [0, 1, 0, 1]


@given(coded_rows(features=(1, 3), rows=(1, 30), wide=False), st.integers(2, 5))
def test_a_set_is_at_most_all_features(rows, n):
    size = min(n, len(rows.cardinalities))
    structure = SuperParents(n).learn(rows.counts())
    sets = list(combinations(range(len(rows.cardinalities)), size))
    assert (structure.size, len(structure.weights)) == (size, len(sets))
    assert sum(structure.weights) == pytest.approx(1)
    joint = fit_model(rows.counts(), SuperParents(n), Counted(MEstimate(1.0))).log_joint(every_row(rows))
    assert np.isfinite(joint[:, rows.counts().class_weights() > 0]).all()
