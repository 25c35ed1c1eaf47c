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
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sections import machine, markdown, write_section

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


def machine_of(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device = torch.cuda.get_device_name() if options.device == "cuda" else options.device
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    cores = f"{options.threads} of {model[1] if model else 'unknown'}, {machine()}"
    return {"device": device, "cores": cores, "PyTorch": torch.__version__}


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


def trained(run: Run, tables: Any, start: Embeddings, schedule: Schedule) -> Any:
    """Epochs of the device."""
    from neuralkdb.engines import gpu
    from neuralkdb.engines.instances import instances_of

    device = gpu.device_of(run.options.device)
    random = torch_generator(device)
    instances = run.timed("instances [s]", lambda: instances_of(tables, start, merged=False))
    trainer = Trainer("tanh", seed=1)
    training = run.timed(
        "to the device [s]", lambda: gpu.Training(trainer, start, instances, replace(schedule, epochs=3), random)
    )
    run.note(
        instances=instances.n_instances, cells=len(instances.weights), steps_of_an_epoch=training.n_steps,
        batch=run.options.batch, fused=training.advance != training._advance,
    )  # fmt: skip
    rates = replace(schedule, epochs=3).rates(training.n_steps)
    _, first = run.timed("first epoch with recording, device [s]", lambda: training.epoch(rates[0]))
    _, second = run.timed("epoch, device [s]", lambda: training.epoch(rates[1]))
    _, third = run.timed("epoch again, device [s]", lambda: training.epoch(rates[2]))
    run.timed("of that shuffling [s]", lambda: (training._shuffle(), finish(device)))
    run.note(losses=[round(loss, 4) for loss in (first, second, third)])
    return training


def torch_generator(device: Any) -> Any:
    import torch

    return torch.Generator(device).manual_seed(1)


def finish(device: Any) -> None:
    """Wait for the device."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize()


def beside_the_cores(run: Run, tables: Any, start: Embeddings) -> None:
    """Steps of the kernels, as the device took them, and in the batches that suit the kernels."""
    options, n_instances = run.options, run.figures["instances"]
    seconds = run.figures["epoch, device [s]"]
    units = run.timed("units of the kernels [s]", lambda: units_of(tables, start, merged=False))
    many = max(1, options.threads // 2)
    run.note(**{"rows a second, device": round(options.rows / seconds)})
    for at_once, batch in ((1, options.batch), (many, options.batch), (many, min(1024, options.batch))):
        n_steps = max(2, options.steps * options.batch // batch)
        step = kernel_steps(options, units, start, at_once, batch, n_steps)
        epoch = step * n_instances / batch
        who = f"{at_once} training{'s' * (at_once > 1)} on {options.threads} cores, batch {batch}"
        run.note(**{
            f"epoch, {who} [s]": round(epoch, 1),
            f"rows a second, {who}": round(options.rows / epoch),
            f"times slower, {who}": round(epoch / seconds, 1),
        })  # fmt: skip


def kernel_steps(
    options: argparse.Namespace, units: Units, start: Embeddings, at_once: int, batch: int, n_steps: int
) -> float:
    """Seconds a step, of as many trainings at once, each with two threads or all there are."""
    drawn = np.ceil(units.unit_weights)
    ends = np.cumsum(drawn)
    places = np.random.default_rng(1).random(n_steps * batch) * ends[-1]
    order = np.searchsorted(ends, places, side="right").astype(np.uint32)
    fractions = replace(units, weights=(units.weights / drawn).astype(np.float32))
    rates = np.full(n_steps, RATE * batch / options.batch)
    trainer = Trainer("tanh", seed=1, n_threads=options.threads if at_once == 1 else 2)

    def steps(_: int) -> None:
        trainer._epoch(start, fractions, order, rates, batch)

    begin = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(steps, range(at_once)))
    return (time.perf_counter() - begin) / n_steps / at_once


def profiled(run: Run, training: Any) -> None:
    """Where steps of the device spend their time, launched kernel by kernel, fused and as PyTorch's own products."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    device = training.order.device
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.type == "cuda" else [])]
    key = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
    torch.set_float32_matmul_precision("high")
    for name, advance in (("fused", training.advance), ("products", training._advance)):
        training.advance = advance
        n_steps = min(200, training.n_steps)
        training.step.zero_()
        advance()
        training.step.zero_()
        with profile(activities=activities) as profiler:
            for _ in range(min(20, n_steps)):
                advance()
            finish(device)
        print(f"20 steps, {name}:", profiler.key_averages().table(sort_by=key, row_limit=14), flush=True)
        run.note(**{f"step, {name} [us]": timed_steps(training, n_steps)})


