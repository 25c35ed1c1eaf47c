"""DuckDB: the engine that comes with the library, for Parquet, CSV and DuckDB files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar

from neuralkdb.columns import MISSING
from neuralkdb.engines.errors import EngineError, failing, missing
from neuralkdb.engines.local import temporary_file
from neuralkdb.engines.unions import UnitingEngine

SETTINGS = {  # of the library's own connections: what does not fit into this much memory is on disk
    "memory_limit": "1GB",
    "temp_directory": gettempdir(),
    "preserve_insertion_order": "false",
    "enable_progress_bar": "false",
}
READERS = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".txt": "read_csv",
}
DATABASES = {".duckdb", ".db", ".ddb"}


@dataclass(frozen=True)
class DuckDB(UnitingEngine):
    """Counts by SQL; coded rows go to a temporary Parquet file."""

    name: ClassVar[str] = "DuckDB"
    collecting: ClassVar[Mapping[str, Any]] = {"backend": "pyarrow"}

    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """A Parquet file, written by the connection of the table and read by one of its own."""
        path = temporary_file(close)
        lazy.to_native().to_parquet(str(path), compression="zstd")
        connection = connect()
        close.callback(connection.close)
        return connection.read_parquet(str(path))

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """Batches of a streamed query."""
        import pyarrow as pa

        yield from (pa.Table.from_batches([batch]) for batch in native.to_arrow_reader(n_rows))


def connect() -> Any:
    """A connection that stays small."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise missing("duckdb", "engines", "Reading tables from files") from error
    connection = duckdb.connect()
    for name, value in SETTINGS.items():
        connection.execute(f"SET {name} = '{value}'")
    return connection


def scan(source: str, *, ordered: bool = False) -> Any:
    """The table in a file, a folder of Parquet files, or all files that match a pattern.

    A table in a database is `file.duckdb::table`; the name may be left out where there is one table.
    """
    path, _, table = source.partition("::")
    connection = connect()
    if ordered:
        connection.execute("SET preserve_insertion_order = true")
    if Path(path).suffix in DATABASES:
        return _table_of_database(connection, path, table)
    if Path(path).is_dir():
        path = f"{path.rstrip('/')}/**/*.parquet"
    elif not any(letter in path for letter in "*?[") and not Path(path).exists():
        raise FileNotFoundError(f"There is no file {path}.")
    suffix = next((suffix for suffix in reversed(Path(path).suffixes) if suffix in READERS), None)
    if suffix is None:
        raise EngineError(
            f"{path} has no known ending: tables are read from {', '.join(READERS)} (also .csv.gz), "
            f"{', '.join(DATABASES)}, folders of .parquet files and patterns such as data/*.parquet."
        )
    with failing("DuckDB", f"opening {path}"):
        if READERS[suffix] == "read_csv":
            return connection.read_csv(path, na_values=MISSING)
        return connection.read_parquet(path)


def _table_of_database(connection: Any, path: str, table: str) -> Any:
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    quoted = path.replace("'", "''")
    with failing("DuckDB", f"opening {path}"):
        connection.execute(f"ATTACH '{quoted}' AS source (READ_ONLY)")
        known = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source' ORDER BY 1"
        names = [name for (name,) in connection.execute(known).fetchall()]
    if not table and len(names) == 1:
        table = names[0]
    if table not in names:
        raise EngineError(f"{path} holds the tables {names}: name one of them, as {path}::{(names or ['table'])[0]}.")
    name = table.replace('"', '""')
    return connection.sql(f'SELECT * FROM source."{name}"')
