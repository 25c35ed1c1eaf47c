"""A fitted network as text that other libraries read: the Bayesian network Interchange Format (BIF)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neuralkdb.network import Floats
from neuralkdb.network_model import NetworkModel, log_prior
from neuralkdb.parameters.conditional import Conditional


def to_bif(classifier: Any) -> str:
    """A classifier of one network in the Bayesian network Interchange Format.

    The class is the variable `class` and a parent of every feature. Feature number j is `x<j>_<name>`, code v is
    `v<v>_<what it stands for>`, with underscores for what an identifier cannot hold.

    Parameters
    ----------
    classifier : NaiveBayesClassifier, TANClassifier, SPTANClassifier, KDBClassifier or SKDBClassifier
        A fitted classifier.

    Returns
    -------
    text : str
        The network, its probabilities with 17 significant digits.
    """
    check_is_fitted(classifier)
    model = classifier.members_[0].model
    if len(classifier.members_) > 1 or not isinstance(model, NetworkModel) or model.root is not None:
        raise ValueError(
            f"{type(classifier).__name__} is not one network: BIF has no averages and no networks of classes."
        )
    names = identifiers("x", classifier._names)
    encoding, families = classifier.members_[0].encoding, [each.family for each in model.conditionals]
    states = [identifiers("v", encoding.labels(feature)) for feature in range(len(names))]
    labels = identifiers("c", classifier.classes_)
    blocks = [
        "network unknown {\n}",
        _variable("class", labels),
        *(_variable(names[family.child], states[family.child]) for family in families),
        _block("class", (), [_row(np.exp(log_prior(model.class_weights)))]),
        *(_family(conditional, names, states, labels) for conditional in model.conditionals),
    ]
    return "\n".join(blocks) + "\n"


def identifiers(letter: str, texts: Sequence[Any]) -> list[str]:
    """A different identifier for each text, by number."""
    return [
        f"{letter}{number}_{re.sub(r'[^A-Za-z0-9]+', '_', str(text))}".rstrip("_") for number, text in enumerate(texts)
    ]


def _variable(name: str, states: Sequence[str]) -> str:
    return f"variable {name} {{\n  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n}}"


def _block(child: str, parents: Sequence[str], rows: Sequence[str]) -> str:
    given = f" | {', '.join(parents)}" if parents else ""
    lines = "\n".join(f"  {row}" for row in rows)
    return f"probability ( {child}{given} ) {{\n{lines}\n}}"


def _row(probabilities: Floats, states: Sequence[str] = ()) -> str:
    head = f"({', '.join(states)})" if states else "table"
    return f"{head} {', '.join(f'{probability:.17g}' for probability in probabilities)};"


def _family(
    conditional: Conditional, names: Sequence[str], states: Sequence[Sequence[str]], labels: Sequence[str]
) -> str:
    family, grid = conditional.family, conditional.law.grid()
    given = ["class", *(names[parent] for parent in family.parents)]
    return _block(names[family.child], given, list(_rows(grid, labels, [states[parent] for parent in family.parents])))


def _rows(grid: Floats, labels: Sequence[str], states: Sequence[Sequence[str]]) -> Iterator[str]:
    """P(child | class, parents), the class slowest; `grid` is (*parents, child, classes)."""
    by_class = np.moveaxis(grid, -1, 0)
    for label, *codes in product(*map(range, by_class.shape[:-1])):
        cell = [labels[label], *(of_parent[code] for of_parent, code in zip(states, codes, strict=True))]
        yield _row(by_class[(label, *codes)], cell)
