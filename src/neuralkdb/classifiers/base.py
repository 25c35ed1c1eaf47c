"""What every classifier is: members that are fitted from rows, and posteriors that are their average.

A fitted classifier holds `members_`: one (encoding, structure, statistics, model, weight) for most of them, several
for ensembles whose members differ in encoding.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from neuralkdb.classifiers.blocks import for_each, slices
from neuralkdb.classifiers.describing import describe
from neuralkdb.classifiers.saving import Savable
from neuralkdb.classifiers.training import TrainingData, cut_points_of, n_threads_of
from neuralkdb.counting import ArrayCounts, Counts
from neuralkdb.encoding import Coding, Encoding
from neuralkdb.frames import read_columns
from neuralkdb.inspection import Explanation, explanation
from neuralkdb.model import Model, StructureLearner, model_of, statistics_of
from neuralkdb.network import Floats
from neuralkdb.parameters.conditional import Block, ParameterEstimator
from neuralkdb.persistence.types import storable

BLOCK_ENTRIES = 2**19  # rows x classes that are scored at once


@dataclass(frozen=True)
class Member:
    """A model and the encoding it is asked in."""

    encoding: Encoding
    structure: Any
    statistics: Any
    model: Model
    weight: float = 1.0


storable(Member)


class BayesianNetworkClassifier(Savable, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A classifier with one network, or several over the same codes."""

    _fitted: ClassVar[dict[str, Any]] = {"members_": tuple[Member, ...]}
    _averages_joint: ClassVar[bool] = True

    discretization: str
    n_bins: int
    missing: str
    categorical_features: Any
    n_jobs: int | None

    @abstractmethod
    def _learner(self) -> StructureLearner:
        """Who depends on whom."""

    @abstractmethod
    def _estimator(self) -> ParameterEstimator:
        """How tables become probabilities."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows of a table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas, polars or pyarrow table, a numpy array or nested lists, with columns of any type.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; weight 2 is the same as the row twice, weight 0 as no row.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._forget()
        data = TrainingData.read(self, X, y, sample_weight)
        self.members_ = self._fit_members(data)
        self.classes_ = data.labels
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_table(
        self,
        source: Any,
        target: str = "y",
        *,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        like: BayesianNetworkClassifier | None = None,
    ) -> Self:
        """Learn from a table in an engine, by counts that the engine makes.

        Parameters
        ----------
        source : path, or lazy table
            A Parquet or CSV file, a folder of Parquet files, a pattern such as ``data/*.parquet`` or a table of a
            DuckDB file ("file.duckdb::table"), read with DuckDB; or a DuckDB relation, a Polars lazy frame, a Spark
            data frame, or any other lazy table that narwhals knows. A list of these is the table of all their
            rows, of which none leaves its engine.
        target : str, default="y"
            The column of the classes.
        weight : str, default=None
            The column of weights of the rows.
        features : list of str, default=None
            The columns to learn from; all others by default.
        like : fitted classifier, default=None
            Take its encoding and structure, and learn only what is counted: `merge` then adds up what several such
            classifiers have counted.

        Returns
        -------
        self : object
            The fitted classifier: what `fit` learns from the same rows.
        """
        from neuralkdb.engines.fitting import fit_table

        return fit_table(self, source, target, weight, features, like)  # type: ignore[no-any-return]

    def predict_table(self, source: Any, out: Any, *, keep: Sequence[str] = ()) -> None:
        """Predict the rows of a table in an engine, a few at a time, and write them as Parquet.

        Parameters
        ----------
        source : path, or lazy table
            As in `fit_table`, with the columns learned from.
        out : path
            The Parquet file to write, with Spark a folder; columns ``prediction`` and ``probability_`` of each class.
            It is there when all is written, and not before.
        keep : list of str, default=()
            Columns of the table to write beside the predictions.
        """
        from neuralkdb.engines.prediction import predict_table

        predict_table(self, source, out, keep)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns as in `fit`, with missing values and values never seen before where need be.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Classes are in the order of `classes_`.
        """
        return self._in_blocks(X, _log_posterior)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns as in `fit`, with missing values and values never seen before where need be.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Classes are in the order of `classes_`.
        """
        return self._in_blocks(X, lambda *block: np.exp(_log_posterior(*block)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns as in `fit`, with missing values and values never seen before where need be.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of equally probable classes, the first in `classes_`.
        """
        log_probabilities = self.predict_log_proba(X)
        return self.classes_[log_probabilities.argmax(axis=1)]  # type: ignore[no-any-return]

    @available_if(lambda self: self._averages_joint and is_generative(self))  # type: ignore[untyped-decorator]
    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Logarithm of the joint probability of each row and each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns as in `fit`; the terms of missing and unseen values are left out or averaged.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_classes)
            log P(x, y) for the classes in the order of `classes_`.
        """
        return self._in_blocks(X, lambda members, blocks: members[0].model.log_joint(blocks[0]))

    def explain(self, X: Any) -> Explanation:
        """Each prediction as a sum of what each feature says.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns as in `fit`.

        Returns
        -------
        explanation : Explanation
            `values` (n_samples, n_classes, n_features + 2) add up to the log-odds of each class against the others.
        """
        check_is_fitted(self)
        columns = read_columns(self, X, reset=False)
        blocks = [Block.of(m.encoding.encode(columns), m.encoding.cardinalities) for m in self.members_]
        shares = np.array([member.weight for member in self.members_])
        pairs = zip(self.members_, shares / shares.sum(), blocks, strict=True)
        log_terms = sum(share * member.model.log_terms(block) for member, share, block in pairs)
        return explanation(np.asarray(log_terms), _log_posterior(self.members_, blocks), self._names, self.classes_)

    @property
    def structure_(self) -> Any:
        """Parents by feature name; for several networks a tuple of such, for networks of classes a mapping."""
        check_is_fitted(self)
        described = tuple(describe(member.structure, self._names, self.classes_) for member in self.members_)
        return described[0] if len(described) == 1 else described

    def _fit_members(self, data: TrainingData) -> tuple[Member, ...]:
        encoding, counts = self._encoded(data)
        structure = self._learner().learn(counts)
        statistics = statistics_of(structure, counts)
        return (Member(encoding, structure, statistics, self._model(structure, statistics, counts)),)

    def _model(self, structure: Any, statistics: Any, counts: Counts) -> Model:
        return model_of(structure, statistics, self._estimator())

    def _counted(self, member: Member, data: TrainingData) -> Member:
        """A member with the same encoding and structure that has counted these rows."""
        counts = data.counts(member.encoding, n_threads_of(self.n_jobs))
        return self._estimated(member, statistics_of(member.structure, counts))

    def _estimated(self, member: Member, statistics: Any) -> Member:
        """A member with the same encoding and structure, and other statistics."""
        if not is_generative(self):
            raise ValueError(
                f'{type(self).__name__}(weighting="discriminative") learns its weights from rows, which counts do not '
                'have: use weighting="none".'
            )
        model = model_of(member.structure, statistics, self._estimator())
        return Member(member.encoding, member.structure, statistics, model, member.weight)

    def _encoded(self, data: TrainingData) -> tuple[Encoding, ArrayCounts]:
        """The code books of the rows, and the counts of the coded rows."""
        n_threads = n_threads_of(self.n_jobs)
        cut_points = cut_points_of(self.discretization, self.n_bins)
        encoding = data.encoding(cut_points, self.missing, self.categorical_features, n_threads)
        return encoding, data.counts(encoding, n_threads)

    def _in_blocks(self, X: Any, score: Any) -> Floats:
        """`score(members, blocks)` of all rows, a few at a time, (rows, classes)."""
        check_is_fitted(self)
        columns = read_columns(self, X, reset=False)
        n_rows = len(columns[0].values)
        codings = [member.encoding.coding(columns) for member in self.members_]
        result = np.empty((n_rows, len(self.classes_)))

        def fill(rows: slice) -> None:
            blocks = [_block(coding, rows, m.encoding) for coding, m in zip(codings, self.members_, strict=True)]
            result[rows] = score(self.members_, blocks)

        for_each(
            fill,
            slices(n_rows, max(BLOCK_ENTRIES // len(self.classes_), 256)),
            n_threads_of(self.n_jobs),
        )
        return result

    def _forget(self) -> None:
        """What a former fit has learned: a fit that fails or is interrupted leaves nothing that looks fitted."""
        for learned in ("members_", "classes_"):
            self.__dict__.pop(learned, None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    @property
    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def is_generative(classifier: Any) -> bool:
    """Whether probabilities are those of counts, which add up, and not weighted."""
    return getattr(classifier, "weighting", "none") == "none"


def _log_posterior(members: tuple[Member, ...], blocks: list[Block]) -> Floats:
    """Log of the weighted mean of the members' posteriors."""
    if len(members) == 1:
        return members[0].model.log_posterior(blocks[0])
    total = sum(member.weight for member in members)
    mean = sum(
        member.weight / total * np.exp(member.model.log_posterior(block))
        for member, block in zip(members, blocks, strict=True)
    )
    with np.errstate(divide="ignore"):
        return np.log(mean)


def _block(coding: Coding, rows: slice, encoding: Encoding) -> Block:
    return Block.of(coding.codes(rows), encoding.cardinalities)
