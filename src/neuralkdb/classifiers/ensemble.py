"""NeuralKDBEnsembleClassifier."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from neuralkdb.classifiers.base import BayesianNetworkClassifier, Member
from neuralkdb.classifiers.documentation import documented
from neuralkdb.classifiers.training import TrainingData, n_threads_of
from neuralkdb.classifiers.views import Views
from neuralkdb.counting import ArrayCounts, CodedRows, Counts
from neuralkdb.discretization import CutPoints, EqualFrequency, EqualWidth, MinimumDescriptionLength, RandomBins
from neuralkdb.information import KnownInformation, class_information, pairwise_information
from neuralkdb.inspection import against_others
from neuralkdb.network import Family, Floats, Network, Structure
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.context_trees import grow_trees
from neuralkdb.parameters.regressions import Moments, fit_regressions
from neuralkdb.structures.k_dependence import closest_predecessors, descending
from neuralkdb.tables import code_type
from neuralkdb.weighted_model import Pool, WeightedModel
from neuralkdb.weighting import (
    Weighting,
    best_sharpness,
    expected_weights,
    leave_one_out_terms,
    log_posteriors,
    rows_in_room,
)

N_FOLDS = 4  # a member's first weights see all but one of so many parts of the rows
MOST_ROWS = 2**20  # distinct ones; of more, a sample is learned from
PARENTS = (4, 5, 6)  # of counted families, member after member
LINES = (2, 4, 8)  # parents of regressions, member after member
STRENGTH_OF_LINES = 10.0
CONTEXTS = 20_000  # a context that holds less than one such part of all weight is not split


@dataclass(frozen=True)
class Plan:
    """What makes a member differ from the others."""

    number: int
    view: int
    seed: int

    @property
    def random(self) -> np.random.Generator:
        """The member's own draws."""
        return np.random.default_rng(self.seed)

    def order(self, information: Floats) -> list[int]:
        """Features by descending information for the first member, at random for the rest."""
        if self.number == 0:
            return descending(information)
        return [int(feature) for feature in self.random.permutation(len(information))]


@dataclass(frozen=True)
class Trained:
    """A member, and what it said of the rows that its first weights had not seen."""

    model: WeightedModel
    families: tuple[Family, ...]
    held_out: NDArray[np.intp]
    log_posteriors: Floats  # (held out rows, classes)


