"""Small coded tables for hypothesis: every code and class that is counted on occurs."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from twins import Data, Parameters, data

WEIGHTS = {
    "none": (1, 1, 1.0),
    "integer": (1, 3, 1.0),
    # Quarters add up exactly in any order, so ties stay ties and thresholds stay sharp.
    "fractional": (1, 12, 0.25),
}
"""The least and most units of a row's weight, and the unit."""


def compressed(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same column with codes 0, 1, 2, ... without gaps."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def column(
    rng: np.random.Generator, y: NDArray[np.int64], before: list[NDArray[np.int64]], size: int
) -> NDArray[np.int64]:
    """Noise, or mostly a function of the class, of an earlier column, or of both together."""
    earlier = before[rng.integers(len(before))] if before else np.zeros_like(y)
    source = [rng.integers(size, size=len(y)), y, earlier, earlier + y][rng.integers(4)]
    noise = rng.random(len(y)) < rng.choice([0.0, 0.1, 0.3])
    return np.where(noise, rng.integers(size, size=len(y)), source % size)


@st.composite
def coded_tables(
    draw: st.DrawFn,
    *,
    rows: tuple[int, int] = (12, 40),
    features: tuple[int, int] = (2, 5),
    most_codes: int = 3,
    most_classes: int = 3,
    weights: tuple[str, ...] = ("none", "integer", "fractional"),
) -> Data:
    """A table whose columns follow the class, each other, both together, or nothing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(*rows)), draw(st.integers(*features))
    n_classes = draw(st.sampled_from([2, *range(3, most_classes + 1), 1]))
    y = rng.integers(n_classes, size=n_rows)
    columns: list[NDArray[np.int64]] = []
    for _ in range(n_features):
        columns.append(column(rng, y, columns, draw(st.integers(2, most_codes))))
    low, high, unit = WEIGHTS[draw(st.sampled_from(weights))]
    codes = np.column_stack([compressed(of_feature) for of_feature in columns])
    drawn = rng.integers(low, high, size=n_rows, endpoint=True) * unit
    return data(codes, compressed(y), weights=drawn)


def parameters(
    estimates: tuple[str, ...] = ("m", "laplace", "backoff"), least: float = 0.25
) -> st.SearchStrategy[Parameters]:
    return st.builds(Parameters, st.sampled_from(estimates), st.sampled_from([least, 1.0, 2.5]))


def every_cell(table: Data) -> NDArray[np.int64]:
    """Every combination of codes."""
    return np.array(list(product(*map(range, table.cardinalities))), np.int64)
