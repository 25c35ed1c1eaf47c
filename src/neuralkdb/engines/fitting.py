"""Classifiers learn from tables in an engine as they do from rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuralkdb.columns import as_objects
from neuralkdb.engines.tables import table_data


def fit_table(
    classifier: Any, source: Any, target: str, weight: str | None = None, features: Sequence[str] | None = None
) -> Any:
    """The classifier, fitted; nothing of it changes before all that an engine has to say is known."""
    with table_data(source, target, weight, features) as data:
        members = classifier._fit_members(data)
    classifier.members_, classifier.classes_ = members, data.labels
    classifier.feature_names_in_, classifier.n_features_in_ = as_objects(data.names), len(data.names)
    return classifier
