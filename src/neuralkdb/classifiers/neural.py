"""NeuralKDBClassifier and NeuralNBClassifier."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import HasMethods

from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.embedded import NEURAL_CONSTRAINTS, NeuralClassifier
from neuralkdb.classifiers.training import K_CONSTRAINT
from neuralkdb.model import StructureLearner
from neuralkdb.structures.independent import Independent
from neuralkdb.structures.k_dependence import KDependence
from neuralkdb.structures.parent_sets import ExpandedSuperParents, SuperParents


@documented
class NeuralKDBClassifier(NeuralClassifier):
    """k-dependence Bayesian classifier whose conditional probabilities are a softmax over learned embeddings.

    P(x_i | parents, y) = softmax over the values of X_i of W_i . act(sum of the parents' vectors + the class's
    vector), so that combinations of values never seen in training get a sensible probability [1]_. With
    `activation="identity"` it is the formula as printed there, in which parents and class cannot
    interact.

    Parameters
    ----------
    k : int, default=2
        Largest number of feature-parents of a feature.
    structure : structure learner, default=None
        Who depends on whom, in place of `KDependence(k)`: any learner of `neuralkdb.structures`.
    {neural}
    {encoding}
    {randomness}

    Attributes
    ----------
    {attributes}
    embeddings_ : ValueEmbeddings
        The vectors of all feature values, as parents and as children, and of all classes.
    loss_curve_ : list of float
        The mean loss of each epoch.

    References
    ----------
    .. [1] H. Zhang, D. Zhang, K. Meng, G. I. Webb. "Towards the next-generation Bayesian network classifiers." UAI
       (2025).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import NeuralKDBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NeuralKDBClassifier(random_state=0).fit(X, y).score(X, y), 2)
    0.95

    A neural TAN:

    >>> from neuralkdb.structures.tree import Tree
    >>> round(NeuralKDBClassifier(structure=Tree(), random_state=0).fit(X, y).score(X, y), 2)
    0.95
    """

    _parameter_constraints = {**NEURAL_CONSTRAINTS, "k": K_CONSTRAINT, "structure": [HasMethods("learn"), None]}

    def __init__(
        self,
        k: int = 2,
        *,
        structure: StructureLearner | None = None,
        embedding_dim: int = 128,
        epochs: int = 10,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        activation: str = "tanh",
        schedule: str = "auto",
        weight_decay: float = 0.0,
        parent_dropout: float = 0.0,
        early_stopping: bool = False,
        device: str | None = None,
        discretization: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            embedding_dim=embedding_dim,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            activation=activation,
            schedule=schedule,
            weight_decay=weight_decay,
            parent_dropout=parent_dropout,
            early_stopping=early_stopping,
            device=device,
            discretization=discretization,
            n_bins=n_bins,
            missing=missing,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.k = k
        self.structure = structure

    def _learner(self) -> StructureLearner:
        if self.structure is None:
            return KDependence(self.k)
        return ExpandedSuperParents(self.structure) if isinstance(self.structure, SuperParents) else self.structure


@documented
class NeuralNBClassifier(NeuralClassifier):
    """Naive Bayes whose probabilities P(x_i | y) are a softmax over learned embeddings: NeuralKDB without parents.

    Parameters
    ----------
    {neural}
    {encoding}
    {randomness}

    Attributes
    ----------
    {attributes}
    embeddings_ : ValueEmbeddings
        The vectors of all feature values, as parents and as children, and of all classes.
    loss_curve_ : list of float
        The mean loss of each epoch.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import NeuralNBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NeuralNBClassifier(random_state=0).fit(X, y).score(X, y), 2)
    0.95
    """

    def _learner(self) -> Independent:
        return Independent()
