"""How the values of one column become codes: the one policy for missing and unseen values.

`missing="value"` gives missing values a code of their own if fit saw any; `"impute"` gives them
the code of the mean or of the most frequent category; `"marginalize"` leaves them out. Whatever has
no code, a category that fit did not see included, is coded as the cardinality: marginalized.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.columns import EXACT_INTEGERS, Column, as_categories
from neuralkdb.discretization import CutPoints
from neuralkdb.summaries import ColumnSummary, summarize


@dataclass(frozen=True, eq=False)
class Rule:
    """Values that a kernel can read, and the book that codes them."""

    values: NDArray[Any]
    book: _kernels.Book


class Coder(Protocol):
    """How the values of one feature become codes below `cardinality`."""

    @property
    def cardinality(self) -> int:
        """The number of codes, at least one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for."""

    @property
    def absent(self) -> int:
        """The code of a missing value."""

    def rule(self, column: Column) -> Rule:
        """What the kernel needs to code this column."""

    def extended(self, column: Column, new_missing: bool) -> Coder:
        """The coder that also knows what is new in this column; known codes stay."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Numbers, coded by how many cuts are at most as high."""

    name: str
    cuts: NDArray[np.float64]
    n_intervals: int  # len(cuts) + 1, or 0 where fit saw no number
    missing: int | None = None  # the code of missing values, if they have one

    @property
    def cardinality(self) -> int:
        """The intervals and, under "value", the missing."""
        return max(self.n_intervals, 1 if self.missing is None else self.missing + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Intervals such as "[0.8, 1.7)", and "missing"."""
        return self.labelled(lambda cut: f"{cut:.6g}")

    def labelled(self, write: Callable[[float], str]) -> tuple[str, ...]:
        """The labels with cut points as they are written here."""
        ends = ["-inf", *map(write, self.cuts), "inf"][: self.n_intervals + 1]
        intervals = [f"[{low}, {high})" for low, high in pairwise(ends)]
        intervals[:1] = [label.replace("[-inf", "(-inf") for label in intervals[:1]]
        return (*intervals, "missing")[: self.cardinality]

    def rule(self, column: Column) -> Rule:
        """The cuts themselves; text is read as numbers first."""
        if column.levels is None:
            return Rule(column.values, self._book)
        known = np.array([self._number(level) for level in column.levels], dtype=np.float64)
        codes = np.searchsorted(self.cuts, known, side="right")
        return Rule(column.values, _book_of_positions(self._targets[codes], self.absent))

    def extended(self, column: Column, new_missing: bool) -> Intervals:
        """The same cuts, with a code for missing values if there are some for the first time."""
        if self.missing is not None or not new_missing or not _has_missing(column):
            return self
        return replace(self, missing=self.n_intervals)

    @property
    def absent(self) -> int:
        """The code of a missing value."""
        return self.cardinality if self.missing is None else self.missing

    @cached_property
    def _targets(self) -> NDArray[np.uint32]:
        codes = np.arange(len(self.cuts) + 1, dtype=np.uint32)
        return codes if self.n_intervals else np.full_like(codes, self.cardinality)

    @cached_property
    def _book(self) -> _kernels.Book:
        return self.cuts, self._targets, False, self.absent, self.cardinality

    def _number(self, level: Hashable) -> float:
        try:
            number = float(level)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = np.inf
        if np.isinf(number):
            raise ValueError(
                f"Column {self.name!r} held numbers in fit and now holds {level!r}, which cannot "
                "be read as a finite number: replace it with a number or NaN, or fit with the "
                "column in categorical_features."
            )
        return number


@dataclass(frozen=True, eq=False)
class Categories:
    """Levels, coded by their position. The level None stands for missing values."""

    name: str
    levels: tuple[Hashable, ...]
    missing: int | None = None  # the code of missing values, if they have one

    @property
    def cardinality(self) -> int:
        """The number of levels."""
        return max(len(self.levels), 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as text, and "missing"."""
        return tuple("missing" if level is None else str(level) for level in self.levels)

    def rule(self, column: Column) -> Rule:
        """One code for each level of the column; for numbers, the numbers that are known."""
        column = as_categories(column) if self._has_large_numbers else column
        if column.levels is None:
            self._check_kind(column)
            return Rule(column.values, self._book)
        codes = np.array([self._code(level) for level in column.levels], dtype=np.uint32)
        return Rule(column.values, _book_of_positions(codes, self.absent))

    def extended(self, column: Column, new_missing: bool) -> Categories:
        """New levels after the known ones, in their canonical order."""
        (summary,) = summarize([column], None, 1, None, categorical=np.array([True]))
        levels = [level for level in summary.values if self._code(level) == self.cardinality]
        if new_missing and self.missing is None and summary.missing.any():
            return replace(
                self,
                levels=(*self.levels, *levels, None),
                missing=len(self.levels) + len(levels),
            )
        return replace(self, levels=(*self.levels, *levels))

    @property
    def absent(self) -> int:
        """The code of a missing value."""
        return self.cardinality if self.missing is None else self.missing

    def _code(self, level: Hashable) -> int:
        code = self._codes.get(level)
        if code is None and isinstance(level, str) and self._has_only_numbers:
            code = self._codes.get(_read(level))
        return self.cardinality if code is None else code

    def _check_kind(self, column: Column) -> None:
        if self._has_only_text and not np.isnan(column.values.astype(np.float64)).all():
            raise ValueError(
                f"Column {self.name!r} held text in fit and now holds numbers: pass the categories "
                "as they were written in fit, for example with astype(str)."
            )

    @cached_property
    def _codes(self) -> dict[Hashable, int]:
        return {level: code for code, level in enumerate(self.levels) if level is not None}

    @cached_property
    def _known(self) -> list[Hashable]:
        return [level for level in self.levels if level is not None]

    @cached_property
    def _has_only_text(self) -> bool:
        return bool(self._known) and all(isinstance(level, str) for level in self._known)

    @cached_property
    def _has_only_numbers(self) -> bool:
        return bool(self._known) and all(isinstance(level, Real) for level in self._known)

    @cached_property
    def _has_large_numbers(self) -> bool:
        return any(isinstance(level, int) and abs(level) > EXACT_INTEGERS for level in self._known)

    @cached_property
    def _book(self) -> _kernels.Book:
        """The numbers among the levels, ascending, and their codes."""
        codes = [code for level, code in self._codes.items() if isinstance(level, Real)]
        edges = np.array([self.levels[code] for code in codes], dtype=np.float64)
        order = np.argsort(edges)
        targets = np.array(codes, dtype=np.uint32)[order]
        return edges[order], targets, True, self.absent, self.cardinality


def coder_of(name: str, summary: ColumnSummary, feature: int, cut_points: CutPoints | None, missing: str) -> Coder:
    """The coder of feature number `feature`."""
    if summary.values.dtype.kind == "O":
        return _categories(name, summary, tuple(summary.values), missing)
    if cut_points is None:
        return _categories(name, summary, _whole_numbers(name, summary.values), missing)
    return _intervals(name, summary, feature, cut_points, missing)


def _categories(name: str, summary: ColumnSummary, levels: tuple[Hashable, ...], missing: str) -> Categories:
    if missing == "value" and summary.missing.any():
        return Categories(name, (*levels, None), len(levels))
    imputed = missing == "impute" and len(levels) > 0
    return Categories(name, levels, summary.mode if imputed else None)


def _intervals(name: str, summary: ColumnSummary, feature: int, cut_points: CutPoints, missing: str) -> Intervals:
    summary = summary.coarse
    n_values = len(summary.values)
    cuts = cut_points.cuts(summary, feature) if n_values else np.empty(0)
    n_intervals = len(cuts) + 1 if n_values else 0
    if missing == "value" and summary.missing.any():
        return Intervals(name, cuts, n_intervals, n_intervals)
    imputed = missing == "impute" and n_values > 0
    code = int(np.searchsorted(cuts, summary.mean, side="right")) if imputed else None
    return Intervals(name, cuts, n_intervals, code)


def _whole_numbers(name: str, values: NDArray[np.float64]) -> tuple[int, ...]:
    broken = values[values != np.floor(values)]
    if len(broken):
        raise ValueError(
            f'discretization="codes" takes whole numbers as categories, but column {name!r} holds '
            f'{broken[0]}: choose "width", "quantile" or "mdl", or list the column in '
            "categorical_features."
        )
    return tuple(int(value) for value in values)


def _read(text: str) -> float | None:
    """The number that a text says, if it does."""
    try:
        return float(text)
    except ValueError:
        return None


def _has_missing(column: Column) -> bool:
    if column.levels is not None:
        return bool((column.values < 0).any())
    return column.values.dtype.kind == "f" and bool(np.isnan(column.values).any())


def _book_of_positions(codes: NDArray[Any], absent: int) -> _kernels.Book:
    """The book of a column of positions whose levels have these codes; -1 is absent."""
    edges = np.arange(len(codes), dtype=np.float64)
    return edges, np.append(np.uint32(absent), codes.astype(np.uint32)), False, absent, absent
