"""What must hold within a value that comes from a file: all that kernels and models take for granted."""

from __future__ import annotations

import math
from functools import singledispatch
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.coders import Categories, Intervals
from neuralkdb.counting import PackedCounts
from neuralkdb.embedding_net import EmbeddingNet
from neuralkdb.encoding import Encoding, SideBySide
from neuralkdb.information import KnownInformation
from neuralkdb.model import ClassStatistics, TableStatistics
from neuralkdb.network import ClassNetworks, Family, Network, ParentSets, Structure
from neuralkdb.network_model import AveragedModel, NetworkModel, PerClassModel, Root
from neuralkdb.parameters.counted import BackOff, Laplace, MEstimate
from neuralkdb.parameters.embeddings import ACTIVATIONS, EmbeddedLaw, Embeddings
from neuralkdb.persistence.errors import require
from neuralkdb.tables import DenseTable, SparseTable

MOST_CELLS = 2**28  # of a table with room for one more value of each variable
MOST_KEYS = 2**32  # cells of a packed set
MOST_SETS = 2**31


@singledispatch
def check(value: Any) -> None:
    """Complain about a value that breaks what its type promises; types without a check promise nothing."""


def is_weight(weights: Any) -> bool:
    """Whether all are finite and none is negative."""
    weights = np.asarray(weights)
    return bool(np.isfinite(weights).all() and (weights >= 0).all())


def is_ascending(starts: NDArray[Any], last: int) -> bool:
    """Whether numbers go from 0 to `last` without falling."""
    return bool(starts.ndim == 1 and len(starts) and starts[0] == 0 and starts[-1] == last and not _falls(starts))


def _falls(values: NDArray[Any]) -> bool:
    return bool((values[1:] < values[:-1]).any())


@check.register(Intervals)
def _(coder: Intervals) -> None:
    cuts = coder.cuts
    require(cuts.ndim == 1 and not np.isnan(cuts).any() and not _falls(cuts), "cuts do not ascend")
    require(coder.n_intervals in ((len(cuts) + 1, 0) if len(cuts) == 0 else (len(cuts) + 1,)), "cuts are missing")
    require(coder.missing is None or 0 <= coder.missing <= coder.n_intervals, "missing values have no code")


@check.register(Categories)
def _(coder: Categories) -> None:
    levels, missing = coder.levels, coder.missing
    require(missing is None or 0 <= missing < len(levels), "missing values have no code")
    nones = [code for code, level in enumerate(levels) if level is None]
    require(nones in ([], [missing]), "a category is None")
    require(all(abs(level) < 2**1023 for level in levels if isinstance(level, int)), "a category is too large a number")


@check.register(Encoding)
def _(encoding: Encoding) -> None:
    require(len(encoding.coders) > 0, "an encoding has no features")
    require(all(isinstance(coder, Intervals | Categories) for coder in encoding.coders), "a feature has no code book")
    require(encoding.missing in ("value", "impute", "marginalize"), f"missing is {encoding.missing!r}")


@check.register(SideBySide)
def _(encoding: SideBySide) -> None:
    check.dispatch(Encoding)(encoding)
    n_columns = encoding.n_columns
    require(n_columns > 0 and len(encoding.coders) % n_columns == 0, "encodings have different columns")


@check.register(Family)
def _(family: Family) -> None:
    require(all(0 <= variable < MOST_SETS for variable in family.variables), "a family has no feature")


@check.register(Network)
def _(network: Network) -> None:
    children = [family.child for family in network.families]
    require(len(set(children)) == len(children), "a feature has two families")


@check.register(Structure)
def _(structure: Structure) -> None:
    _check_average(structure.networks, structure.weights, structure.min_count)


@check.register(AveragedModel)
def _(model: AveragedModel) -> None:
    _check_average(model.models, model.weights, model.min_count)


def _check_average(parts: tuple[Any, ...], weights: tuple[float, ...], min_count: float) -> None:
    require(len(parts) == len(weights) > 0 and is_weight(weights) and sum(weights) > 0, "weights of networks are none")
    require(is_weight(min_count), "min_count is no number")


@check.register(ClassNetworks)
def _(structure: ClassNetworks) -> None:
    require(len(structure.networks) > 0, "there are no networks of classes")


