"""A fitted classifier's structure as a graph: for networkx, and as DOT for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from neuralkdb.dependencies import Strengths, strengths
from neuralkdb.network import ClassNetworks, Network, Structure
from neuralkdb.tabular.errors import MissingPackageError

CLASS = "class"


def to_networkx(classifier: Any, *, member: int = 0, network: int = 0) -> Any:
    """The network of a classifier as a directed graph, arcs from parents to children.

    Parameters
    ----------
    classifier : classifier of this library
        A fitted one.
    member : int, default=0
        Which member of an ensemble.
    network : int, default=0
        Which of its networks, where it averages several or has one for each class.

    Returns
    -------
    graph : networkx.DiGraph
        A node for the class, named as the target or "class", and one for each feature. Arcs have `information`: MI
        with the class, or with the parent where the class is known, in nats.
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingPackageError("to_networkx needs networkx: pip install networkx") from error
    graph = networkx.DiGraph()
    names, arcs = _graph(classifier, member, network)
    graph.add_nodes_from(names)
    graph.add_edges_from((parent, child, {"information": nats}) for (parent, child), nats in arcs.items())
    return graph


def to_dot(classifier: Any, *, member: int = 0, network: int = 0) -> str:
    """The network of a classifier in the language of Graphviz, wider arcs for stronger dependencies.

    Parameters
    ----------
    classifier : classifier of this library
        A fitted one.
    member : int, default=0
        Which member of an ensemble.
    network : int, default=0
        Which of its networks, where it averages several or has one for each class.

    Returns
    -------
    text : str
        A `digraph`.
    """
    names, arcs = _graph(classifier, member, network)
    most = max(arcs.values(), default=0.0) or 1.0
    nodes = [f"  {_quoted(name)}{' [shape=box]' if name == names[0] else ''};" for name in names]
    edges = [
        f'  {_quoted(parent)} -> {_quoted(child)} [penwidth={0.5 + 3 * nats / most:.2f}, tooltip="{nats:.4f} nats"];'
        for (parent, child), nats in arcs.items()
    ]
    return "\n".join(["digraph {", "  rankdir=LR;", *nodes, *edges, "}"]) + "\n"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _graph(classifier: Any, member: int, network: int) -> tuple[list[str], Mapping[tuple[str, str], float]]:
    """The names of the class and of all features in the network, and (parent, child) with its strength."""
    check_is_fitted(classifier)
    chosen = classifier.members_[member]
    drawn, found = _networks(chosen.structure, classifier)[network], strengths(chosen.statistics)
    names = [str(name) for name in classifier._names]
    label = _name_of_class(classifier, names)
    features = [*drawn.roots, *(family.child for family in drawn.families)]
    arcs = {(label, names[feature]): found.features.get(feature, 0.0) for feature in features}
    for child, parent in _arcs(drawn):
        arcs[names[parent], names[child]] = _strength(found, child, parent)
    return [label, *(names[feature] for feature in features)], arcs


def _networks(structure: Any, classifier: Any) -> tuple[Network, ...]:
    if isinstance(structure, Structure | ClassNetworks):
        return structure.networks
    raise ValueError(
        f"{type(classifier).__name__} has a network for every set of parents and stores none of them: use AODE with "
        'estimate="backoff", or a classifier with one network.'
    )


def _name_of_class(classifier: Any, names: list[str]) -> str:
    """The name of the target if it is known, and of no feature."""
    wanted = getattr(classifier, "target_name_", CLASS)
    while wanted in names:
        wanted = f"{wanted}_"
    return str(wanted)


def _arcs(network: Network) -> list[tuple[int, int]]:
    """(child, parent); the roots of a network depend on each other and are drawn as a chain."""
    chain = list(zip(network.roots[1:], network.roots, strict=False))
    return chain + [(family.child, parent) for family in network.families for parent in family.parents]


def _strength(found: Strengths, child: int, parent: int) -> float:
    return found.arcs.get((child, parent), found.arcs.get((parent, child), 0.0))
