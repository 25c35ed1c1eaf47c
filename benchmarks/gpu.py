"""NeuralKDB on a graphics processor beside all cores of the same machine.

    python benchmarks/gpu.py                       20 million rows, 50 features of 16 values, k = 4
    python benchmarks/gpu.py --rows 20000 --features 8 --batch 512 --device cpu      a try without a device
    python benchmarks/gpu.py --docs gpu.json       write the figures of a run into docs/measurements.md

Batch size, steps and activation are the same on both sides. The device trains a whole epoch; the kernels are timed for
some steps, and their epoch is that many steps more: a step costs the same at any time. One training cannot use all
cores, so as many trainings as there are pairs of cores also run at once: what they do together is the most that all
cores could do with these kernels.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sections import markdown, write_section

from neuralkdb import _kernels
from neuralkdb.counting import ArrayCounts
from neuralkdb.model import families_of, model_of, statistics_of
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.embeddings import Embeddings
from neuralkdb.parameters.neural import Fixed
from neuralkdb.parameters.training import Schedule, Trainer, Units, units_of
from neuralkdb.structures.k_dependence import KDependence

RATE = 8e-3


@dataclass
class Run:
    """The settings, and what was measured."""

    options: argparse.Namespace
    figures: dict[str, Any] = field(default_factory=dict)

    def note(self, **figures: Any) -> None:
        self.figures.update(figures)
        print("  ".join(f"{name}: {value}" for name, value in figures.items()), flush=True)

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = work()
        self.note(**{name: round(time.perf_counter() - begin, 3)})
        return result


def generated(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Codes (rows, features) and classes: every feature follows the two before it and the class, with noise."""
    import torch

    random = torch.Generator(options.device).manual_seed(1)
    shape, device = (options.rows,), options.device
    classes = torch.randint(0, 2, shape, generator=random, device=device)
    columns: list[Any] = []
    for j in range(options.features):
        noise = torch.randn(shape, generator=random, device=device).mul_(1.5 + j % 3).round_().long()
        before = [columns[i].long() for i in range(max(0, j - 2), j)]
        follows = sum(((3 + 2 * i) * column for i, column in enumerate(before)), torch.zeros_like(noise))
        columns.append(((follows + noise + classes * (j % 5)) % options.values).to(torch.uint8))
    return torch.stack(columns).cpu().numpy().T, classes.to(torch.uint8).cpu().numpy()


def counted(run: Run, host: ArrayCounts) -> tuple[Any, Any]:
    """Structure and statistics by the device, equal to those by the kernels."""
    from neuralkdb.engines.gpu import TorchCounts

    options, learner = run.options, KDependence(run.options.k)
    device = TorchCounts(host, options.device)
    structure = run.timed("structure, device [s]", lambda: learner.learn(device))
    statistics = run.timed("families, device [s]", lambda: statistics_of(structure, device))
    if options.check:
        assert run.timed("structure, cores [s]", lambda: learner.learn(host)) == structure
        tables = run.timed("families, cores [s]", lambda: statistics_of(structure, host)).tables
        assert all(table == statistics.tables[request] for request, table in tables.items())
        run.note(counts="the same, count for count")
    return structure, statistics


