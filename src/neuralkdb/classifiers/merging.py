"""Tables of several sites add up: the classifier of all their rows, from classifiers of the rows of each."""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from neuralkdb.classifiers.base import BayesianNetworkClassifier
from neuralkdb.encoding import Encoding


def merge(*classifiers: BayesianNetworkClassifier) -> BayesianNetworkClassifier:
    """The classifier of all rows that several classifiers have counted, without the rows.

    Parameters
    ----------
    *classifiers : fitted classifiers
        Of the same class and parameters, with the same classes, encoding and structure: fitted to tables of several
        sites with `fit_table(..., like=shared)`, say.

    Returns
    -------
    merged : fitted classifier
        Its tables are the sums of theirs, and its probabilities are estimated from the sums.

    Examples
    --------
    >>> import numpy as np
    >>> from neuralkdb import NaiveBayesClassifier, merge
    >>> X, y = np.array([["a"], ["b"], ["b"], ["a"]], dtype=object), [0, 1, 1, 1]
    >>> whole = NaiveBayesClassifier().fit(X, y)
    >>> twice = merge(whole, whole)
    >>> twice.members_[0].statistics.class_weights
    array([2., 6.])
    """
    if not classifiers:
        raise ValueError("There is nothing to merge: pass fitted classifiers.")
    first = classifiers[0]
    for number, other in enumerate(classifiers[1:], 1):
        _check(first, other, number)
    merged = copy(first)
    merged.members_ = tuple(
        merged._estimated(members[0], reduce(add, (member.statistics for member in members)))
        for members in zip(*(each.members_ for each in classifiers), strict=True)
    )
    return merged


def _check(first: Any, other: Any, number: int) -> None:
    """Complain where counts of the two would not mean the same."""
    if type(first) is not type(other):
        raise ValueError(f"Classifier {number} is a {type(other).__name__}, not a {type(first).__name__}.")
    if not np.array_equal(first.classes_, other.classes_):
        raise ValueError(f"Classifier {number} has the classes {other.classes_}, not {first.classes_}.")
    if len(first.members_) != len(other.members_):
        raise ValueError(f"Classifier {number} has {len(other.members_)} members, not {len(first.members_)}.")
    for mine, its in zip(first.members_, other.members_, strict=True):
        if not hasattr(mine.statistics, "__add__"):
            raise ValueError(f"{type(first).__name__} keeps no tables that could be added.")
        different = _difference(mine.encoding, its.encoding)
        if different is not None:
            raise ValueError(
                f"Classifier {number} encodes {different} differently, and counts of different codes do not add up. "
                "Fit both with fit_table(..., like=shared), where shared = fit_table([one, other])."
            )
        if mine.structure != its.structure:
            raise ValueError(
                f"Classifier {number} has another structure: its tables are of other features. Fit both with "
                "fit_table(..., like=shared)."
            )


def _difference(one: Encoding, other: Encoding) -> str | None:
    """What two encodings code differently first."""
    if one.missing != other.missing:
        return "missing values"
    if len(one.coders) != len(other.coders):
        return "other columns"
    pairs: Any = zip(one.coders, other.coders, strict=True)
    return next((repr(mine.name) for mine, its in pairs if not _same(mine, its)), None)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)
    )
