"""What Spark's Python workers do with the rows of a partition: code and count them as it is done in memory.

Record batches come in and go out. A batch of coded rows is a pickled `ArrayCounts`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import ArrayCounts, Request, Sample
from neuralkdb.grid import Grid
from neuralkdb.network import Codes, Floats
from neuralkdb.tables import code_type

RAW_ENTRIES = 2**23  # of a table that are held at once
CODED_ENTRIES = 2**25
MOST_RECORDS = 2**16  # of a batch that goes out
Batches = Iterator[Any]
Cells = tuple[Codes, NDArray[np.intp], Floats]
CLASS, WEIGHT = "class", "weight"


@dataclass(frozen=True)
class ValueCounts:
    """The weight of each value, or cell of a grid, of each column in each class."""

    n_columns: int
    grids: tuple[Grid | None, ...] | None = None

    def __call__(self, batches: Batches) -> Batches:
        """Parts of the counts, which add up."""
        for table in _tables(batches):
            classes = table[CLASS].combine_chunks().dictionary_encode()
            for branch in range(self.n_columns):
                yield from self._counted(branch, table, classes).to_batches(MOST_RECORDS)

    def _counted(self, branch: int, table: Any, classes: Any) -> Any:
        import pyarrow as pa

        values = table[f"v{branch}"]
        weights = table[WEIGHT] if WEIGHT in table.column_names else np.ones(len(table))
        columns = {"value": values, "index": classes.indices, WEIGHT: weights}
        asked = [(WEIGHT, "sum")]
        if self.grids is not None:
            columns |= {"value": _grid_cells(values, self.grids[branch]), "number": values}
            asked += [("number", "min"), ("number", "max")]
        found = pa.table(columns).group_by(["value", "index"], use_threads=False).aggregate(asked)
        which = pa.array(np.full(len(found), branch, np.int32))
        labels = classes.dictionary.take(found["index"])
        parts = [which, found["value"], labels, *(found[f"{name}_{how}"] for name, how in asked)]
        return pa.table(parts, names=["branch", "value", CLASS, WEIGHT, "low", "high"][: len(parts)])


def _grid_cells(values: Any, grid: Grid | None) -> Any:
    import pyarrow as pa

    if grid is None:
        return values
    return pa.array(grid.cells(values.to_numpy()), from_pandas=True)


@dataclass(frozen=True)
class ColumnCodes:
    """The number of ascending edges at most as high as a value, `absent` where there is none."""

    edges: tuple[Any, ...]
    absent: int
    cardinality: int

    def of(self, values: Any) -> NDArray[np.intp]:
        """The code of each value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            edges = pa.array(self.edges, values.type)
            codes = pc.fill_null(pc.index_in(values, value_set=edges), -1).to_numpy() + 1
        else:
            known = pc.fill_null(values, 0).to_numpy()
            codes = np.searchsorted(np.array(self.edges, known.dtype), known, side="right")
        return np.where(values.is_null().to_numpy(), self.absent, codes)


@dataclass(frozen=True)
class Coding:
    """How rows of values become coded rows."""

    features: tuple[ColumnCodes, ...]
    classes: ColumnCodes

    def __call__(self, batches: Batches) -> Batches:
        """Coded rows, many at a time."""
        import pyarrow as pa

        for table in _tables(batches):
            yield pa.record_batch([pa.array([pickle.dumps(self._coded(table))], pa.binary())], names=["rows"])

    def _coded(self, table: Any) -> ArrayCounts:
        cardinalities = [each.cardinality for each in self.features]
        dtype = code_type((*cardinalities, self.classes.cardinality))
        codes = np.empty((len(table), len(self.features)), dtype, order="F")
        for variable, each in enumerate(self.features):
            codes[:, variable] = each.of(table[f"v{variable}"])
        weights = table[WEIGHT].to_numpy() if WEIGHT in table.column_names else None
        return ArrayCounts.of(codes, self.classes.of(table[CLASS]), weights, cardinalities, self.classes.cardinality)


@dataclass(frozen=True)
class Tables:
    """The cells of each request."""

    requests: tuple[Request, ...]

    def __call__(self, counts: ArrayCounts) -> list[Cells]:
        """As they are counted in memory."""
        return [table.cells() for table in counts.tables(self.requests)]


