"""What the user gave -> a lazy table and the engine that holds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from neuralkdb.engines.duck import DuckDB, scan
from neuralkdb.engines.engine import DistributedEngine, StreamingEngine
from neuralkdb.engines.local import LocalEngine
from neuralkdb.engines.spark import Spark

Known = StreamingEngine | DistributedEngine
ENGINES: dict[str, Callable[[], Known]] = {"duckdb": DuckDB, "pyspark": Spark}


def opened(source: Any, *, ordered: bool = False) -> tuple[Any, Known]:
    """The native lazy table and its engine; paths are opened with DuckDB."""
    if isinstance(source, str | os.PathLike):
        return scan(os.fspath(source), ordered=ordered), DuckDB()
    library = type(source).__module__.partition(".")[0].lstrip("_")
    return source, ENGINES.get(library, lambda: LocalEngine(library))()
