"""NeuralKDBEnsembleClassifier."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from threadpoolctl import threadpool_limits

from neuralkdb.classifiers.base import BayesianNetworkClassifier, Member
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.members import Fitter, Trained, plans_of, some
from neuralkdb.classifiers.training import TrainingData, n_threads_of
from neuralkdb.classifiers.views import Views
from neuralkdb.counting import CodedRows, Counts
from neuralkdb.information import KnownInformation
from neuralkdb.inspection import against_others
from neuralkdb.network import Family, Floats, Network, Structure
from neuralkdb.parameters.conditional import Block
from neuralkdb.tables import code_type
from neuralkdb.weighted_model import Pool
from neuralkdb.weighting import best_shares

MOST_ROWS = 2**20  # distinct ones; of more, a sample is learned from


@documented
class NeuralKDBEnsembleClassifier(BayesianNetworkClassifier):
    """Ensemble of k-dependence networks whose log-conditionals are weighted discriminatively: the one to try first.

    Every member is a k-dependence network over its own order of the features and its own cut points. Each feature has a
    counted conditional, shrunk along its parents (back-off), and each number also has a linear regression on other
    numbers. Every such term gets a weight for each class, learned on leave-one-out estimates. Where that helps on rows
    not seen, each cell of a feature and up to two parents also gets an offset. A prediction is the mean of the members'
    log-odds, times a sharpness found on rows that members had not seen, so it is a sum of one readable term for each
    feature: see `explain`.

    Parameters
    ----------
    n_members : int, default=24
        Number of networks.
    strength : float, default=5.0
        How many rows' worth the estimate with one parent less counts in a counted conditional.
    pull : float, default=3.0
        How strongly weights are held at what is expected of them without looking at the predictions.
    missing : {"value", "impute", "marginalize"}, default="value"
        As in the other classifiers, but a marginalized parent ends a back-off at the parents before it.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        As in the other classifiers.
    n_jobs : int, default=None
        Number of threads; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of orders and cut points.
    verbose : int, default=0
        Whether to show a progress line.

    Attributes
    ----------
    {attributes}
    shares_ : tuple of float
        What the log-odds of each member are multiplied by.
    correction_ : float
        What the mean of the members' offsets is multiplied by; zero where offsets did not help on rows not seen.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the log-odds of the training rows: mean absolute terms, which sum to one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from neuralkdb import NeuralKDBEnsembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NeuralKDBEnsembleClassifier(random_state=0).fit(X, y).score(X, y), 2)
    0.99
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "shares_": tuple[float, ...],
        "correction_": float,
        "feature_importances_": NDArray[Any],
    }
    _averages_joint: ClassVar[bool] = False
    _parameter_constraints = {
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "strength": [Interval(Real, 0, None, closed="neither")],
        "pull": [Interval(Real, 0, None, closed="neither")],
        "missing": [StrOptions({"value", "impute", "marginalize"})],
        "categorical_features": "no_validation",
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_members: int = 24,
        *,
        strength: float = 5.0,
        pull: float = 3.0,
        missing: str = "value",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_members = n_members
        self.strength = strength
        self.pull = pull
        self.missing = missing
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_members(self, data: TrainingData) -> tuple[Member, ...]:
        seeds = check_random_state(self.random_state).randint(2**31, size=self.n_members).tolist()
        threads, n_columns = n_threads_of(self.n_jobs), len(data.names)
        summaries = data.summaries(self.categorical_features, threads)
        plans, cut_points = plans_of(seeds, summaries[0].weight)
        views = Views.learn(data.names, summaries, cut_points, self.missing)
        counts = data.counts(views.encoding, threads).sampled(MOST_ROWS)
        rows = _canonical(counts)
        with ThreadPoolExecutor(threads) as pool, threadpool_limits(1, user_api="blas"):
            fitter = Fitter.of(rows, views, len(cut_points), counts.n_classes, self.strength, self.pull)
            trained = list(self._reported(pool.map(fitter.fit, plans)))
        self.shares_, self.correction_ = _shares(trained, rows, counts.n_classes)
        model = _pool(trained, self.shares_, self.correction_, fitter.class_weights, n_columns)
        self.feature_importances_ = _importances(model, rows, views)
        networks = tuple(Network(_plain(each.families, n_columns)) for each in trained)
        structure = Structure(networks, (1.0 / len(networks),) * len(networks), "posterior")
        known = KnownInformation.of(
            *fitter.information[0], [family for network in networks for family in network.families]
        )
        return (Member(views.encoding, structure, known, model),)

    def _reported(self, trained: Iterator[Trained]) -> Iterator[Trained]:
        for number, each in enumerate(trained, 1):
            if self.verbose:
                end = "\n" if number == self.n_members else ""
                print(f"\r{type(self).__name__}: member {number} of {self.n_members}", end=end, file=sys.stderr)
            yield each

    def _learner(self) -> Any:
        raise NotImplementedError("each member has its own learner")

    def _estimator(self) -> Any:
        raise NotImplementedError("each member has its own estimates")


def _canonical(counts: Counts) -> CodedRows:
    """Distinct rows in an order that does not depend on theirs."""
    rows = counts.rows()
    dtype = code_type((*counts.cardinalities, counts.n_classes))
    return CodedRows(np.asfortranarray(rows.codes, dtype), rows.classes, rows.weights)


def _shares(trained: list[Trained], rows: CodedRows, n_classes: int) -> tuple[tuple[float, ...], float]:
    """The shares of members and of offsets that are best for rows that members had not seen; one kind has one share."""
    kinds = [[each for each in trained if each.is_embedded == kind] for kind in (False, True)]
    kinds = [kind for kind in kinds if kind]
    said = [[(each.held_out, each.log_posteriors) for each in kind] for kind in kinds]
    corrections = [(each.held_out, each.correction.said) for each in trained if each.correction]
    means, known = zip(
        *(_held_out_means(each, len(rows.classes), n_classes) for each in [*said, corrections] if each), strict=True
    )
    chosen = np.flatnonzero(np.logical_and.reduce(known))
    prior = np.array([len(kind) / len(trained) for kind in kinds])
    if len(chosen) == 0:
        return tuple(1.0 / len(trained) for _ in trained), 0.0
    posteriors = [mean[chosen] for mean in means]
    best = best_shares(posteriors[: len(kinds)], some(rows, chosen), prior, posteriors[len(kinds) :]).tolist()
    of_kind = {kind[0].is_embedded: share / len(kind) for kind, share in zip(kinds, best, strict=False)}
    return tuple(of_kind[each.is_embedded] for each in trained), sum(best[len(kinds) :])


def _held_out_means(
    said: list[tuple[NDArray[np.intp], Floats]], n_rows: int, n_classes: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """What is said of a row on average where it had not been seen, and which rows there are such means for."""
    total, times = np.zeros((n_rows, n_classes)), np.zeros(n_rows)
    for held_out, log_posteriors in said:
        total[held_out] += log_posteriors
        times[held_out] += 1.0
    return total / np.maximum(times, 1.0)[:, None], times > 0


def _pool(
    trained: list[Trained], shares: tuple[float, ...], correction: float, class_weights: Floats, n_columns: int
) -> Pool:
    """The members and, unless they do not help, their offsets, whose mean is multiplied by `correction`."""
    offsets = [each.correction.offsets for each in trained if each.correction] if correction > 0 else []
    corrected = tuple(each.times(correction / len(offsets)) for each in offsets)
    members = (*(each.model for each in trained), *corrected)
    return Pool(members, shares + (1.0,) * len(corrected), class_weights, n_columns)


def _importances(model: Pool, rows: CodedRows, views: Views, most: int = 1000) -> Floats:
    """Mean absolute terms of some training rows, as shares."""
    step = max(len(rows.classes) // most, 1)
    chosen = some(rows, np.arange(0, len(rows.classes), step)[:most])
    terms = against_others(model.log_terms(Block.of(chosen.codes, views.encoding.cardinalities)))[:, 1:]
    sizes = np.einsum("r,rfc->f", chosen.weights, np.abs(terms))
    return np.asarray(sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1.0 / len(sizes)))


def _plain(families: tuple[Family, ...], n_columns: int) -> tuple[Family, ...]:
    return tuple(Family(child % n_columns, tuple(p % n_columns for p in parents)) for child, parents in families)
