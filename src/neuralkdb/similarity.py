"""Values of a feature that occur in the same contexts, whatever the classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neuralkdb.inspection import alike, similarities
from neuralkdb.network import Floats
from neuralkdb.network_model import AveragedModel, NetworkModel, PerClassModel
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.context_trees import ContextTrees
from neuralkdb.weighted_model import Pool, WeightedModel


def similar_values(classifier: Any, feature: str, value: str, n: int = 5) -> list[tuple[str, float]]:
    """The values of a feature that occur in the most similar contexts.

    Parameters
    ----------
    classifier : classifier of this library
        A fitted one, whose networks have a family of the feature.
    feature : str
        Name of the feature.
    value : str
        One of its values, as the encoding writes it.
    n : int, default=5
        How many to list.

    Returns
    -------
    similar : list of (str, float)
        Labels and the correlation of log P(value | context) over the contexts of the training rows.
    """
    labels, similar, _ = value_similarities(classifier, feature)
    if value not in labels:
        raise ValueError(f"{feature} has no value {value}, only {', '.join(labels)}")
    own = labels.index(value)
    order = [other for other in np.argsort(-similar[own], kind="stable") if other != own]
    return [(labels[other], float(similar[own][other])) for other in order[:n]]


def value_similarities(classifier: Any, feature: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """The values of a feature in the first member, how alike they are, (values, values), and their weights."""
    check_is_fitted(classifier)
    names = list(classifier._names)
    if feature not in names:
        raise ValueError(f"there is no feature {feature}, only {', '.join(names)}")
    number, member = names.index(feature), classifier.members_[0]
    if isinstance(member.model, Pool):
        return member.encoding.labels(number), *_in_contexts(Contexts.of(member.model), number)
    family = next((each for each in conditionals(member.model) if each.family.child == number), None)
    if family is None:
        raise ValueError(f"{type(classifier).__name__} has no probabilities of {feature}")
    seen = family.law.table.marginal((len(family.family.parents),))
    weights = seen.at(np.arange(seen.shape[0], dtype=np.uint32).reshape(-1, 1, order="F"), (0,)).sum(axis=1)
    return member.encoding.labels(number), similarities(family.law), weights


@dataclass(frozen=True)
class Contexts:
    """What a pool says about features in its first encoding: P(y), and a tree for each feature and closest parent."""

    priors: Floats  # (classes,)
    trees: dict[int, dict[int | None, ContextTrees]]

    @classmethod
    def of(cls, pool: Pool) -> Contexts:
        """Those in any of the members."""
        trees: dict[int, dict[int | None, ContextTrees]] = {feature: {} for feature in range(pool.n_features)}
        weighted = [member for member in pool.members if isinstance(member, WeightedModel)]
        for part in (part for member in weighted for part in member.parts if isinstance(part, ContextTrees)):
            for place, (child, parents) in enumerate(part.families):
                if child < pool.n_features:
                    trees[child].setdefault(parents[0] if parents else None, part.only(place))
        return cls(pool.class_weights / pool.class_weights.sum(), trees)

    def log_probabilities(self, tree: ContextTrees, parent: int | None = None, code: int = 0) -> Floats:
        """Log P(value | y), and one parent's value, (values, classes); all other parents are left out."""
        (child,), cardinalities = tree.children, tree.cardinalities
        codes = np.empty((cardinalities[child], len(cardinalities)), np.min_scalar_type(max(cardinalities)), order="F")
        codes[:] = cardinalities
        codes[:, child] = np.arange(cardinalities[child])
        if parent is not None:
            codes[:, parent] = code
        found = np.zeros((cardinalities[child], len(self.priors)))
        tree.add_to(found, codes, np.ones((1, len(self.priors))))
        return found

    def joint(self, feature: int) -> Floats:
        """P(value, y), (values, classes)."""
        return np.asarray(np.exp(self.log_probabilities(next(iter(self.trees[feature].values())))) * self.priors)


def _in_contexts(contexts: Contexts, feature: int) -> tuple[Floats, Floats]:
    """How alike values are where the class and a closest parent are known, (values, values), and their weights."""
    profiles, shares = [], []
    for parent, tree in contexts.trees[feature].items():
        of_parent = contexts.priors[None] if parent is None else contexts.joint(parent)
        profiles += [contexts.log_probabilities(tree, parent, code).T for code in range(len(of_parent))]
        shares += list(of_parent)
    share = np.concatenate(shares)[:, None]
    return alike(np.concatenate(profiles), share / share.sum()), contexts.joint(feature).sum(axis=1)


def conditionals(model: Any) -> Iterator[Conditional]:
    """The families of all networks in a model."""
    if isinstance(model, NetworkModel):
        yield from model.conditionals
    elif isinstance(model, AveragedModel | PerClassModel):
        for each in model.models:
            yield from conditionals(each)
    elif isinstance(getattr(model, "last_resort", None), NetworkModel):
        yield from model.last_resort.conditionals
