"""The tables of docs/flagship.md: the ensemble beside its rivals, and what each of its parts is worth.

    python benchmarks/rivals.py
    python benchmarks/rivals.py --large --results results/large.csv
    python benchmarks/flagship.py --ablate

The first two compute lines of scores, and so does `--ablate`; without it the tables are written from what is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from rivals import FOUR, RESULTS, append, line_of, read_lines, uci
from sections import DOCS, markdown, write_section

from neuralkdb.classifiers import members
from neuralkdb.paper.datasets import Dataset
from neuralkdb.paper.protocol import LEAST_PROBABILITY, split_rows
from neuralkdb.weighting import Weighting

PAGE = DOCS / "flagship.md"
NAMES = {
    "flagship": "NeuralKDBEnsemble",
    "forest": "random forest",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "logistic": "logistic regression",
    "catboost": "CatBoost",
}
SCORES = ["accuracy", "log_loss", "calibration_error"]
NEVER = 10**9

Patches = list[tuple[object, str, object]]
VARIANTS: dict[str, Callable[[], Patches]] = {
    "as it is": list,
    "no NeuralKDB members": lambda: [(members, "EVERY", NEVER)],
    "no regressions of numbers": lambda: [(members.Fitter, "_lines", lambda self, plan: [])],
    "no offsets of cells": lambda: [(members, "CORRECTED", 0)],
    "no discriminative weights": lambda: [(members, "Weighting", lambda pull: Weighting(1e9, 1e9))],
    "one weight a feature, not one a class": lambda: [(members, "Weighting", OneForAllClasses)],
    "weights without leaving rows out": lambda: [(members, "leave_one_out_terms", terms_with_the_row)],
    "k = 1 in place of 4 to 6": lambda: [(members, "PARENTS", (1,))],
    "the same cut points for all members": lambda: [(members, "_cut_points", first_cut_points)],
}


class OneForAllClasses(Weighting):
    """Weights of a feature that are the same in all classes."""

    def penalty(self, flat, expected):  # type: ignore[no-untyped-def]
        """The pull, and a far stronger one of the weights of a feature to their mean."""
        penalty, slope = super().penalty(flat, expected)
        n_classes = len(expected.bias)
        weights = flat[:-n_classes].reshape(-1, n_classes)
        away = weights - weights.mean(axis=1, keepdims=True)
        slope[:-n_classes] += 1e3 * away.ravel()
        return penalty + 5e2 * float((away**2).sum()), slope


def terms_with_the_row(parts, rows, n_classes):  # type: ignore[no-untyped-def]
    """Terms from counts that the row is part of."""
    from neuralkdb.weighting import leave_one_out_terms

    class Nothing:
        """A part that removes nothing."""

        def __init__(self, part):  # type: ignore[no-untyped-def]
            self.part, self.n_terms = part, part.n_terms

        def leave_one_out(self, rows, removed, terms, first):  # type: ignore[no-untyped-def]
            self.part.leave_one_out(rows, 0.0 * removed, terms, first)

    return leave_one_out_terms([Nothing(part) for part in parts], rows, n_classes)


def first_cut_points(number: int, seed: int, n_intervals: int) -> object:
    """Those of the first member."""
    return members.MinimumDescriptionLength(10)


@contextmanager
def patched(changes: Patches) -> Iterator[None]:
    with ExitStack() as stack:
        for place, name, value in changes:
            stack.enter_context(patch.object(place, name, value))
        yield


def ablate(path: Path, seeds: list[int], n_sets: int) -> None:
    """A line for each variant on the smallest data sets."""
    done = {(line.dataset, line.model, line.seed) for line in read_lines(path)}
    for dataset in list(uci([]))[:n_sets]:
        for seed in seeds:
            for name, changes in VARIANTS.items():
                if (dataset.name, name, seed) not in done:
                    with patched(changes()):
                        append(replace(line_of(dataset, "flagship", seed), model=name), path)


def table_of(path: Path) -> pd.DataFrame:
    return pd.DataFrame([vars(line) for line in read_lines(path)])


def complete(lines: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Lines of the splits on which every one of the models has a result."""
    known = lines[lines.model.isin(models) & lines.accuracy.notna()]
    n_models = known.groupby(["dataset", "seed"]).model.transform("nunique")
    return known[n_models == len(models)]


def comparison(lines: pd.DataFrame, models: list[str]) -> str:
    """Means and mean ranks, data sets weighted equally."""
    lines = complete(lines, models)
    means = lines.groupby(["dataset", "model"])[[*SCORES, "fit"]].mean().unstack()
    ranks = means.accuracy.rank(axis=1, ascending=False).mean(), means.log_loss.rank(axis=1).mean()
    rows = [
        [
            NAMES[model],
            f"{means.accuracy[model].mean():.2%}",
            f"{means.log_loss[model].mean():.4f}",
            f"{means.calibration_error[model].mean():.4f}",
            *(f"{rank[model]:.2f}" for rank in ranks),
            f"{means.fit[model].sum():.1f}",
        ]
        for model in models
    ]
    header = ["model", "accuracy", "log-loss", "calibration error", "rank of accuracy", "of log-loss", "CPU s a split"]
    seeds = ", ".join(map(str, sorted(lines.seed.unique())))
    said = f"{means.shape[0]} data sets, {lines.groupby(['dataset', 'seed']).ngroups} splits, seeds {seeds}."
    return f"{said}\n\n{markdown(header, rows)}"