@documented
class NeuralKDBEnsembleClassifier(BayesianNetworkClassifier):
    """Ensemble of k-dependence networks whose log-conditionals are weighted discriminatively: the one to try first.

    Every member is a k-dependence network over its own order of the features and its own cut points. Each feature has a
    counted conditional, shrunk along its parents (back-off), and each number also has a linear regression on other
    numbers. Every such term gets a weight for each class, learned on leave-one-out estimates. A prediction is the mean
    of the members' log-odds, times a sharpness found on rows that members had not seen, so it is a sum of one readable
    term for each feature: see `explain`.

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
    sharpness_ : float
        What the mean log-odds of the members are multiplied by.
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

    _fitted: ClassVar[dict[str, Any]] = {"sharpness_": float, "feature_importances_": NDArray[Any]}
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
        plans, cut_points = self._plans()
        threads, n_columns = n_threads_of(self.n_jobs), len(data.names)
        summaries = data.summaries(self.categorical_features, threads)
        views = Views.learn(data.names, summaries, cut_points, self.missing)
        counts = data.counts(views.encoding, threads).sampled(MOST_ROWS)
        rows = _canonical(counts)
        with ThreadPoolExecutor(threads) as pool:
            information = list(
                pool.map(lambda v: _information(rows, views, v, counts.n_classes), range(len(cut_points)))
            )
            moments = [
                Moments.of(numbers, rows, counts.n_classes) if numbers.features else None
                for numbers in (views.normal_scores, views.standard_scores)
            ]
            fitter = Fitter(rows, views, information, moments, counts.n_classes, self.strength, Weighting(self.pull))
            trained = list(self._reported(pool.map(fitter.fit, plans)))
        self.sharpness_ = _sharpness(trained, rows, counts.n_classes)
        model = Pool(tuple(each.model for each in trained), self.sharpness_, fitter.class_weights, n_columns)
        self.feature_importances_ = _importances(model, rows, views)
        networks = tuple(Network(_plain(each.families, n_columns)) for each in trained)
        structure = Structure(networks, (1.0 / len(networks),) * len(networks), "posterior")
        known = KnownInformation.of(*information[0], [family for network in networks for family in network.families])
        return (Member(views.encoding, structure, known, model),)

    def _plans(self) -> tuple[list[Plan], list[CutPoints]]:
        seeds = check_random_state(self.random_state).randint(2**31, size=self.n_members)
        cut_points: list[CutPoints] = []
        plans = []
        for number, seed in enumerate(seeds.tolist()):
            cuts = _cut_points(number, seed)
            if cuts not in cut_points:
                cut_points.append(cuts)
            plans.append(Plan(number, cut_points.index(cuts), seed))
        return plans, cut_points

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


def _cut_points(number: int, seed: int) -> CutPoints:
    """The way a member cuts numbers: four kinds in turn."""
    kinds: tuple[CutPoints, ...] = (
        MinimumDescriptionLength(10),
        RandomBins(5, 20, seed),
        EqualWidth(10),
        EqualFrequency(10),
    )
    return kinds[number % len(kinds)]


def _canonical(counts: Counts) -> CodedRows:
    """Distinct rows in an order that does not depend on theirs."""
    rows = counts.rows()
    dtype = code_type((*counts.cardinalities, counts.n_classes))
    return CodedRows(np.asfortranarray(rows.codes, dtype), rows.classes, rows.weights)


def _information(rows: CodedRows, views: Views, view: int, n_classes: int) -> tuple[Floats, Floats]:
    """What the features of a view say about the class, and about each other."""
    columns = views.columns(view)
    mine = ArrayCounts.of(
        rows.codes[:, columns], rows.classes, rows.weights, views.encoding.cardinalities[columns], n_classes
    )
    return class_information(mine), pairwise_information(mine)


@dataclass(frozen=True)
class Fitter:
    """Fits members, each by itself."""

    rows: CodedRows
    views: Views
    information: list[tuple[Floats, Floats]]
    moments: list[Moments | None]
    n_classes: int
    strength: float
    weighting: Weighting

    @property
    def class_weights(self) -> Floats:
        """N(y), (classes,)."""
        return np.bincount(self.rows.classes, self.rows.weights, self.n_classes).astype(float)

    def fit(self, plan: Plan) -> Trained:
        """The member of a plan."""
        families = self._families(plan)
        counted = grow_trees(
            self.rows,
            families,
            self.views.encoding.cardinalities,
            self.n_classes,
            self.strength,
            max(2.0, self.rows.weights.sum() / CONTEXTS),
        )
        lines = self._lines(plan)
        fitted = [counted, *lines]
        parts = (counted.trees, *(each.regressions for each in lines))
        children = [child for part in parts for child in part.children]
        n_columns = self.views.encoding.n_columns
        seen, held = self._folds(plan, len(children))
        expected = expected_weights([child % n_columns for child in children], self.class_weights)
        rows = _some(self.rows, np.append(seen, held))
        terms = leave_one_out_terms(fitted, rows, self.n_classes)
        blind = CodedRows(rows.codes, rows.classes, rows.weights * (np.arange(len(rows.classes)) < len(seen)))
        first = self.weighting.learn(terms, blind, expected, expected)
        said = log_posteriors(terms, first, len(rows.classes))[len(seen) :]
        weights = self.weighting.learn(terms, rows, expected, first)
        return Trained(WeightedModel(parts, weights), tuple(families), held, said)

    def _families(self, plan: Plan) -> list[Family]:
        of_class, of_pairs = self.information[plan.view]
        k, first = PARENTS[plan.number % len(PARENTS)], self.views.columns(plan.view).start
        families = closest_predecessors(plan.order(of_class), of_pairs, k)
        return [Family(first + child, tuple(first + parent for parent in parents)) for child, parents in families]

    def _lines(self, plan: Plan) -> list[Any]:
        numbers = (self.views.normal_scores, self.views.standard_scores)[plan.number % 2]
        moments = self.moments[plan.number % 2]
        if moments is None:
            return []
        order = [int(number) for number in plan.random.permutation(len(numbers.features))]
        families = closest_predecessors(order, np.abs(moments.correlations), LINES[plan.number % len(LINES)])
        return [fit_regressions(numbers, moments, families, STRENGTH_OF_LINES)]

    def _folds(self, plan: Plan, n_terms: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows that the first weights see, and those held out; members in turn hold out each part."""
        n_rows = len(self.rows.classes)
        turn, fold = divmod(plan.number, N_FOLDS)
        parts = np.array_split(rows_in_room(n_rows, n_terms, self.n_classes, [turn, n_rows]), N_FOLDS)
        seen = np.concatenate([part for number, part in enumerate(parts) if number != fold])
        return np.sort(seen), np.sort(parts[fold])


def _some(rows: CodedRows, chosen: NDArray[np.intp]) -> CodedRows:
    return CodedRows(np.asfortranarray(rows.codes[chosen]), rows.classes[chosen], rows.weights[chosen])


def _sharpness(trained: list[Trained], rows: CodedRows, n_classes: int) -> float:
    """The sharpness that is best for rows and the members that had not seen them."""
    total, times = np.zeros((len(rows.classes), n_classes)), np.zeros(len(rows.classes))
    for each in trained:
        total[each.held_out] += each.log_posteriors
        times[each.held_out] += 1.0
    known = np.flatnonzero(times)
    if len(known) == 0 or n_classes == 1:
        return 1.0
    return best_sharpness(total[known] / times[known, None], _some(rows, known))


def _importances(model: Pool, rows: CodedRows, views: Views, most: int = 1000) -> Floats:
    """Mean absolute terms of some training rows, as shares."""
    step = max(len(rows.classes) // most, 1)
    some = _some(rows, np.arange(0, len(rows.classes), step)[:most])
    terms = against_others(model.log_terms(Block.of(some.codes, views.encoding.cardinalities)))[:, 1:]
    sizes = np.einsum("r,rfc->f", some.weights, np.abs(terms))
    return np.asarray(sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1.0 / len(sizes)))


def _plain(families: tuple[Family, ...], n_columns: int) -> tuple[Family, ...]:
    return tuple(Family(child % n_columns, tuple(p % n_columns for p in parents)) for child, parents in families)
