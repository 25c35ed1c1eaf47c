"""Probabilities from counts: every estimate shrinks a frequency towards a base with some strength.

shrink(N(x, pa, y), N(pa, y), base, s) = (N(x, pa, y) + s * base) / (N(pa, y) + s)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb.network import Codes, Family, Floats
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.tables import DenseTable, Table


class Level(NamedTuple):
    """N(x, pa_1..j, y) and N(pa_1..j, y), shaped alike up to broadcasting; the class is the last axis."""

    cells: Floats
    parents: Floats


class Rule(Protocol):
    """From the counts of a family to P(x | pa, y)."""

    @property
    def backs_off(self) -> bool:
        """Whether an estimate needs the levels below its own."""

    def nested(self, levels: Sequence[Level], cardinality: int) -> list[Floats]:
        """The estimate with the parents of each level, the first level having the fewest."""

    def pseudocount(self, n_cells: int) -> float:
        """What each of `n_cells` cells of a distribution starts with."""


@dataclass(frozen=True)
class MEstimate:
    """``(N(x, pa, y) + m / |A|) / (N(pa, y) + m)``."""

    m: float = 1.0
    backs_off = False

    def nested(self, levels: Sequence[Level], cardinality: int) -> list[Floats]:
        """Each level shrunk to the uniform distribution."""
        return [shrink(level, 1.0 / cardinality, self.m) for level in levels]

    def pseudocount(self, n_cells: int) -> float:
        """M / n_cells."""
        return self.m / n_cells


@dataclass(frozen=True)
class Laplace:
    """``(N(x, pa, y) + alpha) / (N(pa, y) + alpha |A|)``."""

    alpha: float = 1.0
    backs_off = False

    def nested(self, levels: Sequence[Level], cardinality: int) -> list[Floats]:
        """Each level shrunk to the uniform distribution."""
        return [shrink(level, 1.0 / cardinality, self.alpha * cardinality) for level in levels]

    def pseudocount(self, n_cells: int) -> float:
        """Alpha."""
        return self.alpha


@dataclass(frozen=True)
class BackOff:
    """Each level shrunk to the one before: P(x), P(x | y), P(x | pa_1, y), P(x | pa_1, pa_2, y), ..."""

    strength: float = 1.0
    backs_off = True

    def nested(self, levels: Sequence[Level], cardinality: int) -> list[Floats]:
        """P(x | pa_1..j, y) for each j, from P(x) smoothed by its own m-estimate."""
        estimates = [shrink(_without_class(levels[0]), 1.0 / cardinality, self.strength)]
        for level in levels:
            estimates.append(shrink(level, estimates[-1], self.strength))
        return estimates[1:]

    def pseudocount(self, n_cells: int) -> float:
        """Strength / n_cells."""
        return self.strength / n_cells


def shrink(level: Level, base: Floats | float, strength: float) -> Floats:
    """``(N(x, pa, y) + s base) / (N(pa, y) + s)``, the base where both are zero."""
    total = level.parents + strength
    if strength > 0:
        return (level.cells + strength * base) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (level.cells + strength * base) / total, base)


def _without_class(level: Level) -> Level:
    return Level(level.cells.sum(axis=-1, keepdims=True), level.parents.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class CountedLaw:
    """A family's probabilities by a rule."""

    table: Table  # parents, then child
    rule: Rule

    @property
    def is_small(self) -> bool:
        """Whether the counts are dense."""
        return isinstance(self.table, DenseTable)

    def grid(self, *, unseen: bool = False) -> Floats:
        """P of every combination, ``(*parents, child, classes)``."""
        *parents, cardinality = self.table.shape
        wider = [size + unseen for size in parents]
        weights = self.table.resized((*wider, cardinality), np.inf).weights
        levels = [_grid_level(weights, depth) for depth in self._depths]
        last = self.rule.nested(levels, cardinality)[-1]
        return np.ascontiguousarray(np.broadcast_to(last, weights.shape))

    def probability(self, codes: Codes) -> Floats:
        """P of the cell of each row, (rows, classes)."""
        levels = [self._level(depth, codes) for depth in self._depths]
        return self.rule.nested(levels, self.table.shape[-1])[-1]

    def leave_one_out(self, codes: Codes, classes: NDArray[np.intp], removed: Floats) -> list[Floats]:
        """P with 0, 1, ..., all parents, each row's weight `removed` from its own cells; [(rows, classes), ...]."""
        own = np.arange(len(codes)) * self.table.n_classes + classes
        levels = [self._level(depth, codes) for depth in range(len(self.table.shape))]
        for level in levels:
            for weights in level:
                flat = weights.reshape(-1)
                flat[own] = np.maximum(flat.take(own) - removed, 0.0)
        return self.rule.nested(levels, self.table.shape[-1])

    def nested(self) -> list[CountedLaw]:
        """The laws with 0, 1, ..., all parents."""
        return [CountedLaw(self._nested_tables(depth)[0], self.rule) for depth in range(len(self.table.shape))]

    @property
    def _depths(self) -> range:
        deepest = len(self.table.shape) - 1
        return range(0 if self.rule.backs_off else deepest, deepest + 1)

    def _level(self, depth: int, codes: Codes) -> Level:
        cells, parents = self._nested_tables(depth)
        variables = range(depth)
        return Level(cells.at(codes, (*variables, len(self.table.shape) - 1)), parents.at(codes, variables))

    def _nested_tables(self, depth: int) -> tuple[Table, Table]:
        """Counts with the first `depth` parents, and of these parents alone."""
        known, deepest = self._known_tables, len(self.table.shape) - 1
        if depth not in known:
            cells = self.table if depth == deepest else self.table.marginal((*range(depth), deepest))
            known[depth] = cells, self.table.marginal(range(depth))
        return known[depth]

    @cached_property
    def _known_tables(self) -> dict[int, tuple[Table, Table]]:
        """By depth: most rules need the deepest alone."""
        return {}


def _grid_level(weights: Floats, depth: int) -> Level:
    """Counts with the first `depth` parents, broadcastable to all of them."""
    deeper = tuple(range(depth, weights.ndim - 2))
    cells = weights.sum(axis=deeper, keepdims=True)
    return Level(cells, cells.sum(axis=-2, keepdims=True))


@dataclass(frozen=True)
class Counted:
    """Each family on its own, by a rule on its counts."""

    rule: Rule

    def pseudocount(self, n_cells: int) -> float:
        """What each of `n_cells` cells of a distribution starts with."""
        return self.rule.pseudocount(n_cells)

    def leave_one_out(self, table: Table, codes: Codes, classes: NDArray[np.intp], removed: Floats) -> list[Floats]:
        """P with 0, 1, ..., all parents of the table, each row's weight `removed` from its own cells.

        A row with a marginalized value was not counted, and its probability is that of the conditional.
        """
        law = CountedLaw(table, self.rule)
        estimates = law.leave_one_out(codes, classes, removed)
        holes = (codes == np.array(table.shape)).any(axis=1)
        if holes.any():
            parents = range(len(table.shape) - 1)
            for depth, (estimate, shallow) in enumerate(zip(estimates, law.nested(), strict=True)):
                family = Family(len(parents), tuple(parents[:depth]))
                cells = np.asfortranarray(codes[holes][:, [*family.variables]])
                estimate[holes] = Conditional(family, shallow).probability(cells)
        return estimates

    def fit(self, tables: Mapping[Family, Table]) -> dict[Family, Conditional]:
        """One conditional per family."""
        return {family: Conditional(family, CountedLaw(table, self.rule)) for family, table in tables.items()}
