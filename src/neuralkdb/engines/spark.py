"""Spark: counts on a cluster."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import ArrayCounts, Request, Sample
from neuralkdb.engines.engine import Answer, divided
from neuralkdb.engines.errors import EngineError, failing, missing
from neuralkdb.engines.executors import (
    CellCounts,
    Cells,
    Coding,
    ColumnCodes,
    Layout,
    RowsInSample,
    RowsOfClass,
    Tables,
    ValueCounts,
    class_weights,
    distinct_rows,
    side_by_side,
)
from neuralkdb.engines.frame import CLASS, WEIGHT, Frame
from neuralkdb.engines.lazy import nw
from neuralkdb.engines.readings import Book
from neuralkdb.grid import grid_of
from neuralkdb.network import Floats
from neuralkdb.tables import code_type

MICROSECONDS = {
    "date": "unix_date(`{0}`) * 86400000000.0D",
    "timestamp": "unix_micros(`{0}`)",
    "timestamp_ntz": "unix_micros(CAST(convert_timezone('UTC', current_timezone(), `{0}`) AS TIMESTAMP))",
}

MOST_COLUMNS = 32  # whose values are counted in one pass, since Spark limits the size of an answer
MASTERS = ("spark://", "k8s://", "yarn", "local")
SQL_TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double"}  # of labels


@dataclass(frozen=True)
class Spark:
    """Counts in Python workers, one job a question; Spark's shuffle adds them up."""

    name: ClassVar[str] = "Spark"
    collecting: ClassVar[Mapping[str, Any]] = {"backend": "pyarrow"}

    def prepared(self, native: Any) -> Any:
        """Times as nanoseconds since 1970."""
        times = {name: MICROSECONDS[kind] for name, kind in native.dtypes if kind in MICROSECONDS}
        if not times:
            return native
        return native.selectExpr(*(_column(name, times.get(name)) for name in native.columns))

    def values(self, frame: Frame, columns: Sequence[Any], classes: Any, limit: int | None) -> list[Answer]:
        """For each column: values with class and weight; where there are more than `limit`, at least so many."""
        answers: list[Answer] = []
        for some in _batches(columns):
            found = _grouped(frame, some, classes, ValueCounts(len(some)))
            found = found if limit is None else found.limit(limit * len(some))
            answers += _divided(frame, found, len(some), "counting values")
        return answers

    def grids(
        self, frame: Frame, columns: Sequence[Any], bounds: Sequence[tuple[float, float]], classes: Any
    ) -> list[Answer]:
        """For each column of numbers: cells of the grid with class, weight, lowest and highest number."""
        answers: list[Answer] = []
        for some, grids in zip(_batches(columns), _batches([grid_of(*ends) for ends in bounds]), strict=True):
            found = _grouped(frame, some, classes, ValueCounts(len(some), tuple(grids)))
            answers += _divided(frame, found.withColumnRenamed("value", "cell"), len(some), "counting values")
        return answers

    def coded(self, frame: Frame, books: Sequence[Book], classes: Book, close: ExitStack) -> CodedParts:
        """Coded rows, cached by the executors, which compute lost ones again."""
        values = {f"v{variable}": book.values for variable, book in enumerate(books)}
        native = frame.selected({**values, CLASS: classes.values}).to_native()
        features = tuple(_column_codes(book) for book in books)
        held = native.mapInArrow(Coding(features, _column_codes(classes)), "rows binary").persist()
        close.callback(held.unpersist)
        return CodedParts(frame, held, tuple(book.cardinality for book in books), classes.cardinality)

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


