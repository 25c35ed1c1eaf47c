"""Numbers that are not cut: each a linear regression on other numbers, in every class.

A class is fitted with `strength` more rows than it has, which follow the line that all classes share; so small classes
have the slopes and the spread of all. Densities are Student's t, with no more degrees of freedom than are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import CodedRows
from neuralkdb.network import Codes, Family, Floats
from neuralkdb.parameters.context_trees import Terms

MOST_PARENTS = 63  # the kernel has room for so many
LEAST_VARIANCE = 1e-4  # of a number around its line; numbers have variance one


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the codes of some features stand for: standard scores, NaN where a value is missing."""

    features: tuple[int, ...]  # the column of codes of each number
    values: tuple[NDArray[np.float32], ...]  # of each code

    def of(self, codes: Codes) -> Floats:
        """The numbers of coded rows, zero where missing, (rows, numbers)."""
        wide = [np.append(values, np.float32(np.nan)) for values in self.values]
        columns = [own[codes[:, feature]] for own, feature in zip(wide, self.features, strict=True)]
        return np.asarray(np.nan_to_num(np.stack(columns, axis=1).astype(float)))

    @cached_property
    def arguments(self) -> tuple[NDArray[Any], ...]:
        """The numbers as the kernels read them."""
        starts = np.concatenate([[0], np.cumsum([len(values) for values in self.values])]).astype(np.int64)
        return np.array(self.features, np.int64), starts, np.concatenate(self.values)


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums of products of the numbers and one, of each class and around the classes' means."""

    of_classes: Floats  # (classes, numbers + 1, numbers + 1)
    within: Floats  # (numbers + 1, numbers + 1)

    @classmethod
    def of(cls, numbers: Numbers, rows: CodedRows, n_classes: int) -> Moments:
        """The moments of rows."""
        table = np.column_stack([np.ones(len(rows.classes)), numbers.of(rows.codes)])
        sums = np.zeros((n_classes, table.shape[1], table.shape[1]))
        for label in range(n_classes):
            mine = rows.classes == label
            sums[label] = (table[mine].T * rows.weights[mine]) @ table[mine]
        weights = np.maximum(sums[:, :1, :1], np.finfo(float).tiny)
        return cls(sums, (sums - sums[:, :, :1] * sums[:, :1, :] / weights).sum(axis=0))

    @property
    def correlations(self) -> Floats:
        """Of the numbers around the classes' means, (numbers, numbers)."""
        deviations = np.sqrt(np.maximum(np.diag(self.within)[1:], 1e-9))
        return np.asarray(self.within[1:, 1:] / np.outer(deviations, deviations))


@dataclass(frozen=True, eq=False)
class Regressions:
    """log P(child | parents, y) of several numbers, minus its mean over the classes."""

    numbers: Numbers
    families: tuple[Family, ...]  # of positions among the numbers
    slopes: NDArray[np.float32]  # (families, classes, parents + 1), the first the intercept
    shapes: NDArray[np.float32]  # (families, classes, 3): peak, tail, 1 / spread

    def add_to(self, log_joint: Floats, codes: Codes, weights: Floats) -> None:
        """Add the weighted terms of every row to `log_joint` (rows, classes); weights are (families, classes)."""
        _kernels.add_regression_terms(*self._arguments, np.ascontiguousarray(weights), codes, log_joint)

    @property
    def children(self) -> tuple[int, ...]:
        """The feature of each term."""
        return tuple(self.numbers.features[family.child] for family in self.families)

    def only(self, family: int) -> Regressions:
        """The regression of one family."""
        one = slice(family, family + 1)
        return Regressions(self.numbers, self.families[one], self.slopes[one], self.shapes[one])

    @property
    def _arguments(self) -> tuple[NDArray[Any], ...]:
        width = self.slopes.shape[2] - 1
        parents = np.full((len(self.families), width), -1, np.int64)
        for row, family in zip(parents, self.families, strict=True):
            row[: len(family.parents)] = family.parents
        children = np.array([family.child for family in self.families], np.int64)
        return *self.numbers.arguments, children, parents, self.slopes, self.shapes


