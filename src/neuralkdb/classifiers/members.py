"""The members of the ensemble: a view of the columns, a structure, conditionals, and weights for them.

| member | view | structure | conditionals | weights |
|---|---|---|---|---|
| counted | cuts in turn | k = 4, 5, 6, own order | back-off, and regressions of numbers | by leave-one-out |
| embedded | cuts in turn | k = 2, own order | softmax over embeddings | one |

The first few counted members also have offsets of cells, learned on what the member says without the row itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.classifiers.views import Views
from neuralkdb.counting import ArrayCounts, CodedRows
from neuralkdb.discretization import CutPoints, EqualFrequency, EqualWidth, MinimumDescriptionLength, RandomBins
from neuralkdb.information import class_information, pairwise_information
from neuralkdb.model import model_of, statistics_of
from neuralkdb.network import Family, Floats, single
from neuralkdb.network_model import normalized
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.context_trees import grow_trees
from neuralkdb.parameters.neural import Embedded
from neuralkdb.parameters.offsets import Offsets, add_offsets, learn_offsets
from neuralkdb.parameters.regressions import Moments, fit_regressions
from neuralkdb.parameters.training import Trainer
from neuralkdb.structures.k_dependence import closest_predecessors, descending
from neuralkdb.weighted_model import PlainModel, PoolMember, WeightedModel
from neuralkdb.weighting import Weighting, expected_weights, leave_one_out_terms, log_posteriors, rows_in_room

EVERY = 4  # so many members, one is embedded: the third, the seventh, ...
PARENTS = (4, 5, 6)  # of counted families, member after member
PARENTS_OF_EMBEDDED = 2
LINES = (2, 4, 8)  # parents of regressions, member after member
STRENGTH_OF_LINES = 10.0
FREEDOM_OF_LINES = (10.0, 4.0)  # of normal and of standard scores, which have outliers
ROWS_AN_INTERVAL = 1400  # of the last three ways to cut, which make at least 20, 10 and 10 intervals
MOST_INTERVALS = 100
CONTEXTS = 20_000  # a context that holds less than one such part of all weight is not split
N_FOLDS = 4  # embeddings and first weights see all but one of so many parts of the rows
LAST_STEPS = 20  # of the search for weights, once it has been made without a part of the rows
INSTANCES = 3e6  # that embeddings are trained on, unless that is less than the fewest epochs or more than the most
EPOCHS = (6, 30)
CORRECTED = 8  # so many of the counted members have offsets
RIDGE = 1.0  # of offsets


@dataclass(frozen=True)
class Plan:
    """What makes a member differ from the others of its kind."""

    number: int  # among the members of its kind
    is_embedded: bool
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


def plans_of(seeds: Sequence[int], n_rows: float) -> tuple[list[Plan], list[CutPoints]]:
    """The plan of each member, and the ways to cut numbers of so many rows that they share."""
    cut_points: list[CutPoints] = []
    plans = []
    for place, seed in enumerate(seeds):
        is_embedded, n_embedded = place % EVERY == 2, (place + 1) // EVERY
        number = n_embedded if is_embedded else place - n_embedded
        cuts = _cut_points(number, seed, int(n_rows // ROWS_AN_INTERVAL))
        if cuts not in cut_points:
            cut_points.append(cuts)
        plans.append(Plan(number, is_embedded, cut_points.index(cuts), seed))
    return plans, cut_points


def _cut_points(number: int, seed: int, n_intervals: int) -> CutPoints:
    """Four ways to cut numbers in turn; where rows are many, into more intervals."""
    kinds: tuple[CutPoints, ...] = (
        MinimumDescriptionLength(10),
        RandomBins(5, min(max(n_intervals, 20), MOST_INTERVALS), seed),
        EqualWidth(min(max(n_intervals // 2, 10), MOST_INTERVALS)),
        EqualFrequency(min(max(n_intervals, 10), MOST_INTERVALS)),
    )
    return kinds[number % len(kinds)]


@dataclass(frozen=True)
class Correction:
    """Offsets, and what those that were learned without the held-out rows said of them."""

    offsets: Offsets
    said: Floats  # (held out rows, classes)


@dataclass(frozen=True)
class Trained:
    """A member, and what it said of rows that it had not seen; counted ones have seen them afterwards."""

    model: PoolMember
    is_embedded: bool
    families: tuple[Family, ...]
    held_out: NDArray[np.intp]
    log_posteriors: Floats  # (held out rows, classes)
    correction: Correction | None = None


@dataclass(frozen=True)
class Fitter:
    """Fits members, each by itself."""

    rows: CodedRows
    views: Views
    information: list[tuple[Floats, Floats]]  # of each view
    moments: list[Moments | None]
    n_classes: int
    strength: float
    weighting: Weighting

    @classmethod
    def of(cls, rows: CodedRows, views: Views, n_views: int, n_classes: int, strength: float, pull: float) -> Fitter:
        """What all members share."""
        information = [_information(rows, views, view, n_classes) for view in range(n_views)]
        scores = (views.normal_scores, views.standard_scores)
        moments = [Moments.of(numbers, rows, n_classes) if numbers.features else None for numbers in scores]
        return cls(rows, views, information, moments, n_classes, strength, Weighting(pull))

    @property
    def class_weights(self) -> Floats:
        """N(y), (classes,)."""
        return np.bincount(self.rows.classes, self.rows.weights, self.n_classes).astype(float)

    def fit(self, plan: Plan) -> Trained:
        """The member of a plan."""
        return self._embedded(plan) if plan.is_embedded else self._counted(plan)

    def _embedded(self, plan: Plan) -> Trained:
        families, cardinalities = self._families(plan, PARENTS_OF_EMBEDDED), self.views.encoding.cardinalities
        seen, held = self._folds(plan, 1)
        rows, unseen = some(self.rows, seen), some(self.rows, held)
        counts = ArrayCounts.of(rows.codes, rows.classes, rows.weights, cardinalities, self.n_classes)
        epochs = int(np.clip(INSTANCES / max(rows.weights.sum() * len(families), 1.0), *EPOCHS))
        trainer = Trainer(weight_decay=0.1, parent_dropout=0.2, seed=plan.seed)
        structure = single(families)
        estimator = Embedded(64, epochs, 64, 2e-3, trainer=trainer)
        model = PlainModel(model_of(structure, statistics_of(structure, counts), estimator))  # type: ignore[arg-type]
        said = np.zeros((len(held), self.n_classes))
        model.add_to(said, Block.of(unseen.codes, cardinalities), 1.0)
        return Trained(model, True, tuple(families), held, normalized(said, self.class_weights))

    def _counted(self, plan: Plan) -> Trained:
        families = self._families(plan, PARENTS[plan.number % len(PARENTS)])
        cardinalities, least = self.views.encoding.cardinalities, max(2.0, self.rows.weights.sum() / CONTEXTS)
        counted = grow_trees(self.rows, families, cardinalities, self.n_classes, self.strength, least)
        lines = self._lines(plan)
        parts = (counted.trees, *(each.regressions for each in lines))
        children = [child for part in parts for child in part.children]
        n_columns = self.views.encoding.n_columns
        seen, held = self._folds(plan, len(children))
        expected = expected_weights([child % n_columns for child in children], self.class_weights)
        rows, n_seen = some(self.rows, np.append(seen, held)), len(seen)
        terms = leave_one_out_terms([counted, *lines], rows, self.n_classes)
        blind = CodedRows(rows.codes, rows.classes, rows.weights * (np.arange(len(rows.classes)) < n_seen))
        first = self.weighting.learn(terms, blind, expected, expected)
        weights = self.weighting.learn(terms, rows, expected, first, LAST_STEPS)
        said, says = (log_posteriors(terms, each, len(rows.classes)) for each in (first, weights))
        correction = self._correction(plan, families, rows, n_seen, said, says) if plan.number < CORRECTED else None
        model = WeightedModel(parts, weights)
        return Trained(model, False, tuple(families), held, said[n_seen:], correction)

    def _correction(
        self, plan: Plan, families: list[Family], rows: CodedRows, n_seen: int, said: Floats, says: Floats
    ) -> Correction:
        """Offsets of what the member `says`; of the first rows alone, of what it `said` before it had seen the rest."""
        seen, held = some(rows, np.arange(n_seen)), rows.codes[n_seen:]
        shared = families, self.views.encoding.cardinalities
        blind = learn_offsets(*shared, seen, said[:n_seen], RIDGE, plan.seed)
        offsets = learn_offsets(*shared, rows, says, RIDGE, plan.seed)
        return Correction(offsets, add_offsets(blind, np.asfortranarray(held), self.n_classes))

    def _families(self, plan: Plan, k: int) -> list[Family]:
        of_class, of_pairs = self.information[plan.view]
        first = self.views.columns(plan.view).start
        families = closest_predecessors(plan.order(of_class), of_pairs, k)
        return [Family(first + child, tuple(first + parent for parent in parents)) for child, parents in families]

    def _lines(self, plan: Plan) -> list[Any]:
        kind = plan.number % 2
        numbers, moments = (self.views.normal_scores, self.views.standard_scores)[kind], self.moments[kind]
        if moments is None:
            return []
        order = [int(number) for number in plan.random.permutation(len(numbers.features))]
        families = closest_predecessors(order, np.abs(moments.correlations), LINES[plan.number % len(LINES)])
        return [fit_regressions(numbers, moments, families, STRENGTH_OF_LINES, FREEDOM_OF_LINES[kind])]

    def _folds(self, plan: Plan, n_terms: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows that the first weights see, and those held out; members in turn hold out each part.

        Every class is seen, if need be in rows that would be held out.
        """
        n_rows = len(self.rows.classes)
        turn, fold = divmod(plan.number, N_FOLDS)
        parts = np.array_split(rows_in_room(n_rows, n_terms, self.n_classes, [turn, n_rows]), N_FOLDS)
        seen = np.concatenate([part for number, part in enumerate(parts) if number != fold])
        is_new = np.isin(self.rows.classes[parts[fold]], self.rows.classes[seen], invert=True)
        return np.sort(np.append(seen, parts[fold][is_new])), np.sort(parts[fold][~is_new])


def some(rows: CodedRows, chosen: NDArray[np.intp]) -> CodedRows:
    """The chosen rows."""
    return CodedRows(np.asfortranarray(rows.codes[chosen]), rows.classes[chosen], rows.weights[chosen])


def _information(rows: CodedRows, views: Views, view: int, n_classes: int) -> tuple[Floats, Floats]:
    """What the features of a view say about the class, and about each other."""
    columns = views.columns(view)
    cardinalities = views.encoding.cardinalities[columns]
    mine = ArrayCounts.of(rows.codes[:, columns], rows.classes, rows.weights, cardinalities, n_classes)
    return class_information(mine), pairwise_information(mine)
