"""What a newcomer types, on adult from a CSV: seconds and memory of each command, and the size of what it writes.

    python benchmarks/command_line.py

Reads adult.parquet from the shared data; the table to predict has five million rows. Each command runs in a process of
its own, as the shell would run it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from sections import machine, markdown, write_section

SHARED = Path(os.environ.get("NEURALKDB_SHARED", Path(__file__).parents[2] / "shared")) / "data"
ROWS_TO_PREDICT = 5_000_000
MEASURED = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from own_process import peak_megabytes
from neuralkdb.cli import main
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
print("USED", peak_megabytes(), used.ru_utime + used.ru_stime, file=sys.stderr)
sys.exit(code)
"""


def main() -> None:
    """Run the commands and write the table."""
    folder = Path(tempfile.mkdtemp())
    table = pd.read_parquet(SHARED / "large" / "adult.parquet")
    table.to_csv(folder / "adult.csv", index=False)
    _write_many(folder / "adult.csv", folder / "many.csv")
    commands = {
        "fit, NeuralKDB": ["fit", "adult.csv", "--target", "class", "--model", "NeuralKDB", "-o", "adult.nkdb"],
        "inspect": ["inspect", "adult.nkdb"],
        "predict": ["predict", "adult.nkdb", "adult.csv", "-o", "answers.csv"],
        "report": ["report", "adult.nkdb", "adult.csv", "-o", "adult.html"],
        "predict, 5 million rows": ["predict", "adult.nkdb", "many.csv", "-o", "many-answers.csv"],
        "fit, NeuralKDBEnsemble": ["fit", "adult.csv", "--target", "class", "-o", "ensemble.nkdb"],
        "predict, NeuralKDBEnsemble": ["predict", "ensemble.nkdb", "adult.csv", "-o", "answers.csv"],
        "report, NeuralKDBEnsemble": ["report", "ensemble.nkdb", "adult.csv", "-o", "ensemble.html"],
    }
    rows = [[name, *_measured(command, folder)] for name, command in commands.items()]
    text = markdown(["command", "seconds", "processor seconds", "peak memory, MB", "writes, MB"], rows)
    print(text)
    write_section("command_line", f"{text}\n\n{len(table):,} rows of adult; {machine()}, {os.cpu_count()} processors")


def _write_many(source: Path, target: Path) -> None:
    head, _, body = source.read_text().partition("\n")
    lines = body.splitlines(keepends=True)
    with open(target, "w") as file:
        file.write(head + "\n")
        for first in range(0, ROWS_TO_PREDICT, len(lines)):
            file.writelines(lines[: ROWS_TO_PREDICT - first])


def _measured(command: list[str], folder: Path) -> list[str]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], cwd=folder, capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - started
    _, peak, processor = next(line for line in done.stderr.splitlines() if line.startswith("USED")).split()
    written = (folder / command[-1]).stat().st_size / 1e6 if "-o" in command else 0.0
    return [f"{seconds:.1f}", f"{float(processor):.1f}", f"{float(peak):.0f}", f"{written:.2f}" if written else ""]


if __name__ == "__main__":
    main()
