"""Pictures of fitted classifiers, in the way of scikit-learn's displays.

Each display has a `from_estimator` that computes what it shows and draws it into an Axes, `ax_` of the display.
Colours are told apart by everyone (Okabe and Ito).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from neuralkdb.evaluation import Calibration, calibration
from neuralkdb.layout import MOST_FEATURES, ArcDiagram, arc_diagram, placed_labels, shares_from, shortened, value_map
from neuralkdb.network import Floats
from neuralkdb.similarity import value_similarities

BLUE, VERMILION, GRAY = "#0072B2", "#D55E00", "#6a6e76"
LETTER = 0.62  # width of a character, of the size of the font


class Display:
    """Draws itself into an Axes."""

    ax_: Axes
    figure_: Any

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure of a fitting size if None.

        Returns
        -------
        display : object
            This, with `ax_` and `figure_`.
        """
        if ax is None:
            _, ax = pyplot.subplots(figsize=self._size(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    def _size(self) -> tuple[float, float]:
        """Width and height of a figure of its own, in inches."""
        raise NotImplementedError

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError


class StructureDisplay(Display):
    """Who depends on whom: features in rows, parents above children, arcs between them."""

    def __init__(self, diagram: ArcDiagram) -> None:
        self.diagram = diagram

    @classmethod
    def from_estimator(cls, estimator: Any, *, most_features: int = MOST_FEATURES, ax: Axes | None = None) -> Self:
        """Draw the network of a fitted classifier, or what the networks of an ensemble agree on.

        Parameters
        ----------
        estimator : classifier of this library
            A fitted one.
        most_features : int, default=40
            How many features to show, those that say most about the class.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : StructureDisplay
            The picture.
        """
        return cls(arc_diagram(estimator, most_features)).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 4.4 + _inches(self.diagram.names), 1.0 + 0.24 * len(self.diagram.names)

    def _draw(self, ax: Axes) -> None:
        diagram, n_rows = self.diagram, len(self.diagram.names)
        for upper, lower, strength, length in diagram.drawn:
            reach = (0.12 + 0.84 * length) / 0.75
            path = Path([(0, upper), (reach, upper), (reach, lower), (0, lower)], [Path.MOVETO] + [Path.CURVE4] * 3)
            style = {
                "edgecolor": BLUE,
                "linewidth": diagram.thin * (0.6 + 2.8 * strength),
                "alpha": 0.25 + 0.6 * strength,
            }
            ax.add_patch(PathPatch(path, facecolor="none", **style))
        most = max(diagram.information, default=0.0) or 1.0
        bars = [0.22 * nats / most for nats in diagram.information]
        ax.barh(range(n_rows), bars, left=[-0.25] * n_rows, height=0.35, color=GRAY)
        ax.set(xlim=(-0.27, 1.0), ylim=(n_rows - 0.4, -0.6), xticks=[])
        ax.set_yticks(range(n_rows), [shortened(name) for name in diagram.names])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        arcs = (
            "an arc leads from a parent down to its child" if diagram.is_network else "arcs: averaged over all networks"
        )
        ax.set_xlabel(f"gray bars: what a feature says about the class\n{arcs}", loc="left", fontsize=8, color=GRAY)


class EmbeddingMapDisplay(Display):
    """The values of a feature: those that occur in like contexts lie close together."""

    def __init__(self, feature: str, labels: Sequence[str], points: Floats, weights: Floats) -> None:
        self.feature = feature
        self.labels = labels
        self.points = points
        self.weights = weights

    @classmethod
    def from_estimator(cls, estimator: Any, feature: str, *, ax: Axes | None = None) -> Self:
        """Draw the map of the values of a feature.

        Parameters
        ----------
        estimator : classifier of this library
            A fitted one, by embeddings or by counts.
        feature : str
            Name of the feature.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : EmbeddingMapDisplay
            The picture.
        """
        labels, similar, weights = value_similarities(estimator, feature)
        return cls(feature, labels, value_map(similar), weights).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 4.8

    def _draw(self, ax: Axes) -> None:
        sizes = 12 + 90 * self.weights / max(float(self.weights.max()), 1e-9)
        ax.scatter(
            self.points[:, 0], self.points[:, 1], s=sizes, color=BLUE, alpha=0.75, edgecolor="white", linewidth=0.5
        )
        ax.set(xticks=[], yticks=[], title=self.feature)
        ax.margins(0.25, 0.1)
        ax.spines[:].set_color("#c9ccd1")
        ax.set_aspect("equal", adjustable="datalim")
        ax.figure.canvas.draw()
        self._label(ax, np.sqrt(sizes) / 2)

    def _label(self, ax: Axes, radii: Floats) -> None:
        """Labels beside their points, in units of a point of type, from the top left."""
        box, scale = ax.get_window_extent(), 72.0 / ax.figure.dpi
        pixels = ax.transData.transform(self.points) - (box.x0, box.y0)
        places = [(float(x) * scale, float(box.height - y) * scale) for x, y in pixels]
        texts = [shortened(label) for label in self.labels]
        room = (box.width * scale, box.height * scale)
        placed = placed_labels(places, radii.tolist(), texts, room, letter=8 * LETTER, line=10.0)
        for place, text in zip(placed, texts, strict=True):
            if place is not None:
                at = (place.x / room[0], 1 - place.y / room[1])
                side = {"start": "left", "end": "right", "middle": "center"}[place.anchor]
                ax.text(*at, text, transform=ax.transAxes, fontsize=8, ha=side, va="center")


class ContributionsDisplay(Display):
    """Why the model said so: what each feature of a row says for and against a class."""

    def __init__(self, label: Any, terms: Sequence[tuple[str, float]], rest: float = 0.0) -> None:
        self.label = label
        self.terms = terms
        self.rest = rest

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, row: int = 0, label: Any = None, n_terms: int = 12, ax: Axes | None = None
    ) -> Self:
        """Draw what is said of a row.

        Parameters
        ----------
        estimator : classifier of this library
            A fitted one.
        X : table of shape (n_samples, n_features)
            Columns as in `fit`.
        row : int, default=0
            Which row.
        label : object, default=None
            For which class; the predicted one if None.
        n_terms : int, default=12
            How many terms to show; the others are drawn as one.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : ContributionsDisplay
            The picture.
        """
        one = X.iloc[row : row + 1] if hasattr(X, "iloc") else X[row : row + 1]
        label = estimator.predict(one)[0] if label is None else label
        explanation = estimator.explain(one)
        terms = explanation.strongest(0, label, len(explanation.terms))
        terms = [(name, value) for name, value in terms if name != "averaging" or abs(value) > 1e-9]
        cells = {name: one[name].iloc[0] for name in one.columns} if hasattr(one, "iloc") else {}
        named = [(f"{name} = {cells[name]}" if name in cells else name, value) for name, value in terms]
        return cls(label, named[:n_terms], sum(value for _, value in named[n_terms:])).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 4.4 + _inches([name for name, _ in self.terms]), 1.0 + 0.28 * (len(self.terms) + 1)

    def _draw(self, ax: Axes) -> None:
        terms = [*self.terms, *([("all others", self.rest)] if self.rest else [])]
        values = np.array([value for _, value in terms])
        starts = np.concatenate([[0.0], np.cumsum(values)[:-1]])
        rows = range(len(terms))
        ax.barh(rows, values, left=starts, color=[BLUE if value >= 0 else VERMILION for value in values], height=0.6)
        for row, (start, value) in enumerate(zip(starts, values, strict=True)):
            end = start + value
            ax.plot([end, end], [row - 0.3, min(row + 1.3, len(terms) - 0.7)], color=GRAY, linewidth=0.6)
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            at = (max(start, end), row)
            ax.annotate(f"{value:+.2f}", at, (4, 0), textcoords="offset points", va="center", fontsize=8, bbox=box)
        ax.set_yticks(rows, [shortened(name) for name, _ in terms])
        ax.set(ylim=(len(terms) - 0.4, -0.6), xlabel=f"log-odds of {self.label}: {values.sum():+.2f}")
        ax.use_sticky_edges = False
        ax.margins(x=0.1)
        ax.axvline(0, color=GRAY, linewidth=0.8)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)


