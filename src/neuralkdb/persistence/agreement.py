"""Whether the parts of a member agree: all features have the codes and classes that its encoding says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import singledispatch
from typing import Any

from neuralkdb.counting import PackedCounts, Request
from neuralkdb.embedding_net import EmbeddingNet
from neuralkdb.information import KnownInformation
from neuralkdb.model import ClassStatistics, TableStatistics, requests_of
from neuralkdb.network import ClassNetworks, Family, Network, ParentSets, Structure
from neuralkdb.network_model import NetworkModel, PerClassModel, Root
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.context_trees import ContextTrees
from neuralkdb.parameters.embeddings import Embeddings
from neuralkdb.parameters.offsets import Offsets
from neuralkdb.parameters.regressions import Numbers, Regressions
from neuralkdb.parent_set_model import ParentSetModel, ParentSetStatistics
from neuralkdb.persistence.errors import require
from neuralkdb.tables import Table
from neuralkdb.weighted_model import Pool
from neuralkdb.weighting import Weights


@dataclass(frozen=True)
class Size:
    """What everything in a member must fit."""

    cardinalities: tuple[int, ...]  # of all codes
    n_classes: int
    n_features: int  # fewer than there are codes where these are of several encodings

    def has_table(self, request: Request, table: Table) -> bool:
        """Whether a table counts the cells of these features."""
        known = all(0 <= feature < len(self.cardinalities) for feature in request)
        shape = tuple(self.cardinalities[feature] for feature in request) if known else None
        return table.shape == shape and table.n_classes == self.n_classes

    @property
    def of_one_class(self) -> Size:
        """The size of what is said of one class."""
        return Size(self.cardinalities, 1, self.n_features)


def check_agreement(value: Any, size: Size) -> None:
    """Complain if a part of a value does not fit; every part is looked at once."""
    waiting, seen = [(value, size)], set()
    while waiting:
        part, of_part = waiting.pop()
        if (id(part), of_part.n_classes) not in seen:
            seen.add((id(part), of_part.n_classes))
            fits(part, of_part)
            inner = of_part.of_one_class if isinstance(part, PerClassModel | ClassStatistics) else of_part
            waiting.extend((each, inner) for each in _parts(part))


def _parts(value: Any) -> Iterator[Any]:
    if is_dataclass(value):
        yield from (getattr(value, field.name) for field in fields(value))
    elif isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, tuple) and not isinstance(value, Family):
        yield from (each for each in value if not isinstance(each, int | float | str))


@singledispatch
def fits(value: Any, size: Size) -> None:
    """Complain if a value does not fit, its parts aside."""


@fits.register(Network)
def _(network: Network, size: Size) -> None:
    variables = [*network.roots, *(variable for family in network.families for variable in family.variables)]
    require(all(0 <= variable < size.n_features for variable in variables), "a network has unknown features")


@fits.register(ClassNetworks)
def _(structure: ClassNetworks, size: Size) -> None:
    require(len(structure.networks) == size.n_classes, "a class has no network")


@fits.register(ParentSets)
def _(structure: ParentSets, size: Size) -> None:
    require(structure.n_features == size.n_features, "sets of parents have unknown features")


@fits.register(Conditional)
def _(conditional: Conditional, size: Size) -> None:
    variables, law = conditional.family.variables, conditional.law
    require(getattr(law, "family", conditional.family) == conditional.family, "a family has the law of another")
    require(size.has_table(variables, law.table), "a family has the wrong table")


@fits.register(TableStatistics)
def _(statistics: TableStatistics, size: Size) -> None:
    require(len(statistics.class_weights) == size.n_classes, "a class has no weight")
    fit = all(size.has_table(request, table) for request, table in statistics.tables.items())
    require(fit, "statistics have the wrong tables")


@fits.register(ClassStatistics)
def _(statistics: ClassStatistics, size: Size) -> None:
    require(len(statistics.class_weights) == len(statistics.members) == size.n_classes, "a class has no statistics")


@fits.register(NetworkModel)
def _(model: NetworkModel, size: Size) -> None:
    require(len(model.class_weights) == size.n_classes, "a class has no weight")


@fits.register(Root)
def _(root: Root, size: Size) -> None:
    require(size.has_table(root.features, root.table), "a root has the wrong table")


@fits.register(PerClassModel)
def _(model: PerClassModel, size: Size) -> None:
    require(len(model.models) == size.n_classes, "a class has no network")


@fits.register(PackedCounts)
def _(counts: PackedCounts, size: Size) -> None:
    same = (counts.cardinalities, counts.n_classes) == (size.cardinalities, size.n_classes)
    require(same, "counts are of other features")


@fits.register(KnownInformation)
def _(known: KnownInformation, size: Size) -> None:
    require(known.features.shape == (size.n_features,), "what is known is of other features")
    require(bool((known.arcs < size.n_features).all()), "an arc has unknown features")


@fits.register(ParentSetStatistics)
def _(statistics: ParentSetStatistics, size: Size) -> None:
    parents, families = statistics.parents, statistics.families
    require(parents.weight_type == families.weight_type, "counts are of two types")
    require(families.size == parents.size + 1, "counts of families are missing")
    features = [(feature,) for feature in range(len(size.cardinalities))]
    require(list(statistics.last_resort.tables) == features, "counts of single features are missing")


@fits.register(ParentSetModel)
def _(model: ParentSetModel, size: Size) -> None:
    statistics = model.statistics
    require(statistics.parents.size == model.structure.size, "counts of sets of parents are missing")
    most = max((part.max() for part in statistics.families.parts[1::3] if len(part)), default=0)
    require(most <= model._set_weights.max(), "families are counted more often than their parents")


@fits.register(EmbeddingNet)
def _(net: EmbeddingNet, size: Size) -> None:
    logits = [len(table) - 1 for table in net.logits]
    require((tuple(logits), len(net.bias)) == (size.cardinalities, size.n_classes), "a value has no logit")


@fits.register(Embeddings)
def _(embeddings: Embeddings, size: Size) -> None:
    pairs = zip(embeddings.cardinalities, size.cardinalities, strict=False)
    known = len(embeddings.cardinalities) <= len(size.cardinalities) and all(own in (0, all_) for own, all_ in pairs)
    require(known and embeddings.n_classes == size.n_classes, "a value has no vector")


@fits.register(ContextTrees)
def _(trees: ContextTrees, size: Size) -> None:
    variables = [variable for family in trees.families for variable in family.variables]
    known = all(0 <= variable < len(size.cardinalities) for variable in variables)
    require(known and trees.cardinalities == size.cardinalities, "contexts have unknown features")
    require(len(trees.classes) == 0 or trees.classes.max() < size.n_classes, "contexts have unknown classes")


@fits.register(Numbers)
def _(numbers: Numbers, size: Size) -> None:
    require(all(0 <= feature < len(size.cardinalities) for feature in numbers.features), "a number has no code")


@fits.register(Regressions)
def _(regressions: Regressions, size: Size) -> None:
    require(regressions.slopes.shape[1] == size.n_classes, "a class has no regression")


@fits.register(Offsets)
def _(offsets: Offsets, size: Size) -> None:
    for family, table in zip(offsets.families, offsets.tables, strict=True):
        known = all(0 <= variable < len(size.cardinalities) for variable in family.variables)
        shape = tuple(size.cardinalities[variable] + 1 for variable in family.variables) if known else ()
        require(table.shape == (*shape, size.n_classes), "offsets are of other cells")


@fits.register(Weights)
def _(weights: Weights, size: Size) -> None:
    require(len(weights.bias) == size.n_classes, "a class has no weights")


@fits.register(Pool)
def _(pool: Pool, size: Size) -> None:
    require((pool.n_features, len(pool.class_weights)) == (size.n_features, size.n_classes), "a pool is of other data")


def check_statistics(structure: Any, statistics: Any) -> None:
    """Complain if more rows could not be added to the statistics of a structure."""
    require(type(structure) in STATISTICS, "there is no structure")
    kind = STATISTICS[type(structure)]
    if statistics is None or isinstance(statistics, KnownInformation):  # of a model that is not made of tables
        return
    require(isinstance(statistics, kind), "statistics are of another structure")
    if kind is TableStatistics:
        require(statistics.tables.keys() == set(requests_of(structure.networks)), "statistics have the wrong tables")
    elif kind is ClassStatistics:
        for network, member in zip(structure.networks, statistics.members, strict=True):
            require(member.tables.keys() == set(requests_of([network])), "statistics have the wrong tables")


STATISTICS: dict[type, Any] = {
    Structure: TableStatistics,
    ClassNetworks: ClassStatistics,
    ParentSets: ParentSetStatistics,
}
