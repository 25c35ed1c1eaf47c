"""Classifiers that learn from more rows by adding counts to counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if

from neuralkdb.classifiers.base import BayesianNetworkClassifier, Member, is_generative
from neuralkdb.classifiers.training import TrainingData, n_threads_of
from neuralkdb.model import statistics_of


class IncrementalClassifier(BayesianNetworkClassifier):
    """A classifier whose tables can be added to once its encoding and structure are fixed."""

    @available_if(lambda self: is_generative(self))  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows.

        The first call fixes cut points and structure; later calls add their counts, and categories never seen before
        extend the code books. The result is that of all rows at once with that encoding and structure.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The new rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The classifier, which has learned from all rows so far.
        """
        first = not hasattr(self, "members_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        labels = np.unique(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(classes), labels):
            raise ValueError(f"classes={classes!r} is not the same as on the first call to partial_fit: {labels}")
        data = TrainingData.read(self, X, y, sample_weight, reset=first).of_labels(labels)
        self.members_ = self._fit_members(data) if first else tuple(self._extended(m, data) for m in self.members_)
        self.classes_ = labels
        return self

    def _extended(self, member: Member, data: TrainingData) -> Member:
        encoding = member.encoding.extended(data.columns)
        counts = data.counts(encoding, n_threads_of(self.n_jobs))
        statistics = member.statistics + statistics_of(member.structure, counts)
        return self._estimated(replace(member, encoding=encoding), statistics)
