"""The plots and tables of docs/limits.md, from the measured cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.cells import results
from benchmarks.scaling.grid import AXES, MODELS
from benchmarks.sections import DOCS, machine, markdown, write_section

PAGE = DOCS / "limits.md"
PICTURES = DOCS / "limits"
POWERS = ("rows", "features", "values", "classes")
PANELS = {"fit": "seconds to fit", "predict": "seconds to predict", "growth": "megabytes that fitting adds"}
COLORS = [*(f"C{number}" for number in range(10)), "black"]  # one for each of MODELS
OVERHEAD = 0.005  # seconds below which what is measured is the way to the work


def write_page(file: Path) -> None:
    """All sections and plots."""
    found = results(file)
    measured = found[found.status == "measured"]
    PICTURES.mkdir(exist_ok=True)
    for axis in [name for name in AXES if name != "threads"]:
        draw(measured[measured.axis == axis], axis)
    write_section("machine", machine(), PAGE)
    write_section("slopes", slopes(measured), PAGE)
    write_section("slowest", slowest(found), PAGE)
    write_section("k", of_k(measured), PAGE)
    write_section("threads", of_threads(measured), PAGE)


def slope(rows: pd.DataFrame, axis: str, what: str) -> float:
    """The exponent between the two largest sizes that were measured; NaN where time is mostly overhead."""
    last = rows[rows.axis == axis].sort_values("size").tail(2)
    if len(last) < 2 or (last[what] < OVERHEAD).any():
        return np.nan
    ratio = np.log(last[what]).diff().iloc[-1] / np.log(last["size"].astype(float)).diff().iloc[-1]
    return float(ratio)


def slopes(measured: pd.DataFrame) -> str:
    """Measured exponent, and that of theory, by classifier and axis."""
    header = ["classifier", *(f"{what}, {axis}" for what in ("fit", "predict") for axis in POWERS)]
    lines = []
    for name, model in MODELS.items():
        rows = measured[measured.model == name]
        theory = {"fit": model.fit, "predict": model.predict}
        cells = [
            exponent(slope(rows, axis, what), theory[what][number])
            for what in theory
            for number, axis in enumerate(POWERS)
        ]
        lines.append([name, *cells])
    return markdown(header, lines)


def exponent(found: float, theory: float) -> str:
    return f"{'-' if np.isnan(found) else f'{found:.1f}'} / {theory:g}"


def slowest(found: pd.DataFrame) -> str:
    """What took longest, and what met its limit."""
    done = found[(found.status == "measured") & (found.axis != "threads")]
    lines = [
        [row.model, f"{row.axis} = {row.size:,}", what, f"{seconds:.1f} s"]
        for what in ("fit", "predict")
        for row, seconds in zip(done.itertuples(), done[what], strict=True)
    ]
    longest = sorted(lines, key=lambda line: -float(line[3].split()[0]))[:10]
    stopped = [f"{row.model} at {row.axis} = {row.size:,} ({row.status.split(':')[0]})" for row in stopped_cells(found)]
    limits = f"\n\nStopped by a limit: {'; '.join(stopped) or 'nothing'}."
    return markdown(["classifier", "at", "what", "time"], longest) + limits


def stopped_cells(found: pd.DataFrame) -> list[object]:
    return list(found[found.status != "measured"].itertuples())


def of_k(measured: pd.DataFrame) -> str:
    """Seconds and megabytes for each k."""
    of = measured[measured.axis == "k"].set_index(["model", "size"])
    names, sizes = list(dict.fromkeys(of.index.get_level_values(0))), sorted(set(of.index.get_level_values(1)))
    lines = [[name, *(cost(of, name, size) for size in sizes)] for name in names]
    return "Fitting:\n\n" + markdown(["classifier", *(f"k = {k}" for k in sizes)], lines)


def cost(of: pd.DataFrame, name: str, size: int) -> str:
    if (name, size) not in of.index:
        return ""
    row = of.loc[(name, size)]
    return f"{row.fit:.3f} s, {row.growth:.0f} MB"


def of_threads(measured: pd.DataFrame) -> str:
    """How many times as fast with as many threads as there were cores."""
    of = measured[measured.axis == "threads"].set_index(["model", "size"])
    most = max((size for _, size in of.index), default=1)
    names = [name for name in dict.fromkeys(of.index.get_level_values(0)) if (name, most) in of.index]
    lines = [[name, *(faster(of, name, most, what) for what in ("fit", "predict"))] for name in names]
    caption = f"With {most} threads on as many cores, by the clock, 500,000 rows:\n\n"
    return caption + markdown(["classifier", "fit", "predict"], lines)


def faster(of: pd.DataFrame, name: str, most: int, what: str) -> str:
    alone, together = of.loc[(name, 1)][what], of.loc[(name, most)][what]
    return f"{alone:.2f} s, {alone / together:.2f} times"


def draw(rows: pd.DataFrame, axis: str) -> None:
    """A panel each for fit, predict and memory; dashed, the slope of theory through each last point."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for axes, (what, title) in zip(panels, PANELS.items(), strict=True):
        for number, name in enumerate(MODELS):
            mine = rows[(rows.model == name) & (rows[what] > 0)].sort_values("size")
            if len(mine):
                color = COLORS[number]
                axes.plot(mine["size"], mine[what], "o-", markersize=3, linewidth=1, color=color, label=name)
                draw_theory(axes, mine, what, axis, name, color)
        axes.set(xscale="log" if axis != "k" else "linear", yscale="log", xlabel=axis, title=title)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize="small")
    figure.savefig(PICTURES / f"{axis}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_theory(axes: object, rows: pd.DataFrame, what: str, axis: str, name: str, color: str) -> None:
    if axis not in POWERS or what not in {"fit", "predict"} or len(rows) < 2:
        return
    power = getattr(MODELS[name], what)[POWERS.index(axis)]
    sizes = rows["size"].tail(2).to_numpy(float)
    last = rows[what].iloc[-1]
    axes.plot(sizes, last * (sizes / sizes[-1]) ** power, "--", linewidth=0.8, color=color, alpha=0.6)  # type: ignore[attr-defined]