class ReliabilityDisplay(Display):
    """How often the most probable class is right, against how probable it was said to be."""

    def __init__(self, calibration: Calibration, name: str | None = None) -> None:
        self.calibration = calibration
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw how well calibrated a classifier is on rows whose classes are known.

        Parameters
        ----------
        estimator : classifier
            A fitted one.
        X : table of shape (n_samples, n_features)
            Columns as in `fit`.
        y : array-like of shape (n_samples,)
            The true classes.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : ReliabilityDisplay
            The picture.
        """
        probabilities, name = estimator.predict_proba(X), type(estimator).__name__
        return cls.from_predictions(y, probabilities, estimator.classes_, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Floats, classes: NDArray[Any], *, name: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw how well calibrated probabilities are.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The true classes.
        probabilities : ndarray of shape (n_samples, n_classes)
            What was predicted.
        classes : ndarray of shape (n_classes,)
            The classes of the columns.
        name : str, default=None
            Of the classifier.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : ReliabilityDisplay
            The picture.
        """
        return cls(calibration(y, probabilities, classes), name).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 4.8, 4.8

    def _draw(self, ax: Axes) -> None:
        found, filled = self.calibration, self.calibration.counts > 0
        sizes = 15 + 180 * found.counts[filled] / found.counts.max()
        ax.plot([0, 1], [0, 1], linestyle="--", color=GRAY, linewidth=1)
        ax.plot(found.confidence[filled], found.accuracy[filled], color=BLUE, linewidth=1, alpha=0.6)
        ax.scatter(found.confidence[filled], found.accuracy[filled], s=sizes, color=BLUE, label=self.name, zorder=3)
        shares = shares_from(found)
        room = (shares[0] - 0.03 * (1 - shares[0]), 1 + 0.03 * (1 - shares[0]))
        ax.set(xlim=room, ylim=room, xticks=shares, yticks=shares, xlabel="said to be right with", ylabel="are right")
        ax.set_aspect("equal")
        ax.set_title(f"calibration error {found.error:.3f}", fontsize="medium")
        ax.grid(color="#e3e5e8", linewidth=0.6)
        ax.set_axisbelow(True)
        if self.name:
            ax.legend(loc="upper left", frameon=False)


def _inches(names: Sequence[str]) -> float:
    """The width of the longest name."""
    return 10 * LETTER / 72 * max((len(shortened(name)) for name in names), default=0)
