"""Offsets of cells against a slow twin of their training, and what they do to the predictions of the ensemble."""

import numpy as np
import pytest

import neuralkdb as nk
from neuralkdb import _kernels
from neuralkdb.counting import CodedRows
from neuralkdb.network import Family
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.offsets import LEAST_WEIGHT, MOST_NUMBERS, PASSES, RATE, add_offsets, learn_offsets
from neuralkdb.weighting import best_shares

FAMILIES = [Family(0), Family(1, (0,)), Family(2, (1, 0, 3)), Family(3, (2,))]
CARDINALITIES = (3, 2, 4, 5)


def rows_of(n_rows=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in CARDINALITIES])
    classes = rng.integers(0, n_classes, n_rows)
    base = np.log(rng.dirichlet(np.ones(n_classes), n_rows))
    return CodedRows(np.asfortranarray(codes, np.uint8), classes, rng.integers(1, 4, n_rows) / 1.0), base


def slow_offsets(rows, base, ridge, seed):
    """What offsets say of the same rows, by dictionaries of cells."""
    n_rows, n_classes = base.shape
    cells = [
        [(number, n, *(rows.codes[row, v] for v in (child, *parents[:n]))) for number, n, child, parents in slots()]
        for row in range(n_rows)
    ]
    weight, visits = {}, {}
    for row in range(n_rows):
        for cell in cells[row]:
            weight[cell] = weight.get(cell, 0) + rows.weights[row]
            visits[cell] = visits.get(cell, 0) + 1
    offsets = {cell: np.zeros(n_classes) for cell in weight if weight[cell] >= LEAST_WEIGHT}
    squares = {cell: np.ones(n_classes) for cell in offsets}
    random = np.random.default_rng(seed)
    for epoch in range(PASSES):
        rate = RATE * (1 - epoch / PASSES)
        for row in random.permutation(n_rows):
            logits = base[row] + sum(offsets[cell] for cell in cells[row] if cell in offsets)
            slopes = np.exp(logits - logits.max())
            slopes = rows.weights[row] * (slopes / slopes.sum() - (np.arange(n_classes) == rows.classes[row]))
            for cell in cells[row]:
                if cell in offsets:
                    slope = slopes + ridge / visits[cell] * offsets[cell]
                    squares[cell] += slope**2
                    offsets[cell] -= rate * slope / np.sqrt(squares[cell])
    nothing = np.zeros(n_classes)
    return np.array([sum(offsets.get(cell, nothing) for cell in cells[row]) for row in range(n_rows)])


def slots():
    for number, (child, parents) in enumerate(FAMILIES):
        for n in range(min(len(parents), 2) + 1):
            yield number, n, child, parents


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_offsets_are_those_of_slow_steps(n_classes):
    rows, base = rows_of(n_classes=n_classes)
    offsets = learn_offsets(FAMILIES, CARDINALITIES, rows, base, ridge=1.0, seed=4)
    found = add_offsets(offsets, rows.codes, n_classes)
    np.testing.assert_allclose(found, slow_offsets(rows, base, 1.0, 4), atol=2e-4)


def test_cells_that_are_marginalized_or_hardly_seen_add_nothing():
    rows, base = rows_of()
    few = rows.codes[:, 0] == 2
    rows = CodedRows(rows.codes, rows.classes, np.where(few, 1e-3, rows.weights))
    offsets = learn_offsets(FAMILIES[:1], CARDINALITIES, rows, base, ridge=1.0, seed=0)
    codes = np.asfortranarray([[0, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]], np.uint8)
    said = add_offsets(offsets, codes, 3)
    assert np.abs(said[0]).min() > 0
    np.testing.assert_array_equal(said[1:], 0)


def test_a_stronger_pull_leaves_smaller_offsets():
    rows, base = rows_of()
    sizes = [
        np.abs(add_offsets(learn_offsets(FAMILIES, CARDINALITIES, rows, base, ridge, 0), rows.codes, 3)).mean()
        for ridge in (0.1, 10.0, 1000.0)
    ]
    assert sizes[0] > 2 * sizes[1] > 4 * sizes[2]


def test_terms_of_features_add_up_and_a_share_multiplies_them():
    rows, base = rows_of()
    offsets = learn_offsets(FAMILIES, CARDINALITIES, rows, base, ridge=1.0, seed=0)
    terms, block = np.zeros((5, len(base), 3)), Block(rows.codes, frozenset())
    offsets.add_terms_to(terms, block, 0.5)
    np.testing.assert_allclose(terms.sum(axis=0), 0.5 * add_offsets(offsets, rows.codes, 3), atol=1e-6)
    np.testing.assert_allclose(add_offsets(offsets.times(0.5), rows.codes, 3), terms.sum(axis=0), atol=1e-6)
    np.testing.assert_array_equal(terms[0], 0)


def test_a_family_has_as_many_parents_as_its_table_has_room_for():
    cardinalities, n_rows = (200, 200, 200), 50
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 200, (n_rows, 3)), np.uint8)
    rows = CodedRows(codes, rng.integers(0, 2, n_rows), np.ones(n_rows))
    offsets = learn_offsets([Family(0, (1, 2))], cardinalities, rows, np.zeros((n_rows, 2)), 1.0, 0)
    assert offsets.families == (Family(0),)
    assert 2 * 201 <= MOST_NUMBERS < 2 * 201**2


def test_what_does_not_fit_together_is_refused():
    rows, base = rows_of()
    arguments = {
        "offsets": np.zeros((3, 3), np.float32),
        "squares": np.ones((3, 3), np.float32),
        "ridge": np.zeros(3, np.float32),
        "cells": np.zeros((60, 2), np.uint32),
        "base": base.astype(np.float32),
        "classes": rows.classes.astype(np.uint32),
        "weights": rows.weights,
        "order": np.arange(60, dtype=np.uint32),
        "rate": 0.1,
    }
    _kernels.train_offsets(**arguments)
    wrong = {
        "cells": np.full((60, 2), 3, np.uint32),
        "classes": np.full(60, 3, np.uint32),
        "order": np.array([60], np.uint32),
        "ridge": np.zeros(2, np.float32),
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=r"not known|do not fit"):
            _kernels.train_offsets(**arguments | {name: value})


def test_offsets_are_taken_where_features_interact_and_left_where_they_do_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (600, 6))
    interacting = nk.NeuralKDBEnsembleClassifier(6, random_state=0).fit(X.astype(str), X.sum(axis=1) > 6)
    noise = nk.NeuralKDBEnsembleClassifier(6, random_state=0).fit(X.astype(str), rng.integers(0, 2, 600))
    assert interacting.correction_ > 0.2
    assert len(interacting.members_[0].model.members) == 6 + 5
    assert noise.correction_ < interacting.correction_ / 4


def test_the_share_of_a_correction_is_zero_where_it_misleads():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 500)
    said = np.log(np.where(np.eye(2, dtype=bool)[classes], 0.7, 0.3))
    rows = CodedRows(np.zeros((500, 1), np.uint8), classes, np.ones(500))
    right, wrong = np.eye(2)[classes], np.eye(2)[1 - classes]
    assert best_shares([said], rows, np.ones(1), [right])[1] > 1
    assert best_shares([said], rows, np.ones(1), [wrong])[1] == 0
    np.testing.assert_allclose(best_shares([said], rows, np.ones(1), [wrong])[0], best_shares([said], rows, np.ones(1)))
