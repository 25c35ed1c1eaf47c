"""Accuracy and log-loss over the 60 data sets of the paper: 70/30 splits, encodings learned on the training rows.

python benchmarks/accuracy.py --protocol paper
python benchmarks/accuracy.py --classifiers KDB TAN --set discretization=mdl --seeds 0 1
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

import neuralkdb

SHARED = Path(os.environ.get("NEURALKDB_SHARED", Path(__file__).parents[2] / "shared")) / "data"
PROTOCOLS = {
    "paper": {"discretization": "width", "n_bins": 10, "missing": "impute", "estimate": "m", "smoothing": 1.0},
    "default": {},
}
CLASSIFIERS = ["NaiveBayes", "TAN", "KDB", "KDF", "AODE", "WAODE", "AnDE", "SKDB", "MNKDB", "SPTAN", "ESKDB"]


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """A data set without its identifier columns."""
    facts = pd.read_csv(SHARED / "uci60.csv").set_index("name").loc[name]
    identifiers = facts.identifier_columns.split(";") if isinstance(facts.identifier_columns, str) else []
    frame = pd.read_parquet(SHARED / "uci60" / f"{name}.parquet").drop(columns=identifiers)
    return frame.drop(columns=facts.target), frame[facts.target]


def score(name: str, kind: str, seed: int, options: dict[str, object]) -> dict[str, object]:
    """One row of results."""
    X, y = table(name)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    classifier = getattr(neuralkdb, f"{kind}Classifier")()
    accepted = classifier.get_params()
    options = {**options, "random_state": seed}
    classifier.set_params(**{key: value for key, value in options.items() if key in accepted and kind != "ESKDB"})
    if kind == "ESKDB":
        classifier.set_params(random_state=seed)
    start = time.process_time()
    classifier.fit(X_train, y_train)
    fitted = time.process_time()
    probabilities = classifier.predict_proba(X_test)
    predicted = time.process_time()
    known = np.isin(y_test, classifier.classes_)
    own = np.full(len(y_test), 1e-15)
    positions = np.searchsorted(classifier.classes_, y_test[known])
    own[known] = np.maximum(probabilities[known, positions], 1e-15)
    return {
        "dataset": name,
        "classifier": kind,
        "seed": seed,
        "accuracy": float(np.mean(classifier.classes_[probabilities.argmax(axis=1)] == y_test)),
        "log_loss": float(-np.log(own).mean()),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--protocol", choices=PROTOCOLS, default="paper")
    parser.add_argument("--classifiers", nargs="+", default=CLASSIFIERS)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--set", nargs="*", default=[], metavar="name=value", dest="options")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", help="a CSV file for all rows")
    given = parser.parse_args()
    options = dict(PROTOCOLS[given.protocol])
    for option in given.options:
        key, value = option.split("=", 1)
        try:
            options[key] = ast.literal_eval(value)
        except ValueError:
            options[key] = value
    names = given.datasets or sorted(path.stem for path in (SHARED / "uci60").glob("*.parquet"))
    jobs = [(name, kind, seed) for kind in given.classifiers for name in names for seed in given.seeds]
    rows = Parallel(n_jobs=given.jobs)(delayed(score)(name, kind, seed, options) for name, kind, seed in jobs)
    if given.out:
        with open(given.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    results = pd.DataFrame(rows)
    means = results.groupby("classifier", sort=False)[["accuracy", "log_loss"]].mean()
    seconds = results.groupby(["classifier", "seed"], sort=False)[["fit_seconds", "predict_seconds"]].sum()
    summary = means.join(seconds.groupby("classifier").mean())
    summary["accuracy"] *= 100
    print(f"{len(names)} data sets, seeds {given.seeds}, {options}")
    print(summary.round({"accuracy": 2, "log_loss": 3, "fit_seconds": 1, "predict_seconds": 1}).to_string())


if __name__ == "__main__":
    main()
