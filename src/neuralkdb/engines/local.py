"""Polars, and whatever else narwhals knows in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.unions import UnitingEngine

STREAMING = "collect_batches"  # of Polars


@dataclass(frozen=True)
class LocalEngine(UnitingEngine):
    """A library that computes when it is asked to."""

    name: str

    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """A Parquet file, where the library can scan one lazily; the lazy table itself otherwise."""
        scan = getattr(lazy.implementation.to_native_namespace(), "scan_parquet", None)
        if scan is None:
            return lazy.to_native()
        path = temporary_file(close)
        lazy.sink_parquet(path)
        return scan(path)

    def streamed(self, lazy: Any, n_rows: int) -> Iterator[Any]:
        """All rows at once where the library cannot stream them: it has them in memory."""
        native = lazy.to_native()
        return self.batches(native, n_rows) if hasattr(native, STREAMING) else iter([lazy.collect().to_native()])

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """Arrow tables of a streamed query, text in a type that every version can write."""
        if not hasattr(native, STREAMING):
            raise EngineError(f"Tables of {self.name} cannot be streamed: write them as Parquet and pass the path.")
        yield from (batch.to_arrow() for batch in native.collect_batches(chunk_size=n_rows, maintain_order=True))


def temporary_file(close: ExitStack) -> Path:
    """Where coded rows are kept until `close`."""
    return Path(close.enter_context(TemporaryDirectory(prefix="neuralkdb-"))) / "codes.parquet"
