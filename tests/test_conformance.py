"""Every estimator is a scikit-learn estimator: nothing skipped, nothing excused."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import neuralkdb

CLASSIFIERS = [
    value
    for name in neuralkdb.__all__
    if inspect.isclass(value := getattr(neuralkdb, name)) and issubclass(value, BaseEstimator)
]


def quick(classifier: type[BaseEstimator], **parameters: object) -> BaseEstimator:
    """An estimator whose ensembles are small."""
    if "n_members" in inspect.signature(classifier).parameters:
        parameters = {"n_members": 3, **parameters}
    return classifier(**parameters)


def variants() -> list[BaseEstimator]:
    """Every classifier at its defaults, and with every other way to treat values."""
    accepted = {classifier: inspect.signature(classifier).parameters for classifier in CLASSIFIERS}
    changes = [
        {},
        {"estimate": "backoff", "missing": "marginalize"},
        {"estimate": "laplace", "missing": "impute", "discretization": "quantile", "n_bins": 5},
    ]
    return [
        quick(classifier, **{name: value for name, value in change.items() if name in accepted[classifier]})
        for classifier in CLASSIFIERS
        for change in changes
    ]


@parametrize_with_checks(variants())
def test_estimators_keep_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_tags_promise_missing_values_and_strings_and_excuse_nothing(classifier):
    tags = get_tags(classifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    assert not tags.input_tags.categorical
    assert not tags.classifier_tags.poor_score
    assert not tags.no_validation
    assert not tags.non_deterministic


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_class_names_end_in_classifier(classifier):
    assert classifier.__name__.endswith("Classifier")
