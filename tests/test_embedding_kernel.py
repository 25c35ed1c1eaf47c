"""The embedding kernel against a slow obvious twin, PyTorch, and laws of its own."""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

from neuralkdb import _kernels

ACTIVATIONS = {"identity": lambda x: x, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}
NAMES = list(ACTIVATIONS)


@dataclass(frozen=True)
class Units:
    """Three features of 3, 2 and 4 values, two classes: what the kernel is trained on."""

    child: np.ndarray  # (families,) first row of the child's values
    n_values: np.ndarray  # (families,)
    family: np.ndarray  # (units,)
    inputs: np.ndarray  # (units, width)
    cells: np.ndarray  # (units + 1,)
    codes: np.ndarray  # (cells,)
    weights: np.ndarray  # (cells,)


N_VALUES, N_CLASSES = 9, 2
N_INPUTS = N_VALUES + N_CLASSES
N_ROWS = N_INPUTS + N_VALUES
OFFSETS = np.array([0, 3, 5])
CARDINALITIES = np.array([3, 2, 4])
FAMILIES = [(0, ()), (1, (0,)), (2, (0, 1))]


def random_units(n_units=40, seed=0, most_cells=3, weights=None):
    """Contexts of the three families, each with a few of its child's values."""
    rng = np.random.default_rng(seed)
    family = np.sort(rng.integers(0, 3, n_units)).astype(np.int32)
    inputs = np.full((n_units, 3), -1, np.int32)
    codes, counts = [], []
    for unit, number in enumerate(family):
        child, parents = FAMILIES[number]
        for slot, parent in enumerate(parents):
            inputs[unit, slot] = OFFSETS[parent] + rng.integers(CARDINALITIES[parent])
        inputs[unit, 2] = N_VALUES + rng.integers(N_CLASSES)
        count = rng.integers(1, min(most_cells, CARDINALITIES[child]) + 1)
        codes.append(rng.permutation(CARDINALITIES[child])[:count])
        counts.append(count)
    n_cells = sum(counts)
    return Units(
        child=(N_INPUTS + OFFSETS).astype(np.int32),
        n_values=CARDINALITIES.astype(np.int32),
        family=family,
        inputs=inputs,
        cells=np.concatenate([[0], np.cumsum(counts)]),
        codes=np.concatenate(codes).astype(np.int32),
        weights=np.asarray(rng.integers(1, 5, n_cells) if weights is None else weights, np.float32),
    )


def initial(dimensions, seed=0):
    values = _kernels.initial_embeddings(N_INPUTS, N_VALUES, dimensions, dimensions**-0.5, seed)
    return values, np.zeros_like(values), np.zeros_like(values)


def train(units, state, order, rates, batch_size=8, activation="tanh", n_threads=1, **options):
    """The state after training on the units in `order`, and the loss; `state` stays as it was."""
    steps_before = options.pop("steps_before", 0)
    state = tuple(array.copy() for array in state)
    loss = _kernels.train_embeddings(
        *state,
        steps_before,
        np.asarray(order, np.uint32),
        np.asarray(rates, np.float64),
        **vars(units),
        n_parents=N_VALUES,
        concatenated=options.pop("concatenated", False),
        batch_size=batch_size,
        activation=NAMES.index(activation),
        weight_decay=options.pop("weight_decay", 0.0),
        dropout=options.pop("dropout", 0.0),
        seed=options.pop("seed", 0),
        n_threads=n_threads,
    )
    return state, loss


def batch_gradient(units, values, batch, activation):
    """The loss of a batch, and the gradient of its mean, in double precision."""
    act = ACTIVATIONS[activation]
    gradient, loss = np.zeros_like(values), 0.0
    for unit in batch:
        rows = units.inputs[unit][units.inputs[unit] >= 0]
        first = units.child[units.family[unit]]
        children = slice(first, first + units.n_values[units.family[unit]])
        total = values[rows].sum(axis=0)
        hidden = act(total)
        logits = values[children] @ hidden
        log_probabilities = logits - np.logaddexp.reduce(logits)
        counts = np.zeros(len(logits))
        cells = slice(units.cells[unit], units.cells[unit + 1])
        counts[units.codes[cells]] = units.weights[cells]
        loss -= counts @ log_probabilities
        slope = (counts.sum() * np.exp(log_probabilities) - counts) / len(batch)
        derivative = {"identity": 1.0, "tanh": 1 - hidden**2, "relu": total > 0}[activation]
        back = (slope @ values[children]) * derivative
        gradient[children] += np.outer(slope, hidden)
        for row in rows:
            gradient[row] += back
    return loss, gradient


