"""Which cut points should be the default: mean accuracy and log-loss over the paper's 60 data sets.

    python benchmarks/discretization.py [--data DIR] [--splits 2] [--jobs 1]

Rewrites its section of docs/measurements.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sections import markdown, write_section

from neuralkdb.paper.datasets import load
from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.protocol import evaluate
from neuralkdb.paper.registry import Entry, paper_entries

DATA = Path(__file__).parents[2] / "shared" / "data" / "uci60"
CLASSIFIERS = ["NB", "TAN", "KDB", "AODE"]
WAYS = {
    "10 equal widths": "discretization=width",
    "5 quantiles": "discretization=quantile, n_bins=5",
    "10 quantiles": "discretization=quantile",
    "minimum description length": "discretization=mdl",
}


def scores(entry: Entry, data: Path, splits: int) -> np.ndarray:
    """Accuracy and log-loss of every way, classifier and split, (ways, classifiers, splits, 2)."""
    dataset = load(entry, data)
    methods = [[parse_method(f"{name}({way}, missing=value)") for name in CLASSIFIERS] for way in WAYS.values()]
    evaluated = [[[evaluate(dataset, m, split)[0] for split in range(splits)] for m in row] for row in methods]
    return np.array([[[(s.accuracy, s.log_loss) for s in of_split] for of_split in row] for row in evaluated])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    entries = paper_entries()
    found = Parallel(given.jobs, verbose=5)(delayed(scores)(entry, given.data, given.splits) for entry in entries)
    means = np.mean(found, axis=(0, 3))
    rows = [[way, *(f"{100 * a:.2f} / {loss:.3f}" for a, loss in row)] for way, row in zip(WAYS, means, strict=True)]
    caption = f"Mean accuracy / mean log-loss, {len(entries)} data sets, {given.splits} splits.\n\n"
    write_section("discretization", caption + markdown(["cut points", *CLASSIFIERS], rows))
    print(caption + markdown(["cut points", *CLASSIFIERS], rows))


if __name__ == "__main__":
    main()
