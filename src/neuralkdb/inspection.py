"""Why a model said so: each prediction as a sum of terms, one per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.network import Floats
from neuralkdb.parameters.conditional import Law


@dataclass(frozen=True, eq=False)
class Explanation:
    """The log-odds of every row and class as the sum of what each feature says.

    The log-odds of class y are log P(y | x) minus the mean of log P(y' | x) over the other classes y'; with two
    classes these are the usual log-odds. The first term is that of the class frequencies, the last what averaging
    several networks adds; it is zero for a single network.
    """

    terms: tuple[str, ...]
    classes: NDArray[Any]  # (classes,)
    values: Floats  # (rows, classes, terms)

    @property
    def log_odds(self) -> Floats:
        """The sum of all terms, (rows, classes)."""
        return np.asarray(self.values.sum(axis=2))

    def strongest(self, row: int, label: Any, n: int = 5) -> list[tuple[str, float]]:
        """The terms that say most for or against a class, the strongest first."""
        values = self.values[row, list(self.classes).index(label)]
        order = np.argsort(-np.abs(values), kind="stable")[:n]
        return [(self.terms[term], float(values[term])) for term in order]


@dataclass(frozen=True, eq=False)
class ValueEmbeddings:
    """The learned vectors: of every feature value as a parent and as a child, and of every class."""

    features: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]  # of the values of each feature
    parents: tuple[NDArray[np.float32], ...]  # (values, dimensions) of each feature
    children: tuple[NDArray[np.float32], ...]  # (values, dimensions) of each feature
    class_labels: NDArray[Any]  # (classes,)
    classes: NDArray[np.float32]  # (classes, dimensions)

    @classmethod
    def of(cls, vectors: Any, encoding: Any, names: Sequence[str], class_labels: NDArray[Any]) -> ValueEmbeddings:
        """The vectors with the names of what they stand for."""
        features = range(len(names))
        return cls(
            tuple(names),
            tuple(encoding.labels(feature) for feature in features),
            tuple(vectors.parents(feature) for feature in features),
            tuple(vectors.children(feature) for feature in features),
            class_labels,
            vectors.classes(),
        )

    def __getitem__(self, name: tuple[str, str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Parent and child vector of a (feature, value)."""
        feature, value = self.number(*name)
        return self.parents[feature][value], self.children[feature][value]

    def number(self, feature: str, value: str) -> tuple[int, int]:
        """The numbers of a feature and of one of its values."""
        if feature not in self.features:
            raise KeyError(f"there is no feature {feature!r}, only {list(self.features)}")
        number = self.features.index(feature)
        if value not in self.labels[number]:
            raise KeyError(f"feature {feature!r} has no value {value!r}, only {list(self.labels[number])}")
        return number, self.labels[number].index(value)


def similarities(law: Law) -> Floats:
    """How alike the contexts are that the values of a child occur in, (values, values), from -1 to 1.

    A context is the parents' values and the class. The profile of a value x is log P(x | context) over the contexts of
    the training rows, and the similarity of two values the correlation of their profiles, weighted as the contexts.
    """
    codes, classes, weights = law.table.cells()
    contexts, which = np.unique(np.column_stack([codes[:, :-1], classes]), axis=0, return_inverse=True)
    share = np.bincount(which.reshape(-1), weights)[:, None] / weights.sum()
    n_values = law.table.shape[-1]
    parents = np.repeat(contexts[:, :-1], n_values, axis=0)
    values = np.tile(np.arange(n_values), len(contexts))
    cells = np.asfortranarray(np.column_stack([parents, values]), codes.dtype)
    own = law.probability(cells)[np.arange(len(cells)), np.repeat(contexts[:, -1], n_values)]
    return alike(np.log(np.maximum(own, np.finfo(float).tiny)).reshape(-1, n_values), share)


def alike(profiles: Floats, share: Floats) -> Floats:
    """The correlation of columns of (contexts, values), contexts weighted by their share (contexts, 1)."""
    centred = np.sqrt(share) * (profiles - (share * profiles).sum(axis=0))
    lengths = np.linalg.norm(centred, axis=0)
    return np.asarray(centred.T @ centred / np.maximum(np.outer(lengths, lengths), np.finfo(float).tiny))


def explanation(log_terms: Floats, log_posterior: Floats, names: Sequence[str], classes: NDArray[Any]) -> Explanation:
    """Terms (rows, features + 1, classes) and posteriors (rows, classes) as log-odds."""
    terms, total = against_others(log_terms), against_others(log_posterior)
    residual = total - terms.sum(axis=1)
    values = np.concatenate([terms, residual[:, None]], axis=1).transpose(0, 2, 1)
    return Explanation(("class", *names, "averaging"), classes, values)


def against_others(logs: Floats) -> Floats:
    """Each class minus the mean of the others, along the last axis; with one class, nothing is against it."""
    n_others = logs.shape[-1] - 1
    if n_others == 0:
        return np.zeros_like(logs)
    return np.asarray(logs - (logs.sum(axis=-1, keepdims=True) - logs) / n_others)
