"""What the paper's tables cost: processor seconds by method, from the rows that `neuralkdb reproduce` has written.

    python benchmarks/paper_seconds.py [--results results]

Rewrites its section of docs/measurements.md.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

from sections import machine, markdown, write_section

from neuralkdb.paper.plan import table1_wishes, table2_wishes

AIMS = {"Table 1": 20, "Table 2": 15}  # minutes on two cores


def seconds(file: Path) -> Counter[str]:
    """Processor seconds of fits and predictions, by method."""
    total: Counter[str] = Counter()
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            total[row["method"]] += float(row["fit_cpu"]) + float(row["predict_cpu"])
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results"))
    found = seconds(parser.parse_args().results / "seconds.csv")
    tables = {"Table 1": table1_wishes(()), "Table 2": table2_wishes()}
    rows: list[list[str]] = []
    for name, wishes in tables.items():
        minutes = sum(found[wish.method] for wish in wishes) / 60
        rows.append([name, f"{minutes:.1f} min", f"{minutes / 2:.1f} min", f"at most {AIMS[name]} min"])
    methods = dict.fromkeys(wish.method for wishes in tables.values() for wish in wishes)
    rows += [[method, f"{found[method]:.0f} s", "", ""] for method in sorted(methods, key=lambda name: -found[name])]
    text = markdown(["", "processor", "over two cores", "aim"], rows)
    write_section("paper", f"{machine()}.\n\n{text}")
    print(text)


if __name__ == "__main__":
    main()