def dense_adam(units, state, order, rates, batch_size=8, activation="tanh", weight_decay=0.0, steps_before=0):
    """What `train` computes: every parameter moves at every step."""
    values, first, second = (array.astype(np.float64) for array in state)
    loss = 0.0
    for step, rate in enumerate(rates):
        batch = order[step * batch_size : (step + 1) * batch_size]
        batch_loss, gradient = batch_gradient(units, values, batch, activation)
        loss += batch_loss
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        number = steps_before + step + 1
        root = np.sqrt(second / (1 - 0.999**number)) + 1e-8
        values = values * (1 - rate * weight_decay) - rate / (1 - 0.9**number) * first / root
    return (values, first, second), loss


def random_order(n_units, length, seed=0):
    return np.random.default_rng(seed).integers(0, n_units, length).astype(np.uint32)


@pytest.mark.parametrize("activation", NAMES)
@pytest.mark.parametrize("dimensions", [5, 16, 40, 128])
def test_training_equals_dense_adam_in_double_precision(activation, dimensions):
    units, state = random_units(), initial(dimensions)
    order, rates = random_order(40, 795), np.linspace(1e-2, 1e-3, 100)
    actual, loss = train(units, state, order, rates, activation=activation, weight_decay=0.1)
    expected, expected_loss = dense_adam(units, state, order, rates, activation=activation, weight_decay=0.1)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4)


def test_parameters_without_gradients_catch_up_exactly():
    """Family 2 is trained once, then not for 300 steps: its rows keep moving as dense Adam says."""
    units, state = random_units(), initial(32)
    last, others = np.flatnonzero(units.family == 2)[0], np.flatnonzero(units.family == 0)
    order = np.concatenate([[last], np.resize(others, 300), [last]]).astype(np.uint32)
    rates = np.linspace(1e-2, 1e-3, 302)
    actual, _ = train(units, state, order, rates, batch_size=1)
    expected, _ = dense_adam(units, state, order, rates, batch_size=1)
    rows = slice(units.child[2], units.child[2] + 4)
    moved = np.abs(expected[0][rows] - state[0][rows]).max()
    np.testing.assert_allclose(actual[0][rows], expected[0][rows], atol=1e-5 * moved + 3e-7)


@pytest.mark.parametrize("activation", NAMES)
def test_first_moments_after_one_step_are_the_slopes_of_the_loss(activation):
    units, state = random_units(seed=3), initial(20)
    batch = random_order(40, 8, seed=1)
    (_, first, _), _ = train(units, state, batch, [0.0], activation=activation)
    values = state[0].astype(np.float64)
    for row, column in np.random.default_rng(0).integers(0, [N_ROWS, 20], (60, 2)):
        losses = []
        for change in (1e-4, -1e-4):
            moved = values.copy()
            moved[row, column] += change
            losses.append(batch_gradient(units, moved, batch, activation)[0] / 8)
        assert first[row, column] / 0.1 == pytest.approx((losses[0] - losses[1]) / 2e-4, abs=2e-5)