def trained(run: Run, tables: Any, start: Embeddings, schedule: Schedule) -> None:
    """Epochs of the device, and steps of the kernels."""
    from neuralkdb.engines import gpu

    options = run.options
    epochs = gpu.TorchTrainer(Trainer("tanh", seed=1), options.device).epochs(
        start, tables, replace(schedule, epochs=2)
    )
    _, loss = run.timed("first epoch with preparations, device [s]", lambda: next(epochs))
    begin = time.perf_counter()
    _, later = next(epochs)
    seconds = time.perf_counter() - begin
    run.note(**{"epoch, device [s]": round(seconds, 3), "losses": [round(loss, 4), round(later, 4)]})
    n_instances = sum(float(table.cells()[2].sum()) for table in tables.values())
    n_steps = -(-int(n_instances) // schedule.batch_size)
    units = run.timed("units of the kernels [s]", lambda: units_of(tables, start, merged=False))
    n_cells = len(units.family)
    run.note(instances=int(n_instances), cells=n_cells, steps_of_an_epoch=n_steps, batch=schedule.batch_size)
    one = run.timed("kernels, one training [s]", lambda: kernel_steps(options, units, start, 1))
    many = max(1, options.threads // 2)
    all_cores = run.timed(f"kernels, {many} trainings at once [s]", lambda: kernel_steps(options, units, start, many))
    run.note(
        **{
            "epoch, one training on the cores [s]": round(one * n_steps, 1),
            "epoch, all cores busy [s]": round(all_cores * n_steps, 1),
            "rows a second, device": round(options.rows / seconds),
            "rows a second, one training on the cores": round(options.rows / (one * n_steps)),
            "rows a second, all cores busy": round(options.rows / (all_cores * n_steps)),
            "times faster than one training": round(one * n_steps / seconds, 1),
            "times faster than all cores busy": round(all_cores * n_steps / seconds, 1),
        }
    )


def kernel_steps(options: argparse.Namespace, units: Units, start: Embeddings, at_once: int) -> float:
    """Seconds a step, of as many trainings at once, each with two threads or all there are."""
    drawn = np.ceil(units.unit_weights)
    ends = np.cumsum(drawn)
    places = np.random.default_rng(1).random(options.steps * options.batch) * ends[-1]
    order = np.searchsorted(ends, places, side="right").astype(np.uint32)
    fractions = replace(units, weights=units.weights / drawn)
    rates = np.full(options.steps, RATE)
    trainer = Trainer("tanh", seed=1, n_threads=options.threads if at_once == 1 else 2)

    def steps(_: int) -> None:
        trainer._epoch(start, fractions, order, rates, options.batch)

    begin = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(steps, range(at_once)))
    return (time.perf_counter() - begin) / options.steps / at_once


def profiled(run: Run, tables: Any, start: Embeddings, schedule: Schedule) -> None:
    """Where a step of the device spends its time, launched kernel by kernel."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    from neuralkdb.engines import gpu
    from neuralkdb.engines.instances import instances_of

    device = gpu.device_of(run.options.device)
    random = torch.Generator(device).manual_seed(1)
    family = dict(list(tables.items())[-8:])
    part = replace(schedule, batch_size=schedule.batch_size * len(family) // len(tables))
    instances = instances_of(family, start, merged=False)
    training = gpu.Training(Trainer("tanh", seed=1), start, instances, part, random)
    training._shuffle()
    training.paces.zero_()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.type == "cuda" else [])]
    for warm in (True, False):
        training.step.zero_()
        if warm:
            training._advance()
            continue
        with profile(activities=activities) as profiler:
            for _ in range(min(20, training.n_steps)):
                training._advance()
    key = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
    print(f"20 steps of {len(family)} of the families:", profiler.key_averages().table(sort_by=key, row_limit=14))


def bytes_of_a_step(run: Run, start: Embeddings) -> None:
    """What a step reads and writes at least: each array of hidden layers nine times, the zeros and ones five times."""
    options = run.options
    hidden = options.batch * start.dimensions * 4
    columns = options.batch * (options.k * options.values + 3) * 4
    total = 9 * hidden + 5 * columns
    seconds = run.figures["epoch, device [s]"] / run.figures["steps_of_an_epoch"]
    run.note(**{
        "step, device [us]": round(seconds * 1e6, 1),
        "least bytes of a step [MB]": round(total / 1e6, 1),
        "that is [TB/s]": round(total / seconds / 1e12, 2),
    })  # fmt: skip


def accurate(run: Run, codes: np.ndarray, classes: np.ndarray, structure: Any) -> None:
    """Accuracy of the two trainings on rows held out."""
    from neuralkdb.engines.gpu import TorchTrainer

    options = run.options
    n_train, n_test = min(100_000, options.rows // 2), min(30_000, options.rows // 4)
    cardinalities = (options.values,) * options.features
    train = ArrayCounts.of(codes[:n_train], classes[:n_train], None, cardinalities, 2, options.threads)
    test = Block.of(np.asfortranarray(codes[-n_test:]), cardinalities)
    statistics = statistics_of(structure, train)
    tables = {family: statistics.tables[family.variables] for family in families_of(structure.networks)}
    schedule = Schedule(False, 3, min(4096, options.batch), 4e-3, falls=True)

    def score(where: str, seed: int) -> float:
        trainer: Any = Trainer("tanh", seed=seed, n_threads=2)
        trainer = trainer if where == "cores" else TorchTrainer(trainer, options.device)
        start = Embeddings.drawn(cardinalities, 2, options.dimensions, seed)
        *_, (embeddings, _) = trainer.epochs(start, tables, schedule)
        model = model_of(structure, statistics, Fixed(embeddings, "tanh"))
        return 100 * float((model.log_posterior(test).argmax(axis=1) == classes[-n_test:]).mean())

    for where, at_once in (("cores", 3), ("device", 1)):
        with ThreadPoolExecutor(at_once) as threads:
            scores = list(threads.map(lambda seed, where=where: score(where, seed), (1, 2, 3)))
        run.note(
            **{f"accuracy, {where}": round(float(np.mean(scores)), 2), f"seeds, {where}": np.round(scores, 2).tolist()}
        )


def docs(path: Path) -> None:
    """The table of a run."""
    figures = json.loads(path.read_text())
    rows = [[name, str(value)] for name, value in figures.items()]
    write_section("gpu", markdown(["", ""], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"rows": 20_000_000, "features": 50, "values": 16, "k": 4, "batch": 65536, "dimensions": 128,
                        "steps": 60, "threads": 16}.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-check", dest="check", action="store_false", help="do not count on the cores as well")
    parser.add_argument("--out", type=Path, help="where to write the figures")
    parser.add_argument("--docs", type=Path, help="a file of figures to write into docs/measurements.md")
    options = parser.parse_args()
    if options.docs:
        docs(options.docs)
        return
    run = Run(options)
    run.note(
        kernels=Path(_kernels.__file__).name, **{key: vars(options)[key] for key in ("rows", "features", "values", "k")}
    )
    codes, classes = run.timed("data [s]", lambda: generated(options))
    cardinalities = (options.values,) * options.features
    host = ArrayCounts.of(codes, classes, None, cardinalities, 2, options.threads)
    structure, statistics = counted(run, host)
    tables = {family: statistics.tables[family.variables] for family in families_of(structure.networks)}
    start = Embeddings.drawn(cardinalities, 2, options.dimensions, 1)
    schedule = Schedule(False, 1, options.batch, RATE, falls=True)
    for work in (
        lambda: trained(run, tables, start, schedule),
        lambda: bytes_of_a_step(run, start),
        lambda: accurate(run, codes, classes, structure),
        lambda: profiled(run, tables, start, schedule),
    ):
        work()
        if options.out:
            options.out.write_text(json.dumps(run.figures, indent=1))


if __name__ == "__main__":
    main()