def timed_steps(training: Any, n_steps: int) -> float:
    """Microseconds a step, recorded where the device can."""
    replay = training._recorded()
    training.step.zero_()
    finish(training.order.device)
    begin = time.perf_counter()
    for _ in range(n_steps):
        replay()
    finish(training.order.device)
    return round((time.perf_counter() - begin) / n_steps * 1e6, 1)


def shapes(run: Run, training: Any) -> None:
    """Steps that work on more instances at once, or by more threads."""
    if training.order.device.type != "cuda":
        return
    from neuralkdb.engines import fused

    for instances, warps in ((64, 4), (64, 8), (128, 8), (32, 4)):
        fused.INSTANCES, fused.WARPS = instances, warps
        training.advance = fused.FusedStep(training)
        name = f"step, fused, {instances} instances by {warps} warps [us]"
        run.note(**{name: timed_steps(training, min(200, training.n_steps))})


def limits(run: Run, training: Any) -> None:
    """What a step computes and moves at least, beside what the device can do at most."""
    import torch

    device, options = training.order.device, run.options
    size = 8192 if device.type == "cuda" else 256
    one, other = (torch.randn(size, size, device=device) for _ in range(2))
    large, copied = (torch.ones(size, size * 8, device=device) for _ in range(2))
    torch.set_float32_matmul_precision("high")
    product = per_call(lambda: one @ other, device)
    copy = per_call(lambda: copied.copy_(large), device)
    n, (columns, codes) = training.width * len(training.rows), (training.rows.shape[1], training.child_rows.shape[1])
    flops = n * options.dimensions * (4 * columns + 6 * codes)
    seconds = run.figures["step, fused [us]"] * 1e-6
    drawn = n * 4 * (training.columns.shape[1] + 3)
    hidden = 4 * n * (9 * options.dimensions + 5 * columns)
    run.note(**{
        "most the device multiplies, TF32 [TFLOP/s]": round(2 * size**3 / product / 1e12, 1),
        "most the device copies, read and written [TB/s]": round(2 * 4 * large.numel() / copy / 1e12, 2),
        "operations of a step [GFLOP]": round(flops / 1e9, 2),
        "operations a second, fused [TFLOP/s]": round(flops / seconds / 1e12, 1),
        "bytes a fused step reads of its instances [MB]": round(drawn / 1e6, 1),
        "bytes a step of products moves [MB]": round(hidden / 1e6, 1),
        "bytes a second, products [TB/s]": round(hidden / run.figures["step, products [us]"] / 1e6, 2),
    })  # fmt: skip


def per_call(work: Callable[[], Any], device: Any, calls: int = 10) -> float:
    for _ in range(3):
        work()
    finish(device)
    begin = time.perf_counter()
    for _ in range(calls):
        work()
    finish(device)
    return (time.perf_counter() - begin) / calls


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
    """The table of a run, and where its log, which lies beside it, says that steps spend their time."""
    figures = json.loads(path.read_text())
    rows = [[name, str(value)] for name, value in figures.items()]
    parts = [markdown(["", ""], rows)]
    log = path.with_suffix(".log")
    for name, table in re.findall(
        r"20 steps, (\w+): -+(.*?)Self CPU time", log.read_text() if log.exists() else "", re.S
    ):
        lines = [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()]
        spent = [[line[0].rstrip("."), line[-2], line[-1]] for line in lines if line[-1].isdigit() and "us" in line[-2]]
        busiest = [line for line in spent if not line[0].startswith("void")][:4]
        parts.append(markdown([f"20 steps, {name}", "device time of a call", "calls"], busiest))
    write_section("gpu", "\n\n".join(parts))


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
    run, begin = Run(options), time.perf_counter()
    run.note(**machine_of(options), **{key: vars(options)[key] for key in ("rows", "features", "values", "k")})
    codes, classes = run.timed("data [s]", lambda: generated(options))
    cardinalities = (options.values,) * options.features
    host = ArrayCounts.of(codes, classes, None, cardinalities, 2, options.threads)
    structure, statistics = counted(run, host)
    tables = {family: statistics.tables[family.variables] for family in families_of(structure.networks)}
    start = Embeddings.drawn(cardinalities, 2, options.dimensions, 1)
    schedule = Schedule(False, 1, options.batch, RATE, falls=True)
    training = trained(run, tables, start, schedule)
    for work in (
        lambda: beside_the_cores(run, tables, start),
        lambda: accurate(run, codes, classes, structure),
        lambda: profiled(run, training),
        lambda: limits(run, training),
        lambda: shapes(run, training),
    ):
        written(run)
        work()
    run.note(**{"all of this [s]": round(time.perf_counter() - begin)})
    written(run)


def written(run: Run) -> None:
    if run.options.out:
        run.options.out.write_text(json.dumps(run.figures, indent=1))


if __name__ == "__main__":
    main()
