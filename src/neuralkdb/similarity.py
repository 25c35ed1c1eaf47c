"""Values of a feature that occur in the same contexts, whatever the classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neuralkdb.inspection import similarities
from neuralkdb.network import Floats
from neuralkdb.network_model import AveragedModel, NetworkModel, PerClassModel
from neuralkdb.parameters.conditional import Conditional


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
    family = next((each for each in conditionals(member.model) if each.family.child == number), None)
    if family is None:
        raise ValueError(f"{type(classifier).__name__} has no probabilities of {feature}")
    seen = family.law.table.marginal((len(family.family.parents),))
    weights = seen.at(np.arange(seen.shape[0], dtype=np.uint32).reshape(-1, 1, order="F"), (0,)).sum(axis=1)
    return member.encoding.labels(number), similarities(family.law), weights


def conditionals(model: Any) -> Iterator[Conditional]:
    """The families of all networks in a model."""
    if isinstance(model, NetworkModel):
        yield from model.conditionals
    elif isinstance(model, AveragedModel | PerClassModel):
        for each in model.models:
            yield from conditionals(each)
    elif isinstance(getattr(model, "last_resort", None), NetworkModel):
        yield from model.last_resort.conditionals
