"""Where things go in a picture: features in rows with arcs between them, values on a map, labels beside points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neuralkdb.dependencies import Arc, Strengths, mean_strengths
from neuralkdb.evaluation import Calibration
from neuralkdb.network import Family, Floats, Network, Structure

MOST_FEATURES = 40
ARCS_PER_FEATURE = 2  # that are drawn of the many pairs of an average
CLEARLY = 1.4  # how many times nearer a label is to its own point than to others
LONGEST = 36  # characters of a name; pictures with longer ones would be all names


def shortened(name: str, longest: int = LONGEST) -> str:
    """A name of at most so many characters; long ones often differ in their ends, so these are kept."""
    if len(name) <= longest:
        return name
    end = (longest - 1) // 2
    return f"{name[: longest - 1 - end]}…{name[-end:]}"


@dataclass(frozen=True)
class ArcDiagram:
    """Features in rows, what each says about the class, and arcs from row to row with their strength, in nats."""

    names: tuple[str, ...]
    information: tuple[float, ...]
    arcs: tuple[tuple[int, int, float], ...]  # upper row, lower row, nats; of a network: parent above child
    is_network: bool  # or an average of several
    n_left_out: int

    @property
    def drawn(self) -> list[tuple[int, int, float, float]]:
        """Upper row, lower row, and from 0 to 1 how strong and how long each arc is; the weakest first."""
        strongest = max((nats for *_, nats in self.arcs), default=0.0) or 1.0
        longest = max((lower - upper for upper, lower, _ in self.arcs), default=1)
        return [(a, b, max(nats / strongest, 0.0) ** 0.7, (b - a) / longest) for a, b, nats in self.arcs]

    @property
    def thin(self) -> float:
        """How much thinner lines are where there are many."""
        return float(min(1.0, 15 / max(len(self.names), 1)) ** 0.5)

    @property
    def caption(self) -> str:
        """What the picture shows."""
        left_out = f" The {len(self.names)} that say most of {len(self.names) + self.n_left_out}." * (
            self.n_left_out > 0
        )
        if self.is_network:
            return f"Each feature depends on the class and on those above it that an arc comes from.{left_out}"
        return f"The strongest dependencies, averaged over all networks of the model.{left_out}"


def arc_diagram(classifier: Any, most_features: int = MOST_FEATURES) -> ArcDiagram:
    """The network of a classifier, parents above children; for several networks what they agree on."""
    check_is_fitted(classifier)
    members, names = classifier.members_, classifier._names
    found, structure = mean_strengths(members), members[0].structure
    single = len(members) == 1 and isinstance(structure, Structure) and len(structure.networks) == 1
    if single:
        order, arcs = _of_network(structure.networks[0], found)
    else:
        order, arcs = _of_average(len(names), found)
    kept = _kept(order, found.features, most_features)
    row = {feature: place for place, feature in enumerate(kept)}
    drawn = [(row[a], row[b], nats) for (a, b), nats in arcs.items() if a in row and b in row]
    return ArcDiagram(
        tuple(str(names[feature]) for feature in kept),
        tuple(found.features.get(feature, 0.0) for feature in kept),
        tuple((min(a, b), max(a, b), nats) for a, b, nats in sorted(drawn, key=lambda arc: arc[2])),
        single,
        len(order) - len(kept),
    )


def _of_network(network: Network, found: Strengths) -> tuple[list[int], dict[Arc, float]]:
    order = [*network.roots, *parents_first(network.families)]
    arcs = {
        (parent, family.child): found.arcs.get((family.child, parent), 0.0)
        for family in network.families
        for parent in family.parents
    }
    return order, arcs


def parents_first(families: Sequence[Family]) -> list[int]:
    """The children of families in an order in which parents come first, and else as they stand."""
    waiting = {family.child: family.parents for family in families}
    order = []
    while waiting:
        ready = (child for child, parents in waiting.items() if not any(parent in waiting for parent in parents))
        order.append(next(ready, next(iter(waiting))))  # there is always one: networks have no cycles
        del waiting[order[-1]]
    return order


def _of_average(n_features: int, found: Strengths) -> tuple[list[int], dict[Arc, float]]:
    """Features by what they say about the class, and the strongest pairs."""
    order = sorted(range(n_features), key=lambda feature: -found.features.get(feature, 0.0))
    pairs: dict[Arc, float] = {}
    for (one, other), nats in found.arcs.items():
        pair = (min(one, other), max(one, other))
        pairs[pair] = pairs.get(pair, 0.0) + nats
    strongest = sorted(pairs, key=lambda pair: -pairs[pair])[: ARCS_PER_FEATURE * n_features]
    return order, {pair: pairs[pair] for pair in strongest}


def _kept(order: Sequence[int], information: dict[int, float], most: int) -> list[int]:
    """The features that say most about the class, in the order given."""
    best = sorted(order, key=lambda feature: -information.get(feature, 0.0))[:most]
    return [feature for feature in order if feature in set(best)]


def value_map(similar: Floats) -> Floats:
    """Points in a plane whose distances follow how unlike values are (classical scaling), (values, 2)."""
    n_values = len(similar)
    centring = np.eye(n_values) - 1.0 / n_values
    lengths, axes = np.linalg.eigh(centring @ similar @ centring)
    points = np.zeros((n_values, 2))
    for axis, number in enumerate(np.argsort(-lengths, kind="stable")[:2]):
        along = axes[:, number] * np.sqrt(max(float(lengths[number]), 0.0))
        points[:, axis] = along * (1.0 if along[np.abs(along).argmax()] >= 0 else -1.0)
    return points


def has_two_dimensions(similar: Floats) -> bool:
    """Whether a map shows more than a line: with two classes and no parents, values differ in one way only."""
    spread = value_map(similar).std(axis=0)
    return bool(spread[1] > 0.1 * spread[0])


def shares_from(found: Calibration) -> list[float]:
    """Marks of an axis from the last of 0, 0.2, ... that no confidence or accuracy is below, to 1."""
    filled = found.counts > 0
    lowest = min(found.confidence[filled].min(), found.accuracy[filled].min(), 0.99)
    first = int(lowest * 5)
    return [round(share, 2) for share in np.linspace(first / 5, 1, 1 + STEPS[first]).tolist()]


STEPS = (4, 4, 3, 4, 4)  # from a first mark to one, so that all marks are round


@dataclass(frozen=True)
class Label:
    """Where a label stands: the middle of its left or right end, or of its text."""

    x: float
    y: float
    anchor: str  # start, end or middle


Box = tuple[float, float, float, float]  # left, top, right, bottom


def placed_labels(
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
    texts: Sequence[str],
    size: tuple[float, float],
    *,
    letter: float = 6.2,
    line: float = 13.0,
) -> list[Label | None]:
    """A place for the label of each point beside it, the largest point first; None where there is no room."""
    taken: list[Box] = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(points, radii, strict=True)]
    labels: list[Label | None] = [None] * len(points)
    for number in np.argsort(-np.asarray(radii), kind="stable").tolist():
        x, y = points[number]
        gap = radii[number] + 3.0
        width = letter * len(texts[number])
        for label, box in _places(x, y, width, line, gap):
            others = taken[:number] + taken[number + 1 :]
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
            clear = inside and not any(_overlap(box, other) for other in others)
            beside = label.x == x or label.y == y
            if clear and (beside or _is_nearest(label, number, points)):
                labels[number] = label
                taken.append(box)
                break
    return labels


def _places(x: float, y: float, width: float, line: float, gap: float) -> list[tuple[Label, Box]]:
    """To the right, to the left, above, below, and then at the corners."""
    aside, over = 0.6 * gap, gap + line / 2
    spots = [(gap, 0.0, "start"), (-gap, 0.0, "end"), (0.0, -over, "middle"), (0.0, over, "middle")]
    spots += [(side * aside, up * over, anchor) for side, anchor in ((1, "start"), (-1, "end")) for up in (-0.9, 0.9)]
    lefts = {"start": 0.0, "end": width, "middle": width / 2}
    corners = [(x + right - lefts[anchor], y + down - line / 2) for right, down, anchor in spots]
    labels = [Label(x + right, y + down, anchor) for right, down, anchor in spots]
    boxes = [(left, top, left + width, top + line) for left, top in corners]
    return list(zip(labels, boxes, strict=True))


def _is_nearest(label: Label, number: int, points: Sequence[tuple[float, float]]) -> bool:
    """Whether it is plain to see which point a label is of."""
    far = [math.hypot(label.x - x, label.y - y) for x, y in points]
    return all(CLEARLY * far[number] < other for place, other in enumerate(far) if place != number)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
