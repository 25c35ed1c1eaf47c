"""P(child | parents, class) of one family, looked up for coded rows.

A `Law` knows the probabilities of a family. A `Conditional` asks it once per distinct combination: for the
whole table of the family where that is small, for the combinations that occur where it is not.

The term of a marginalized child is left out. With marginalized parents the term is the average of the law over
their values v, weighted by N(v, other parents, y) in the family's own table; where nothing was counted it is the
law at a value never seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Codes, Family, Floats
from neuralkdb.tables import Table


class Law(Protocol):
    """Probabilities of one family."""

    @property
    def table(self) -> Table:
        """The counts it was learned from: parents, then child."""

    @property
    def is_small(self) -> bool:
        """Whether the probabilities of all combinations are worth a table."""

    def grid(self, *, unseen: bool = False) -> Floats:
        """P of every combination, ``(*parents, child, classes)``; `unseen` adds a parent value never seen."""

    def probability(self, codes: Codes) -> Floats:
        """P of the cell of each row, (rows, classes). Columns are parents, then child; parents may be unseen."""


class ParameterEstimator(Protocol):
    """Learns the conditionals of all families at once."""

    def pseudocount(self, n_cells: int) -> float:
        """What each of `n_cells` cells of a distribution starts with."""

    def fit(self, tables: Mapping[Family, Table]) -> dict[Family, Conditional]:
        """One conditional per family."""


@dataclass(frozen=True)
class Block:
    """A few coded rows, and the features that are marginalized in at least one of them."""

    codes: Codes  # (rows, features), Fortran order
    marginalized: frozenset[int]

    @classmethod
    def of(cls, codes: Codes, cardinalities: tuple[int, ...]) -> Block:
        """The block of these rows."""
        holes = (j for j, cardinality in enumerate(cardinalities) if (codes[:, j] == cardinality).any())
        return cls(codes, frozenset(holes))


@dataclass(frozen=True)
class Conditional:
    """The term of a family in the log joint of coded rows."""

    family: Family
    law: Law

    def add_to(self, log_joint: Floats, block: Block) -> None:
        """Add log P(child | parents, class) of every row to `log_joint` (rows, classes)."""
        if not self.law.is_small:
            self._add_by_cell(log_joint, block)
        elif block.marginalized.isdisjoint(self.family.variables):
            _add_term(self._log_table, self.family, block, log_joint)
        else:
            _add_term(self._log_table_with_marginals, self.family, block, log_joint)

    def probability(self, codes: Codes) -> Floats:
        """P of the cell of each row, (rows, classes); columns are parents, then child, any of them marginalized."""
        holes = codes == np.array(self.law.table.shape)
        partial = holes.any(axis=1)
        if not partial.any():
            return self.law.probability(np.asfortranarray(codes))
        values = np.ones((len(codes), self.law.table.n_classes))
        if not partial.all():
            values[~partial] = self.law.probability(np.asfortranarray(codes[~partial]))
        cells, which = np.unique(codes[partial], axis=0, return_inverse=True)
        values[partial] = self._partial(cells)[which.reshape(-1)]
        return values

    def _partial(self, cells: Codes) -> Floats:
        """P of cells that are marginalized in part: one for a marginalized child."""
        patterns, which = np.unique(cells == np.array(self.law.table.shape), axis=0, return_inverse=True)
        values = np.ones((len(cells), self.law.table.n_classes))
        for number, pattern in enumerate(patterns):
            rows = which.reshape(-1) == number
            if not pattern[-1]:
                values[rows] = self._averaged(np.asfortranarray(cells[rows]), pattern[:-1])
        return values

    def _add_by_cell(self, log_joint: Floats, block: Block) -> None:
        mine = np.asfortranarray(block.codes[:, list(self.family.variables)])
        with np.errstate(divide="ignore"):
            log_joint += np.log(self.probability(mine))

    @cached_property
    def _log_table(self) -> Floats:
        return _log(self.law.grid())

    @cached_property
    def _log_table_with_marginals(self) -> Floats:
        """The table with one more code for each variable, that of a marginalized value."""
        grid = self.law.grid(unseen=True)
        plain = tuple(slice(0, size) for size in self.law.table.shape[:-1])
        weights = self._parent_weights[..., None, :]
        weighted, total = grid[plain] * weights, weights
        for axis in range(len(plain)):
            weighted, total = _with_sum(weighted, axis), _with_sum(total, axis)
        with np.errstate(invalid="ignore", divide="ignore"):
            averages = np.where(total > 0, weighted / total, grid)
        averages[plain] = grid[plain]
        return np.concatenate([_log(averages), np.zeros_like(grid[..., :1, :])], axis=-2)

    @cached_property
    def _parent_weights(self) -> Floats:
        table = self.law.table
        weights = np.zeros((*table.shape[:-1], table.n_classes))
        codes, classes, entries = table.cells()
        np.add.at(weights, (*codes[:, :-1].T, classes), entries)
        return weights

    def _averaged(self, cells: Codes, marginalized: NDArray[np.bool_]) -> Floats:
        """P of cells that share their marginalized parents."""
        values = self.law.probability(cells)
        if not marginalized.any():
            return values
        parents = self.law.table.marginal(range(len(marginalized)))
        query, completion = _completions(parents, cells[:, :-1], ~marginalized)
        if len(query) == 0:
            return values
        completed = np.asfortranarray(np.column_stack([completion, cells[query, -1]]), cells.dtype)
        weights = parents.at(completed, range(len(marginalized)))
        first = np.flatnonzero(np.diff(query, prepend=-1))
        total = np.add.reduceat(weights, first)
        averages = np.add.reduceat(weights * self.law.probability(completed), first)
        counted = total > 0
        rows = values[query[first]]
        rows[counted] = averages[counted] / total[counted]
        values[query[first]] = rows
        return values


def _completions(parents: Table, cells: Codes, known: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Codes]:
    """Every counted parent combination that agrees with a cell where it is known: (cell number, combination)."""
    combinations = np.unique(parents.cells()[0], axis=0)
    both = np.concatenate([combinations[:, known], cells[:, known]])
    _, group = np.unique(both, axis=0, return_inverse=True)
    of_combination, of_cell = np.split(group.reshape(-1), [len(combinations)])
    order = np.argsort(of_combination, kind="stable")
    first = np.searchsorted(of_combination[order], of_cell, side="left")
    size = np.searchsorted(of_combination[order], of_cell, side="right") - first
    query = np.repeat(np.arange(len(cells)), size)
    within = np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size)
    return query, combinations[order[np.repeat(first, size) + within]]


def _add_term(log_table: Floats, family: Family, block: Block, log_joint: Floats) -> None:
    *shape, n_classes = log_table.shape
    flat = log_table.reshape(-1, n_classes)
    variables = np.array(family.variables, np.int64)
    _kernels.add_term(flat, block.codes, variables, np.array(shape, np.int64), log_joint)


def _with_sum(values: Floats, axis: int) -> Floats:
    return np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)


def _log(probabilities: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
