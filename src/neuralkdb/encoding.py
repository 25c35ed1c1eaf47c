"""A table of anything -> codes, and what each code stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.coders import Coder, Rule, coder_of
from neuralkdb.columns import Column
from neuralkdb.discretization import CutPoints
from neuralkdb.summaries import ColumnSummary, summarize

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Coding:
    """A table about to be coded: what depends on the columns alone is done once, not per block."""

    rules: tuple[Rule, ...]
    dtype: np.dtype[Any]

    def codes(self, rows: slice = slice(None), n_threads: int = 1) -> Codes:
        """(n_rows, n_features), column by column: the codes of these rows."""
        values = [rule.values[rows] for rule in self.rules]
        codes = np.empty((len(values[0]), len(values)), dtype=self.dtype, order="F")
        _kernels.code_columns(values, [rule.book for rule in self.rules], codes, n_threads)
        return codes


@dataclass(frozen=True, eq=False)
class Encoding:
    """How each column of a table becomes codes."""

    coders: tuple[Coder, ...]
    missing: str = "value"

    @property
    def n_features(self) -> int:
        """The number of columns that are coded."""
        return len(self.coders)

    @property
    def column_coders(self) -> tuple[Coder, ...]:
        """One for each column, the first where there are several."""
        return self.coders[: self.n_features]

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of codes of each feature. The code after the last means marginalized."""
        return tuple(coder.cardinality for coder in self.coders)

    def labels(self, feature: int) -> tuple[str, ...]:
        """What each code of a feature stands for."""
        return self.coders[feature].labels

    def coding(self, columns: Sequence[Column]) -> Coding:
        """The table ready to be coded block by block."""
        pairs = zip(self.coders, columns, strict=True)
        dtype = np.min_scalar_type(max(self.cardinalities))
        return Coding(tuple(coder.rule(column) for coder, column in pairs), dtype)

    def encode(self, columns: Sequence[Column], n_threads: int = 1) -> Codes:
        """(n_rows, n_features), column by column: the codes of all rows."""
        return self.coding(columns).codes(n_threads=n_threads)

    def extended(self, columns: Sequence[Column]) -> Encoding:
        """The encoding that also knows the categories of these columns; known codes stay."""
        pairs = zip(self.coders, columns, strict=True)
        new_missing = self.missing == "value"
        return replace(self, coders=tuple(c.extended(column, new_missing) for c, column in pairs))


@dataclass(frozen=True, eq=False)
class SideBySide(Encoding):
    """Several encodings of the same columns: code v * n_columns + j of a row is that of column j in view v."""

    n_columns: int = 0

    @property
    def n_features(self) -> int:
        """The number of columns that are coded."""
        return self.n_columns

    def coding(self, columns: Sequence[Column]) -> Coding:
        """The table ready to be coded block by block."""
        return super().coding(list(columns) * (len(self.coders) // self.n_columns))


def learn_encoding(
    columns: Sequence[Column],
    classes: NDArray[np.uint32],
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
    *,
    cut_points: CutPoints | None,
    missing: str = "value",
    categorical: NDArray[np.bool_] | None = None,
    n_threads: int = 1,
) -> Encoding:
    """The encoding learned from rows of positive weight; numbers without cuts are categories."""
    by_class = cut_points is not None and cut_points.needs_classes
    summaries = summarize(
        columns,
        classes if by_class else None,
        n_classes if by_class else 1,
        weights,
        categorical=categorical,
        n_threads=n_threads,
    )
    names = [column.name for column in columns]
    return encoding_of(names, summaries, cut_points=cut_points, missing=missing)


def encoding_of(
    names: Sequence[str],
    summaries: Iterable[ColumnSummary],
    *,
    cut_points: CutPoints | None,
    missing: str = "value",
) -> Encoding:
    """The encoding that columns with these summaries get."""
    named = enumerate(zip(names, summaries, strict=True))
    coders = (coder_of(name, summary, j, cut_points, missing) for j, (name, summary) in named)
    return Encoding(tuple(coders), missing)