@check.register(ParentSets)
def _(structure: ParentSets) -> None:
    require(1 <= structure.size <= structure.n_features, "sets of parents have no size")
    n_sets = number_of_sets(structure.n_features, structure.size)
    require(len(structure.weights) == n_sets and is_weight(structure.weights), "weights of parents are none")
    require(is_weight(structure.min_count), "min_count is no number")


def number_of_sets(n_features: int, size: int) -> int:
    """How many sets of features there are, as long as they can be numbered."""
    count = 1
    for taken in range(min(size, n_features - size)):
        count = count * (n_features - taken) // (taken + 1)
        require(count < MOST_SETS, "there are too many sets of parents")
    return count if size <= n_features else 0


@check.register(DenseTable)
def _(table: DenseTable) -> None:
    weights = table.weights
    require(weights.ndim >= 1 and min(weights.shape) > 0 and is_weight(weights), "a table's weights are none")
    _check_room(table.shape, table.n_classes)


def _check_room(shape: tuple[int, ...], n_classes: int) -> None:
    require(math.prod(size + 1 for size in shape) * n_classes <= MOST_CELLS, "a table has too many cells")


CODE_TYPES = [np.dtype(name) for name in ("uint8", "uint16", "uint32")]


@check.register(SparseTable)
def _(table: SparseTable) -> None:
    codes, starts, entries = table.codes, table.starts, len(table.weights)
    typed = codes.dtype in CODE_TYPES and table.classes.dtype in CODE_TYPES and starts.dtype == np.int64
    require(typed, "a table's codes are of the wrong type")
    require(codes.ndim == 2 and codes.shape[1] == len(table.shape) and codes.flags.c_contiguous, "codes are no matrix")
    require(bool((codes < np.array(table.shape)).all()) and not _is_unsorted(codes), "codes are out of order or range")
    require(len(starts) == len(codes) + 1 and is_ascending(starts, entries), "cells overlap")
    require(table.classes.shape == table.weights.shape == (entries,) and is_weight(table.weights), "weights are none")
    require(entries == 0 or table.classes.max() < table.n_classes, "there is no such class")


def _is_unsorted(codes: NDArray[Any]) -> bool:
    """Whether rows do not ascend: the first entry that differs from the row before is smaller, or none differs."""
    if codes.shape[1] == 0:
        return len(codes) > 1
    differs = codes[1:] != codes[:-1]
    first = differs.argmax(axis=1)
    rows = np.arange(len(first))
    return bool((codes[1:][rows, first] <= codes[:-1][rows, first]).any())


@check.register(PackedCounts)
def _(counts: PackedCounts) -> None:
    cardinalities = counts.cardinalities
    require(counts.size > 0 and counts.n_classes > 0 and counts.n_rows >= 0, "counts have no size")
    require(all(size > 0 for size in cardinalities) and len(counts.parts) == 5, "counts lack a part")
    starts, dense, sparse_starts, keys, sparse = counts.parts
    require(all(part.ndim == 1 for part in counts.parts), "counts are no rows of numbers")
    require(dense.dtype == sparse.dtype and dense.dtype in COUNT_TYPES, "counts are of the wrong type")
    require((starts.dtype, sparse_starts.dtype, keys.dtype) == PLACES, "places of counts are of the wrong type")
    require(is_weight(dense) and is_weight(sparse) and len(keys) == len(sparse), "counts are none")
    require(is_ascending(starts, len(dense)) and is_ascending(sparse_starts, len(sparse)), "counts overlap")
    volumes = _volumes(cardinalities, counts.size, counts.n_classes)
    require(len(starts) == len(sparse_starts) == len(volumes) + 1, "counts of some sets are missing")
    room = np.diff(starts)
    require(bool(((room == 0) | (room == volumes)).all()), "counts of a set have the wrong size")
    require(not len(keys) or _are_keys(keys, sparse_starts, volumes), "cells of a set are out of order or range")


COUNT_TYPES = [np.dtype(name) for name in ("uint8", "uint16", "uint32", "float64")]
PLACES = (np.dtype(np.int64), np.dtype(np.int64), np.dtype(np.uint32))


