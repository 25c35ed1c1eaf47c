"""Rows in an engine, ready to be learned from: what `TrainingData` is for rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.columns import Column, as_objects
from neuralkdb.discretization import CutPoints
from neuralkdb.encoding import Encoding, encoding_of
from neuralkdb.engines.counts import TableCounts
from neuralkdb.engines.frame import CLASS, WEIGHT, Frame
from neuralkdb.engines.readings import Book, Reading, reading
from neuralkdb.engines.sites import LazyTable, Sites
from neuralkdb.engines.sources import opened
from neuralkdb.engines.values import summaries_of
from neuralkdb.frames import mark_categorical, read_target
from neuralkdb.network import Floats
from neuralkdb.summaries import ColumnSummary

Summaries = dict[tuple[int, bool], ColumnSummary]  # by column, and whether as categories


@dataclass(frozen=True)
class TableData:
    """Columns of a lazy table, a target, and what has been learned about them so far."""

    frame: LazyTable
    readings: tuple[Reading, ...]
    target: Reading
    labels: NDArray[Any]  # (classes,)
    keys: list[Any]  # the labels as the engine knows them
    class_weights: Floats  # (classes,)
    n_rows: int
    close: ExitStack
    known: Summaries = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return [each.name for each in self.readings]

    def encoding(
        self, cut_points: CutPoints | None, missing: str, categorical_features: Any, n_threads: int = 1
    ) -> Encoding:
        """The code books of these rows."""
        summaries = self.summaries(categorical_features)
        if cut_points is None or not cut_points.needs_classes:
            summaries = [summary.without_classes for summary in summaries]
        return encoding_of(self.names, summaries, cut_points=cut_points, missing=missing)

    def counts(self, encoding: Encoding, n_threads: int = 1) -> TableCounts:
        """The coded rows, held by the engine, ready to be counted."""
        readings = self.readings * (len(encoding.coders) // len(self.readings))
        pairs = list(zip(readings, encoding.coders, strict=True))
        gaps = {self.readings[j].name for (j, _), summary in self.known.items() if summary.missing.any()}
        books = [
            Book(each.values, _edges(each, coder), coder.absent, coder.cardinality, each.name in gaps)
            for each, coder in pairs
        ]
        classes = Book(self.target.values, self.keys[1:], 0, len(self.keys))
        coded = self.frame.coded(books, classes, self.close)
        return TableCounts(coded, encoding.cardinalities, self.class_weights, self.n_rows, n_threads)

    def summaries(self, categorical_features: Any, n_threads: int = 1) -> list[ColumnSummary]:
        """The weight of each value of each column in each class."""
        return self.summarized(self.categorical(categorical_features))

    def of_labels(self, labels: NDArray[Any]) -> TableData:
        """The same rows, their classes numbered as in `labels`."""
        unknown = np.setdiff1d(self.labels, labels).tolist()
        if unknown:
            raise ValueError(f"The target holds {unknown[0]!r}, which is none of the classes {labels.tolist()}.")
        keys = [int(label) if self.target.kind == "bools" else label for label in labels.tolist()]
        weights = np.zeros(len(keys))
        weights[[keys.index(key) for key in self.keys]] = self.class_weights
        return replace(self, labels=labels, keys=keys, class_weights=weights, known={})

    def check_known(self, coders: Sequence[Any]) -> None:
        """Complain about categories that have no code: they are from other rows than the encoding."""
        marked = np.array([hasattr(coder, "levels") for coder in coders])
        for coder, summary in zip(coders, self.summarized(marked), strict=True):
            unknown = set(summary.values.tolist()) - set(coder.levels) if hasattr(coder, "levels") else ()
            if unknown:
                raise ValueError(
                    f"Column {coder.name!r} holds {min(map(repr, unknown))}, which the encoding does not know: "
                    "learn it from all tables, fit_table([one, other])."
                )

    def categorical(self, categorical_features: Any) -> NDArray[np.bool_]:
        """Which features are categories."""
        columns = [Column(each.name, np.empty(0), () if each.has_levels else None) for each in self.readings]
        return mark_categorical(columns, categorical_features)

    def summarized(self, categorical: NDArray[np.bool_]) -> list[ColumnSummary]:
        """The weight of each value of each column in each class, asked for once."""
        wanted = [(j, bool(marked)) for j, marked in enumerate(categorical)]
        new = [key for key in wanted if key not in self.known]
        readings = [self.readings[j].as_levels() if marked else self.readings[j] for j, marked in new]
        for key, summary in zip(new, summaries_of(self.frame, readings, self.target, self.keys), strict=True):
            self.known[key] = summary
        return [self.known[key] for key in wanted]


@contextmanager
def table_data(source: Any, target: str, weight: str | None, features: Sequence[str] | None) -> Iterator[TableData]:
    """The rows of a source; what the engine holds for them is let go at the end."""
    with ExitStack() as close:
        frame = _frame(source)
        named = _readings(frame, target, weight, features)
        if weight is not None:
            _check_weights(frame, weight)
            frame = frame.weighted(weight)
        label = named.pop(target).as_levels()
        yield TableData(frame, tuple(named.values()), label, *_classes(frame, label), close)


def _frame(source: Any) -> LazyTable:
    """The table, or the tables of several sites."""
    if not isinstance(source, list | tuple):
        return Frame.of(*opened(source))
    if not source:
        raise ValueError("There are no tables: pass at least one.")
    return Sites.of([Frame.of(*opened(each)) for each in source])


def _readings(frame: LazyTable, target: str, weight: str | None, features: Sequence[str] | None) -> dict[str, Reading]:
    """The target and the features, in the order of the features."""
    chosen = [name for name in frame.schema if name not in (target, weight)] if features is None else list(features)
    unknown = [name for name in (target, *([] if weight is None else [weight]), *chosen) if name not in frame.schema]
    if unknown:
        raise ValueError(f"The table has no column {unknown[0]!r}: it has {list(frame.schema)}.")
    if not chosen or {target, weight} & set(chosen):
        raise ValueError(f"Features must be columns other than the target and the weight, got {chosen}.")
    readings = {name: reading(name, frame.schema[name]) for name in (*chosen, target)}
    for name, known in readings.items():
        if known is None:
            raise TypeError(
                f"Column {name!r} is of type {frame.schema[name]}, which is neither a number, text, a bool, a "
                "categorical nor a time: cast it in the engine, or leave it out with features=[...]."
            )
    return {name: known for name, known in readings.items() if known is not None}


def _check_weights(frame: LazyTable, weight: str) -> None:
    known = reading(weight, frame.schema[weight])
    if known is None or known.kind != "numbers":
        raise TypeError(f"The weight {weight!r} is of type {frame.schema[weight]}, which is no number.")
    lowest, missing = frame.weight_range(known)
    if missing:
        raise ValueError(f"The weight {weight!r} is missing in {missing} rows: weights must be numbers.")
    if lowest < 0:
        raise ValueError(f"The weight {weight!r} holds {lowest}: weights must not be negative.")


def _classes(frame: LazyTable, target: Reading) -> tuple[NDArray[Any], list[Any], Floats, int]:
    """Labels, the engine's keys of them, their weights, and the number of rows."""
    answer = frame.classes(target)
    keys = answer[CLASS].tolist()
    known = [key is not None and key == key for key in keys]
    if not all(known):
        missing = int(sum(n for n, there in zip(answer["rows"], known, strict=True) if not there))
        raise ValueError(f"The target {target.name!r} is missing in {missing} rows: leave them out of the table.")
    if not keys:
        raise ValueError("Found 0 rows of positive weight: at least one is needed to learn from.")
    ordered = sorted(set(keys))
    labels, _ = read_target(_label_array(target, ordered))
    weights = np.bincount([ordered.index(key) for key in keys], answer[WEIGHT].astype(float), len(ordered))
    return labels, ordered, weights.astype(float), int(answer["rows"].sum())


def _label_array(target: Reading, keys: list[Any]) -> NDArray[Any]:
    if target.kind == "text":
        return as_objects(keys)
    return np.array([bool(key) for key in keys]) if target.kind == "bools" else np.array(keys)


def _edges(each: Reading, coder: Any) -> list[Any]:
    """Where one code ends and the next begins."""
    if hasattr(coder, "cuts"):
        return [float(cut) for cut in coder.cuts]
    levels = [level for level in coder.levels if level is not None]
    return [int(level) if isinstance(level, bool) else level for level in levels[1:]]
