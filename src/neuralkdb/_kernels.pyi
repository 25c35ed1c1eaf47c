from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Book = tuple[NDArray[np.float64], NDArray[np.uint32], bool, int, int]

def code_columns(
    columns: Sequence[NDArray[Any]],
    books: Sequence[Book],
    codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
    n_threads: int,
) -> None: ...
def integer_ranges(columns: Sequence[NDArray[Any]], n_threads: int) -> NDArray[np.int64]: ...
def count_integers(
    columns: Sequence[NDArray[Any]],
    ranges: NDArray[np.int64],
    classes: NDArray[np.uint32] | None,
    n_classes: int,
    weights: NDArray[np.float64] | None,
    n_threads: int,
) -> list[NDArray[np.float64]]: ...
def sort_cells(
    column: NDArray[Any],
    classes: NDArray[np.uint32] | None,
    n_classes: int,
    weights: NDArray[np.float64] | None,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.uint32],
    NDArray[np.float64],
    NDArray[np.float64],
]: ...
def entropy_cuts(
    starts: NDArray[np.int64],
    classes: NDArray[np.uint32],
    weights: NDArray[np.float64],
    n_classes: int,
) -> NDArray[np.int64]: ...
