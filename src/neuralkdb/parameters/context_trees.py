"""Back-off estimates of many families at once, as trees of contexts.

    P_0(x | y) = (N(x, y) + s P(x)) / (N(y) + s)
    P_j(x | pa_1..j, y) = (N(x, pa_1..j, y) + s P_{j-1}) / (N(pa_1..j, y) + s)

The parents of a family split its contexts one after another; a context of little weight is not split. A row whose
next parent is marginalized, or has a value never seen in its context, stays with the estimate of the parents before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import CodedRows, flat
from neuralkdb.network import Codes, Family, Floats

Terms = NDArray[np.float32]  # (blocks of 16 rows, families, classes, 16)


@dataclass(frozen=True, eq=False)
class ContextTrees:
    """log P(child | parents, y) of several families."""

    families: tuple[Family, ...]
    cardinalities: tuple[int, ...]  # of all features
    roots: NDArray[np.int64]  # (families + 1,)
    contexts: NDArray[np.uint32]  # (contexts, fields): where its children, values, classes and entries stand
    codes: NDArray[np.uint32]  # (contexts,) of the last parent
    values: NDArray[np.uint32]  # of the child, in each context
    classes: NDArray[np.uint32]  # in each context
    logs: NDArray[np.float32]  # what each context adds to log P

    def add_to(self, log_joint: Floats, codes: Codes, weights: Floats) -> None:
        """Add the weighted terms of every row to `log_joint` (rows, classes); weights are (families, classes)."""
        _kernels.add_tree_terms(*self._arguments, np.ascontiguousarray(weights), codes, log_joint)

    @property
    def children(self) -> tuple[int, ...]:
        """The feature of each term."""
        return tuple(family.child for family in self.families)

    def only(self, family: int) -> ContextTrees:
        """The trees of one family."""
        chosen = self.families[family : family + 1], self.cardinalities, self.roots[family : family + 2]
        return ContextTrees(*chosen, self.contexts, self.codes, self.values, self.classes, self.logs)

    @property
    def _arguments(self) -> tuple[NDArray[Any], ...]:
        variables, starts = flat([family.variables for family in self.families])
        arrays = self.roots, self.contexts, self.codes, self.values, self.classes, self.logs
        return *arrays, variables, starts, np.array(self.cardinalities, np.int64)


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Trees with the weights they were grown from: what is needed to leave a row out."""

    trees: ContextTrees
    strength: float
    weights: Floats  # (entries,) N(pa, y), then N(x, pa, y) of each value
    first_base: NDArray[np.int64]  # (families + 1,)
    base: Floats  # P(x) of each family's values, end to end

    @property
    def n_terms(self) -> int:
        """One for each family."""
        return len(self.trees.families)

    def leave_one_out(self, rows: CodedRows, removed: Floats, terms: Terms, first: int) -> None:
        """Write the terms of every row, `removed` of its weight left out of its own class, from family `first` on."""
        arrays = self.weights, self.first_base, self.base, self.strength
        classes = rows.classes.astype(rows.codes.dtype)
        _kernels.leave_one_out_terms(*self.trees._arguments, *arrays, rows.codes, classes, removed, terms, first)


def grow_trees(
    rows: CodedRows,
    families: list[Family],
    cardinalities: tuple[int, ...],
    n_classes: int,
    strength: float,
    least_weight: float,
) -> GrownTrees:
    """The trees of the families; contexts of less than `least_weight` are not split."""
    variables, starts = flat([family.variables for family in families])
    *arrays, weights, first_base, base = _kernels.grow_trees(
        rows.codes,
        rows.classes.astype(rows.codes.dtype),
        rows.weights,
        variables,
        starts,
        np.array(cardinalities, np.int64),
        n_classes,
        strength,
        least_weight,
    )
    return GrownTrees(ContextTrees(tuple(families), cardinalities, *arrays), strength, weights, first_base, base)
