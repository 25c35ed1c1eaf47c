"""Tables larger than memory, and Spark beside DuckDB.

    python benchmarks/engines.py make --rows 50000000     a Parquet folder, mixed types, some missing
    python benchmarks/engines.py fit                      KDB and NeuralKDB with DuckDB: seconds and peak memory
    python benchmarks/engines.py equal                    a part of a million rows, in the engine and in memory
    python benchmarks/engines.py spark                    Spark with two workers beside DuckDB
    python benchmarks/engines.py clean                    delete the folder

Each fit runs in a process of its own. `--docs` writes the figures into docs/measurements.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sections import machine, markdown, write_section

FOLDER = Path(os.environ.get("NEURALKDB_BENCHMARK", Path(__file__).parent / "data")) / "engines"
CHUNK = 1_000_000
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "KDB(2)": ("KDBClassifier", {"k": 2}),
    "NeuralKDB(2)": ("NeuralKDBClassifier", {"k": 2, "random_state": 0, "n_jobs": 2}),
}


def chunk(number: int, n_rows: int) -> Any:
    """Twenty columns and a class: what they say about it, and about each other, is not little."""
    import pyarrow as pa

    rng = np.random.default_rng([17, number])
    y = (rng.random(n_rows) < 0.3).astype(np.int8)
    z = rng.normal(0.8 * y, 1.0)
    columns: dict[str, Any] = {}
    for j in range(6):
        columns[f"measure{j}"] = z * (j + 1) / 6 + rng.standard_normal(n_rows)
    columns["price"] = np.round(np.exp(3 + 0.5 * z + rng.standard_normal(n_rows)), 2)
    columns["share"] = rng.beta(2 + y, 3, n_rows).astype(np.float32)
    for j in range(4):
        columns[f"count{j}"] = rng.poisson(np.exp(0.3 * z + 0.2 * j)).astype(np.int32)
    for j, size in enumerate((3, 6, 12, 40)):
        codes = np.clip(np.round(z * (1 + j % 2) + size / 2 + rng.normal(0, size / 6, n_rows)), 0, size - 1)
        names = pa.array([f"level {i}" for i in range(size)])
        columns[f"group{j}"] = names.take(pa.array(codes.astype(np.int32)))
    columns["flag"] = rng.random(n_rows) < 1 / (1 + np.exp(-z))
    columns["other_flag"] = rng.random(n_rows) < 0.4
    columns["day"] = (np.datetime64("2020-01-01") + rng.integers(0, 1500, n_rows)).astype("datetime64[D]")
    columns["moment"] = np.datetime64("2024-01-01", "us") + (rng.integers(0, 10**13, n_rows) * (1 + y)).astype("m8[us]")
    arrays = {
        name: _with_holes(values, rng) if j % 3 == 0 else pa.array(values)
        for j, (name, values) in enumerate(columns.items())
    }
    return pa.table({**arrays, "y": pa.array(np.array(["no", "yes"])[y])})


def _with_holes(values: Any, rng: np.random.Generator) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array(values)
    return pc.if_else(pa.array(rng.random(len(array)) < 0.05), pa.scalar(None, array.type), array)


def make(rows: int) -> None:
    """Write the folder, one file a million rows."""
    import pyarrow.parquet as pq

    FOLDER.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    for number in range(-(-rows // CHUNK)):
        path = FOLDER / f"part-{number:03}.parquet"
        if not path.exists():
            pq.write_table(chunk(number, min(CHUNK, rows - number * CHUNK)), path)
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{rows:,} rows, {size / 1e9:.1f} GB, {time.perf_counter() - begin:.0f} s")


def fit_one(name: str, source: str, engine: str, out: str) -> None:
    """Fit a model and print what it cost."""
    import pickle

    import neuralkdb

    classifier, options = MODELS[name]
    wall, cpu = time.perf_counter(), time.process_time()
    learned = getattr(neuralkdb, classifier)(**options).fit_table(source)
    cost = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "megabytes": _peak_megabytes()}
    if out:
        Path(out).write_bytes(pickle.dumps(learned))
    print(json.dumps(cost))


def _peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(name: str, source: str, engine: str = "duckdb", out: str = "") -> dict[str, float]:
    """What a fit costs in a process of its own."""
    command = [sys.executable, __file__, "one", name, source, engine, out]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def fit(docs: bool) -> None:
    """The bars: 1.5 GB and 6 minutes for 50 million rows."""
    import duckdb

    ((n_rows,),) = duckdb.sql(f"SELECT count(*) FROM '{FOLDER}/*.parquet'").fetchall()
    rows = []
    for name in MODELS:
        cost = measured(name, str(FOLDER))
        rows.append([f"{name}, {n_rows:,} rows", *(f"{cost[key]:.0f}" for key in ("seconds", "cpu", "megabytes"))])
        print(rows[-1], flush=True)
    table = markdown(["fit with DuckDB", "seconds", "CPU seconds", "peak MB"], rows)
    print(table)
    if docs:
        write_section("engines", f"{table}\n\n{machine()}, {os.cpu_count()} cores.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["make", "fit", "equal", "spark", "clean", "one"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    if options.action == "make":
        make(options.rows)
    elif options.action == "one":
        fit_one(*options.rest)
    elif options.action == "clean":
        shutil.rmtree(FOLDER)
    elif options.action == "fit":
        fit(options.docs)


if __name__ == "__main__":
    main()
