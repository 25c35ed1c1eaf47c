"""Our ensemble and its rivals on the same splits: a line of scores for every (data set, model, seed).

    python benchmarks/rivals.py --models forest xgboost --seeds 0 1
    python benchmarks/rivals.py --models flagship --sets iris letter
    python benchmarks/rivals.py --large

Everyone gets the raw table, split 70/30 as in the paper, and the classes that its training rows show, numbered from
zero. A test row whose class training did not show is wrong for everyone and has the least probability a log-loss
knows, 1e-15. One process and one thread for each line; lines that are there are not computed again. A fit that takes
more than 60 CPU seconds is cut off, for CatBoost only, and its line says so.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pandas as pd

from neuralkdb.evaluation import calibration
from neuralkdb.paper.datasets import Dataset, load
from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.protocol import score, split_rows, spread
from neuralkdb.paper.registry import paper_entries

SHARED = Path(os.environ.get("NEURALKDB_SHARED", Path(__file__).parents[2] / "shared")) / "data"
RESULTS = Path(__file__).parent.parent / "results" / "rivals.csv"
LARGE = ("nursery", "electricity", "bank-marketing", "adult", "shuttle")
LONGEST_FIT = {"catboost": 60}  # CPU seconds
FLAGSHIP = "neuralkdb:NeuralKDBEnsembleClassifier"


@dataclass(frozen=True)
class Line:
    """How a model did on one split of one data set; NaN where it has no result, and why."""

    dataset: str
    model: str
    seed: int
    accuracy: float = np.nan
    log_loss: float = np.nan
    calibration_error: float = np.nan
    fit: float = np.nan  # CPU seconds
    predict: float = np.nan  # CPU seconds
    note: str = ""


def forest(seed: int, categories: list[str], numbers: list[str]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    table = make_column_transformer((codes, categories), remainder="passthrough")
    return make_pipeline(table, RandomForestClassifier(100, random_state=seed, n_jobs=1))


def logistic(seed: int, categories: list[str], numbers: list[str]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    table = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), categories), (scaled, numbers))
    return make_pipeline(table, LogisticRegression(max_iter=1000))


def xgboost(seed: int, categories: list[str], numbers: list[str]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=100, tree_method="hist", enable_categorical=True, random_state=seed, n_jobs=1, verbosity=0
    )


def lightgbm(seed: int, categories: list[str], numbers: list[str]) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, random_state=seed, n_jobs=1, verbose=-1)


def catboost(seed: int, categories: list[str], numbers: list[str]) -> Any:
    from catboost import CatBoostClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = CatBoostClassifier(
        iterations=300,
        random_seed=seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=categories,
    )
    return make_pipeline(FunctionTransformer(as_text, kw_args={"categories": categories}), model)


def as_text(table: pd.DataFrame, categories: list[str]) -> pd.DataFrame:
    """The table as CatBoost wants it: categories are text, and missing is one of them."""
    return table.assign(**{name: table[name].astype(object).fillna("missing").astype(str) for name in categories})


RIVALS: dict[str, Callable[[int, list[str], list[str]], Any]] = {
    each.__name__: each for each in (forest, xgboost, lightgbm, logistic, catboost)
}
FOUR = ("forest", "xgboost", "lightgbm", "logistic")


def table_of(dataset: Dataset) -> pd.DataFrame:
    """The raw columns, named x0, x1, ...: some rivals cannot have every name."""
    table = pd.DataFrame(dataset.features)
    return table.set_axis([f"x{j}" for j in range(table.shape[1])], axis=1)


def made(model: str, seed: int, table: pd.DataFrame) -> Any:
    """The unfitted estimator."""
    if model not in RIVALS:
        spelled = model.replace("flagship", FLAGSHIP)
        return parse_method(spelled).estimator(seed)
    categories = [name for name in table if isinstance(table[name].dtype, pd.CategoricalDtype)]
    numbers = [name for name in table if name not in categories and table[name].notna().any()]
    return RIVALS[model](seed, categories, numbers)


def line_of(dataset: Dataset, model: str, seed: int) -> Line:
    """Fit and predict in this process."""
    train, test = split_rows(dataset.n_rows, seed)
    known, labels = np.unique(dataset.classes[train], return_inverse=True)
    table = table_of(dataset)
    estimator, train_rows, test_rows = made(model, seed, table), table.iloc[train], table.iloc[test]
    limit_work(LONGEST_FIT.get(model))
    began = time.process_time()
    estimator.fit(train_rows, labels)
    fitted = time.process_time()
    limit_work(None)
    probabilities = np.asarray(estimator.predict_proba(test_rows), float)
    ended = time.process_time()
    wide = spread(probabilities / probabilities.sum(axis=1, keepdims=True), known, dataset)
    accuracy, loss = score(wide, dataset.classes[test])
    error = calibration(dataset.classes[test], wide, np.arange(dataset.n_classes)).error
    return Line(dataset.name, model, seed, accuracy, loss, error, round(fitted - began, 4), round(ended - fitted, 4))


def limit_work(seconds: float | None) -> None:
    """Let this process end after so many more CPU seconds."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = resource.RLIM_INFINITY if seconds is None else int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def guarded(dataset: Dataset, model: str, seed: int) -> Line:
    """The line; computed in a process of its own where the fit may be cut off."""
    try:
        if model not in LONGEST_FIT:
            return line_of(dataset, model, seed)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            return process.submit(line_of, dataset, model, seed).result()
    except BrokenProcessPool:
        return Line(dataset.name, model, seed, note=f"fit takes more than {LONGEST_FIT[model]} CPU seconds")
    except Exception as error:
        return Line(dataset.name, model, seed, note=f"{type(error).__name__}: {error}".replace("\n", " ")[:200])


