"""Tables whose structures are forced, worked out by hand: what every estimator has to find.

Each block of eight rows of a class uses the same three columns. A and B agree in 6 of 8 rows
(3, 1; 1, 3), B and C too, A and C are independent (2, 2; 2, 2), and every column is fair:

    MI(A; B | y) = MI(B; C | y) = 3/4 ln 3/2 - 1/4 ln 2 = 0.1308, MI(A; C | y) = 0,
    MI(A; y) = MI(B; y) = MI(C; y) = 0.
"""

from __future__ import annotations

from math import log

import numpy as np

from twins import Data, Parents, data

A = [0, 0, 0, 0, 1, 1, 1, 1]
B = [0, 0, 0, 1, 1, 1, 1, 0]
C = [1, 0, 0, 1, 0, 1, 1, 0]
AGREEMENT = 3 / 4 * log(3 / 2) - 1 / 4 * log(2)


def per_class(*blocks: list[list[int]]) -> Data:
    """One block of columns for each class."""
    codes = np.vstack([np.column_stack(block) for block in blocks])
    return data(codes, np.repeat(np.arange(len(blocks)), len(blocks[0][0])))


def chain() -> Data:
    """A, B, C and the class itself: features 0, 1, 2, 3.

    MI(X_3; y) = ln 2 and MI(X_i; X_3 | y) = 0: feature 3 comes first and ties with everything.
    """
    return per_class([A, B, C, [0] * 8], [A, B, C, [1] * 8])


CHAIN_TAN: Parents = {3: (), 0: (3,), 1: (0,), 2: (1,)}
"""Edges 0-1 and 1-2 (0.1308 each), then 0-3, the first of three pairs at zero; root 3."""

CHAIN_KDB: dict[int, Parents] = {
    0: {3: (), 0: (), 1: (), 2: ()},
    1: {3: (), 0: (3,), 1: (0,), 2: (1,)},
    # Feature 2 has 0.1308 with 1, then a tie at zero between 0 and 3: the lower one.
    2: {3: (), 0: (3,), 1: (0, 3), 2: (1, 0)},
    3: {3: (), 0: (3,), 1: (0, 3), 2: (1, 0, 3)},
}
"""The order is 3 (ln 2), then 0, 1, 2 (ties at zero)."""


def copied() -> Data:
    """C, A, B, and a copy of B that the class 1 tilts: features 0, 1, 2, 3.

    Class 0 has twice the block with X_3 = B; class 1 the block with X_3 = B and the block with
    X_3 = 1. MI(X_3; y) > 0 is the largest; X_3 and B have the largest information given y
    (ln 2 in class 0); then C-B and A-B tie at 0.1308, and what X_3 has with A and C is less.
    """
    columns = np.column_stack([C, A, B, B])
    tilted = np.column_stack([C, A, B, [1] * 8])
    codes = np.vstack([columns, columns, columns, tilted])
    return data(codes, np.repeat([0, 1], 16))


COPIED_TAN: Parents = {3: (), 2: (3,), 0: (2,), 1: (2,)}
"""Edges 2-3, then 0-2 and 1-2; root 3."""

COPIED_KDB: dict[int, Parents] = {
    1: {3: (), 0: (3,), 1: (3,), 2: (3,)},
    # Feature 2 is closest to its copy, then to 0 and 1 alike: the lower one.
    2: {3: (), 0: (3,), 1: (3, 0), 2: (3, 0)},
}
"""The order is 3, then 0, 1, 2 (ties at zero)."""


def switching() -> Data:
    """Three fair features; the last copies feature 1 in class 0 and feature 0 in class 1."""
    return per_class(
        [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1]],
        [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]],
    )


SWITCHING_MNKDB: tuple[Parents, ...] = (
    {0: (), 1: (0,), 2: (1,)},
    {0: (), 1: (0,), 2: (0,)},
)


def exclusive_or() -> Data:
    """y = X_0 xor X_1, X_2 is noise; each of the eight cells twice."""
    cells = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 2
    return data(cells, [a ^ b for a, b, _ in cells])


EXCLUSIVE_OR_SPTAN: Parents = {0: (), 1: (0,), 2: ()}
"""0 and 1 tie as super-parents, only the arc between them helps, then nothing is left to gain."""


def one_that_knows() -> Data:
    """X_0 is the class, X_1 is noise; four rows."""
    return data([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 0, 1, 1])
