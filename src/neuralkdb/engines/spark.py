"""Spark: counts on a cluster."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from neuralkdb.engines.errors import EngineError, failing, missing

MICROSECONDS = {
    "date": "unix_date(`{0}`) * 86400000000.0D",
    "timestamp": "unix_micros(`{0}`)",
    "timestamp_ntz": "unix_micros(CAST(convert_timezone('UTC', current_timezone(), `{0}`) AS TIMESTAMP))",
}

SQL_TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double"}  # of labels


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

    def write_predictions(
        self,
        native: Any,
        classifier: Any,
        predictor: Callable[[Any, Sequence[str]], Callable[[Any], Mapping[str, NDArray[Any]]]],
        features: Sequence[str],
        keep: Sequence[str],
        out: Path,
    ) -> None:
        """A folder of Parquet files, one a partition, written by the executors, which are sent the model once."""
        import pandas as pd

        shared = native.sparkSession.sparkContext.broadcast(classifier)

        def predicted(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            predict = predictor(shared.value, features)
            for batch in batches:
                kept = batch[list(keep)].reset_index(drop=True)
                yield pd.concat([kept, pd.DataFrame(predict(batch))], axis=1)

        fields = [f"{_quoted(name)} {kind}" for name, kind in native.select(*map(_quoted, keep)).dtypes]
        kind = SQL_TYPES.get(classifier.classes_.dtype.kind, "string")
        probabilities = [f"{_quoted(f'probability_{label}')} double" for label in classifier.classes_.tolist()]
        schema = ", ".join([*fields, f"prediction {kind}", *probabilities])
        native.mapInPandas(predicted, schema).write.parquet(out.absolute().as_uri())
        shared.unpersist()


def connect(master: str) -> Any:
    """A session of an existing master."""
    _check_reachable(master)
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise missing("pyspark", "spark", "Counting with Spark") from error
    with failing("Spark", f"connecting to {master}, which needs Java 17 here"), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about versions of pandas
        session = SparkSession.builder.appName("neuralkdb").master(master).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    return session


def _check_reachable(master: str) -> None:
    """Spark itself tries for minutes."""
    scheme, _, address = master.partition("://")
    if scheme != "spark":
        return
    for each in address.split(","):
        host, _, port = each.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except (OSError, ValueError) as error:
            raise EngineError(f"There is no Spark master at {master}: {error}.") from error


def read(session: Any, source: str) -> Any:
    """The Spark data frame of a file, a folder of Parquet files, or all files that match a pattern."""
    uri = source if "://" in source else f"file://{os.path.abspath(source)}"
    with failing("Spark", f"opening {source}"):
        if source.removesuffix(".gz").endswith((".csv", ".tsv")):
            separator = "\t" if ".tsv" in source else ","
            return session.read.csv(uri, header=True, inferSchema=True, sep=separator)
        return session.read.option("recursiveFileLookup", True).parquet(uri)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _column(name: str, microseconds: str | None) -> str:
    if microseconds is None:
        return _quoted(name)
    return f"CAST({microseconds.format(name.replace('`', '``'))} AS DOUBLE) * 1000.0D AS {_quoted(name)}"
