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

Codes = NDArray[np.unsignedinteger]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Packed = tuple[Integers, NDArray[Any], Integers, NDArray[np.uint32], NDArray[Any]]

def count_dense(
    codes: Codes,
    classes: Codes,
    weights: Floats | None,
    variables: Integers,
    starts: Integers,
    cardinalities: Integers,
    n_classes: int,
    n_threads: int,
) -> list[Floats]: ...
def count_sparse(
    codes: Codes,
    classes: Codes,
    weights: Floats | None,
    variables: Integers,
    starts: Integers,
    cardinalities: Integers,
    n_classes: int,
    keep_marginalized: bool,
    n_threads: int,
) -> list[tuple[Codes, Integers, Codes, Floats]]: ...
def number_cells(codes: Codes, variables: Integers, shape: Integers) -> Integers: ...
def find_cells(sorted_cells: Codes, codes: Codes, variables: Integers) -> Integers: ...
def gather_cells(cells: Integers, starts: Integers, classes: Codes, weights: Floats, n_classes: int) -> Floats: ...
def dense_information(table: Floats) -> float: ...
def sparse_information(
    codes: Codes, starts: Integers, classes: Codes, weights: Floats, a: int, b: int, n_classes: int
) -> float: ...
def add_term(
    table: Floats | NDArray[np.float32], codes: Codes, variables: Integers, shape: Integers, out: Floats
) -> None: ...
def count_sets(
    codes: Codes,
    classes: Codes,
    weights: Floats | None,
    cardinalities: Integers,
    n_classes: int,
    size: int,
    weight_bytes: int,
    n_threads: int,
) -> Packed: ...
def merge_sets(*arguments: Any) -> Packed: ...
def score_sets(*arguments: Any) -> Floats: ...
def embedding_log_probabilities(
    values: NDArray[np.float32],
    child: int,
    n_values: int,
    parents: NDArray[np.int32],
    classes: int,
    n_classes: int,
    activation: int,
    n_threads: int,
) -> Floats: ...
def shuffled_units(repeats: NDArray[np.int32], seed: int, stream: int) -> NDArray[np.uint32]: ...
def initial_embeddings(
    n_normal: int, n_uniform: int, dimensions: int, bound: float, seed: int
) -> NDArray[np.float32]: ...
def train_embeddings(
    values: NDArray[np.float32],
    first_moments: NDArray[np.float32],
    second_moments: NDArray[np.float32],
    steps_before: int,
    order: NDArray[np.uint32],
    rates: Floats,
    child: NDArray[np.int32],
    n_values: NDArray[np.int32],
    family: NDArray[np.int32],
    inputs: NDArray[np.int32],
    cells: Integers,
    codes: NDArray[np.int32],
    weights: NDArray[np.float32],
    n_parents: int,
    concatenated: bool,
    batch_size: int,
    activation: int,
    weight_decay: float,
    dropout: float,
    seed: int,
    n_threads: int,
) -> float: ...
def grow_trees(
    codes: Codes,
    classes: Codes,
    weights: Floats,
    variables: Integers,
    starts: Integers,
    cardinalities: Integers,
    n_classes: int,
    strength: float,
    least_weight: float,
) -> tuple[NDArray[Any], ...]: ...
def add_tree_terms(*arguments: Any) -> None: ...
def leave_one_out_terms(*arguments: Any) -> None: ...
def add_regression_terms(*arguments: Any) -> None: ...
def leave_one_out_regressions(*arguments: Any) -> None: ...
def weighted_loss(
    terms: NDArray[np.float32], classes: NDArray[np.uint32], row_weights: Floats, parameters: Floats
) -> tuple[float, Floats]: ...
def squared_errors(log_joints: Floats, classes: NDArray[np.uint32], weights: Floats) -> Floats: ...
def train_offsets(
    offsets: NDArray[np.float32],
    squares: NDArray[np.float32],
    ridge: NDArray[np.float32],
    cells: NDArray[np.uint32],
    base: NDArray[np.float32],
    classes: NDArray[np.uint32],
    weights: Floats,
    order: NDArray[np.uint32],
    rate: float,
) -> float: ...
def weighted_posteriors(terms: NDArray[np.float32], parameters: Floats, n_rows: int) -> NDArray[np.float32]: ...