def distinct_rows(counts: ArrayCounts) -> list[Cells]:
    """One table of all features, marginalized ones too."""
    rows = counts.rows()
    return [(rows.codes, rows.classes, rows.weights)]


def class_weights(counts: ArrayCounts) -> list[Cells]:
    """One table of no features."""
    weights = counts.class_weights()
    return [(np.empty((len(weights), 0), np.uint8), np.arange(len(weights)), weights)]


@dataclass(frozen=True)
class RowsOfClass:
    """The rows of one class."""

    label: int

    def __call__(self, counts: ArrayCounts) -> ArrayCounts:
        """The rows left."""
        return counts.of_class(self.label)


@dataclass(frozen=True)
class RowsInSample:
    """The rows that are in a sample."""

    sample: Sample

    def __call__(self, counts: ArrayCounts) -> ArrayCounts:
        """The rows left."""
        return counts.chosen(self.sample)


@dataclass(frozen=True)
class Layout:
    """A cell as bytes, ordered as cells are: its codes, zeros where others have more, and its class."""

    width: int
    dtype: np.dtype[Any]

    @cached_property
    def type(self) -> np.dtype[Any]:
        """What is written: its highest byte first."""
        return self.dtype.newbyteorder(">")

    def packed(self, codes: Codes, classes: NDArray[np.intp]) -> Any:
        """An Arrow array of one item a cell."""
        import pyarrow as pa

        cells = np.zeros((len(classes), self.width + 1), self.type)
        cells[:, : codes.shape[1]] = codes
        cells[:, -1] = classes
        ends = np.arange(len(cells) + 1, dtype=np.int32) * (self.width + 1) * self.dtype.itemsize
        return pa.Array.from_buffers(pa.binary(), len(cells), [None, pa.py_buffer(ends), pa.py_buffer(cells)])

    def unpacked(self, cells: bytes) -> Codes:
        """(cells, width + 1): codes and class."""
        return np.frombuffer(cells, self.type).astype(self.dtype).reshape(-1, self.width + 1)


@dataclass(frozen=True)
class CellCounts:
    """What is asked of the coded rows that are left after some steps."""

    steps: tuple[Callable[[ArrayCounts], ArrayCounts], ...]
    asked: Callable[[ArrayCounts], list[Cells]]
    layout: Layout

    def __call__(self, batches: Batches) -> Batches:
        """Parts of the counts, which add up."""
        for counts in _together(pickle.loads(rows) for batch in batches for rows in batch["rows"].to_pylist()):
            for step in self.steps:
                counts = step(counts)
            for branch, cells in enumerate(self.asked(counts)):
                yield self._batch(branch, *cells)

    def _batch(self, branch: int, codes: Codes, classes: NDArray[np.intp], weights: Floats) -> Any:
        import pyarrow as pa

        which = np.full(len(classes), branch, np.int32)
        return pa.record_batch(
            [pa.array(which), self.layout.packed(codes, classes), weights], ["branch", "cell", WEIGHT]
        )


def side_by_side(batches: Batches) -> Batches:
    """The cells of a batch and their weights, all in one row."""
    import pyarrow as pa

    for batch in batches:
        cells, weights = b"".join(batch["cell"].to_pylist()), batch[WEIGHT].to_numpy().tobytes()
        yield pa.record_batch([pa.array([part], pa.binary()) for part in (cells, weights)], names=["cells", "weights"])


def _tables(batches: Batches) -> Iterator[Any]:
    """The rows of several batches at a time."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) * batch.num_columns >= RAW_ENTRIES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _together(parts: Iterator[ArrayCounts]) -> Iterator[ArrayCounts]:
    """The coded rows of several parts at a time."""
    held: list[ArrayCounts] = []
    for part in parts:
        held.append(part)
        if sum(each.codes.size for each in held) >= CODED_ENTRIES:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(parts: Sequence[ArrayCounts]) -> ArrayCounts:
    first = parts[0]
    codes, classes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "classes"))
    weights = None if first.weights is None else np.concatenate([part.weights for part in parts])
    return ArrayCounts.of(codes, classes, weights, first.cardinalities, first.n_classes)