@dataclass(frozen=True)
class CodedParts:
    """Coded rows, many in a row of a data frame."""

    frame: Frame  # through which answers come
    parts: Any
    cardinalities: tuple[int, ...]
    n_classes: int
    steps: tuple[Callable[[ArrayCounts], ArrayCounts], ...] = ()  # what is left of the rows

    def cells(self, requests: Sequence[Request]) -> list[Answer]:
        """For each request: its cells with class and weight; rows are left out in which it is marginalized."""
        width = max(map(len, requests))
        found = self._counted(Tables(tuple(requests)), width)
        answers = _divided(self.frame, found, len(requests), "counting")
        return [self._answer(b"".join(each["cell"]), each[WEIGHT], width) for each in answers]

    def batches(self, n_rows: int) -> Iterator[Answer]:
        """The distinct rows in lexicographic order, class last, with their weights, as many as Spark batches."""
        width = len(self.cardinalities)
        ordered = self._counted(distinct_rows, width).orderBy("cell")
        with failing("Spark", "sending coded rows"):
            for row in ordered.mapInArrow(side_by_side, "cells binary, weights binary").toLocalIterator():
                yield self._answer(row["cells"], np.frombuffer(row["weights"]), width)

    def n_cells(self) -> int:
        """How many distinct rows there are, those of different classes told apart."""
        found = self._counted(distinct_rows, len(self.cardinalities)).selectExpr("count(*) AS cells")
        return int(_fetched(self.frame, found, "counting distinct rows")["cells"][0])

    def sampled(self, sample: Sample) -> tuple[CodedParts, Floats]:
        """The rows that are in a sample, and the weight of each class there."""
        some = replace(self, steps=(*self.steps, RowsInSample(sample)))
        (answer,) = _divided(some.frame, some._counted(class_weights, 0), 1, "counting classes")
        classes = self._layout(0).unpacked(b"".join(answer["cell"]))[:, 0]
        weights = np.bincount(classes, answer[WEIGHT], self.n_classes)
        return some, weights.astype(float)

    def of_class(self, label: int) -> CodedParts:
        """The rows of this class, which becomes their only one."""
        return replace(self, steps=(*self.steps, RowsOfClass(label)), n_classes=1)

    def _counted(self, asked: Callable[[ArrayCounts], list[Cells]], width: int) -> Any:
        work = CellCounts(self.steps, asked, self._layout(width))
        found = self.parts.mapInArrow(work, f"branch int, cell binary, {WEIGHT} double")
        return found.groupBy("branch", "cell").agg({WEIGHT: "sum"}).toDF("branch", "cell", WEIGHT)

    def _answer(self, cells: bytes, weights: Floats, width: int) -> Answer:
        codes = self._layout(width).unpacked(cells)
        return {**{f"v{i}": codes[:, i] for i in range(width)}, CLASS: codes[:, -1], WEIGHT: weights}

    def _layout(self, width: int) -> Layout:
        return Layout(width, code_type((*self.cardinalities, self.n_classes)))


def _batches(columns: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Columns that are counted together."""
    return (columns[first : first + MOST_COLUMNS] for first in range(0, len(columns), MOST_COLUMNS))


def _grouped(frame: Frame, columns: Sequence[Any], classes: Any, work: ValueCounts) -> Any:
    """Values of one type with class and weight, and with their ends where they are cells of a grid."""
    native = frame.selected({**{f"v{i}": each for i, each in enumerate(columns)}, CLASS: classes}).to_native()
    types = dict(native.dtypes)
    schema = f"branch int, value {types['v0']}, {CLASS} {types[CLASS]}, {WEIGHT} double"
    summed = [f"sum({WEIGHT}) AS {WEIGHT}"]
    if work.grids is not None:
        schema += ", low double, high double"
        summed += ["min(low) AS low", "max(high) AS high"]
    from pyspark.sql.functions import expr

    return native.mapInArrow(work, schema).groupBy("branch", "value", CLASS).agg(*map(expr, summed))


def _divided(frame: Frame, native: Any, n_branches: int, doing: str) -> list[Answer]:
    return divided(_fetched(frame, native, doing), n_branches)


def _fetched(frame: Frame, native: Any, doing: str) -> Answer:
    return frame.collect(nw.from_native(native).lazy(), doing)


def _column_codes(book: Book) -> ColumnCodes:
    return ColumnCodes(tuple(book.edges), book.absent, book.cardinality)


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
    if not master.startswith(MASTERS):
        raise EngineError(f"{master} is no Spark master: name one as spark://host:7077, k8s://..., yarn or local[4].")
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