def uci(names: list[str]) -> Iterator[Dataset]:
    """The paper's data sets, the smallest first."""
    entries = [entry for entry in paper_entries() if not names or entry.name in names]
    for entry in sorted(entries, key=lambda entry: entry.rows * entry.features * entry.classes):
        yield load(entry, SHARED / "uci60")


def large(names: list[str]) -> Iterator[Dataset]:
    """The larger tables."""
    about = pd.read_csv(SHARED / "large.csv").set_index("name")
    for name in names or LARGE:
        table = pd.read_parquet(SHARED / "large" / f"{name}.parquet")
        identifiers = str(about["identifier_columns"].fillna("")[name]).split(";")
        _, classes = np.unique(table.pop(about["target"][name]).astype(str), return_inverse=True)
        yield Dataset(name, table.drop(columns=[each for each in identifiers if each]), classes, "large")


def read_lines(path: Path = RESULTS) -> list[Line]:
    """The lines computed so far."""
    kinds = {field.name: {"str": str, "int": int, "float": float}[str(field.type)] for field in fields(Line)}
    if not path.exists():
        return []
    with path.open(newline="") as text:
        return [Line(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(text)]


def append(line: Line, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    fresh = not path.exists()
    with path.open("a", newline="") as text:
        writer = csv.DictWriter(text, [field.name for field in fields(Line)])
        if fresh:
            writer.writeheader()
        writer.writerow(asdict(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[*FOUR, "catboost", "flagship"])
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--large", action="store_true", help="the larger tables in place of the paper's 60")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    lines = read_lines(given.results)
    done = {(line.dataset, line.model, line.seed) for line in lines}
    cut_off = {(line.dataset, line.model) for line in lines if "CPU seconds" in line.note}
    datasets = list((large if given.large else uci)(given.sets))
    for model in given.models:
        for seed in given.seeds:
            for dataset in datasets:
                if (dataset.name, model, seed) in done or (dataset.name, model) in cut_off:
                    continue
                line = guarded(dataset, model, seed)
                if line.note:
                    cut_off.add((dataset.name, model))
                append(line, given.results)
                print(*asdict(line).values(), flush=True)


if __name__ == "__main__":
    main()
