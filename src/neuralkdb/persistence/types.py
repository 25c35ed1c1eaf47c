"""The types and functions a model file may hold. A new one needs a line here, or a call of `storable` beside it."""

from __future__ import annotations

from typing import Any

from neuralkdb.coders import Categories, Intervals
from neuralkdb.columns import Unhashable
from neuralkdb.counting import PackedCounts
from neuralkdb.embedding_net import EmbeddingNet
from neuralkdb.encoding import Encoding, SideBySide
from neuralkdb.information import KnownInformation
from neuralkdb.model import ClassStatistics, TableStatistics
from neuralkdb.network import ClassNetworks, Family, Network, ParentSets, Structure
from neuralkdb.network_model import AveragedModel, NetworkModel, PerClassModel, Root
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.context_trees import ContextTrees
from neuralkdb.parameters.counted import BackOff, Counted, CountedLaw, Laplace, MEstimate
from neuralkdb.parameters.embeddings import EmbeddedLaw, Embeddings
from neuralkdb.parameters.offsets import Offsets
from neuralkdb.parameters.regressions import Numbers, Regressions
from neuralkdb.parent_set_model import ParentSetModel, ParentSetStatistics
from neuralkdb.structures.independent import Independent
from neuralkdb.structures.k_dependence import KDependence, KDependencePerClass, RotatedKDependence, descending
from neuralkdb.structures.parent_sets import ExpandedSuperParents, SuperParents
from neuralkdb.structures.selective import SelectiveKDependence
from neuralkdb.structures.super_parent_tree import SuperParentTree
from neuralkdb.structures.tree import Tree
from neuralkdb.tables import DenseTable, SparseTable
from neuralkdb.weighted_model import PlainModel, Pool, WeightedModel, WeightedNetworkModel
from neuralkdb.weighting import Weights

TYPES_BY_NAME: dict[str, type[Any]] = {}
FUNCTIONS: dict[str, Any] = {"descending": descending}


def storable(*kinds: type[Any]) -> None:
    """Allow frozen dataclasses or named tuples in model files."""
    TYPES_BY_NAME.update({kind.__name__: kind for kind in kinds})


storable(Encoding, SideBySide, Intervals, Categories, Unhashable)
storable(Family, Network, Structure, ClassNetworks, ParentSets)
storable(DenseTable, SparseTable, PackedCounts, TableStatistics, ClassStatistics, ParentSetStatistics)
storable(Conditional, CountedLaw, EmbeddedLaw, Embeddings, Counted, MEstimate, Laplace, BackOff)
storable(NetworkModel, Root, AveragedModel, PerClassModel, ParentSetModel, EmbeddingNet)
storable(KnownInformation, PlainModel, Pool, WeightedModel, WeightedNetworkModel, Weights)
storable(ContextTrees, Regressions, Numbers, Offsets)
storable(Independent, Tree, KDependence, RotatedKDependence, KDependencePerClass, SuperParents, ExpandedSuperParents)
storable(SelectiveKDependence, SuperParentTree)