def _volumes(cardinalities: tuple[int, ...], size: int, n_classes: int) -> NDArray[np.int64]:
    """The number of cells of every set, in lexicographic order."""
    n_sets = number_of_sets(len(cardinalities), size)
    volumes = (math.prod(sizes) * n_classes for sizes in combinations(cardinalities, size))
    checked = [volume for volume in volumes if volume < MOST_KEYS]
    require(len(checked) == n_sets, "a set has too many cells")
    return np.array(checked, np.int64)


def _are_keys(keys: NDArray[Any], starts: NDArray[Any], volumes: NDArray[np.int64]) -> bool:
    begins = np.zeros(len(keys) + 1, bool)
    begins[starts[:-1]] = True
    ascends = keys[1:] > keys[:-1]
    below = keys < np.repeat(volumes, np.diff(starts))
    return bool((ascends | begins[1:-1]).all() and below.all())


@check.register(TableStatistics)
def _(statistics: TableStatistics) -> None:
    check_class_weights(statistics.class_weights)
    known = all(isinstance(table, DenseTable | SparseTable) for table in statistics.tables.values())
    require(known, "statistics hold what is no table")


@check.register(ClassStatistics)
def _(statistics: ClassStatistics) -> None:
    check_class_weights(statistics.class_weights)


def check_class_weights(weights: NDArray[Any]) -> None:
    """Complain unless every class has a weight."""
    require(weights.ndim == 1 and len(weights) > 0 and is_weight(weights), "class weights are none")


@check.register(MEstimate)
@check.register(Laplace)
@check.register(BackOff)
def _(rule: MEstimate | Laplace | BackOff) -> None:
    require(is_weight(list(vars(rule).values())), "the strength of smoothing is no number")


@check.register(Embeddings)
def _(embeddings: Embeddings) -> None:
    sizes, values = embeddings.cardinalities, embeddings.values
    require(all(size >= 0 for size in sizes) and embeddings.n_classes > 0, "embeddings have no values")
    require(values.ndim == 2 and values.shape[1] > 0 and embeddings.n_steps >= 0, "embeddings are no vectors")
    require(len(values) == 2 * sum(sizes) + embeddings.n_classes, "values have no vectors")
    alike = values.shape == embeddings.first_moments.shape == embeddings.second_moments.shape
    arrays = (values, embeddings.first_moments, embeddings.second_moments)
    require(alike and all(array.flags.c_contiguous for array in arrays), "vectors have no moments")


@check.register(EmbeddedLaw)
def _(law: EmbeddedLaw) -> None:
    sizes, variables = law.embeddings.cardinalities, law.family.variables
    known = [sizes[variable] if variable < len(sizes) else 0 for variable in variables]
    require(tuple(known) == law.table.shape, "a table has values without vectors")
    require(law.activation in ACTIVATIONS, f"there is no activation {law.activation!r}")
    require(law.embeddings.n_classes == law.table.n_classes, "classes have no vectors")


@check.register(NetworkModel)
def _(model: NetworkModel) -> None:
    check_class_weights(model.class_weights)


@check.register(Root)
def _(root: Root) -> None:
    require(is_weight(root.pseudocount) and len(root.features) > 0, "a root has no probability")


@check.register(PerClassModel)
def _(model: PerClassModel) -> None:
    check_class_weights(model.class_weights)
    require(len(model.models) == len(model.class_weights), "a class has no network")


@check.register(EmbeddingNet)
def _(net: EmbeddingNet) -> None:
    n_classes = len(net.bias) if net.bias.ndim == 1 else 0
    fits = all(logits.ndim == 2 and logits.shape[1] == n_classes for logits in net.logits)
    require(n_classes > 0 and fits, "logits are no tables")


@check.register(KnownInformation)
def _(known: KnownInformation) -> None:
    arcs, nats = known.arcs, known.of_arcs
    require(arcs.ndim == 2 and arcs.shape == (len(nats), 2) and bool((arcs >= 0).all()), "arcs are no pairs")
    flat = known.features.ndim == nats.ndim == 1
    require(flat and bool(np.isfinite(known.features).all() and np.isfinite(nats).all()), "what is known is no number")
