"""What classifiers with embeddings share: training, going on with it, and what was learned."""

from __future__ import annotations

import sys
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from neuralkdb.classifiers.base import Member
from neuralkdb.classifiers.incremental import IncrementalClassifier
from neuralkdb.classifiers.training import (
    SHARED_CONSTRAINTS,
    TrainingData,
    n_threads_of,
)
from neuralkdb.counting import ArrayCounts
from neuralkdb.encoding import Encoding
from neuralkdb.inspection import ValueEmbeddings, similarities
from neuralkdb.model import TableStatistics, families_of, model_of, statistics_of
from neuralkdb.network import Family, Floats, Structure
from neuralkdb.parameters.embeddings import ACTIVATIONS, EmbeddedLaw, Embeddings
from neuralkdb.parameters.neural import Embedded, Fixed, HeldOut, has_weight
from neuralkdb.parameters.training import Trainer
from neuralkdb.tables import Table

SHARE_HELD_OUT = 0.1

NEURAL_CONSTRAINTS: dict[str, Any] = {
    **SHARED_CONSTRAINTS,
    "embedding_dim": [Interval(Integral, 1, None, closed="left")],
    "epochs": [Interval(Integral, 1, None, closed="left")],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "activation": [StrOptions(set(ACTIVATIONS))],
    "schedule": [StrOptions({"auto", "instances", "cells"})],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "parent_dropout": [Interval(Real, 0, 1, closed="left")],
    "early_stopping": ["boolean"],
    "device": [str, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


class NeuralClassifier(IncrementalClassifier):
    """A classifier whose probabilities are embeddings."""

    _parameter_constraints = NEURAL_CONSTRAINTS
    _fitted: ClassVar[dict[str, Any]] = {"_embeddings": Embeddings}

    def __init__(
        self,
        *,
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
        self.embedding_dim = embedding_dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.activation = activation
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.parent_dropout = parent_dropout
        self.early_stopping = early_stopping
        self.device = device
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def embeddings_(self) -> ValueEmbeddings:
        """The vectors of all feature values and classes."""
        check_is_fitted(self)
        (member,) = self.members_
        return ValueEmbeddings.of(self._embeddings, member.encoding, self._names, self.classes_)

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch, of all calls of `partial_fit` together."""
        check_is_fitted(self)
        return list(self._embeddings.losses)

    def similar_values(self, feature: str, value: str, n: int = 5) -> list[tuple[str, float]]:
        """The values of a feature that occur in the most similar contexts.

        A context is what the feature depends on: its parents' values and the class.

        Parameters
        ----------
        feature : str
            Name of the feature.
        value : str
            Label of one of its values, as in `embeddings_`.
        n : int, default=5
            How many to list.

        Returns
        -------
        similar : list of (str, float)
            Labels and similarities, the correlation of log P(value | context) over the contexts of the training rows.
        """
        embeddings = self.embeddings_
        number, own = embeddings.number(feature, value)
        (member,) = self.members_
        family = next(f for f in families_of(member.structure.networks) if f.child == number)
        table = member.statistics.tables[family.variables]
        similar = similarities(EmbeddedLaw(family, table, self._embeddings, self.activation))[own]
        order = [other for other in np.argsort(-similar, kind="stable") if other != own]
        return [(embeddings.labels[number][other], float(similar[other])) for other in order[:n]]

    def _estimator(self) -> Embedded:
        seed = int(check_random_state(self.random_state).randint(2**31))
        threads = n_threads_of(self.n_jobs)
        return Embedded(
            self.embedding_dim,
            self.epochs,
            self.batch_size,
            self.learning_rate,
            self.schedule,
            self._on_device(Trainer(self.activation, self.weight_decay, self.parent_dropout, seed, threads)),
            report=self._report if self.verbose else None,
        )

    def _encoded(self, data: TrainingData) -> Any:
        encoding, counts = super()._encoded(data)
        return encoding, self._on_device(counts)

    def _on_device(self, host: Any) -> Any:
        """The trainer, or the counts in memory, that computes where the user wants."""
        if self.device is None:
            return host
        from neuralkdb.engines.gpu import ON_DEVICE

        return ON_DEVICE.get(type(host), lambda counts, _: counts)(host, self.device)

    def _fit_members(self, data: TrainingData) -> tuple[Member, ...]:
        encoding, counts = self._encoded(data)
        structure, estimator = _joint_structure(self._learner().learn(counts)), self._estimator()
        statistics = statistics_of(structure, counts)
        trained_on = statistics
        if self.early_stopping:
            kept, held_out = split(counts, SHARE_HELD_OUT, estimator.trainer.seed)
            trained_on = statistics_of(structure, kept)
            held_out_tables = tables_of(structure, statistics_of(structure, held_out))
            if has_weight(held_out_tables):
                estimator = replace(estimator, held_out=HeldOut(held_out_tables))
        return (self._member(encoding, structure, statistics, estimator.trained(tables_of(structure, trained_on))),)

    def _extended(self, member: Member, data: TrainingData) -> Member:
        encoding = member.encoding.extended(data.columns)
        new = statistics_of(member.structure, data.counts(encoding, n_threads_of(self.n_jobs)))
        estimator = replace(self._estimator(), start=self._embeddings)
        trained = estimator.trained(tables_of(member.structure, new))
        return self._member(encoding, member.structure, member.statistics + new, trained)

    def _estimated(self, member: Member, statistics: TableStatistics) -> Member:
        trained = self._estimator().trained(tables_of(member.structure, statistics))
        return self._member(member.encoding, member.structure, statistics, trained)

    def _member(self, encoding: Encoding, structure: Structure, statistics: TableStatistics, trained: Fixed) -> Member:
        self._embeddings = trained.embeddings
        return Member(encoding, structure, statistics, model_of(structure, statistics, trained))

    def _report(self, epoch: int, epochs: int, loss: float) -> None:
        end = "\n" if epoch == epochs else ""
        print(f"\r{type(self).__name__}: epoch {epoch} of {epochs}, loss {loss:.4f}", end=end, file=sys.stderr)


def split(counts: ArrayCounts, share: float, seed: int) -> tuple[ArrayCounts, ArrayCounts]:
    """The rows to train on and those held out, drawn from the canonical table: row order does not matter."""
    rows = counts.rows()
    random = np.random.default_rng(seed)
    whole = np.floor(rows.weights)
    held = random.binomial(whole.astype(np.int64), share) + (random.random(len(whole)) < share) * (rows.weights - whole)

    def part(weights: Floats) -> ArrayCounts:
        some = weights > 0
        codes = np.asfortranarray(rows.codes[some])
        size = counts.cardinalities, counts.n_classes, counts.n_threads
        return ArrayCounts.of(codes, rows.classes[some], weights[some], *size)

    return part(rows.weights - held), part(held)


def tables_of(structure: Structure, statistics: TableStatistics) -> dict[Family, Table]:
    """The table of each family."""
    return {family: statistics.tables[family.variables] for family in families_of(structure.networks)}


def _joint_structure(structure: Any) -> Structure:
    if isinstance(structure, Structure):
        return structure
    raise ValueError(
        f"Embeddings are shared by all classes, but {type(structure).__name__} has networks of its own for each."
    )
