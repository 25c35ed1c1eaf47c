"""What engines do each in their own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol, runtime_checkable

from neuralkdb.engines.errors import EngineError


class Engine(Protocol):
    """What narwhals leaves to the engine."""

    @property
    def name(self) -> str:
        """What error messages call it."""

    @property
    def branches(self) -> int:
        """How many groupings are asked for in one query."""

    @property
    def collecting(self) -> Mapping[str, Any]:
        """What narwhals needs to know to fetch an answer."""

    def prepared(self, native: Any) -> Any:
        """The table, its columns of types that narwhals cannot convert made numbers."""

    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """The rows of a lazy table, computed once and kept outside this process until `close`."""


class StreamingEngine(Engine, Protocol):
    """An engine whose rows can be had here, a few at a time."""

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """The rows in order, about so many at a time, as tables that classifiers read."""


@runtime_checkable
class DistributedEngine(Engine, Protocol):
    """An engine that predicts where its rows are."""

    def write_predictions(
        self, native: Any, classifier: Any, predictor: Any, features: Sequence[str], keep: Sequence[str], out: Path
    ) -> None:
        """What `predictor(classifier, features)` makes of each batch, beside the columns to keep, as a folder."""


@dataclass(frozen=True)
class LocalEngine:
    """Polars, and whatever else narwhals knows in this process."""

    name: str
    branches: ClassVar[int] = 64
    collecting: ClassVar[Mapping[str, Any]] = {}

    def prepared(self, native: Any) -> Any:
        """The table as it is."""
        return native

    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """A Parquet file, where the library can scan one lazily; the lazy table itself otherwise."""
        scan = getattr(lazy.implementation.to_native_namespace(), "scan_parquet", None)
        if scan is None:
            return lazy.to_native()
        path = temporary_file(close)
        lazy.sink_parquet(path)
        return scan(path)

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """Batches of a streamed query."""
        if not hasattr(native, "collect_batches"):
            raise EngineError(f"Tables of {self.name} cannot be streamed: write them as Parquet and pass the path.")
        yield from native.collect_batches(chunk_size=n_rows, maintain_order=True)


def temporary_file(close: ExitStack) -> Path:
    """Where coded rows are kept until `close`."""
    return Path(close.enter_context(TemporaryDirectory(prefix="neuralkdb-"))) / "codes.parquet"
