"""The paragraphs that the docstrings of all classifiers share, written once."""

from __future__ import annotations

import inspect
import textwrap
from typing import TypeVar

Documented = TypeVar("Documented", bound=type)

PARAMETERS = {
    "neural": """\
embedding_dim : int, default={embedding_dim}
    Length of a vector.
epochs : int, default={epochs}
    How often each instance is trained on; with the schedule "cells" the least number.
batch_size : int, default={batch_size}
    Instances, or cells, of a step.
learning_rate : float, default={learning_rate}
    Of Adam; the schedule "cells" starts at twice as much and falls to zero.
activation : {{"tanh", "identity", "relu"}}, default="{activation}"
    Of the sum of the parents' and the class's vectors.
schedule : {{"auto", "instances", "cells"}}, default="{schedule}"
    "instances" trains on every (row, feature), as the paper does. "cells" trains on distinct cells, weighted, so that
    its cost does not grow with the rows. "auto" takes cells from 30 instances a cell on, and larger batches from two
    million instances on.
weight_decay : float, default={weight_decay}
    Share of each vector, times the learning rate, that is lost in a step.
parent_dropout : float, default={parent_dropout}
    Probability with which a parent is left out of a sum in training.
early_stopping : bool, default={early_stopping}
    Hold a tenth of the rows out, and stop when the loss on them has not improved for two epochs.
device : str, default={device}
    Where PyTorch counts and trains, "cuda" for a graphics processor, or "cpu". By default the library's own kernels
    do.""",
    "estimate": """\
estimate : {{"m", "laplace", "backoff"}}, default="{estimate}"
    How counts become probabilities. "m" is ``(N(x, pa, y) + m / |A|) / (N(pa, y) + m)``, "laplace" adds the same
    pseudocount to every cell, "backoff" shrinks each level of parents to the one with a parent less.
smoothing : float, default={smoothing}
    m, the pseudocount, or the strength of the shrinkage.""",
    "weighting": """\
weighting : {{"none", "discriminative"}}, default="{weighting}"
    "discriminative" gives the log-conditional of each feature a weight for each class, and each class a bias, that
    minimize the log-loss of the training rows, each row left out of its own counts. Probabilities are then no longer
    those of a joint, and there is no `partial_fit`.""",
    "encoding": """\
discretization : {{"width", "quantile", "mdl", "codes"}}, default="{discretization}"
    How a numeric column is cut: into bins of equal width or of equal weight, where the classes part (Fayyad & Irani,
    1993), or not at all because its whole numbers are categories.
n_bins : int, default={n_bins}
    Number of bins for "width" and "quantile". A column with no more distinct values keeps one code per value.
missing : {{"value", "impute", "marginalize"}}, default="{missing}"
    A missing value is a value of its own, is filled with the mean or the most frequent category, or is left out of
    counts and predictions. A value that `fit` did not see is always left out.
categorical_features : "from_dtype" or array-like, default="from_dtype"
    Names, column numbers or a mask of columns whose numbers are categories. Text, categoricals and bools always are.
n_jobs : int, default=None
    Number of threads; results do not depend on it.""",
    "randomness": """\
random_state : int, RandomState instance or None, default=None
    Seed of first vectors and shuffles.
verbose : int, default=0
    Whether to show a progress line with the loss.""",
}

ATTRIBUTES = """\
classes_ : ndarray of shape (n_classes,)
    The class labels.
n_features_in_ : int
    Number of columns seen in `fit`.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Their names, where `X` had names that are all strings.
structure_ : mapping
    Parents of each feature by name; a tuple of such for several networks, a mapping by class for networks of classes.
members_ : tuple
    What was learned: encoding, structure, counts and model."""


def documented(cls: Documented) -> Documented:
    """Fill `{estimate}`, `{encoding}` and `{attributes}` in a class docstring with the shared paragraphs."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    text = inspect.cleandoc(cls.__doc__ or "")
    for name, paragraph in PARAMETERS.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", paragraph.format(**defaults))
    for name, default in defaults.items():
        text = text.replace(f"{{{name}}}", str(default))
    cls.__doc__ = text.replace("{attributes}", textwrap.dedent(ATTRIBUTES))
    return cls
