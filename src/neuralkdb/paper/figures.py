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
from neuralkdb.paper.statistics import FloatArray, critical_difference, indistinguishable

STYLE: Any = {
    "svg.hashsalt": "neuralkdb",  # the same drawing is the same file
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
FORMS: Mapping[str, Any] = {".svg": {"metadata": {"Date": None}}, ".png": {"dpi": 160}}
# red, blue and yellow as in the paper, apart in lightness and in shape for whom they look alike
RED, BLUE, YELLOW = "#d7301f", "#2b6cb0", "#f5c518"
HIGHER = {"color": RED, "marker": "^", "label": "NeuralKDB higher"}
LOWER = {"color": BLUE, "marker": "v", "label": "NeuralKDB lower"}
EQUAL = {"color": YELLOW, "marker": "o", "label": "equal", "edgecolors": "0.25"}
PARAMETER_NAMES = {
    "embedding_dim": "Embedding dimension d",
    "batch_size": "Batch size",
    "epochs": "Number of epochs",
}
LINES: tuple[Any, ...] = (
    {"color": RED, "marker": "^", "linestyle": "-"},
    {"color": BLUE, "marker": "v", "linestyle": "--"},
)


def scatter_plots(pairs: Mapping[int, Comparison]) -> Figure:
    """NeuralKDB over KDB on each data set, a panel for each k."""
    low = 20 * min(pair.means.min() // 20 for pair in pairs.values())
    with style():
        figure = Figure(figsize=(3.1 * len(pairs), 3.6))
        panels = np.ravel(figure.subplots(1, len(pairs), sharex=True, sharey=True))
        for axes, (k, pair) in zip(panels, pairs.items(), strict=True):
            _scatter(axes, pair, k, low)
        panels[0].set_ylabel("Accuracy of NeuralKDB (%)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return figure


def _scatter(axes: Axes, pair: Comparison, k: int, low: float) -> None:
    neural, counted = pair.means.T
    groups = ((HIGHER, neural > counted), (LOWER, neural < counted), (EQUAL, neural == counted))
    axes.plot([low, 100], [low, 100], color="0.6", linewidth=0.8, zorder=1)
    for look, chosen in groups:
        points: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "s": 26, **look}
        axes.scatter(counted[chosen], neural[chosen], zorder=2, **points)
    counts = [f"{chosen.sum()} {look['label'].split()[-1]}" for look, chosen in groups]
    axes.set(aspect="equal", xlabel="Accuracy of KDB (%)", title=f"k = {k}")
    axes.set_xticks(np.arange(low, 101, 20))
    axes.set_yticks(axes.get_xticks())
    axes.text(
        0.97,
        0.03,
        "\n".join(counts),
        ha="right",
        va="bottom",
        color="0.35",
        transform=axes.transAxes,
    )


Curves = Mapping[str, Mapping[str, tuple[FloatArray, FloatArray]]]
"""panel -> line -> means and deviations"""


def by_dependence(curves: Curves, ks: Sequence[int]) -> Figure:
    """Accuracy against k, a panel for each data set, a line for each method."""
    with style():
        figure = Figure(figsize=(3.6 * len(curves), 3.1))
        panels = np.ravel(figure.subplots(1, len(curves)))
        for axes, (dataset, lines) in zip(panels, curves.items(), strict=True):
            _lines(axes, [str(k) for k in ks], lines)
            axes.set(title=dataset, xlabel="Number of parents k")
        panels[0].set_ylabel("Accuracy (%)")
        _share_legend(figure, panels[0])
        return figure


def sensitivity(curves: Curves, values: Mapping[str, Sequence[int]]) -> Figure:
    """Accuracy against each hyper-parameter, a line for each data set."""
    with style():
        figure = Figure(figsize=(3.1 * len(curves), 3.1))
        panels = np.ravel(figure.subplots(1, len(curves), sharey=True))
        for axes, (parameter, lines) in zip(panels, curves.items(), strict=True):
            _lines(axes, [str(value) for value in values[parameter]], lines)
            axes.set(xlabel=PARAMETER_NAMES[parameter])
        panels[0].set_ylabel("Accuracy (%)")
        _share_legend(figure, panels[0])
        return figure


def _lines(axes: Axes, ticks: Sequence[str], lines: Mapping[str, tuple[FloatArray, FloatArray]]) -> None:
    """Means with their spread, the values at equal distances."""
    at = np.arange(len(ticks))
    for look, (name, (means, deviations)) in zip(LINES, lines.items(), strict=False):
        axes.plot(at, means, label=name, markersize=6, linewidth=1.6, **look)
        axes.fill_between(at, means - deviations, means + deviations, color=look["color"], alpha=0.13, linewidth=0)
    axes.set_xticks(at, ticks)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)


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
        rows = (len(names) + 1) // 2
        figure = Figure(figsize=(7.2, 1.5 + 0.16 * len(groups) + 0.27 * rows))
        axes = figure.subplots()
        _rank_axis(axes, len(names), difference, len(comparison.datasets))
        for level, (first, last) in enumerate(groups):
            height = -0.32 - 0.22 * level
            axes.plot(
                [ranks[first] - 0.04, ranks[last] + 0.04],
                [height, height],
                color=BLUE,
                linewidth=3.5,
                solid_capstyle="round",
            )
        _name_ranks(axes, names, ranks, top=-0.5 - 0.22 * len(groups), last=len(names))
        return figure


def _rank_axis(axes: Axes, last: int, difference: float, n_datasets: int) -> None:
    axes.plot([1, last], [0, 0], color="black", linewidth=1)
    for rank in range(1, last + 1):
        axes.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        axes.text(rank, 0.2, str(rank), ha="center", va="bottom")
    axes.errorbar(1 + difference / 2, 0.85, xerr=difference / 2, color="black", capsize=3, linewidth=1)
    axes.text(
        1 + difference + 0.12,
        0.85,
        f"critical difference {difference:.2f} (Nemenyi, 0.05, {n_datasets} data sets)",
        va="center",
    )
    axes.set_axis_off()


def _name_ranks(axes: Axes, names: Sequence[str], ranks: FloatArray, top: float, last: int) -> None:
    """The better half named on the left, the other on the right, lines not crossing."""
    half = (len(names) + 1) // 2
    for index, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = index < half
        height = top - 0.4 * (index if left else len(names) - 1 - index)
        edge = 0.75 if left else last + 0.25
        axes.plot([rank, rank, edge], [0, height, height], color="0.35", linewidth=0.8)
        axes.text(
            edge + (-0.06 if left else 0.06),
            height,
            f"{name}  {rank:.2f}",
            ha="right" if left else "left",
            va="center",
        )
    axes.set_xlim(-0.6, last + 1.6)


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
