import numpy as np
import pytest

from neuralkdb import _kernels
from neuralkdb.counting import ArrayCounts, CodedRows
from neuralkdb.parameters.counted import BackOff, Counted, Laplace, MEstimate
from neuralkdb.structures.scoring import leave_one_out_logs, over_classes

SHAPE, N_CLASSES = (3, 2), 3


def rows(n_rows, weights):
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, [size + 1 for size in SHAPE], (n_rows, 2)).astype(np.uint8))
    classes = rng.integers(0, N_CLASSES, n_rows).astype(np.intp)
    return CodedRows(codes, classes, np.resize(weights, n_rows).astype(float))


@pytest.mark.parametrize("rule", [MEstimate(1.0), Laplace(1.0), BackOff(5.0)])
@pytest.mark.parametrize("weights", [[1], [1, 2, 5], [0.5, 1]])
@pytest.mark.parametrize("n_rows", [30, 1000])  # fewer than kinds of rows, and many of each kind
def test_rows_that_are_alike_have_the_probabilities_of_each_alone(rule, weights, n_rows):
    coded, estimate = rows(n_rows, weights), Counted(rule)
    counts = ArrayCounts.of(coded.codes, coded.classes.astype(np.uint32), coded.weights, SHAPE, N_CLASSES, 1)
    (table,) = counts.tables([(0, 1)])
    removed = np.minimum(coded.weights, 1.0)
    alone = estimate.leave_one_out(table, coded.codes, coded.classes, removed)
    for logs, probabilities in zip(leave_one_out_logs(estimate, table, coded, (0, 1)), alone, strict=True):
        np.testing.assert_array_equal(logs, np.log(probabilities))


@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 30])
def test_classes_are_combined_alike_however_many_there_are(n_classes):
    values = np.random.default_rng(0).normal(size=(4, 50, n_classes))
    np.testing.assert_array_equal(over_classes(np.maximum, values), values.max(axis=-1))
    np.testing.assert_allclose(over_classes(np.add, values), values.sum(axis=-1), rtol=1e-12, atol=1e-12)


def slow_squared_errors(log_joints, classes, weights):
    errors = []
    for logs in log_joints:
        total = 0.0
        for row, label, weight in zip(logs, classes, weights, strict=True):
            finite = np.isfinite(row).any()
            shares = np.exp(row - row.max()) if finite else np.ones(len(row))
            total += weight * (1 - shares[label] / shares.sum()) ** 2
        errors.append(total)
    return errors


@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("n_rows", [1, 16, 45])
def test_squared_errors_are_those_of_slow_posteriors_also_where_classes_are_impossible(n_rows, n_classes):
    rng = np.random.default_rng(n_rows)
    logs = rng.normal(-300, 30, (3, n_rows, n_classes))
    logs[rng.random(logs.shape) < 0.2] = -np.inf
    logs[1, 0] = -np.inf
    classes, weights = rng.integers(0, n_classes, n_rows), rng.random(n_rows)
    found = _kernels.squared_errors(logs, classes.astype(np.uint32), weights)
    np.testing.assert_allclose(found, slow_squared_errors(logs, classes, weights), rtol=1e-12, atol=1e-14)


def test_squared_errors_of_what_does_not_fit_together_are_refused():
    logs = np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match="do not fit together"):
        _kernels.squared_errors(logs, np.zeros(3, np.uint32), np.ones(2))
    with pytest.raises(ValueError, match="a class is not known"):
        _kernels.squared_errors(logs, np.full(2, 3, np.uint32), np.ones(2))