@dataclass(frozen=True, eq=False)
class FittedRegressions:
    """Regressions with what is needed to leave a row out."""

    regressions: Regressions
    inverses: Floats  # (families, classes, parents + 1, parents + 1) of the sums of squares of the parents
    squares: Floats  # (families, classes) of the residuals
    freedom: Floats  # (classes,)
    most_freedom: float  # of the tails

    @property
    def n_terms(self) -> int:
        """One for each family."""
        return len(self.regressions.families)

    def leave_one_out(self, rows: CodedRows, removed: Floats, terms: Terms, first: int) -> None:
        """Write the terms of every row, `removed` of its weight left out of its own class, from family `first` on."""
        arrays = self.inverses, self.squares, self.freedom, LEAST_VARIANCE, self.most_freedom
        classes = rows.classes.astype(rows.codes.dtype)
        arguments = *self.regressions._arguments, *arrays
        _kernels.leave_one_out_regressions(*arguments, rows.codes, classes, removed, terms, first)


def fit_regressions(
    numbers: Numbers, moments: Moments, families: Sequence[Family], strength: float, most_freedom: float
) -> FittedRegressions:
    """The regression of every family; with little freedom, a number far from its line says little."""
    n_classes, width = len(moments.of_classes), max(len(family.parents) for family in families) + 1
    slopes = np.zeros((len(families), n_classes, width))
    inverses = np.zeros((len(families), n_classes, width, width))
    squares = np.zeros((len(families), n_classes))
    for row, family in enumerate(families):
        size = len(family.parents) + 1
        fitted = _regression(moments, family, strength)
        slopes[row, :, :size], inverses[row, :, :size, :size], squares[row] = fitted
    freedom = moments.of_classes[:, 0, 0] + strength
    squares = np.maximum(squares, LEAST_VARIANCE * freedom)
    tails = np.minimum(freedom, most_freedom)
    peaks = np.array([lgamma((f + 1) / 2) - lgamma(f / 2) - 0.5 * log(f * pi) for f in tails])
    variances = squares / freedom
    powers = np.broadcast_to((tails + 1) / 2, squares.shape)
    shapes = np.stack([peaks - 0.5 * np.log(variances), powers, 1 / (tails * variances)], axis=2)
    regressions = Regressions(numbers, tuple(families), slopes.astype(np.float32), shapes.astype(np.float32))
    return FittedRegressions(regressions, inverses, squares, freedom, most_freedom)


def _regression(moments: Moments, family: Family, strength: float) -> tuple[Floats, Floats, Floats]:
    """Slopes, inverse and residual squares of every class."""
    total = moments.of_classes[:, 0, 0].sum()
    parents = np.array([parent + 1 for parent in family.parents], np.intp)
    columns, child = np.append(0, parents), family.child + 1
    spread, shared = np.zeros((len(columns), len(columns))), np.zeros(len(columns))
    spread[1:, 1:] = moments.within[np.ix_(parents, parents)] / total + 1e-6 * np.eye(len(parents))
    covariance = moments.within[parents, child] / total
    shared[1:] = np.linalg.solve(spread[1:, 1:], covariance) if len(parents) else 0.0
    variance = max(float(moments.within[child, child] / total - shared[1:] @ covariance), LEAST_VARIANCE)
    means = moments.of_classes[:, 0].sum(axis=0) / total
    shared[0] = means[child] - shared[1:] @ means[parents]
    prior = strength * spread
    prior[0, 0] = 1.0  # the intercept of a class is its own
    own = moments.of_classes[:, columns[:, None], columns[None, :]] + prior
    right = moments.of_classes[:, columns, child] + prior @ shared
    inverses = np.linalg.inv(own)
    slopes = np.einsum("cij,cj->ci", inverses, right)
    explained = np.einsum("ci,ci->c", slopes, right)
    squares = strength * variance + moments.of_classes[:, child, child] + shared @ prior @ shared - explained
    return np.asarray(slopes), np.asarray(inverses, float), np.asarray(squares)
