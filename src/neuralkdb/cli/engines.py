"""Tables that stay where they are: which are counted by an engine, and what commands do with them."""

import argparse
import os
import time
from pathlib import Path
from typing import Any

from neuralkdb.cli.arguments import Parser, say

IN_MEMORY = 4  # times the size of its file, about, that a table takes
SHARE = 0.25  # of the machine's memory, that it may take
DATABASES = (".duckdb", ".ddb", ".db")
FILES = (".csv", ".tsv", ".txt", ".parquet")


def add_engine_options(command: Parser) -> None:
    """What chooses the engine."""
    add = command.add_argument
    add("--engine", choices=["memory", "duckdb", "spark"], help="what holds the table (by its kind and size)")
    add("--master", metavar="URL", help="with --engine spark: the master to connect to, spark://host:7077 say")
    add(
        "--memory", type=gigabytes, metavar="GB", default=None,
        help="what a table may take; one that takes more stays in DuckDB (a quarter of the machine's)",
    )  # fmt: skip


def gigabytes(text: str) -> float:
    """A positive number of gigabytes, in bytes."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of gigabytes")
    return number * 1e9


def engine_of(options: argparse.Namespace) -> str:
    """The engine that was asked for, or that the table needs."""
    if options.engine == "spark" and not options.master:
        raise ValueError("--engine spark connects to a master that is there: name it with --master, spark://host:7077")
    if options.master and options.engine != "spark":
        raise ValueError("--master is for --engine spark")
    return options.engine or ("duckdb" if _is_many_files(options.table) or _is_large(options) else "memory")


def opened(options: argparse.Namespace, engine: str) -> Any:
    """The lazy table."""
    if engine == "spark":
        from neuralkdb.engines.spark import connect, read

        return read(connect(options.master), options.table)
    from neuralkdb.engines.duck import scan

    return scan(options.table, ordered=True)


def fit_in_engine(model: Any, options: argparse.Namespace, engine: str) -> int:
    """Learn from counts, and write the model."""
    started = time.perf_counter()
    table = opened(options, engine)
    absent = [name for name in (options.target, *options.ignore) if name not in table.columns]
    if absent:
        raise ValueError(f"{options.table} has no column {absent[0]}: it has {', '.join(table.columns)}")
    features = [name for name in table.columns if name not in (options.target, *options.ignore)]
    model.fit_table(table, options.target, features=features)
    model.target_name_ = options.target
    model.save(options.output)
    labels = ", ".join(map(str, model.classes_.tolist()[:6])) + (", ..." if len(model.classes_) > 6 else "")
    print(f"{len(features)} columns; {options.target} is one of {len(model.classes_)}: {labels}")
    print(f"{type(model).__name__} learned from counts by {engine}: no rows were held out to score it on")
    print(f"written to {options.output} in {time.perf_counter() - started:.1f} s all in all")
    return 0


def predict_in_engine(model: Any, options: argparse.Namespace, engine: str) -> int:
    """Predict where the table is, into Parquet."""
    if Path(options.output).suffix != ".parquet":
        raise ValueError(f"{options.output} is no .parquet: predictions of a table in {engine} are written as Parquet")
    model.predict_table(opened(options, engine), options.output)
    say(f"written to {options.output}")
    return 0


def _is_many_files(table: str) -> bool:
    """Whether it is a folder, a pattern or a database."""
    is_database = Path(table.partition("::")[0]).suffix in DATABASES
    return is_database or os.path.isdir(table) or (any(c in table for c in "*?[") and not os.path.exists(table))


def _is_large(options: argparse.Namespace) -> bool:
    path = Path(options.table)
    if path.suffix.lower() not in FILES or not path.is_file():
        return False
    budget = options.memory or SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return IN_MEMORY * path.stat().st_size > budget
