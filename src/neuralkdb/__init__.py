"""Bayesian network classifiers for tabular data."""

from neuralkdb.classifiers.ande import AnDEClassifier, AODEClassifier, WAODEClassifier
from neuralkdb.classifiers.embedding_net import EmbeddingNetClassifier
from neuralkdb.classifiers.ensemble import NeuralKDBEnsembleClassifier
from neuralkdb.classifiers.eskdb import ESKDBClassifier
from neuralkdb.classifiers.kdb import KDBClassifier, KDFClassifier, MNKDBClassifier, SKDBClassifier
from neuralkdb.classifiers.merging import merge
from neuralkdb.classifiers.naive_bayes import NaiveBayesClassifier
from neuralkdb.classifiers.neural import NeuralKDBClassifier, NeuralNBClassifier
from neuralkdb.classifiers.saving import load
from neuralkdb.classifiers.tan import SPTANClassifier, TANClassifier
from neuralkdb.persistence.errors import ModelFileError

__all__ = [
    "AODEClassifier",
    "AnDEClassifier",
    "ESKDBClassifier",
    "EmbeddingNetClassifier",
    "KDBClassifier",
    "KDFClassifier",
    "MNKDBClassifier",
    "ModelFileError",
    "NaiveBayesClassifier",
    "NeuralKDBClassifier",
    "NeuralKDBEnsembleClassifier",
    "NeuralNBClassifier",
    "SKDBClassifier",
    "SPTANClassifier",
    "TANClassifier",
    "WAODEClassifier",
    "load",
    "merge",
]
__version__ = "0.1.0"
