"""Where the time of the slowest cells goes, beside what the machine can do: a section of docs/limits.md."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.cells import results
from benchmarks.own_process import answer
from benchmarks.scaling.grid import AXES, MODELS, WITH_K
from benchmarks.sections import markdown

ROOT = Path(__file__).parents[2]
N_SLOWEST = 10
COPIED, LOOKED_UP, MULTIPLIED = 2**25, 2**22, 1024  # numbers in a copy, lookups, and the side of a product


class Sizes(NamedTuple):
    """What a cell is about."""

    rows: int
    features: int
    values: int
    classes: int

    @property
    def pairs(self) -> int:
        """Pairs of features."""
        return comb(self.features, 2)


class Steps(NamedTuple):
    """What work consists of, and how much of it there is."""

    step: str
    count: Callable[[Sizes], float]


ADDITIONS = Steps("additions into tables", lambda of: of.rows * of.pairs)
LOOKUPS = Steps("lookups of a probability", lambda of: of.rows * of.features * of.classes)
PAIR_LOOKUPS = Steps("lookups of a probability", lambda of: of.rows * 2 * of.pairs * of.classes)
WORK = {
    ("AODE", "predict"): PAIR_LOOKUPS,
    ("KDF", "predict"): PAIR_LOOKUPS,
    ("A2DE", "fit"): Steps("additions into tables", lambda of: of.rows * comb(of.features, 3)),
    ("A2DE", "predict"): Steps("lookups of a probability", lambda of: of.rows * 3 * comb(of.features, 3) * of.classes),
}
MEASURED = {
    "train_embeddings": "multiplications and additions",
    "leave_one_out_logs": "probabilities without a row",
}


def slowest(found: pd.DataFrame) -> pd.DataFrame:
    """The longest fits and predictions that were measured: axis, size, model, what, seconds."""
    done = found[(found.status == "measured") & (found.axis != "threads")]
    long = done.melt(["axis", "size", "model"], ["fit", "predict"], "what", "seconds")
    return long.nlargest(N_SLOWEST, "seconds")


def profile(file: Path) -> str:
    """The section."""
    lines = []
    for row in slowest(results(file)).itertuples():
        arguments = ["-m", "benchmarks.scaling.profile", row.axis, str(row.size), row.model, row.what]
        found = answer(arguments, cwd=ROOT)
        each = found["seconds"] / found["count"] * 1e9
        kernels = f"{found['kernels'] / found['seconds']:.0%}"
        name = [row.model, f"{row.axis} = {row.size:,}", row.what, f"{found['seconds']:.1f} s"]
        lines.append(
            [*name, kernels, f"{found['count'] / 1e9:.3g}", found["step"], f"{each:.{1 if each < 10 else 0}f} ns"]
        )
    header = ["classifier", "at", "what", "time", "in kernels", "steps, 10⁹", "of", "a step takes"]
    return f"{markdown(header, lines)}\n\n{machine_speeds()}"


def machine_speeds() -> str:
    """What one thread can do at most."""
    numbers, table = np.ones(COPIED), np.ones(2**12)
    places = np.random.default_rng(0).integers(0, len(table), LOOKED_UP)
    matrix = np.ones((MULTIPLIED, MULTIPLIED), np.float32)
    copy = 2 * numbers.nbytes / best_of(lambda: np.copyto(np.empty_like(numbers), numbers)) / 1e9
    lookup = best_of(lambda: table.take(places)) / LOOKED_UP * 1e9
    product = 2 * MULTIPLIED**3 / best_of(lambda: matrix @ matrix) / 1e9
    return (
        f"For comparison, one thread of this machine moves {copy:.0f} GB a second, reads a random number of a table of "
        f"32 kB in {lookup:.2g} ns (`numpy.take`), and multiplies or adds {product:.0f} · 10⁹ numbers of single "
        "precision a second (a product of matrices)."
    )


def best_of(work: Callable[[], Any]) -> float:
    """CPU seconds, the least of five times."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measure(axis: str, size: int, name: str, what: str) -> dict[str, Any]:
    """One fit or prediction: CPU seconds, those in kernels, and steps."""
    from benchmarks.scaling.cell import table

    sizes = {**{each.name: each.base for each in AXES.values()}, axis: size}
    of = Sizes(*(sizes[each] for each in Sizes._fields))
    X, y = table(*of)
    model = MODELS[name].build(**({"k": sizes["k"]} if name in WITH_K else {}))
    if what == "predict":
        model.fit(X, y)
    seconds, counts = watched()
    start = time.process_time()
    model.fit(X, y) if what == "fit" else model.predict_proba(X)
    whole = time.process_time() - start
    step, count = counted_steps(name, what, of, counts)
    return {"seconds": whole, "kernels": sum(seconds.values()), "step": step, "count": count}


def counted_steps(name: str, what: str, of: Sizes, counts: Counter[str]) -> tuple[str, float]:
    """Steps as they were seen where they depend on the data, by formula where they do not."""
    for function, count in counts.items():
        return MEASURED[function], count
    steps = WORK.get((name, what), ADDITIONS if what == "fit" else LOOKUPS)
    return steps.step, steps.count(of)


def watched() -> tuple[Counter[str], Counter[str]]:
    """CPU seconds in each kernel from now on, and the steps of functions that only they know."""
    from neuralkdb import _kernels
    from neuralkdb.structures import scoring, selective, super_parent_tree

    seconds: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for name in [name for name in dir(_kernels) if not name.startswith("_") and callable(getattr(_kernels, name))]:
        setattr(_kernels, name, timed(getattr(_kernels, name), name, seconds))
    _kernels.train_embeddings = counting_multiplications(_kernels.train_embeddings, counts)
    for module in (selective, super_parent_tree):
        module.leave_one_out_logs = counting_entries(scoring.leave_one_out_logs, counts)
    return seconds, counts


def timed(kernel: Callable[..., Any], name: str, seconds: Counter[str]) -> Callable[..., Any]:
    @wraps(kernel)
    def called(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        result = kernel(*arguments, **options)
        seconds[name] += time.process_time() - start  # type: ignore[assignment]
        return result

    return called


def counting_multiplications(kernel: Callable[..., Any], counts: Counter[str]) -> Callable[..., Any]:
    """Forward and back twice: d (inputs + values) multiplications and as many additions, for each unit drawn."""

    @wraps(kernel)
    def called(values: Any, first: Any, second: Any, n_steps: int, order: Any, *rest: Any, **options: Any) -> Any:
        n_values, inputs = rest[2], rest[4]
        families = rest[3][order]
        sizes = np.asarray(n_values)[families] + (inputs[order] >= 0).sum(axis=1)
        counts["train_embeddings"] += 6 * values.shape[1] * int(sizes.sum())
        return kernel(values, first, second, n_steps, order, *rest, **options)

    return called


def counting_entries(function: Callable[..., Any], counts: Counter[str]) -> Callable[..., Any]:
    @wraps(function)
    def called(*arguments: Any) -> Any:
        nested = function(*arguments)
        counts["leave_one_out_logs"] += sum(each.size for each in nested)
        return nested

    return called


if __name__ == "__main__":
    import json
    import sys

    axis, size, name, what = sys.argv[1:]
    print("\n" + json.dumps(measure(axis, int(size), name, what)))
