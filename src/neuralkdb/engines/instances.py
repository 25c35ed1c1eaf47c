"""Training units of all families as arrays of one shape: what a device trains on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.network import Family, Floats
from neuralkdb.parameters.embeddings import Embeddings
from neuralkdb.parameters.training import Tables

ALIGNED = 8  # columns: matrix products are slow where rows do not start at round addresses


@dataclass(frozen=True, eq=False)
class Instances:
    """What is drawn in training: cells as often as they weigh, or all cells with the same parents and class at once.

    The input of a unit is a row of zeros and ones, a column for every value of every parent and for every class.
    """

    rows: NDArray[np.int64]  # (families, columns) the vector each column chooses; the number of vectors is none
    child_rows: NDArray[np.int64]  # (families, codes) the vector of each of the child's values
    columns: NDArray[np.int32]  # (units, parents + 1) which columns are one
    children: (
        NDArray[np.float32] | NDArray[np.int32]
    )  # (units, codes) weights of the child's values; or (units,) its code
    weights: NDArray[np.float32]  # (units,) of one draw
    repeats: list[NDArray[np.int64]]  # (units,) of each family: how often a unit is drawn

    @property
    def n_instances(self) -> int:
        """Of all families."""
        return int(sum(each.sum() for each in self.repeats))

    @property
    def first_units(self) -> list[int]:
        """Where the units of each family start."""
        return list(accumulate(map(len, self.repeats[:-1]), initial=0))


def instances_of(tables: Tables, embeddings: Embeddings, *, merged: bool) -> Instances:
    """The units of these tables, `merged` by parents and class; families whose tables are empty have none."""
    cells = [(family, *table.cells()) for family, table in tables.items()]
    cells = [part for part in cells if len(part[1])]
    families = [family for family, *_ in cells]
    sizes = [_sizes(family, embeddings) for family in families]
    width, n_columns = max(map(len, sizes)), -(-(max(map(sum, sizes)) + 1) // ALIGNED) * ALIGNED
    n_codes = max(embeddings.cardinalities[family.child] for family in families)
    columns = [_columns(*part[1:3], each, width, n_columns) for part, each in zip(cells, sizes, strict=True)]
    pairs = zip(columns, cells, strict=True)
    units = [
        _merged(each, codes[:, -1], weights, n_codes) if merged else _drawn(each, codes[:, -1], weights)
        for each, (_, codes, _, weights) in pairs
    ]
    weights = np.concatenate([unit[2] for unit in units])
    return Instances(
        np.stack([_padded(_inputs(family, embeddings), n_columns, embeddings) for family in families]),
        np.stack([_padded(_outputs(family, embeddings), n_codes, embeddings) for family in families]),
        np.concatenate([unit[0] for unit in units]),
        np.concatenate([unit[1] for unit in units]),
        weights / weights.mean() if merged else weights,
        [unit[3] for unit in units],
    )


Unit = tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float32], NDArray[np.int64]]


def _drawn(columns: NDArray[np.int32], codes: NDArray[Any], weights: Floats) -> Unit:
    """Every cell as many instances as it weighs."""
    repeats = np.ceil(weights)
    return columns, codes.astype(np.int32), (weights / repeats).astype(np.float32), repeats.astype(np.int64)


def _merged(columns: NDArray[np.int32], codes: NDArray[Any], weights: Floats, n_codes: int) -> Unit:
    """Each combination of parents and class once, with the shares of the child's values."""
    units, which = np.unique(columns, axis=0, return_inverse=True)
    shares = np.zeros((len(units), n_codes))
    np.add.at(shares, (which.reshape(-1), codes.astype(np.intp)), weights)
    total = shares.sum(axis=1)
    shares /= total[:, None]
    return units, shares.astype(np.float32), total.astype(np.float32), np.ones(len(units), np.int64)


def _sizes(family: Family, embeddings: Embeddings) -> list[int]:
    """The number of values of each parent, and of the class."""
    return [*(embeddings.cardinalities[parent] for parent in family.parents), embeddings.n_classes]


def _columns(
    codes: NDArray[Any], classes: NDArray[np.intp], sizes: list[int], width: int, n_columns: int
) -> NDArray[np.int32]:
    """Which columns are one: those of the parents' values and of the class, and the last where there are fewer."""
    columns = np.full((len(codes), width), n_columns - 1, np.int32)
    columns[:, : len(sizes)] = np.column_stack([codes[:, :-1], classes])
    columns[:, : len(sizes)] += np.cumsum([0, *sizes[:-1]], dtype=np.int32)
    return columns


def _inputs(family: Family, embeddings: Embeddings) -> Floats:
    starts = [embeddings.starts[parent] for parent in family.parents]
    blocks = zip([*starts, embeddings.first_class], _sizes(family, embeddings), strict=True)
    return np.concatenate([np.arange(start, start + size) for start, size in blocks])


def _outputs(family: Family, embeddings: Embeddings) -> NDArray[np.intp]:
    first = embeddings.first_child + embeddings.starts[family.child]
    return np.arange(first, first + embeddings.cardinalities[family.child])


def _padded(rows: NDArray[Any], size: int, embeddings: Embeddings) -> NDArray[np.int64]:
    return np.append(rows, np.full(size - len(rows), len(embeddings.values))).astype(np.int64)
