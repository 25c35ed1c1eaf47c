"""Classifiers learn from tables in an engine as they do from rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from neuralkdb.columns import as_objects
from neuralkdb.engines.tables import table_data


def fit_table(
    classifier: Any, source: Any, target: str, weight: str | None, features: Sequence[str] | None, like: Any
) -> Any:
    """The classifier, fitted; nothing of it changes before all that an engine has to say is known."""
    if like is not None:
        check_is_fitted(like)
        features = getattr(like, "feature_names_in_", features)
    with table_data(source, target, weight, features) as data:
        if like is None:
            members = classifier._fit_members(data)
        else:
            same = data.of_labels(like.classes_)
            for member in like.members_:
                same.check_known(member.encoding.coders)
            members = tuple(classifier._counted(member, same) for member in like.members_)
    classifier.members_, classifier.classes_ = members, data.labels if like is None else like.classes_
    classifier.feature_names_in_, classifier.n_features_in_ = as_objects(data.names), len(data.names)
    return classifier
