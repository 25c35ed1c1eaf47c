"""AnDE from packed counts: one count per set of features serves every role its members play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import Counts, PackedCounts
from neuralkdb.model import TableStatistics, model_of, statistics_of
from neuralkdb.network import Family, Floats, ParentSets, Structure, single
from neuralkdb.network_model import NetworkModel, normalized
from neuralkdb.parameters.conditional import Block, ParameterEstimator


@dataclass(frozen=True)
class ParentSetStatistics:
    """Counts of all sets of as many features as there are parents, and of one more."""

    parents: PackedCounts
    families: PackedCounts
    last_resort: TableStatistics

    def __add__(self, other: ParentSetStatistics) -> ParentSetStatistics:
        parents, families = self.parents + other.parents, self.families + other.families
        return ParentSetStatistics(parents, families.of_type(parents.weight_type), self.last_resort + other.last_resort)


@statistics_of.register(ParentSets)
def _(structure: ParentSets, counts: Counts) -> ParentSetStatistics:
    return ParentSetStatistics(
        counts.packed(structure.size),
        counts.packed(structure.size + 1),
        statistics_of(_naive(structure.n_features), counts),
    )


@model_of.register(ParentSets)
def _(structure: ParentSets, statistics: ParentSetStatistics, estimator: ParameterEstimator) -> ParentSetModel:
    last_resort = model_of(_naive(structure.n_features), statistics.last_resort, estimator)
    assert isinstance(last_resort, NetworkModel)
    return ParentSetModel(structure, statistics, estimator, last_resort)


def _naive(n_features: int) -> Structure:
    return single([Family(child) for child in range(n_features)])


@dataclass(frozen=True)
class ParentSetModel:
    """The weighted mean of P(y, x_S) * prod_i P(x_i | y, x_S) over sets S of parents.

    A set counts for a row only where its value is known and occurs; a row for which none does is left to naive Bayes.
    The term of a marginalized child is left out.
    """

    structure: ParentSets
    statistics: ParentSetStatistics
    estimator: ParameterEstimator
    last_resort: NetworkModel
    has_joint = True

    def log_joint(self, block: Block) -> Floats:
        """Log P(x, y) of every row, (rows, classes)."""
        statistics, cardinalities = (
            self.statistics,
            np.array(self.statistics.families.cardinalities, np.int64),
        )
        child = np.array([self.estimator.pseudocount(int(size)) for size in cardinalities])
        cells = np.array(self._set_cells)
        of_set = np.array([self.estimator.pseudocount(int(size)) for size in cells])
        log_joint: Floats = _kernels.score_sets(
            block.codes,
            *statistics.families.parts,
            *statistics.parents.parts,
            cardinalities,
            statistics.families.n_classes,
            self.structure.size,
            np.array(self.structure.weights),
            child,
            child * cardinalities,
            of_set,
            self._set_weights + of_set * cells,
            self._is_sometimes_missing,
            float(self.structure.min_count),
            1,
        )
        left = np.isnan(log_joint[:, 0])
        if left.any():
            rows = replace(block, codes=np.asfortranarray(block.codes[left]))
            log_joint[left] = self.last_resort.log_joint(rows)
        return log_joint

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        return normalized(self.log_joint(block), self.last_resort.class_weights)

    def log_terms(self, block: Block) -> Floats:
        """Those of naive Bayes, (rows, features + 1, classes): what the parent sets add is left to the residual."""
        return self.last_resort.log_terms(block)

    @cached_property
    def _set_weights(self) -> Floats:
        """N(x_S known), set by set."""
        starts, dense, sparse_starts, _, sparse = self.statistics.parents.parts
        return _sums(dense, starts) + _sums(sparse, sparse_starts)

    @cached_property
    def _is_sometimes_missing(self) -> NDArray[np.bool_]:
        """Whether a feature was marginalized in some of the rows that were counted, (features,)."""
        known = np.array([table.weights.sum() for table in self.statistics.last_resort.tables.values()])
        return np.asarray(known < self.last_resort.class_weights.sum() * (1 - 1e-12))

    @property
    def _set_cells(self) -> list[int]:
        """Number of cells of P(y, x_S), set by set."""
        cardinalities = self.statistics.families.cardinalities
        n_classes = self.statistics.families.n_classes
        return [prod(sizes) * n_classes for sizes in combinations(cardinalities, self.structure.size)]


def _sums(weights: NDArray[Any], starts: NDArray[np.int64]) -> Floats:
    """The sum of each part, (parts,)."""
    return np.diff(np.concatenate([[0.0], np.cumsum(weights, dtype=float)])[starts])
