"""Spark: counts on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar

MICROSECONDS = {
    "date": "unix_date(`{0}`) * 86400000000.0D",
    "timestamp": "unix_micros(`{0}`)",
    "timestamp_ntz": "unix_micros(CAST(convert_timezone('UTC', current_timezone(), `{0}`) AS TIMESTAMP))",
}


@dataclass(frozen=True)
class Spark:
    """Counts by Spark's GROUP BY; coded rows stay with the executors, which compute lost ones again."""

    name: ClassVar[str] = "Spark"
    branches: ClassVar[int] = 64
    collecting: ClassVar[Mapping[str, Any]] = {"backend": "pyarrow"}

    def prepared(self, native: Any) -> Any:
        """Times as nanoseconds since 1970."""
        times = {name: MICROSECONDS[kind] for name, kind in native.dtypes if kind in MICROSECONDS}
        if not times:
            return native
        return native.selectExpr(*(_column(name, times.get(name)) for name in native.columns))

    def hold(self, lazy: Any, close: ExitStack) -> Any:
        """The rows, cached by the executors."""
        held = lazy.to_native().persist()
        close.callback(held.unpersist)
        return held

    def batches(self, native: Any, n_rows: int) -> Iterator[Any]:
        """Partitions, one after another."""
        raise NotImplementedError("Spark predicts on its executors")


def _column(name: str, microseconds: str | None) -> str:
    quoted = name.replace("`", "``")
    if microseconds is None:
        return f"`{quoted}`"
    return f"CAST({microseconds.format(quoted)} AS DOUBLE) * 1000.0D AS `{quoted}`"
