"""Which requests are counted together: a table of a few more variables, from which an engine sums up several others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from neuralkdb.counting import Request
from neuralkdb.tables import volume

MOST_CELLS = 2**15  # of a table that is counted for the sake of others


def blocks_of(requests: Sequence[Request], cardinalities: Sequence[int], n_classes: int) -> list[Request]:
    """For each request the variables that are counted for it: its own and others, ascending.

    Blocks grow greedily: each takes in the variable that completes the most requests, as long as its table is small.
    """
    chosen: dict[Request, Request] = {}
    left = dict.fromkeys(requests)
    while left:
        block = _grown(set(next(iter(left))), list(left), cardinalities, n_classes)
        covered = [request for request in left if block.issuperset(request)]
        for request in covered:
            chosen[request] = tuple(sorted(block)) if len(covered) > 1 else request
            del left[request]
    return [chosen[request] for request in requests]


def _grown(block: set[int], left: Sequence[Request], cardinalities: Sequence[int], n_classes: int) -> set[int]:
    while True:
        others = (set(request) - block for request in left)
        gains = Counter(other.pop() for other in others if len(other) == 1)
        small = [v for v in gains if volume([cardinalities[u] for u in (*block, v)], n_classes) <= MOST_CELLS]
        if not small:
            return block
        block.add(min(small, key=lambda v: (-gains[v], v)))
