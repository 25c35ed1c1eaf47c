"""python -m benchmarks.peers measure    what is not in benchmarks/peers/results.csv yet, a cell at a time
python -m benchmarks.peers page       docs/benchmarks.md and its plots from that file
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
from benchmarks.own_process import CellError, Limits, answer
from benchmarks.peers.data import FILE, NAMES, ROOT
from benchmarks.peers.models import bare, on_codes, on_tables

LIMITS = {
    "codes": Limits(seconds=90, megabytes=8192),
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


def known() -> set[Cell]:
    """The cells that were measured."""
    if not FILE.exists():
        return set()
    return {
        Cell(*key)
        for key in pd.read_csv(FILE, keep_default_na=False)[["suite", "data", "model"]].itertuples(index=False)
    }


def measure(only: str) -> None:
    """One cell after another; every result is written at once."""
    done = known()
    for cell in cells():
        if cell in done or only not in " ".join(cell):
            continue
        try:
            status, result = "measured", answer(["-m", "benchmarks.peers.cell", *cell], LIMITS[cell.suite], ROOT)
        except CellError as failure:
            status, result = str(failure), {}
        row = pd.DataFrame([{**cell._asdict(), "status": status, "result": json.dumps(result)}])
        row.to_csv(FILE, mode="a", header=not FILE.exists(), index=False)
        print(*cell, status, result, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["measure", "page"])
    parser.add_argument("--only", default="", help="only cells whose suite, table or name holds this text")
    given = parser.parse_args()
    if given.step == "measure":
        measure(given.only)
        return
    from benchmarks.peers.page import write_page

    write_page(FILE)


if __name__ == "__main__":
    main()
