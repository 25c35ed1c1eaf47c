"""
A classifier of your own
========================

A structure is a value with one method. Here each feature depends on the one that says a little more about the class;
the same value makes a counted classifier and a neural one. The steps are those of the page on adding a classifier.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from neuralkdb import NaiveBayesClassifier, NeuralKDBClassifier
from neuralkdb.classifiers.counted import IncrementalCountedClassifier
from neuralkdb.counting import Counts
from neuralkdb.information import class_information
from neuralkdb.network import Family, Structure, single
from neuralkdb.structures.k_dependence import descending

# %%
# Who depends on whom, from what the counts say.


@dataclass(frozen=True)
class Chain:
    """Each feature depends on the one that says a little more about the class."""

    def learn(self, counts: Counts) -> Structure:
        order = descending(class_information(counts))
        parents = [(), *((feature,) for feature in order)]
        return single([Family(child, above) for child, above in zip(order, parents, strict=False)])


# %%
# A classifier whose parameters are counted.


class ChainClassifier(IncrementalCountedClassifier):
    """Each feature depends on the class and on the one that says a little more about it."""

    def _learner(self) -> Chain:
        return Chain()


# %%
# Beside naive Bayes, and with vectors in place of counts.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
models = {
    "naive Bayes": NaiveBayesClassifier(),
    "chain, counted": ChainClassifier(),
    "chain, embedded": NeuralKDBClassifier(structure=Chain(), random_state=0),
}
for name, model in models.items():
    losses = -cross_val_score(model, X, y, scoring="neg_log_loss")
    print(f"{name:16} log-loss {losses.mean():.3f}")
