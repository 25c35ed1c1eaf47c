"""Tables larger than memory, and Spark beside DuckDB.

    python benchmarks/engines.py make --rows 50000000     a Parquet folder, mixed types, some missing
    python benchmarks/engines.py fit [MODEL]              KDB and NeuralKDB, or SKDB, with DuckDB: seconds, peak memory
    python benchmarks/engines.py equal                    a part of a million rows, in the engine and in memory
    python benchmarks/engines.py spark [PATH:TARGET ...]  Spark with two workers beside DuckDB, 10 files of a folder
    python benchmarks/engines.py docs                     write the results into docs/measurements.md
    python benchmarks/engines.py clean                    delete the folder

Each fit runs in a process of its own. Results are kept beside the folder, in engines.json.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sections import machine, markdown, write_section

FOLDER = Path(os.environ.get("NEURALKDB_BENCHMARK", Path(__file__).parent / "data")) / "engines"
RESULTS = FOLDER.with_suffix(".json")
CHUNK = 1_000_000
FEWEST_PARTS = 4  # that Spark gets a table in
sys.path.append(str(Path(__file__).parent.parent / "tests"))
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "KDB(2)": ("KDBClassifier", {"k": 2}),
    "NeuralKDB(2)": ("NeuralKDBClassifier", {"k": 2, "random_state": 0, "n_jobs": 2}),
}
SCORING = {"SKDB(2)": ("SKDBClassifier", {"k": 2})}  # to which the distinct coded rows are sent


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


def fit_one(name: str, source: str, out: str = "") -> None:
    """Fit a model and print what it cost."""
    import neuralkdb

    classifier, options = (MODELS | SCORING)[name]
    wall, cpu = time.perf_counter(), time.process_time()
    learned = getattr(neuralkdb, classifier)(**options).fit_table(source)
    cost = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "megabytes": _peak_megabytes()}
    if out:
        Path(out).write_bytes(pickle.dumps(learned))
    print(json.dumps(cost))


def _peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def note(name: str, **figures: Any) -> None:
    """Add to the results."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(known | {name: figures}, indent=1))
    print(name, figures, flush=True)


def fit(only: str) -> None:
    """The bars: 1.5 GB and 6 minutes for 50 million rows, in processes of their own."""
    import duckdb

    ((n_rows,),) = duckdb.sql(f"SELECT count(*) FROM '{FOLDER}/*.parquet'").fetchall()
    for name in [only] if only else MODELS:
        command = [sys.executable, __file__, "one", name, str(FOLDER)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        cost = json.loads(answer.stdout.splitlines()[-1])
        note(f"{name} with DuckDB, {n_rows:,} rows", **{key: round(value, 1) for key, value in cost.items()})


def equal() -> None:
    """The model of a part of a million rows, from the engine and from memory, count for count."""
    import pandas as pd

    import neuralkdb
    from tabled import assert_same

    part = FOLDER / "part-000.parquet"
    table = pd.read_parquet(part)
    X, y = table.drop(columns="y"), table["y"].to_numpy(object)
    for name, (classifier, options) in MODELS.items():
        make_one = getattr(neuralkdb, classifier)
        assert_same(make_one(**options).fit_table(part), make_one(**options).fit(X, y))
        note(f"{name}, {len(table):,} rows, engine and memory", equal=True)


def spark(sources: list[str]) -> None:
    """Two workers beside DuckDB; then again, and one of them is killed while it counts."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    settings = {"spark.sql.shuffle.partitions": "4", "spark.sql.session.timeZone": "UTC"}
    session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for source in sources:
        path, _, target = source.partition(":")
        beside_duckdb(session, Path(path), target or "y")
    session.stop()


def beside_duckdb(session: Any, path: Path, target: str) -> None:
    import duckdb
    import pyarrow.parquet as pq

    from losing import executor_lost_while_counting
    from neuralkdb import KDBClassifier
    from tabled import assert_same

    files = sorted(map(str, path.glob("*.parquet")))[:10] if path.is_dir() else [str(path)]
    n_rows = sum(pq.ParquetFile(file).metadata.num_rows for file in files)

    table = (
        session.read.parquet(*files).repartition(FEWEST_PARTS)
        if len(files) < FEWEST_PARTS
        else (session.read.parquet(*files))
    )
    one, there = timed(lambda: KDBClassifier(k=2).fit_table(duckdb.read_parquet(files), target))
    other, here = timed(lambda: KDBClassifier(k=2).fit_table(table, target))
    assert_same(one, other)
    name = f"KDB(2), {path.stem}, {n_rows:,} rows, Spark and DuckDB"
    note(name, equal=True, **{"DuckDB [s]": round(there, 1), "Spark [s]": round(here, 1)})
    with executor_lost_while_counting(session) as lost:
        again, slower = timed(lambda: KDBClassifier(k=2).fit_table(table, target))
    assert_same(one, again)
    figures = {"tasks lost": sum(lost), "Spark [s]": round(slower, 1)}
    note(f"{name}, an executor killed while it counts", equal=True, **figures)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def docs() -> None:
    """The results as a table."""
    known = json.loads(RESULTS.read_text())
    rows = [[name, ", ".join(f"{key}: {value}" for key, value in figures.items())] for name, figures in known.items()]
    write_section("engines", f"{markdown(['', 'figures'], rows)}\n\n{machine()}, {os.cpu_count()} cores.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["make", "fit", "equal", "spark", "docs", "clean", "one"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--rows", type=int, default=50_000_000)
    options = parser.parse_args()
    actions: dict[str, Callable[[], None]] = {
        "make": lambda: make(options.rows),
        "fit": lambda: fit("".join(options.rest)),
        "one": lambda: fit_one(*options.rest),
        "equal": equal,
        "spark": lambda: spark(options.rest or [str(FOLDER)]),
        "docs": docs,
        "clean": lambda: shutil.rmtree(FOLDER),
    }
    actions[options.action]()


if __name__ == "__main__":
    main()