def behind(lines: pd.DataFrame) -> str:
    """The data sets on which the best of the four is well ahead, and those on which it is well behind."""
    means = complete(lines, ["flagship", *FOUR]).groupby(["dataset", "model"]).accuracy.mean().unstack()
    gaps = 100 * (means[list(FOUR)].max(axis=1) - means.flagship)
    some = gaps[gaps > 2].sort_values(ascending=False)
    tests = {dataset.name: len(split_rows(dataset.n_rows, 0)[1]) for dataset in uci(list(some.index))}
    rows = [
        f"{name} {gap:.1f} ({gap * tests[name] / 100:.1f} of {tests[name]} test rows)" for name, gap in some.items()
    ]
    listed = ", ".join(rows) or "none"
    return (
        f"Within 2 points of the best of the four, chosen for each data set, on {(gaps <= 2).sum()} of {len(gaps)}; "
        f"ahead of all four on {(gaps < 0).sum()}. More than 2 points behind: {listed}."
    )


def absent_classes(lines: pd.DataFrame) -> str:
    """What the rows cost whose class is not among the training rows, and the log-loss where there are none."""
    known = complete(lines, ["flagship", *FOUR])
    shares = pd.Series({dataset.name: share_of_absent(dataset, sorted(known.seed.unique())) for dataset in uci([])})
    without = known[known.dataset.isin(shares.index[shares == 0])].groupby(["model", "dataset"]).log_loss.mean()
    means = without.groupby("model").mean()
    best = means[list(FOUR)].idxmin()
    cost = -np.log(LEAST_PROBABILITY) * shares.mean()
    return (
        f"Test rows of a class that training did not show, on {(shares > 0).sum()} data sets, are {cost:.4f} of every "
        f"log-loss above. On the other {(shares == 0).sum()} it is {means['flagship']:.4f}, the best of the four's "
        f"{means[best]:.4f} ({NAMES[best]})."
    )


def share_of_absent(dataset: Dataset, seeds: list[int]) -> float:
    """The mean share of test rows whose class no training row has."""
    splits = [split_rows(dataset.n_rows, seed) for seed in seeds]
    return float(np.mean([~np.isin(dataset.classes[test], dataset.classes[train]) for train, test in splits]))


def cost(lines: pd.DataFrame) -> str:
    """How long the largest data set takes, beside XGBoost."""
    largest = list(uci([]))[-1].name
    seconds = lines[lines.dataset == largest].groupby("model").fit.mean()
    ratio = seconds["flagship"] / seconds["xgboost"]
    return f"On {largest}, the largest, fitting takes {ratio:.1f} times the CPU seconds of XGBoost."


def rivals_section(lines: pd.DataFrame) -> str:
    parts = [comparison(lines, ["flagship", *FOUR]), behind(lines), absent_classes(lines), cost(lines)]
    ran = complete(lines, ["flagship", *FOUR, "catboost"])
    if len(ran):
        parts += ["Where CatBoost has a result:", comparison(lines, ["flagship", "catboost"])]
    return "\n\n".join(parts)


def large_section(lines: pd.DataFrame) -> str:
    known = complete(lines, ["flagship", *FOUR])
    rows = []
    for name, of_table in known.groupby("dataset"):
        means = of_table.groupby("model")[["accuracy", "log_loss", "fit"]].mean().T
        ours, theirs = means["flagship"], means[list(FOUR)]
        best = theirs.loc["log_loss"].idxmin()
        rows.append(
            [
                str(name),
                f"{ours.log_loss:.4f}",
                f"{theirs.loc['log_loss', best]:.4f} ({NAMES[best]})",
                f"{ours.log_loss / theirs.loc['log_loss', best]:.3f}",
                f"{ours.accuracy:.2%} / {theirs.loc['accuracy'].max():.2%}",
                f"{ours.fit:.1f} / {theirs.loc['fit', 'xgboost']:.1f}",
            ]
        )
    header = ["table", "log-loss", "best of the four", "ratio", "accuracy, and best", "CPU s, and XGBoost's"]
    return markdown(header, rows)


def ablation_section(lines: pd.DataFrame) -> str:
    means = complete(lines, list(VARIANTS)).groupby(["dataset", "model"])[[*SCORES, "fit"]].mean().unstack()
    rows = [
        [name, f"{means.accuracy[name].mean():.2%}", f"{means.log_loss[name].mean():.4f}",
         f"{means.calibration_error[name].mean():.4f}", f"{means.fit[name].sum():.1f}"]
        for name in VARIANTS
    ]  # fmt: skip
    seeds = ", ".join(map(str, sorted(lines.seed.unique())))
    header = ["variant", "accuracy", "log-loss", "calibration error", "CPU s a split"]
    return f"The {means.shape[0]} smallest data sets, seeds {seeds}.\n\n{markdown(header, rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ablate", action="store_true", help="compute the lines of the ablation that are missing")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--sets", type=int, default=36, help="of the ablation")
    parser.add_argument("--results", type=Path, default=RESULTS.parent)
    given = parser.parse_args()
    if given.ablate:
        ablate(given.results / "ablation.csv", given.seeds, given.sets)
    sections = {"rivals": rivals_section, "large": large_section, "ablation": ablation_section}
    for name, section in sections.items():
        if (given.results / f"{name}.csv").exists():
            write_section(name, section(table_of(given.results / f"{name}.csv")), PAGE)


if __name__ == "__main__":
    main()
