"""AnDE from packed counts: one count per set of features serves every role its members play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np

from neuralkdb import _kernels
from neuralkdb.counting import Counts, PackedCounts
from neuralkdb.model import NetworkModel, TableStatistics, model_of, normalized, statistics_of
from neuralkdb.network import Family, Floats, ParentSets, Structure, single
from neuralkdb.parameters.conditional import Block, ParameterEstimator


@dataclass(frozen=True)
class ParentSetStatistics:
    """Counts of all sets of as many features as there are parents, and of one more."""

    parents: PackedCounts
    families: PackedCounts
    last_resort: TableStatistics

    def __add__(self, other: ParentSetStatistics) -> ParentSetStatistics:
        return ParentSetStatistics(
            self.parents + other.parents,
            self.families + other.families,
            self.last_resort + other.last_resort,
        )


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
            *statistics.parents.of_type(statistics.families.weight_type).parts,
            cardinalities,
            statistics.families.n_classes,
            self.structure.size,
            np.array(self.structure.weights),
            child,
            child * cardinalities,
            of_set,
            of_set * cells,
            float(self.last_resort.class_weights.sum()),
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

    @property
    def _set_cells(self) -> list[int]:
        """Number of cells of P(y, x_S), set by set."""
        cardinalities = self.statistics.families.cardinalities
        n_classes = self.statistics.families.n_classes
        return [prod(sizes) * n_classes for sizes in combinations(cardinalities, self.structure.size)]
