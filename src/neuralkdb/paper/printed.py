"""What the paper printed, as tables of numbers."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from neuralkdb.paper.comparison import Comparison

METHODS = ("NeuralKDB", "NeuralNB", "NN", "KDF", "KDB", "TAN", "NB", "RF")


def published_comparison() -> Comparison:
    """The paper's Table 1; all that stands below its rule follows from it."""
    rows = list(_rows("table1.csv"))
    return Comparison(
        tuple(row["dataset"] for row in rows),
        METHODS,
        np.array([[float(row[method]) for method in METHODS] for row in rows]),
        np.array([[float(row[f"{method}_std"]) for method in METHODS] for row in rows]),
        np.array([[row.get(f"{method}_verdict", "tie") for method in METHODS] for row in rows]),
    )


@dataclass(frozen=True)
class DependenceRow:
    """A row of the paper's Table 2: NeuralKDB against KDB for one k."""

    accuracies: tuple[float, float]
    ranks: tuple[float, float]
    wins_ties_losses: tuple[int, int, int]
    p: float


def published_dependences() -> dict[int, DependenceRow]:
    """The paper's Table 2, by k."""
    return {int(row["k"]): _dependence_row(row) for row in _rows("table2.csv")}


def _dependence_row(row: dict[str, str]) -> DependenceRow:
    return DependenceRow(
        (float(row["NeuralKDB_accuracy"]), float(row["KDB_accuracy"])),
        (float(row["NeuralKDB_rank"]), float(row["KDB_rank"])),
        (int(row["wins"]), int(row["ties"]), int(row["losses"])),
        float(row["wilcoxon_p"]),
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("neuralkdb.paper") / "published" / name).open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)
