"""The weight of each value of a column in each class: all that an encoding learns from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.columns import Column, as_categories, as_objects
from neuralkdb.grid import MOST_VALUES, grid_of

# More cells than this, and more than there are rows, are sorted rather than counted.
FEWEST_CELLS = 4096
LARGEST_INTEGER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """The weight of each (value, class) of a column; summaries of parts add up to the whole's.

    The classes of value i and their weights stand at `starts[i]:starts[i + 1]`, so that a column
    with many values needs no cell for every class.
    """

    values: NDArray[Any]  # (n_values,) ascending numbers, or levels as objects
    starts: NDArray[np.int64]  # (n_values + 1,)
    classes: NDArray[np.uint32]  # (n_cells,)
    weights: NDArray[np.float64]  # (n_cells,)
    missing: NDArray[np.float64]  # (n_classes,)

    @property
    def n_classes(self) -> int:
        """How many classes there are, those that are not here included."""
        return len(self.missing)

    @property
    def value_weights(self) -> NDArray[np.float64]:
        """The weight of each value."""
        sums = np.add.reduceat(self.weights, self.starts[:-1]) if len(self.values) else self.weights
        return np.asarray(sums, dtype=np.float64)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum() + self.missing.sum())

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        share = self.value_weights / self.value_weights.sum()
        return float((self.values * share).sum())

    @property
    def mode(self) -> int:
        """The position of the heaviest value, the first of several."""
        weights = self.value_weights
        # Sums that differ by rounding are equal, whatever the order of the rows.
        return int(np.argmax(weights >= weights.max() * (1 - 1e-12)))

    @property
    def coarse(self) -> ColumnSummary:
        """Numbers moved to the end of their grid cell that is farthest from the grid's centre, if they are many."""
        if len(self.values) <= MOST_VALUES:
            return self
        grid = grid_of(float(self.values[0]), float(self.values[-1]))
        assert grid is not None
        cells = grid.cells(self.values)
        first = np.flatnonzero(np.diff(cells, prepend=-np.inf))
        last = np.append(first[1:], len(cells)) - 1
        positions = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(cells))))
        ends = self.values[np.where(cells[first] < 0, first, last)]
        return gather(ends, np.repeat(positions, np.diff(self.starts)), self.classes, self.weights, self.missing)

    @property
    def without_classes(self) -> ColumnSummary:
        """The same, all rows in one class."""
        positions = np.repeat(np.arange(len(self.values)), np.diff(self.starts))
        missing = self.missing.sum(keepdims=True)
        return gather(self.values, positions, np.zeros_like(self.classes), self.weights, missing)

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        n_cells = np.concatenate([np.diff(self.starts), np.diff(other.starts)])
        values, order = distinct(np.concatenate([self.values, other.values]))
        return gather(
            values,
            np.repeat(order, n_cells),
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.weights, other.weights]),
            self.missing + other.missing,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnSummary) and all(
            np.array_equal(mine, theirs) for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


def gather(
    values: NDArray[Any],
    positions: NDArray[Any],
    classes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    missing: NDArray[np.float64],
) -> ColumnSummary:
    """The summary of (position of a value, class, weight) triples in any order."""
    keys = positions.astype(np.int64) * len(missing) + classes
    cells, order = np.unique(keys, return_inverse=True)
    return ColumnSummary(
        values,
        np.searchsorted(cells, np.arange(len(values) + 1) * len(missing)),
        (cells % len(missing)).astype(np.uint32),
        _sums(order, weights, len(cells)),
        missing,
    )


def _sums(positions: NDArray[Any], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(positions, weights, n), dtype=np.float64)


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct values in their canonical order, and the position of each value among them."""
    if values.dtype.kind != "O":
        return np.unique(values, return_inverse=True)
    levels = in_order(dict.fromkeys(values))
    numbered = {level: position for position, level in enumerate(levels)}
    return as_objects(levels), np.array([numbered[level] for level in values], dtype=np.intp)


def in_order(levels: Any) -> list[Any]:
    """Levels sorted, or by type and text where they cannot be compared."""
    try:
        return sorted(levels)
    except TypeError:
        return sorted(levels, key=lambda level: (type(level).__qualname__, repr(level)))


def summarize(
    columns: Sequence[Column],
    classes: NDArray[np.uint32] | None,
    n_classes: int,
    weights: NDArray[np.float64] | None,
    *,
    categorical: NDArray[np.bool_] | None = None,
    n_threads: int = 1,
) -> Iterator[ColumnSummary]:
    """The summary of each column in turn; those that are `categorical` get levels for values.

    Integers of a small range are counted, several columns in one pass over the rows. Other columns
    are sorted when their turn comes, so that only as many are held as there are threads.
    """
    marked = [column.is_categorical for column in columns] if categorical is None else categorical
    columns = [as_categories(c) if m else c for c, m in zip(columns, marked, strict=True)]
    counted = _count(columns, classes, n_classes, weights, n_threads)

    def summary(j: int) -> ColumnSummary:
        cells = counted.pop(j, None) or ColumnSummary(
            *_kernels.sort_cells(columns[j].values, classes, n_classes, weights)
        )
        return _with_levels(cells, columns[j].levels) if marked[j] else cells

    return _in_threads(summary, len(columns), n_threads)


def _in_threads(work: Callable[[int], ColumnSummary], n: int, n_threads: int) -> Iterator[ColumnSummary]:
    if n_threads <= 1 or n == 1:
        yield from map(work, range(n))
        return
    with ThreadPoolExecutor(n_threads) as threads:
        for first in range(0, n, n_threads):
            yield from threads.map(work, range(first, min(n, first + n_threads)))


def _count(
    columns: Sequence[Column],
    classes: NDArray[np.uint32] | None,
    n_classes: int,
    weights: NDArray[np.float64] | None,
    n_threads: int,
) -> dict[int, ColumnSummary]:
    """The summaries of the columns of integers that have few cells."""
    integral = [j for j, column in enumerate(columns) if column.values.dtype.kind in "iub"]
    values = [columns[j].values for j in integral]
    ranges = _kernels.integer_ranges(values, n_threads)
    n_cells = (ranges[:, 1].astype(float) - ranges[:, 0] + 1) * n_classes
    few = (n_cells <= max(FEWEST_CELLS, len(columns[0].values))) & (ranges[:, 1] < LARGEST_INTEGER)
    chosen = np.flatnonzero(few)
    counts = _kernels.count_integers(
        [values[i] for i in chosen], ranges[chosen], classes, n_classes, weights, n_threads
    )
    return {integral[i]: _summary_of_counts(int(ranges[i, 0]), cells) for i, cells in zip(chosen, counts, strict=True)}


def _summary_of_counts(lowest: int, counts: NDArray[np.float64]) -> ColumnSummary:
    positions, classes = np.nonzero(counts)
    present = np.flatnonzero(counts.any(axis=1))
    return ColumnSummary(
        (present + float(lowest)),
        np.searchsorted(positions, np.append(present, len(counts))),
        classes.astype(np.uint32),
        counts[positions, classes],
        np.zeros(counts.shape[1]),
    )


def _with_levels(cells: ColumnSummary, levels: tuple[Hashable, ...] | None) -> ColumnSummary:
    """The summary with levels for numbers or positions, in the canonical order of levels."""
    if levels is None:
        return replace(cells, values=as_objects([_plain(value) for value in cells.values.tolist()]))
    if len(cells.values) and cells.values[0] < 0:
        cells = _without_first(cells)
    known = as_objects([levels[int(position)] for position in cells.values])
    values, order = distinct(known)
    positions = np.repeat(order, np.diff(cells.starts))
    return gather(values, positions, cells.classes, cells.weights, cells.missing)


def _without_first(cells: ColumnSummary) -> ColumnSummary:
    """The position -1 comes first: its weight is that of the missing values."""
    n_cells = cells.starts[1]
    missing = _sums(cells.classes[:n_cells], cells.weights[:n_cells], cells.n_classes)
    return ColumnSummary(
        cells.values[1:],
        cells.starts[1:] - n_cells,
        cells.classes[n_cells:],
        cells.weights[n_cells:],
        missing,
    )


def _plain(value: float) -> Hashable:
    return int(value) if value.is_integer() else value
