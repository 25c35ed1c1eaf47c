"""Damaged model files: each must be refused with ModelFileError, or give a model that predicts. No crash, no hang.

    python benchmarks/fuzz_files.py [MUTATIONS] [SEED]

Writes the counts into docs/measurements.md if there are at least 20,000 mutations.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from sections import machine, markdown, write_section

from mutations import mutated, survives, variants

WRITTEN_FROM = 20_000
SLOW = 2.0  # seconds of processor time that are worth a line


def main() -> int:
    """Mutate, load and predict; 0 if every file was refused or harmless."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mutations", nargs="?", type=int, default=WRITTEN_FROM)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    given = parser.parse_args()
    n_mutations, seed = given.mutations, given.seed
    faulthandler.enable()
    folder = Path(tempfile.mkdtemp())
    files = []
    for number, model in enumerate(variants()):
        model.save(folder / f"{number}.nkdb")
        files.append((type(model).__name__, (folder / f"{number}.nkdb").read_bytes()))
    memory, loaded, failed, slowest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0, 0, 0.0
    for number in range(n_mutations):
        name, data = files[number % len(files)]
        bad = mutated(data, random.Random(f"{seed} {number}"))
        started = time.process_time()
        try:
            loaded += survives(bad, folder / "bad.nkdb")
        except Exception:
            failed += 1
            kept = Path(tempfile.gettempdir()) / f"failed-{seed}-{number}.nkdb"
            kept.write_bytes(bad)
            print(f"{name}, mutation {number}, kept as {kept}:\n{traceback.format_exc()}", file=sys.stderr)
        seconds = time.process_time() - started
        if seconds > max(slowest, SLOW):
            print(f"{name}, mutation {number}, took {seconds:.1f} s", file=sys.stderr)
        slowest = max(slowest, seconds)
        if number % 1000 == 999:
            print(f"{number + 1} mutations, {loaded} still load, {failed} fail", file=sys.stderr)
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    header = [
        "mutations",
        "refused",
        "load and predict",
        "fail otherwise",
        "slowest, CPU s",
        "growth of memory, MB",
    ]
    counts = [n_mutations, n_mutations - loaded - failed, loaded, failed]
    table = markdown(header, [[*(f"{count:,}" for count in counts), f"{slowest:.2f}", f"{growth:.0f}"]])
    print(table)
    if n_mutations >= WRITTEN_FROM:
        write_section("fuzz_files", f"{table}\n\n{len(files)} files of all classifiers; {machine()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
