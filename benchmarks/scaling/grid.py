"""What is measured: one thing grows at a time, the others stay at their base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("results.csv")


@dataclass(frozen=True)
class Axis:
    """What grows, from its base, and over which sizes."""

    name: str
    base: int
    sizes: tuple[int, ...]


AXES = {
    axis.name: axis
    for axis in (
        Axis("rows", 20_000, (10_000, 100_000, 1_000_000, 10_000_000)),
        Axis("features", 20, (10, 50, 200, 500)),
        Axis("values", 5, (2, 10, 50, 200)),
        Axis("classes", 2, (2, 10, 100)),
        Axis("k", 2, (0, 1, 2, 4, 8)),
        Axis("threads", 1, (1, 2)),
    )
}


@dataclass(frozen=True)
class Model:
    """A classifier, and how its cost grows where one term of its complexity dominates: fit and predict by axis.

    Exponents of (rows, features, values, classes), of the largest term in each. With n rows, m features, c values and
    |Y| classes, pairs cost n m^2 + m^2 c^2 |Y|; scoring costs n m |Y|; a set of s parents makes both m^s as much. "k"
    is 1 where time is linear in k, and None where tables grow as c^k until no cell is new.
    """

    classifier: str
    fit: tuple[float, float, float, float]
    predict: tuple[float, float, float, float]
    options: tuple[tuple[str, Any], ...] = (("discretization", "codes"),)

    def build(self, **options: Any) -> Any:
        """The classifier on ready codes."""
        import neuralkdb

        return getattr(neuralkdb, f"{self.classifier}Classifier")(**dict(self.options), **options)


PAIRS = (1.0, 2.0, 2.0, 1.0)
SCORES = (1.0, 1.0, 0.0, 1.0)
MODELS = {
    "NaiveBayes": Model("NaiveBayes", (1, 1, 1, 1), SCORES),
    "TAN": Model("TAN", PAIRS, SCORES),
    "SPTAN": Model("SPTAN", (1, 3, 2, 1), SCORES),
    "KDB": Model("KDB", PAIRS, SCORES),
    "SKDB": Model("SKDB", PAIRS, SCORES),
    "MNKDB": Model("MNKDB", PAIRS, SCORES),
    "KDF": Model("KDF", PAIRS, (1, 2, 0, 1)),
    "ESKDB": Model("ESKDB", PAIRS, SCORES, (("random_state", 0),)),  # draws its own cut points
    "AODE": Model("AODE", PAIRS, (1, 2, 0, 1)),
    "A2DE": Model("AnDE", (1, 3, 3, 1), (1, 3, 0, 1), (("discretization", "codes"), ("n", 2))),
    "NeuralKDB": Model("NeuralKDB", PAIRS, SCORES, (("discretization", "codes"), ("random_state", 0))),
}
WITH_K = ("KDB", "SKDB", "MNKDB", "KDF", "NeuralKDB")
CHEAP = ("NaiveBayes", "TAN", "KDB", "AODE", "NeuralKDB")


class Cell(NamedTuple):
    """A classifier where one thing has grown."""

    axis: str
    size: int
    model: str


def cells() -> Iterator[Cell]:
    """All there are, small ones first."""
    for axis in AXES.values():
        for size in axis.sizes:
            names = WITH_K if axis.name == "k" else CHEAP if size >= 10_000_000 or axis.name == "threads" else MODELS
            yield from (Cell(axis.name, size, name) for name in names)
