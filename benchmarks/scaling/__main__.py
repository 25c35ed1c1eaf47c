"""python -m benchmarks.scaling measure    what is not in benchmarks/scaling/results.csv yet, a cell at a time
python -m benchmarks.scaling page       the plots and the tables of docs/limits.md from that file
python -m benchmarks.scaling profile    the slowest of them once more: where their time goes, into that page
"""

from __future__ import annotations

import argparse

from benchmarks.cells import measure
from benchmarks.own_process import Limits
from benchmarks.scaling.grid import FILE, cells
from benchmarks.scaling.page import PAGE, write_page
from benchmarks.scaling.profile import profile
from benchmarks.sections import write_section

LIMITS = Limits(seconds=30, megabytes=8192)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["measure", "page", "profile"])
    parser.add_argument("--only", default="", help="only cells whose axis, size or name holds this text")
    given = parser.parse_args()
    if given.step == "measure":
        measure(cells(), FILE, "benchmarks.scaling.cell", lambda cell: LIMITS, given.only)
        return
    if given.step == "profile":
        write_section("profile", profile(FILE), PAGE)
        return
    write_page(FILE)


if __name__ == "__main__":
    main()