def test_training_equals_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is an extra of the tests")
    units, state = random_units(), initial(24)
    order, n_steps = random_order(40, 8 * 60), 60
    actual, _ = train(units, state, order, np.full(n_steps, 1e-2), weight_decay=0.1)
    values = torch.tensor(state[0], requires_grad=True)
    optimizer = torch.optim.AdamW([values], lr=1e-2, weight_decay=0.1)
    for batch in order.reshape(n_steps, 8):
        optimizer.zero_grad()
        loss = torch.zeros(())
        for unit in batch:
            rows = units.inputs[unit][units.inputs[unit] >= 0]
            first = units.child[units.family[unit]]
            children = values[first : first + units.n_values[units.family[unit]]]
            hidden = torch.tanh(values[torch.tensor(rows)].sum(dim=0))
            log_probabilities = torch.log_softmax(children @ hidden, dim=0)
            cells = slice(units.cells[unit], units.cells[unit + 1])
            seen = log_probabilities[torch.tensor(units.codes[cells])]
            loss = loss - (torch.tensor(units.weights[cells]) * seen).sum() / 8
        loss.backward()
        optimizer.step()
    np.testing.assert_allclose(actual[0], values.detach().numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dimensions", [16, 33, 128])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_number_of_threads_does_not_change_a_bit(dimensions, dropout):
    units, state = random_units(), initial(dimensions)
    order, rates = random_order(40, 1600), np.full(200, 1e-2)
    runs = [train(units, state, order, rates, dropout=dropout, n_threads=threads) for threads in (1, 2, 3, 8)]
    for arrays, loss in runs[1:]:
        assert loss == runs[0][1]
        for ours, first in zip(arrays, runs[0][0], strict=True):
            assert ours.tobytes() == first.tobytes()


def test_stopping_and_going_on_is_training_without_a_stop():
    units, state = random_units(), initial(32)
    order, rates = random_order(40, 800), np.linspace(1e-2, 1e-3, 100)
    whole, _ = train(units, state, order, rates)
    half, _ = train(units, state, order[:400], rates[:50])
    both, _ = train(units, half, order[400:], rates[50:], steps_before=50)
    np.testing.assert_allclose(both[0], whole[0], atol=1e-5)


def test_an_instance_of_weight_two_is_the_instance_twice():
    units = random_units(most_cells=1, weights=np.ones(40))
    repeats = np.random.default_rng(0).integers(1, 4, 40).astype(np.int32)
    order = _kernels.shuffled_units(repeats, 7, 1)
    copies = np.repeat(np.arange(40), repeats)
    duplicated = replace(
        units,
        family=units.family[copies],
        inputs=units.inputs[copies],
        codes=units.codes[copies],
        weights=units.weights[copies],
        cells=np.arange(len(copies) + 1),
    )
    same_order = _kernels.shuffled_units(np.ones(len(copies), np.int32), 7, 1)
    np.testing.assert_array_equal(copies[same_order], order)
    rates = np.full(-(-len(order) // 8), 1e-2)
    ours, _ = train(units, initial(32), order, rates)
    theirs, _ = train(duplicated, initial(32), same_order, rates)
    assert ours[0].tobytes() == theirs[0].tobytes()


def test_a_weight_scales_the_gradient():
    units = random_units()
    _, once = batch_gradient(units, initial(16)[0].astype(float), np.arange(8), "tanh")
    half = replace(units, weights=units.weights / 2)
    (_, first, _), loss = train(half, initial(16), np.arange(8), [1e-3])
    np.testing.assert_allclose(first / 0.1, once / 2, atol=1e-6)
    assert loss == pytest.approx(train(units, initial(16), np.arange(8), [1e-3])[1] / 2)


def test_shuffling_depends_on_the_seed_and_the_stream_alone():
    repeats = np.array([2, 0, 1, 300], np.int32)
    order = _kernels.shuffled_units(repeats, 1, 2)
    np.testing.assert_array_equal(np.bincount(order, minlength=4), repeats)
    np.testing.assert_array_equal(order, _kernels.shuffled_units(repeats, 1, 2))
    assert (order != _kernels.shuffled_units(repeats, 1, 3)).any()
    assert (order != _kernels.shuffled_units(repeats, 2, 2)).any()


def test_shuffling_is_uniform():
    firsts = [_kernels.shuffled_units(np.ones(5, np.int32), seed, 0)[0] for seed in range(5000)]
    assert np.abs(np.bincount(firsts, minlength=5) / 5000 - 0.2).max() < 0.02


def test_shuffling_is_the_same_on_every_platform():
    order = _kernels.shuffled_units(np.ones(10, np.int32), 42, 0)
    np.testing.assert_array_equal(order, [6, 0, 9, 1, 8, 3, 5, 7, 2, 4])


def test_initial_embeddings_have_the_papers_distributions():
    values = _kernels.initial_embeddings(400, 300, 128, 128**-0.5, 5)
    normal, uniform = values[:400], values[400:]
    assert abs(normal.mean()) < 0.02
    assert normal.std() == pytest.approx(1, abs=0.02)
    assert (np.abs(normal) > 2).mean() == pytest.approx(0.0455, abs=0.005)
    assert np.abs(uniform).max() <= 128**-0.5
    assert uniform.std() == pytest.approx((3 * 128) ** -0.5, rel=0.02)


@pytest.mark.parametrize("activation", NAMES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_log_probabilities_equal_the_formula(activation, n_threads):
    values = initial(40)[0] * 2
    parents = np.random.default_rng(0).integers(-1, N_VALUES, (150, 2)).astype(np.int32)
    actual = _kernels.embedding_log_probabilities(
        values, N_INPUTS + 5, 4, parents, N_VALUES, 2, NAMES.index(activation), n_threads
    )
    padded = np.vstack([values.astype(np.float64), np.zeros(40)])
    hidden = padded[parents].sum(axis=1)[:, None] + padded[N_VALUES:N_INPUTS]
    logits = ACTIVATIONS[activation](hidden) @ padded[N_INPUTS + 5 : N_INPUTS + 9].T
    expected = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(actual).sum(axis=2), 1, rtol=1e-14)


def contexts_of(table):
    """One unit for each (parents, class) of a full table (..., classes, values) of feature 2."""
    n_contexts = table[..., 0].size
    inputs = np.full((n_contexts, 3), -1, np.int32)
    parents = np.array(list(np.ndindex(table.shape[:-2])), np.int32)
    n_parents = parents.shape[1]
    inputs[:, :n_parents] = np.repeat(parents + OFFSETS[:n_parents], N_CLASSES, axis=0)
    inputs[:, 2] = N_VALUES + np.tile(np.arange(N_CLASSES), n_contexts // N_CLASSES)
    return Units(
        child=(N_INPUTS + OFFSETS).astype(np.int32),
        n_values=CARDINALITIES.astype(np.int32),
        family=np.full(n_contexts, 2, np.int32),
        inputs=inputs,
        cells=np.arange(n_contexts + 1) * 4,
        codes=np.tile(np.arange(4), n_contexts).astype(np.int32),
        weights=table.ravel().astype(np.float32),
    )


def fitted_distribution(table, dimensions, activation, n_steps):
    """Full-batch training on a table, and the distribution it ends with."""
    units = contexts_of(table)
    n_units = len(units.family)
    order = np.tile(np.arange(n_units), n_steps)
    rates = 0.01 * np.minimum(1, np.linspace(2, 0, n_steps))
    (values, _, _), _ = train(units, initial(dimensions), order, rates, batch_size=n_units, activation=activation)
    parents = np.ascontiguousarray(units.inputs[::N_CLASSES, :-1])
    log_probabilities = _kernels.embedding_log_probabilities(
        values, N_INPUTS + 5, 4, parents, N_VALUES, N_CLASSES, NAMES.index(activation), 1
    )
    return np.exp(log_probabilities).reshape(table.shape)


def test_without_parents_the_identity_converges_to_class_conditional_frequencies():
    table = np.array([[10.0, 2, 5, 3], [1, 9, 4, 6]])
    frequencies = table / table.sum(axis=1, keepdims=True)
    actual = fitted_distribution(table, 32, "identity", 2000)
    np.testing.assert_allclose(actual, frequencies, atol=1e-4)


def test_a_wide_tanh_model_converges_to_the_empirical_conditional_distribution():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(4), (3, 2, N_CLASSES)) * 20 + 0.5
    empirical = table / table.sum(axis=-1, keepdims=True)
    gap = {
        activation: np.abs(fitted_distribution(table, 128, activation, 3000) - empirical).max()
        for activation in ("tanh", "identity")
    }
    assert gap["tanh"] < 5e-3
    assert gap["identity"] > 0.05


def network_units(n_rows=30, seed=0):
    """Rows of three features with a label: units of the network whose inputs stand side by side."""
    rng = np.random.default_rng(seed)
    inputs = OFFSETS + rng.integers(0, CARDINALITIES, (n_rows, 3))
    return Units(
        child=np.array([N_VALUES], np.int32),
        n_values=np.array([3], np.int32),
        family=np.zeros(n_rows, np.int32),
        inputs=inputs.astype(np.int32),
        cells=np.arange(n_rows + 1),
        codes=rng.integers(0, 3, n_rows).astype(np.int32),
        weights=np.ones(n_rows, np.float32),
    )


def initial_network(dimensions, seed=0):
    """Nine embeddings, then four rows a class: the weights of three inputs, and the bias."""
    values = np.random.default_rng(seed).normal(size=(N_VALUES + 12, dimensions)).astype(np.float32)
    values[N_VALUES + 3 :: 4, 1:] = 0
    return values, np.zeros_like(values), np.zeros_like(values)


@pytest.mark.parametrize("dimensions", [7, 40])
def test_the_network_with_inputs_side_by_side_equals_pytorch(dimensions):
    torch = pytest.importorskip("torch", reason="PyTorch is an extra of the tests")
    units, state = network_units(), initial_network(dimensions)
    order = random_order(30, 8 * 60)
    actual, loss = train(units, state, order, np.full(60, 1e-2), concatenated=True, weight_decay=0.1)
    embedding = torch.tensor(state[0][:N_VALUES], requires_grad=True)
    layer = state[0][N_VALUES:].reshape(3, 4, dimensions)
    weight = torch.tensor(layer[:, :3].reshape(3, -1), requires_grad=True)
    bias = torch.tensor(layer[:, 3, 0].copy(), requires_grad=True)
    optimizer = torch.optim.AdamW([embedding, weight, bias], lr=1e-2, weight_decay=0.1)
    total = 0.0
    for batch in order.reshape(60, 8):
        optimizer.zero_grad()
        hidden = embedding[torch.tensor(units.inputs[batch])].reshape(8, -1)
        labels = torch.tensor(units.codes[batch].astype(np.int64))
        error = torch.nn.functional.cross_entropy(hidden @ weight.T + bias, labels)
        error.backward()
        optimizer.step()
        total += 8 * error.item()
    trained = actual[0][N_VALUES:].reshape(3, 4, dimensions)
    assert loss == pytest.approx(total, rel=1e-4)
    np.testing.assert_allclose(actual[0][:N_VALUES], embedding.detach(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(trained[:, :3].reshape(3, -1), weight.detach(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(trained[:, 3, 0], bias.detach(), rtol=1e-3, atol=1e-4)
    assert not trained[:, 3, 1:].any()


def test_the_number_of_threads_does_not_change_a_bit_of_the_network():
    units, state = network_units(), initial_network(40)
    order, rates = random_order(30, 400), np.full(50, 1e-2)
    one, two = (train(units, state, order, rates, concatenated=True, n_threads=threads)[0] for threads in (1, 2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


def test_an_interrupt_ends_training_soon():
    units, state = random_units(), initial(2048)
    order = random_order(40, 4_000_000)
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        train(units, state, order, np.full(10_000, 1e-3), batch_size=400)
    assert time.perf_counter() - begin < 1.5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking is not known here")
def test_training_works_in_a_forked_child():
    units, state = random_units(), initial(64)
    order, rates = random_order(40, 800), np.full(100, 1e-2)
    expected = train(units, state, order, rates, n_threads=2)[0][0].tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = context.Process(
            target=lambda: queue.put(train(units, state, order, rates, n_threads=2)[0][0].tobytes())
        )
        child.start()
        actual = queue.get()
        child.join()
    assert actual == expected
