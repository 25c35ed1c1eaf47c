"""The engine's GROUP BY value, class -> summaries of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.columns import as_objects
from neuralkdb.engines.engine import Answer
from neuralkdb.engines.frame import CLASS, WEIGHT
from neuralkdb.engines.readings import Reading
from neuralkdb.engines.sites import LazyTable
from neuralkdb.grid import MOST_VALUES
from neuralkdb.network import Floats
from neuralkdb.summaries import ColumnSummary, distinct, gather

MOST_LEVELS = 10_000  # categories of a column
TRANSFERS = {"decimals": "float", "integers": "integer", "bools": "integer", "text": "text"}


def summaries_of(
    frame: LazyTable, readings: Sequence[Reading], target: Reading, keys: Sequence[Any]
) -> list[ColumnSummary]:
    """The weight of each value of each column in each class."""
    found: dict[str, ColumnSummary] = {}
    numbers = [each for each in readings if not each.has_levels]
    if numbers:
        found |= zip((each.name for each in numbers), _of_numbers(frame, numbers, target, keys), strict=True)
    for kind in sorted(set(TRANSFERS.values())):
        levels = [each for each in readings if TRANSFERS.get(each.kind) == kind]
        if levels:
            found |= zip((each.name for each in levels), _of_levels(frame, levels, target, keys), strict=True)
    return [found[each.name] for each in readings]


def _of_numbers(
    frame: LazyTable, readings: Sequence[Reading], target: Reading, keys: Sequence[Any]
) -> list[ColumnSummary]:
    """Every number, or the ends of grid cells where there are too many.

    Where no cell holds two numbers, the cells are the numbers; where more cells are occupied, or hold two, than numbers
    are wanted, there are too many. Only columns between the two are asked how many numbers they have.
    """
    bounds = frame.bounds(readings)
    for each, ends in zip(readings, bounds, strict=True):
        if np.isinf(ends).any():
            raise ValueError(f"Column {each.name!r} contains infinity: replace it with a number or a missing value.")
    grids = [_Grid.of(answer, keys) for answer in frame.grids(readings, bounds, target)]
    open_ones = [i for i, grid in enumerate(grids) if grid.may_be_few]
    counts = frame.n_distinct([readings[i] for i in open_ones])
    few = [i for i, n in zip(open_ones, counts, strict=True) if n - grids[i].has_missing <= MOST_VALUES]
    exact = frame.values([readings[i] for i in few], target)
    summaries = [grid.summary for grid in grids]
    for i, answer in zip(few, exact, strict=True):
        summaries[i] = _summary(answer["value"], ~np.isnan(answer["value"]), answer, keys)
    return summaries


class _Grid:
    """The occupied cells of a column."""

    def __init__(self, summary: ColumnSummary, n_mixed: int) -> None:
        self.summary, self.n_mixed = summary, n_mixed

    @classmethod
    def of(cls, answer: Answer, keys: Sequence[Any]) -> _Grid:
        """Each cell stands for the number in it that is farthest from the grid's centre."""
        known = ~np.isnan(answer["cell"])
        cells, which = np.unique(answer["cell"][known], return_inverse=True)
        low, high = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
        np.minimum.at(low, which, answer["low"][known])
        np.maximum.at(high, which, answer["high"][known])
        ends = np.where(cells < 0, low, high)
        values = np.full(len(known), np.nan)
        values[known] = ends[which]
        return cls(_summary(values, known, answer, keys), int((low < high).sum()))

    @property
    def may_be_few(self) -> bool:
        """Whether there may be no more numbers than are wanted, but more than cells."""
        return self.n_mixed > 0 and len(self.summary.values) + self.n_mixed <= MOST_VALUES

    @property
    def has_missing(self) -> bool:
        """Whether some rows have no number."""
        return bool(self.summary.missing.any())


def _of_levels(
    frame: LazyTable, readings: Sequence[Reading], target: Reading, keys: Sequence[Any]
) -> list[ColumnSummary]:
    """Every category."""
    limit = (MOST_LEVELS + 1) * len(keys) + 1
    summaries = []
    for each, answer in zip(readings, frame.values(readings, target, limit), strict=True):
        known = np.array([value is not None and value == value for value in answer["value"].tolist()], bool)
        levels = as_objects([_level(each.kind, value) for value in answer["value"].tolist()])
        summary = _summary(levels, known, answer, keys)
        if len(summary.values) > MOST_LEVELS or len(known) >= limit:
            raise ValueError(
                f"Column {each.name!r} has more than {MOST_LEVELS} categories: leave it out with features=[...], join "
                "rare ones, or make numbers of them."
            )
        summaries.append(summary)
    return summaries


def _level(kind: str, value: Any) -> Any:
    """A category as it is in memory."""
    if value is None or value != value:
        return None
    if kind == "bools":
        return bool(value)
    return int(value) if kind != "text" and float(value).is_integer() else value


def _summary(values: NDArray[Any], known: NDArray[np.bool_], answer: Answer, keys: Sequence[Any]) -> ColumnSummary:
    """The summary of (value, label, weight) rows; those without a value are missing."""
    number = {key: code for code, key in enumerate(keys)}
    classes = np.array([number[key] for key in answer[CLASS].tolist()], np.uint32)
    weights: Floats = answer[WEIGHT].astype(float)
    missing = np.bincount(classes[~known], weights[~known], len(keys)).astype(float)
    distinct_values, positions = distinct(values[known])
    return gather(distinct_values, positions, classes[known], weights[known], missing)
