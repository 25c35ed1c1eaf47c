"""EmbeddingNetClassifier."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from neuralkdb.classifiers.base import BayesianNetworkClassifier, Member
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.embedded import NEURAL_CONSTRAINTS
from neuralkdb.classifiers.training import SHARED_CONSTRAINTS, TrainingData, n_threads_of
from neuralkdb.embedding_net import train_embedding_net
from neuralkdb.parameters.training import Schedule, Trainer
from neuralkdb.structures.independent import Independent

OWN = ("embedding_dim", "epochs", "batch_size", "learning_rate", "weight_decay", "random_state")


@documented
class EmbeddingNetClassifier(BayesianNetworkClassifier):
    """The neural network that the paper compares NeuralKDB with: embeddings of a row's values, one linear layer.

    No Bayesian network: it models P(y | x) and nothing else.

    Parameters
    ----------
    embedding_dim : int, default={embedding_dim}
        Length of the vector of a feature value.
    epochs : int, default={epochs}
        How often each row is trained on.
    batch_size : int, default={batch_size}
        Rows of a step.
    learning_rate : float, default={learning_rate}
        Of Adam.
    weight_decay : float, default={weight_decay}
        Share of each vector, times the learning rate, that is lost in a step.
    {encoding}
    random_state : int, RandomState instance or None, default=None
        Seed of first vectors and shuffles.

    Attributes
    ----------
    {attributes}
    loss_curve_ : list of float
        The mean loss of each epoch.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import EmbeddingNetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(EmbeddingNetClassifier(random_state=0).fit(X, y).score(X, y), 2)
    0.95
    """

    _averages_joint: ClassVar[bool] = False
    _fitted: ClassVar[dict[str, Any]] = {"_losses": list[float]}
    _parameter_constraints = {**SHARED_CONSTRAINTS, **{name: NEURAL_CONSTRAINTS[name] for name in OWN}}

    def __init__(
        self,
        *,
        embedding_dim: int = 128,
        epochs: int = 10,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        discretization: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.embedding_dim = embedding_dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch."""
        check_is_fitted(self)
        return list(self._losses)

    def _fit_members(self, data: TrainingData) -> tuple[Member, ...]:
        encoding, counts = self._encoded(data)
        seed = int(check_random_state(self.random_state).randint(2**31))
        trainer = Trainer("identity", self.weight_decay, 0.0, seed, n_threads_of(self.n_jobs))
        schedule = Schedule(False, self.epochs, self.batch_size, self.learning_rate, falls=False)
        net, self._losses = train_embedding_net(counts, trainer, schedule, self.embedding_dim)
        return (Member(encoding, self._learner().learn(counts), None, net),)

    def _learner(self) -> Independent:
        return Independent()

    def _estimator(self) -> Any:
        raise NotImplementedError("the network is trained on rows, not on tables")
