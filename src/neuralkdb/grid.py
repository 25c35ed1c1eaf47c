"""A fixed grid over numbers, for columns with more distinct values than cut points need to know.

The cells are equally wide in the fourth root of the distance from zero, or from the end of the range that is closest to
zero: narrow where most values of a skewed column are, and the same on every engine, since IEEE 754 says exactly what
the difference, the quotient and the square root of two numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

MOST_VALUES = 100_000  # a column with more distinct values is cut on the grid


@dataclass(frozen=True)
class Grid:
    """Cells are numbered outwards from the centre: 0, 1, ... above it, -1, -2, ... below."""

    centre: float
    radius: float  # the largest distance
    size: ClassVar[int] = 2**17  # cells on each side

    def cells(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number of each value's cell."""
        distance = np.abs(values - self.centre) / self.radius
        cell = np.floor(np.sqrt(np.sqrt(distance)) * float(self.size))
        return np.where(values < self.centre, -1.0 - cell, cell)


def grid_of(low: float, high: float) -> Grid | None:
    """The grid of a column with this range; None where there is at most one number."""
    if not low < high:
        return None
    centre = min(max(0.0, low), high)
    return Grid(centre, max(high - centre, centre - low))
