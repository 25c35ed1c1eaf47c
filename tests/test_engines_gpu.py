"""Counting and training with PyTorch: on the CPU wherever PyTorch is, on a graphics processor where there is one."""

import numpy as np
import pytest

import neuralkdb as nk
from every import mixed
from neuralkdb.classifiers.training import TrainingData
from neuralkdb.counting import ArrayCounts
from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.instances import instances_of
from neuralkdb.information import pairwise_information
from neuralkdb.model import families_of, statistics_of
from neuralkdb.parameters.embeddings import Embeddings
from neuralkdb.parameters.training import Schedule, Trainer, mean_loss
from neuralkdb.structures.k_dependence import KDependence
from neuralkdb.tables import SparseTable
from tabled import assert_same_parts

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra gpu")
from neuralkdb.engines import gpu  # noqa: E402

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no graphics processor here")
on_devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_cuda)])


def counted(missing="value", weights=None, n_rows=400):
    """Counts in memory of a table of all kinds of columns."""
    X, y = mixed(n_rows, 0)
    classifier = nk.KDBClassifier(missing=missing)
    data = TrainingData.read(classifier, X, y, weights)
    return classifier._encoded(data)[1]


def tables_and_start(counts, dimensions=16):
    structure = KDependence(2).learn(counts)
    statistics = statistics_of(structure, counts)
    tables = {family: statistics.tables[family.variables] for family in families_of(structure.networks)}
    return tables, Embeddings.drawn(counts.cardinalities, counts.n_classes, dimensions, 1)


@on_devices
@pytest.mark.parametrize("missing", ["value", "marginalize"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_device_counts_what_the_kernels_count(device, missing, weighted):
    weights = np.random.default_rng(0).integers(1, 9, 400) / 4 if weighted else None
    host = counted(missing, weights)
    there = gpu.TorchCounts(host, device)
    requests = [(0,), (1, 2), (2, 1), (0, 1, 2), (0, 1, 2, 3)]
    for one, other in zip(there.tables(requests), host.tables(requests), strict=True):
        assert_same_parts(one, other)
    np.testing.assert_array_equal(pairwise_information(there), pairwise_information(host))
    assert KDependence(2).learn(there) == KDependence(2).learn(host)


@on_devices
def test_sparse_tables_of_the_device_are_those_of_the_kernels(device):
    rng = np.random.default_rng(0)
    codes, classes = rng.integers(0, 200, (300, 3)).astype(np.uint8), rng.integers(0, 2, 300)
    host = ArrayCounts.of(np.asfortranarray(codes), classes, None, (200, 200, 200), 2)
    (one,), (other,) = gpu.TorchCounts(host, device).tables([(0, 2, 1)]), host.tables([(0, 2, 1)])
    assert isinstance(one, SparseTable)
    assert_same_parts(one, other)


@on_devices
@pytest.mark.parametrize("activation", ["tanh", "relu", "identity"])
def test_a_step_over_all_instances_moves_as_the_kernels_move(device, activation):
    """One batch of everything, which all families have equally many of: what is left is rounding."""
    tables, start = tables_and_start(counted(weights=np.random.default_rng(0).integers(1, 4, 400).astype(float)))
    sizes = {float(table.cells()[2].sum()) for table in tables.values()}
    assert len(sizes) == 1
    trainer = Trainer(activation, weight_decay=0.1, seed=1)
    schedule = Schedule(False, 1, int(sizes.pop()) * len(tables), 1e-2, falls=False)
    ((here, loss),) = trainer.epochs(start, tables, schedule)
    ((there, other_loss),) = gpu.TorchTrainer(trainer, device).epochs(start, tables, schedule)
    assert there.n_steps == here.n_steps == 1
    rounding = 1e-6 if device == "cpu" else 1e-3
    np.testing.assert_allclose(there.first_moments, here.first_moments, atol=rounding)
    np.testing.assert_allclose(other_loss, loss, rtol=rounding * 10)


@on_devices
def test_training_on_cells_comes_to_the_loss_of_the_kernels_or_below(device):
    tables, start = tables_and_start(counted())
    schedule = Schedule(True, 10, 32, 1e-2, falls=True)
    *_, (here, _) = Trainer(seed=1).epochs(start, tables, schedule)
    *_, (there, _) = gpu.TorchTrainer(Trainer(seed=1), device).epochs(start, tables, schedule)
    losses = [mean_loss(tables, each, "tanh") for each in (start, here, there)]
    assert losses[2] < losses[1] + 0.1 * (losses[0] - losses[1])


@on_devices
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_training_learns_as_well_as_the_kernels(device, dropout):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (3000, 6))
    X[:, 1] = (X[:, 0] + rng.integers(0, 2, 3000)) % 4
    y = (X[:, 0] + X[:, 1] > 3).astype(int)
    options = {"epochs": 8, "random_state": 0, "discretization": "codes", "parent_dropout": dropout}
    here = nk.NeuralKDBClassifier(**options).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    there = nk.NeuralKDBClassifier(device=device, **options).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    assert there > 0.9
    assert abs(there - here) < 0.03


@on_devices
def test_the_same_seed_gives_the_same_first_shuffle_and_a_close_result(device):
    X, y = mixed(200, 0)
    options = {"device": device, "epochs": 2, "random_state": 3}
    one, other = (nk.NeuralKDBClassifier(**options).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_allclose(one, other, atol=0 if device == "cpu" else 1e-3)


def test_devices_that_are_not_there_are_named(monkeypatch):
    X, y = mixed(50, 0)
    with pytest.raises(EngineError, match="There is no device='warp'"):
        nk.NeuralKDBClassifier(device="warp").fit(X, y)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(EngineError, match="device='cuda' was asked for, but PyTorch sees no graphics processor"):
        nk.NeuralKDBClassifier(device="cuda").fit(X, y)


def test_a_fused_step_moves_as_products_of_matrices_move():
    """On the CPU by Triton's interpreter."""
    triton = pytest.importorskip("triton", reason="Triton is not installed: it comes with PyTorch for CUDA")
    if not torch.cuda.is_available() and not triton.knobs.runtime.interpret:
        pytest.skip("no graphics processor, and TRITON_INTERPRET=1 is not set")
    from neuralkdb.engines import fused

    tables, start = tables_and_start(counted(), 20)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    schedule = Schedule(False, 2, 300, 1e-2, falls=True)

    def trained(step):
        random = torch.Generator(device).manual_seed(3)
        instances = instances_of(tables, start, merged=False)
        training = gpu.Training(Trainer("tanh", weight_decay=0.1, seed=1), start, instances, schedule, random)
        training.advance = step(training)
        return [training.epoch(rates) for rates in schedule.rates(training.n_steps)][-1]

    (one, loss), (other, other_loss) = trained(fused.FusedStep), trained(lambda training: training._advance)
    np.testing.assert_allclose(loss, other_loss, rtol=1e-3)
    np.testing.assert_allclose(one.values, other.values, atol=1e-5 if device == "cpu" else 2e-2)
