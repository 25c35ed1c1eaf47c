"""Time and memory against the bars of the project, and beside scikit-learn's CategoricalNB and XGBoost.

    python benchmarks/speed.py
    python benchmarks/speed.py million letter

Every cell (a model on a data set) runs in a process of its own with one thread. Times are CPU seconds after imports and
loading, the best of a few runs; "growth" is how much the peak memory of a process that holds the data rises.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from own_process import answer, best, peak_megabytes, timed
from rows import write_rows
from sections import machine, markdown, write_section

SHARED = Path(os.environ.get("NEURALKDB_SHARED", Path(__file__).parents[2] / "shared")) / "data"
N_ROWS = 1_000_000
QUANTILES = {"discretization": "quantile", "n_bins": 5}
PEERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "CategoricalNB": ("sklearn.naive_bayes", "CategoricalNB", {}),
    "RandomForest": ("sklearn.ensemble", "RandomForestClassifier", {"n_estimators": 100, "n_jobs": 1}),
    "XGBoost": ("xgboost", "XGBClassifier", {"n_estimators": 100, "tree_method": "hist", "n_jobs": 1}),
}


@dataclass(frozen=True)
class Cell:
    """A model on a data set, and how it is timed."""

    model: str
    data: str
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 3
    threads: int = 1

    def measure(self) -> dict[str, float]:
        """CPU seconds, wall seconds and megabytes, from a process of its own."""
        return answer([__file__, "--cell", json.dumps(asdict(self))])  # type: ignore[no-any-return]


class Bar(NamedTuple):
    """A figure and what it should be; the bound is infinite where it is only told."""

    name: str
    figure: float
    bound: float
    unit: str = "s"
    at_least: bool = False

    @property
    def aim(self) -> str:
        """The bound in words."""
        return f"{'at least' if self.at_least else 'at most'} {self.bound:g}" if isfinite(self.bound) else ""

    def __str__(self) -> str:
        met = self.figure >= self.bound if self.at_least else self.figure <= self.bound
        sign = ">=" if self.at_least else "<="
        return f"{'met    ' if met else 'NOT MET'}  {self.name:<58}{self.figure:9.3f} {sign} {self.bound:g} {self.unit}"


def run(cell: Cell) -> dict[str, float]:
    """Fit and predict in this process."""
    model, (X, y, X_test) = build(cell), DATA[cell.data.partition(":")[0]](cell.data)
    loaded = peak_megabytes()
    fits = [timed(lambda: model.fit(X, y)) for _ in range(cell.repeats)]
    fitted = peak_megabytes()
    predictions = [timed(lambda: model.predict_proba(X_test)) for _ in range(cell.repeats)]
    trainings = (
        [timed(lambda: trained_again(model)) for _ in range(5)] if hasattr(model, "loss_curve_") else [(0.0, 0.0)]
    )
    (fit, fit_wall), (predict, predict_wall), (training, _) = map(best, (fits, predictions, trainings))
    return {
        "fit": fit,
        "predict": predict,
        "training": training,
        "fit_wall": fit_wall,
        "predict_wall": predict_wall,
        "rows_per_second": len(X_test) / predict,
        "fit_growth": fitted - loaded,
        "growth": peak_megabytes() - loaded,
        "peak": peak_megabytes(),
    }


def trained_again(model: Any) -> object:
    """What `fit` does after counting: embeddings from the tables of all families."""
    from neuralkdb.classifiers.embedded import tables_of

    (member,) = model.members_
    return model._estimator().trained(tables_of(member.structure, member.statistics))


def build(cell: Cell) -> Any:
    """The model, unfitted."""
    if cell.model in PEERS:
        module, name, options = PEERS[cell.model]
        return getattr(__import__(module, fromlist=[name]), name)(**options)
    import neuralkdb

    threads = {"n_jobs": cell.threads} if cell.threads > 1 else {}
    return getattr(neuralkdb, f"{cell.model}Classifier")(**cell.options, **threads)


def load_rows(data: str) -> tuple[Any, Any, Any]:
    """All rows, to learn from and to predict."""
    import numpy as np

    folder = data.partition(":")[2]
    X = np.load(f"{folder}/X.npy")
    return X, np.load(f"{folder}/y.npy"), X


def load_set(data: str) -> tuple[Any, Any, Any]:
    """70% of one of the 60 data sets, and the rest; on codes for those who need them."""
    from neuralkdb.paper.datasets import load
    from neuralkdb.paper.protocol import split_rows
    from neuralkdb.paper.registry import chosen_entries

    dataset = load(chosen_entries([data.partition(":")[2]])[0], SHARED / "uci60")
    train, test = split_rows(dataset.n_rows, 0)
    return dataset.rows(train), dataset.classes[train], dataset.rows(test)


DATA: dict[str, Callable[[str], tuple[Any, Any, Any]]] = {"rows": load_rows, "set": load_set}


def million() -> Iterator[Bar]:
    """1,000,000 x 20 integers with 5 values and 2 classes."""
    with tempfile.TemporaryDirectory() as folder:
        write_rows(folder, N_ROWS)
        models = ["CategoricalNB", "XGBoost", "NaiveBayes", "TAN", "KDB", "AODE"]
        cells = {model: Cell(model, f"rows:{folder}").measure() for model in models}
        for model, cell in cells.items():
            print(f"{model:<14} fit {cell['fit']:7.3f} s, predict {cell['predict']:7.3f} s, ", end="")
            print(f"{cell['rows_per_second'] / 1e6:6.2f} M rows/s, growth {cell['growth']:6.1f} MB")
        yield Bar(
            "NaiveBayes fit / CategoricalNB fit", cells["NaiveBayes"]["fit"] / cells["CategoricalNB"]["fit"], 1, ""
        )
        for model in ["TAN", "KDB"]:
            yield Bar(f"{model} fit", cells[model]["fit"], 2.5)
            yield Bar(f"{model} fit / XGBoost fit", cells[model]["fit"] / cells["XGBoost"]["fit"], 0.35, "")
        yield Bar("KDB predict_proba", cells["KDB"]["rows_per_second"] / 1e6, 1.5, "million rows/s", at_least=True)
        for model in ["NaiveBayes", "TAN", "KDB"]:
            yield Bar(f"{model} growth, fit", cells[model]["fit_growth"], 150, "MB")
            yield Bar(f"{model} growth, fit and predict_proba", cells[model]["growth"], 150, "MB")
        two = Cell("KDB", f"rows:{folder}", threads=2).measure()
        for step in ["fit_wall", "predict_wall"]:
            name = f"KDB {step.removesuffix('_wall')}, 2 threads over 1"
            yield Bar(name, cells["KDB"][step] / two[step], 1.6, "times", at_least=True)


def letter() -> Iterator[Bar]:
    """14,000 x 16, 26 classes."""
    for model, bound in {"KDB": 0.06, "AODE": 0.06}.items():
        yield Bar(f"{model} fit, letter", Cell(model, "set:letter", repeats=10).measure()["fit"], bound)


def pairs() -> Iterator[Bar]:
    """A2DE: one table for every three features."""
    optdigits = Cell("AnDE", "set:optdigits", QUANTILES).measure()
    yield Bar("A2DE fit, optdigits, 5 quantiles", optdigits["fit"], 2)
    yield Bar("A2DE peak, optdigits, 5 quantiles", optdigits["peak"], 700, "MB")
    yield Bar(
        "A2DE predict_proba, letter, 5 quantiles", Cell("AnDE", "set:letter", QUANTILES).measure()["predict"], 1.5
    )


def spectrometer() -> Iterator[Bar]:
    """101 features in 10 equal widths, 48 classes."""
    for model in ["AnDE", "KDF"]:
        cell = Cell(model, "set:spectrometer", {"discretization": "width", "n_bins": 10}, repeats=1).measure()
        yield Bar(f"{model} peak, spectrometer, fit {cell['fit']:.2f} s", cell["peak"], 1536, "MB")


def sptan() -> Iterator[Bar]:
    """SPTAN on the 60 data sets, one split."""
    names = sorted(path.stem for path in (SHARED / "uci60").glob("*.parquet"))
    seconds = {name: Cell("SPTAN", f"set:{name}", repeats=1).measure()["fit"] for name in names}
    slowest = max(seconds, key=seconds.__getitem__)
    yield Bar(f"SPTAN fit, all sets ({slowest} {seconds[slowest]:.1f} s)", sum(seconds.values()), 120)


def imports() -> Iterator[Bar]:
    """CPU seconds of `import neuralkdb` above those of `import sklearn`."""

    def seconds(module: str) -> float:
        statement = f"import {module}, time; print(time.process_time())"
        return min(float(subprocess.check_output([sys.executable, "-c", statement])) for _ in range(5))

    yield Bar("import neuralkdb above import sklearn", seconds("neuralkdb") - seconds("sklearn"), 0.3)


PARTS = {part.__name__: part for part in (million, letter, pairs, spectrometer, sptan, imports)}
NEED_SHARED = {"letter", "pairs", "spectrometer", "sptan"}


def report(parts: dict[str, Callable[[], Iterator[Bar]]], names: list[str], needs_shared: set[str]) -> list[Bar]:
    """Print the bars of the parts, those that lack their data excepted."""
    bars = []
    for name in names:
        print(f"\n{name}: {parts[name].__doc__}")
        if name in needs_shared and not SHARED.exists():
            print(f"skipped: no data at {SHARED}")
            continue
        for bar in parts[name]():
            print(bar, flush=True)
            bars.append(bar)
    return bars


def write_bars(section: str, bars: list[Bar]) -> None:
    """The bars as a table of docs/measurements.md."""
    rows = [[bar.name, f"{bar.figure:.3g} {bar.unit}", bar.aim] for bar in bars]
    write_section(section, f"{machine()}.\n\n" + markdown(["", "measured", "aim"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--docs", action="store_true", help="rewrite the section of docs/measurements.md")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cell:
        print(json.dumps(run(Cell(**json.loads(given.cell)))))
        return
    bars = report(PARTS, given.parts, NEED_SHARED)
    if given.docs:
        write_bars("speed", bars)


if __name__ == "__main__":
    main()
