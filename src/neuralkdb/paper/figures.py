"""The paper's figures: the one file of the paper harness that knows matplotlib."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neuralkdb.paper.comparison import Comparison
from neuralkdb.paper.plan import PARAMETER_NAMES
from neuralkdb.paper.statistics import FloatArray, critical_difference, indistinguishable

STYLE: Any = {
    "svg.hashsalt": "neuralkdb",  # the same drawing is the same file
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "0.92",
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.08,
}
FORMS: Mapping[str, Any] = {".svg": {"metadata": {"Date": None}}, ".png": {"dpi": 160}}
# red, blue and yellow as in the paper, apart in lightness and in shape for whom they look alike
RED, BLUE, YELLOW = "#d7301f", "#2b6cb0", "#f5c518"
HIGHER = {"color": RED, "marker": "^", "label": "NeuralKDB higher"}
LOWER = {"color": BLUE, "marker": "v", "label": "NeuralKDB lower"}
EQUAL = {"color": YELLOW, "marker": "o", "label": "equal", "edgecolors": "0.25"}
BY_METHOD: tuple[Any, ...] = (
    {"color": RED, "marker": "^", "linestyle": "-"},
    {"color": BLUE, "marker": "v", "linestyle": "--"},
)
BY_DATASET: tuple[Any, ...] = (
    {"color": "#1b7837", "marker": "s", "linestyle": "-"},
    {"color": "#762a83", "marker": "D", "linestyle": "--"},
)
APART = 0.09  # between the points of one value, so that their spreads do not cover one another
WIDTH = 7.0  # inches: wide enough to read, and still to read on a narrow screen


def scatter_plots(pairs: Mapping[int, Comparison]) -> Figure:
    """NeuralKDB over KDB on each data set, a panel for each k."""
    low = 20 * min(pair.means.min() // 20 for pair in pairs.values())
    with style():
        figure = Figure(figsize=(WIDTH, WIDTH * 1.06), layout="constrained")
        panels = figure.subplots(-(-len(pairs) // 2), 2, sharex=True, sharey=True)
        for axes, (k, pair) in zip(np.ravel(panels), pairs.items(), strict=True):
            _scatter(axes, pair, k, low)
        for axes in np.ravel(panels):
            axes.set(xlabel="Accuracy of KDB (%)", ylabel="Accuracy of NeuralKDB (%)")
            axes.label_outer()
        _share_legend(figure, np.ravel(panels)[0])
        return figure


def _scatter(axes: Axes, pair: Comparison, k: int, low: float) -> None:
    neural, counted = pair.means.T
    groups = ((HIGHER, neural > counted), (LOWER, neural < counted), (EQUAL, neural == counted))
    axes.plot([low, 100], [low, 100], color="0.6", linewidth=0.8, zorder=1)
    for look, chosen in groups:
        points: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "s": 30, **look}
        axes.scatter(counted[chosen], neural[chosen], zorder=2, **points)
    axes.set(aspect="equal", title=f"k = {k}")
    axes.set_xticks(np.arange(low, 101, 20))
    axes.set_yticks(axes.get_xticks())
    for line, (look, chosen) in enumerate(reversed(groups)):
        words = f"{chosen.sum()} {look['label'].split()[-1]}"
        at = 0.97, 0.03 + 0.06 * line
        axes.text(*at, words, ha="right", color="0.3", transform=axes.transAxes)


Curves = Mapping[str, Mapping[str, tuple[FloatArray, FloatArray]]]
"""panel -> line -> means and deviations"""


def by_dependence(curves: Curves, ks: Sequence[int]) -> Figure:
    """Accuracy against k, a panel for each data set, a line for each method."""
    with style():
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        panels = np.ravel(figure.subplots(1, len(curves)))
        for axes, (dataset, lines) in zip(panels, curves.items(), strict=True):
            _lines(axes, ks, lines, BY_METHOD)
            axes.set(title=dataset, xlabel="Number of parents $k$")
        panels[0].set_ylabel("Accuracy (%)")
        _share_legend(figure, panels[0])
        return figure


def sensitivity(curves: Curves, values: Mapping[str, Sequence[int]], defaults: Mapping[str, object]) -> Figure:
    """Accuracy against each hyper-parameter, a line for each data set, the default marked."""
    with style():
        figure = Figure(figsize=(1.2 * WIDTH, 3.4), layout="constrained")
        panels = np.ravel(figure.subplots(1, len(curves), sharey=True))
        for axes, (parameter, lines) in zip(panels, curves.items(), strict=True):
            _lines(axes, values[parameter], lines, BY_DATASET)
            axes.set(xlabel=PARAMETER_NAMES[parameter].capitalize())
            _mark_default(axes, [*values[parameter]].index(int(str(defaults[parameter]))))
        panels[0].set_ylabel("Accuracy of NeuralKDB (%)")
        _share_legend(figure, panels[0])
        return figure


def _mark_default(axes: Axes, at: int) -> None:
    axes.axvspan(at - 0.3, at + 0.3, color="0.93", zorder=0, linewidth=0)
    axes.text(at, 1.01, "default", ha="center", va="bottom", color="0.4", transform=axes.get_xaxis_transform())


def _lines(
    axes: Axes,
    ticks: Sequence[int],
    lines: Mapping[str, tuple[FloatArray, FloatArray]],
    looks: Sequence[Any],
) -> None:
    """Means with their spread, the values at equal distances."""
    at = np.arange(len(ticks))
    sides = APART * (np.arange(len(lines)) - (len(lines) - 1) / 2)
    for side, look, (name, (means, deviations)) in zip(sides, looks, lines.items(), strict=False):
        drawn: dict[str, Any] = {"markersize": 6.5, "linewidth": 1.6, "elinewidth": 1.0, "capsize": 2.5, **look}
        container = axes.errorbar(at + side, means, deviations, label=name, **drawn)
        for bar in container[2]:
            bar.set_alpha(0.55)
    axes.set_xticks(at, [str(tick) for tick in ticks])
    axes.set_xlim(-0.4, len(ticks) - 0.6)
    axes.grid(visible=False, axis="x")


def _share_legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def critical_differences(comparison: Comparison) -> Figure:
    """The methods on the line of average ranks, joined where Nemenyi's test sees no difference."""
    order = np.argsort(comparison.average_ranks(), kind="stable")
    ranks = comparison.average_ranks()[order]
    names = [comparison.methods[index] for index in order]
    difference = critical_difference(len(names), len(comparison.datasets))
    groups = indistinguishable(ranks, difference)
    with style():
        depth = 1.7 + 0.2 * len(groups) + 0.42 * ((len(names) + 1) // 2)
        figure = Figure(figsize=(4.4, 0.68 * depth))
        axes = figure.add_axes((0, 0, 1, 1))
        scale = _Scale(int(ranks[0]), int(np.ceil(ranks[-1])), difference)
        axes.set(xlim=(0, 1), ylim=(1.3 - depth, 1.3))
        axes.set_axis_off()
        _rank_axis(axes, scale, difference, len(comparison.datasets))
        for level, (first, last) in enumerate(groups):
            ends = scale(ranks[[first, last]]) + (-0.01, 0.01)
            height = -0.3 - 0.2 * level
            axes.plot(ends, [height, height], color="0.1", linewidth=3.2, solid_capstyle="butt", zorder=3)
        _name_ranks(axes, names, scale(ranks), ranks, -0.55 - 0.2 * len(groups), comparison.methods[0])
        return figure


class _Scale:
    """From ranks to places between 0 and 1, wide enough for the critical difference."""

    def __init__(self, first: int, last: int, difference: float) -> None:
        self.first = first
        self.last = max(last, first + int(np.ceil(difference)))

    def __call__(self, rank: Any) -> Any:
        return (rank - self.first) / (self.last - self.first)


def _rank_axis(axes: Axes, scale: _Scale, difference: float, n_datasets: int) -> None:
    axes.plot([0, 1], [0, 0], color="black", linewidth=1)
    for rank in range(scale.first, scale.last + 1):
        axes.plot([scale(rank)] * 2, [0, 0.12], color="black", linewidth=1)
        axes.text(scale(rank), 0.2, str(rank), ha="center", va="bottom")
    width = scale(scale.first + difference)
    axes.errorbar(width / 2, 0.75, xerr=width / 2, color="black", capsize=3, linewidth=1)
    words = f"critical difference {difference:.2f}\n(Nemenyi, 0.05, {n_datasets} data sets)"
    axes.text(0, 0.9, words, va="bottom", fontsize=9)


def _name_ranks(
    axes: Axes, names: Sequence[str], places: FloatArray, ranks: FloatArray, top: float, emphasized: str
) -> None:
    """The better half named on the left, the other on the right, lines not crossing."""
    half = (len(names) + 1) // 2
    for index, name in enumerate(names):
        left = index < half
        height = top - 0.42 * (index if left else len(names) - 1 - index)
        edge, side = (-0.06, -1) if left else (1.06, 1)
        look: Any = {"color": RED, "fontweight": "bold"} if name == emphasized else {}
        axes.plot([places[index]] * 2 + [edge], [0, height, height], color=look.get("color", "0.4"),
                  linewidth=0.9, clip_on=False)  # fmt: skip
        axes.text(edge + 0.015 * side, height, f"{name}  {ranks[index]:.2f}", ha="right" if left else "left",
                  va="center", **look)  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """The figures' own look, whatever the user's settings."""
    with mpl.rc_context(STYLE):
        yield


def save(figure: Figure, folder: Path, name: str, forms: Sequence[str]) -> Path:
    """Write the drawing in these forms; the SVG file."""
    folder.mkdir(parents=True, exist_ok=True)
    with style():
        for _ in range(2):  # axes of fixed aspect find their place in the second layout
            figure.draw_without_rendering()
        for form in forms:
            figure.savefig(folder / (name + form), **FORMS[form])
    return folder / f"{name}.svg"
