"""What must hold within a pool, and a network with weights, that come from a file."""

from __future__ import annotations

import numpy as np

from neuralkdb.parameters.context_trees import ContextTrees
from neuralkdb.parameters.offsets import Offsets
from neuralkdb.parameters.regressions import MOST_PARENTS, Numbers, Regressions
from neuralkdb.persistence.checks import check, check_class_weights, is_ascending, is_weight
from neuralkdb.persistence.errors import require
from neuralkdb.weighted_model import PlainModel, Pool, WeightedModel, WeightedNetworkModel
from neuralkdb.weighting import Weights


@check.register(ContextTrees)
def _(trees: ContextTrees) -> None:
    roots, contexts, n_contexts = trees.roots, trees.contexts, len(trees.codes)
    require(trees.cardinalities and len(roots) == len(trees.families) + 1, "a family has no tree")
    require(is_ascending(roots, n_contexts) and bool((np.diff(roots) > 0).all()), "a tree has no root")
    flat = all(part.ndim == 1 for part in (trees.codes, trees.values, trees.classes, trees.logs))
    require(flat and contexts.shape == (n_contexts, 8), "contexts are none")
    children, n_children, values, n_values, classes, n_classes, entries, _ = contexts.astype(np.int64).T
    n_entries = (n_values + 1) * n_classes  # below 2^64, as both are below 2^32
    pairs = [(children + n_children, n_contexts), (values + n_values, len(trees.values))]
    pairs += [(classes + n_classes, len(trees.classes)), (n_entries, len(trees.logs))]
    pairs += [(entries + n_entries, len(trees.logs))]
    require(all(bool((ends <= size).all()) for ends, size in pairs), "a context ends outside its tree")
    require(bool(np.isfinite(trees.logs).all()), "contexts have no probabilities")


@check.register(Numbers)
def _(numbers: Numbers) -> None:
    require(len(numbers.features) == len(numbers.values) > 0, "a number has no values")
    require(all(values.ndim == 1 for values in numbers.values), "values are no numbers")


@check.register(Regressions)
def _(regressions: Regressions) -> None:
    families, slopes = regressions.families, regressions.slopes
    require(slopes.ndim == 3 and 1 <= slopes.shape[2] <= MOST_PARENTS + 1, "regressions have no slopes")
    require(regressions.shapes.shape == (*slopes.shape[:2], 3), "regressions have no shapes")
    n_numbers, most = len(regressions.numbers.features), slopes.shape[2] - 1
    require(len(families) == len(slopes) and all(len(each.parents) <= most for each in families), "slopes are missing")
    require(all(variable < n_numbers for each in families for variable in each.variables), "a number is not there")


@check.register(Offsets)
def _(offsets: Offsets) -> None:
    pairs = zip(offsets.families, offsets.tables, strict=False)
    fit = all(table.ndim == len(family.variables) + 1 and table.flags.c_contiguous for family, table in pairs)
    require(fit and len(offsets.families) == len(offsets.tables), "offsets are no tables")
    require(all(bool(np.isfinite(table).all()) for table in offsets.tables), "offsets are no numbers")


@check.register(Weights)
def _(weights: Weights) -> None:
    bias = weights.bias
    require(bias.ndim == 1 and weights.families.ndim == 2, "weights are no table")
    require(weights.families.shape[1] == len(bias) > 0, "a class has no weights")


@check.register(WeightedModel)
def _(model: WeightedModel) -> None:
    known = all(isinstance(part, ContextTrees | Regressions) for part in model.parts)
    require(known and len(model.parts) > 0, "weights are of nothing")
    require(sum(len(part.children) for part in model.parts) == len(model.weights.families), "a family has no weight")


@check.register(WeightedNetworkModel)
def _(model: WeightedNetworkModel) -> None:
    require(len(model.network.conditionals) == len(model.weights.families), "a family has no weight")


@check.register(Pool)
def _(pool: Pool) -> None:
    check_class_weights(pool.class_weights)
    known = all(isinstance(member, PlainModel | WeightedModel | Offsets) for member in pool.members)
    require(known and len(pool.members) == len(pool.shares) > 0, "a pool has no members")
    require(is_weight(pool.shares) and pool.n_features > 0, "a pool has no shares")
