"""Rows a few at a time, in one thread or several."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """All rows, `size` at a time."""
    return (slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size))


def for_each(work: Any, rows: Iterator[slice], n_threads: int) -> None:
    """`work` of each part, in as many threads."""
    if n_threads == 1:
        for each in rows:
            work(each)
        return
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(work, rows))
