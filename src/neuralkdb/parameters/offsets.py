"""What cells add to log-odds that are known already: softmax regression on indicators of cells.

A family (child | p1, p2) has cells of the child alone, with p1, and with both. A cell that training shows with some
weight has an offset for each class, pulled to zero, so that a large cell says what it has to say and what is left to
a small one is little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import CodedRows
from neuralkdb.network import Codes, Family, Floats
from neuralkdb.parameters.conditional import Block

MOST_PARENTS = 2
MOST_NUMBERS = 2**15  # of a table; a family loses parents until its own has no more
LEAST_WEIGHT = 2.0  # of a cell
PASSES = 5
RATE = 0.3  # of the first steps; it falls to zero

Numbered = NDArray[np.uint32]  # for each cell, also those with marginalized variables, its number; 0 is none


@dataclass(frozen=True, eq=False)
class Offsets:
    """The offsets of the cells of some families."""

    families: tuple[Family, ...]
    tables: tuple[NDArray[np.float32], ...]  # (*values of each variable, the last marginalized, classes)

    def add_to(self, log_joint: Floats, block: Block, share: float) -> None:
        """Add a share of all offsets to `log_joint` (rows, classes)."""
        for family, table in zip(self.families, self.tables, strict=True):
            _add(family, table, log_joint, block, share)

    def add_terms_to(self, terms: Floats, block: Block, share: float) -> None:
        """Add a share of each feature's offsets to `terms` (features + 1, rows, classes)."""
        for family, table in zip(self.families, self.tables, strict=True):
            _add(family, table, terms[1 + family.child % (len(terms) - 1)], block, share)

    def times(self, share: float) -> Offsets:
        """The offsets, each multiplied by a share."""
        return Offsets(self.families, tuple(np.float32(share) * table for table in self.tables))


def _add(family: Family, table: NDArray[np.float32], log_joint: Floats, block: Block, share: float) -> None:
    *shape, n_classes = table.shape
    scaled = (table if share == 1.0 else np.float32(share) * table).reshape(-1, n_classes)
    variables = np.array(family.variables, np.int64)
    _kernels.add_term(scaled, block.codes, variables, np.array(shape, np.int64), log_joint)


def learn_offsets(
    families: Sequence[Family],
    cardinalities: Sequence[int],
    rows: CodedRows,
    log_posteriors: Floats,
    ridge: float,
    seed: int,
) -> Offsets:
    """The offsets that are best added to what is said of rows (rows, classes) already."""
    n_classes = log_posteriors.shape[1]
    families = tuple(_within_room(family, cardinalities, n_classes) for family in families)
    slots = [Family(child, parents[:n]) for child, parents in families for n in range(len(parents) + 1)]
    numbered, cells, pulls = _number(slots, cardinalities, rows, ridge)
    offsets = _trained(cells, pulls, rows, log_posteriors, seed)
    of_slots = {
        slot: _table(slot, numbers, offsets, cardinalities) for slot, numbers in zip(slots, numbered, strict=True)
    }
    return Offsets(families, tuple(_summed(family, of_slots) for family in families))


def _within_room(family: Family, cardinalities: Sequence[int], n_classes: int) -> Family:
    """The family with as many of its parents as have room in a table."""
    child, parents = family
    for n in range(min(MOST_PARENTS, len(parents)), 0, -1):
        if n_classes * prod(cardinalities[v] + 1 for v in (child, *parents[:n])) <= MOST_NUMBERS:
            return Family(child, parents[:n])
    return Family(child)


def _number(
    slots: Sequence[Family], cardinalities: Sequence[int], rows: CodedRows, ridge: float
) -> tuple[list[Numbered], Numbered, NDArray[np.float32]]:
    """The number of each cell of each slot; those of rows, (rows, slots); and each cell's pull to zero at a visit."""
    numbered, cells, pulls, first = [], np.empty((len(rows.classes), len(slots)), np.uint32), [np.zeros(1)], 1
    for slot, variables in enumerate(slot.variables for slot in slots):
        sizes = [cardinalities[variable] + 1 for variable in variables]
        cell = np.ravel_multi_index([rows.codes[:, variable] for variable in variables], sizes)
        weights = np.bincount(cell, rows.weights, prod(sizes))
        chosen = _is_known(sizes) & (weights >= LEAST_WEIGHT)
        numbers = np.zeros(len(chosen), np.uint32)
        numbers[chosen] = np.arange(first, first + chosen.sum())
        first += int(chosen.sum())
        cells[:, slot] = numbers[cell]
        numbered.append(numbers)
        pulls.append(ridge / np.bincount(cell, minlength=len(chosen))[chosen])
    return numbered, cells, np.concatenate(pulls).astype(np.float32)


def _is_known(sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Whether no variable of a cell is marginalized, (cells,)."""
    known = np.zeros(sizes, bool)
    known[tuple(slice(size - 1) for size in sizes)] = True
    return known.ravel()


def _trained(
    cells: Numbered, pulls: NDArray[np.float32], rows: CodedRows, log_posteriors: Floats, seed: int
) -> NDArray[np.float32]:
    """The offset of each cell for each class, (cells, classes)."""
    n_rows, n_classes = log_posteriors.shape
    offsets, squares = np.zeros((len(pulls), n_classes), np.float32), np.ones((len(pulls), n_classes), np.float32)
    base, random = np.ascontiguousarray(log_posteriors, np.float32), np.random.default_rng(seed)
    classes = rows.classes.astype(np.uint32)
    for epoch in range(PASSES):
        order, rate = random.permutation(n_rows).astype(np.uint32), RATE * (1 - epoch / PASSES)
        _kernels.train_offsets(offsets, squares, pulls, cells, base, classes, rows.weights, order, rate)
    return offsets


def _table(
    slot: Family, numbers: Numbered, offsets: NDArray[np.float32], cardinalities: Sequence[int]
) -> NDArray[np.float32]:
    sizes = [cardinalities[variable] + 1 for variable in slot.variables]
    return np.asarray(offsets[numbers].reshape(*sizes, offsets.shape[1]))


def _summed(family: Family, of_slots: dict[Family, NDArray[np.float32]]) -> NDArray[np.float32]:
    """The offsets of the child alone, with one parent, and so on, added up over the cells of all variables."""
    child, parents = family
    total = of_slots[family].copy()
    for n in range(len(parents)):
        part = of_slots[Family(child, parents[:n])]
        total += np.expand_dims(part, tuple(range(n, len(parents))))
    return total


def add_offsets(offsets: Offsets, codes: Codes, n_classes: int) -> Floats:
    """What the offsets say of coded rows, (rows, classes)."""
    said = np.zeros((len(codes), n_classes))
    offsets.add_to(said, Block(codes, frozenset()), 1.0)
    return said
