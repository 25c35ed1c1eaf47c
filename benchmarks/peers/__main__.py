"""python -m benchmarks.peers measure    what is not in benchmarks/peers/results.csv yet, a cell at a time
python -m benchmarks.peers page       docs/benchmarks.md and its plots from that file
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from benchmarks.cells import measure
from benchmarks.own_process import Limits
from benchmarks.peers.data import FILE, NAMES
from benchmarks.peers.models import bare, on_codes, on_tables

LIMITS = {
    "codes": Limits(seconds=60, megabytes=8192),
    "behaviour": Limits(seconds=60, megabytes=8192),
    "checks": Limits(seconds=60, megabytes=8192),
    "tables": Limits(seconds=30, megabytes=8192),
}


class Cell(NamedTuple):
    """What is measured."""

    suite: str
    data: str
    model: str


def cells() -> Iterator[Cell]:
    """All there are, small tables first."""
    yield from (Cell("codes", data, model) for data in NAMES for model in on_codes())
    yield from (Cell(suite, "", model) for suite in ("behaviour", "checks") for model in bare())
    yield from (Cell("tables", data, model) for data in NAMES for model in on_tables())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["measure", "page"])
    parser.add_argument("--only", default="", help="only cells whose suite, table or name holds this text")
    parser.add_argument("--seconds", type=int, help="of a processor that a cell may take, if not the usual")
    given = parser.parse_args()
    if given.step == "measure":
        limits = {suite: replace(usual, seconds=given.seconds or usual.seconds) for suite, usual in LIMITS.items()}
        measure(cells(), FILE, "benchmarks.peers.cell", lambda cell: limits[cell.suite], given.only)
        return
    from benchmarks.peers.page import write_page

    write_page(FILE)


if __name__ == "__main__":
    main()
