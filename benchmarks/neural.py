"""NeuralKDB against the bars of the project, beside XGBoost, a random forest and the plain PyTorch loop.

    python benchmarks/neural.py                      all parts
    python benchmarks/neural.py schedules letter     some

Cells run in processes of their own with one thread, as in speed.py. `schedules` rewrites its section of
docs/measurements.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator

import numpy as np
from sections import markdown, write_section
from speed import SHARED, Bar, Cell, report, write_bars, write_rows

import neuralkdb
from neuralkdb.paper.datasets import Dataset, load
from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.protocol import evaluate, split_rows
from neuralkdb.paper.registry import chosen_entries, paper_entries

UCI = SHARED / "uci60"
PAPER = {"discretization": "width", "missing": "impute", "schedule": "instances", "random_state": 0}
SCHEDULE_SETS = ["car", "monks", "kr-vs-kp", "mushroom", "thyroid-disease", "page-blocks", "pendigits", "letter"]


def torch_seconds(dataset: Dataset, n_steps: int = 2000) -> float:
    """CPU seconds of the plain PyTorch loop at the paper's settings, from the time of some of its steps."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, _ = split_rows(dataset.n_rows, 0)
    model = neuralkdb.NeuralKDBClassifier(epochs=1, **PAPER).fit(dataset.rows(train), dataset.classes[train])
    (member,) = model.members_
    sizes, n_classes = member.encoding.cardinalities, len(model.classes_)
    start, most = np.concatenate([[0], np.cumsum(sizes)]), max(sizes)
    instances = [
        (family, codes, classes, np.repeat(np.arange(len(weights)), weights.astype(int)))
        for family in member.structure.networks[0].families
        for codes, classes, weights in [member.statistics.tables[family.variables].cells()]
    ]
    width = max(len(family.parents) for family, *_ in instances)
    rows = []
    for family, codes, classes, repeats in instances:
        inputs = np.full((len(repeats), width), start[-1])
        for slot, parent in enumerate(family.parents):
            inputs[:, slot] = start[parent] + codes[repeats, slot]
        child = np.full(len(repeats), family.child)
        rows.append(np.column_stack([child, codes[repeats, -1], classes[repeats], inputs]))
    S = torch.as_tensor(np.concatenate(rows))
    V, U = torch.nn.Embedding(int(start[-1]) + 1, 128), torch.nn.Embedding(n_classes, 128)
    W = torch.nn.Parameter((torch.rand(len(sizes), most, 128) * 2 - 1) / 128**0.5)
    allowed = torch.arange(most)[None] < torch.as_tensor(sizes)[:, None]
    adam = torch.optim.Adam([*V.parameters(), *U.parameters(), W], lr=1e-3)
    order = torch.randperm(len(S))
    began = time.process_time()
    for step in range(n_steps):
        child, value, label, inputs = S[order[step * 32 : step * 32 + 32]].split([1, 1, 1, width], dim=1)
        hidden = torch.tanh(V(inputs).sum(1) + U(label[:, 0]))
        logits = torch.einsum("bvd,bd->bv", W[child[:, 0]], hidden).masked_fill(~allowed[child[:, 0]], -1e9)
        loss = torch.nn.functional.cross_entropy(logits, value[:, 0])
        adam.zero_grad()
        loss.backward()
        adam.step()
    return (time.process_time() - began) / n_steps * 10 * -(-len(S) // 32)


def letter() -> Iterator[Bar]:
    """14,000 x 16, 26 classes, at the paper's settings."""
    ours, xgboost, forest = (
        Cell(model, "set:letter", options).measure()
        for model, options in (("NeuralKDB", PAPER), ("XGBoost", {}), ("RandomForest", {}))
    )
    both = ours["fit"] + ours["predict"]
    print(f"NeuralKDB {both:.2f} s, random forest {forest['fit'] + forest['predict']:.2f} s")
    yield Bar("NeuralKDB / XGBoost, fit and predict", both / (xgboost["fit"] + xgboost["predict"]), 1, "")
    try:
        seconds = torch_seconds(load(chosen_entries(["letter"])[0], UCI))
    except ImportError:
        print("skipped: PyTorch is not installed")
    else:
        yield Bar(f"PyTorch loop ({seconds:.1f} s) / NeuralKDB fit", seconds / ours["fit"], 15, "times", at_least=True)


def sets() -> Iterator[Bar]:
    """All 60 data sets, one split, at the paper's settings."""
    method, total = parse_method("NeuralKDB"), 0.0
    for entry in paper_entries():
        dataset, began = load(entry, UCI), time.process_time()
        evaluate(dataset, method, 0)
        total += time.process_time() - began
    yield Bar("NeuralKDB fit and predict, all sets", total, 90)


def million() -> Iterator[Bar]:
    """1,000,000 and 10,000,000 x 20 integers with 5 values, 2 classes, k = 2."""
    with tempfile.TemporaryDirectory() as folder:
        figures = {}
        for n_rows in (1_000_000, 10_000_000):
            write_rows(folder, n_rows)
            figures[n_rows] = Cell("NeuralKDB", f"rows:{folder}", {"random_state": 0}).measure()
        neural, larger = figures.values()
        counting, more_counting = (cell["fit"] - cell["training"] for cell in figures.values())
        yield Bar("fit, a million rows", neural["fit"], 4)
        yield Bar("of which training", neural["training"], 1.5)
        yield Bar("counting, ten million rows over a million", more_counting / counting, 10, "times")
        yield Bar("training, ten million rows over a million", larger["training"] / neural["training"], 1.3, "times")
        yield Bar("predict_proba", neural["rows_per_second"] / 1e6, 1, "million rows/s", at_least=True)
        yield Bar("growth, fit", neural["fit_growth"], 200, "MB")
        yield Bar("growth, fit and predict_proba", neural["growth"], 200, "MB")


def wide() -> Iterator[Bar]:
    """200,000 x 30 with 20 values, k = 4: nearly every cell distinct."""
    options = {"k": 4, "discretization": "codes", "random_state": 0}
    with tempfile.TemporaryDirectory() as folder:
        write_rows(folder, 200_000, n_features=30, n_values=20)
        yield Bar("fit", Cell("NeuralKDB", f"rows:{folder}", options, repeats=1).measure()["fit"], 45)
        X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    large = _log_loss(X, y, options, many_instances=0.0)
    small = _log_loss(X, y, {**options, "schedule": "instances"})
    print(f"log-loss on 20,000 other rows, trained on 20,000: {large:.4f}, in batches of 32 {small:.4f}")
    yield Bar("log-loss above that of batches of 32, 20,000 rows", large - small, 0.01, "")


def _log_loss(X: np.ndarray, y: np.ndarray, options: dict[str, object], many_instances: float | None = None) -> float:
    """On 20,000 rows, trained on 20,000 others; perhaps with another number of instances as "many"."""
    from neuralkdb.parameters import neural

    before = neural.MANY_INSTANCES
    neural.MANY_INSTANCES = before if many_instances is None else many_instances
    model = neuralkdb.NeuralKDBClassifier(**options).fit(X[:20_000], y[:20_000])
    neural.MANY_INSTANCES = before
    return float(-model.predict_log_proba(X[20_000:40_000])[np.arange(20_000), y[20_000:40_000]].mean())


def threads() -> Iterator[Bar]:
    """optdigits, 3,934 x 64."""
    one, two = (Cell("NeuralKDB", "set:optdigits", PAPER, threads=n, repeats=3).measure() for n in (1, 2))
    yield Bar("fit, 2 threads over 1", one["fit_wall"] / two["fit_wall"], 1.5, "times", at_least=True)
    yield Bar("CPU seconds of 2 threads over those of 1", two["fit"] / one["fit"], float("inf"), "times")


def schedules() -> Iterator[Bar]:
    """Both schedules of NeuralKDB on data sets with many and few instances per cell, seeds 0 and 1."""
    rows = []
    for entry in chosen_entries(SCHEDULE_SETS):
        dataset = load(entry, UCI)
        accuracies = {}
        line = [entry.name]
        for schedule in ("instances", "cells", "auto"):
            method = parse_method(f"NeuralKDB(schedule={schedule})")
            scores, seconds = zip(*(evaluate(dataset, method, split) for split in (0, 1)), strict=True)
            accuracies[schedule] = 100 * float(np.mean([score.accuracy for score in scores]))
            loss, fit = np.mean([score.log_loss for score in scores]), np.mean([second.fit for second in seconds])
            line.append(f"{accuracies[schedule]:.2f} / {loss:.3f} / {fit:.2f} s")
        rows.append(line)
        print(" ".join(line), flush=True)
        yield Bar(f"auto below instances, {entry.name}", accuracies["instances"] - accuracies["auto"], 0.5, "points")
    caption = "Accuracy / log-loss / seconds of fit, mean of two splits.\n\n"
    write_section("schedules", caption + markdown(["data set", "instances", "cells", "auto"], rows))


PARTS = {part.__name__: part for part in (schedules, letter, sets, million, wide, threads)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--docs", action="store_true", help="rewrite the section of docs/measurements.md")
    given = parser.parse_args()
    bars = report(PARTS, given.parts, needs_shared={"letter", "sets", "threads", "schedules"})
    if given.docs:
        write_bars("neural-speed", [bar for bar in bars if bar.unit != "points"])


if __name__ == "__main__":
    main()
