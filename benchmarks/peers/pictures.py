"""The plots of docs/benchmarks.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.peers.models import OURS

BETWEEN_NAMES = 0.07  # of the height of a panel at least, so that they do not overlap


def draw_codes(codes: pd.DataFrame, file: Path) -> None:
    """How many times as long the peers take, table by table."""
    import matplotlib.pyplot as plt

    measured = codes[codes.status == "measured"].assign(name=lambda rows: rows.method + ", " + rows.peer)
    names = list(dict.fromkeys(measured.name))
    figure, both = plt.subplots(1, 2, figsize=(9, 0.35 * len(names) + 1.2), sharey=True, layout="constrained")
    for axes, what in zip(both, ("fit", "predict"), strict=True):
        for data, rows in measured.groupby("data", sort=False):
            axes.plot(rows[what], [names.index(name) for name in rows.name], "o", alpha=0.7, label=data)
        axes.axvline(1, color="black", linewidth=1)
        axes.set(xscale="log", title=f"{what}: their time / ours", yticks=range(len(names)), yticklabels=names)
    both[0].invert_yaxis()
    both[1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_tables(tables: pd.DataFrame, file: Path) -> None:
    """Log-loss over seconds of fitting, a panel for each table; of those that nothing beats in both some are named."""
    import matplotlib.pyplot as plt

    measured = tables[tables.status == "measured"]
    names = list(measured.data.unique())
    n_rows = -(-len(names) // 2)
    figure, panels = plt.subplots(n_rows, 2, figsize=(10, 3.4 * n_rows), layout="constrained", squeeze=False)
    for axes, data in zip(panels.flat, names, strict=False):
        draw_table(axes, measured[measured.data == data].sort_values("fit"))
        axes.set(xscale="log", yscale="log", title=data, xlabel="seconds to fit", ylabel="log-loss")
    for axes in panels.flat[len(names) :]:
        axes.set_axis_off()
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_table(axes: Any, rows: pd.DataFrame) -> None:
    """The classifiers of a table, the fastest first."""
    mine = rows.model.str.startswith(f"{OURS} ")
    for label, part, color in ((OURS, rows[mine], "C0"), ("others", rows[~mine], "C1")):
        axes.plot(part.fit, part.log_loss, "o", color=color, alpha=0.8, label=label)
    best = rows[rows.log_loss < np.append(np.inf, rows.log_loss.cummin().to_numpy()[:-1])]
    axes.plot(best.fit, best.log_loss, "-", color="gray", linewidth=0.8, drawstyle="steps-post", zorder=0)
    axes.margins(x=0.35, y=0.12)
    heights = np.log(rows.log_loss)
    apart, last = BETWEEN_NAMES * (heights.max() - heights.min()), -np.inf
    for row in best[::-1].itertuples():  # below and left of the line there is room
        if np.log(row.log_loss) < last + apart:
            continue
        last = np.log(row.log_loss)
        name = row.model.removeprefix(f"{OURS} ").removeprefix("scikit-learn ")
        place = {"xytext": (-5, -3), "textcoords": "offset points", "ha": "right", "va": "top"}
        axes.annotate(name, (row.fit, row.log_loss), fontsize="x-small", **place)
