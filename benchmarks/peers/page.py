"""docs/benchmarks.md, its plots and the ranks of docs/which-classifier.md, from the measured cells."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.cells import results
from benchmarks.peers.data import NAMES
from benchmarks.peers.models import ON_CODES, OURS, bare, on_codes, on_tables
from benchmarks.peers.pictures import draw_codes, draw_tables
from benchmarks.sections import DOCS, machine, markdown, write_section

PAGE = DOCS / "benchmarks.md"
PICTURES = DOCS / "benchmarks"
PACKAGES = [
    *("numpy", "scikit-learn", "scikit-bayes", "pyagrum", "endgame-ml"),
    *("xgboost", "xgboost-cpu", "lightgbm", "catboost", "interpret-core"),
]
MANNERS = [
    *("missing_numbers", "strings", "missing_strings", "unseen_value"),
    *("label_names", "sample_weight", "partial_fit", "round_trip"),
]


def write_page(file: Path) -> None:
    """All sections."""
    found = results(file)
    PICTURES.mkdir(exist_ok=True)
    codes, tables = pairs(in_order(found, "codes", on_codes())), in_order(found, "tables", on_tables())
    write_section("versions", versions(), PAGE)
    write_section("codes", of_codes(codes), PAGE)
    write_section("tables", of_tables(tables), PAGE)
    write_section("better", better(codes, tables), PAGE)
    write_section("manners", manners(found), PAGE)
    write_section("ranks", ranks(tables), DOCS / "which-classifier.md")
    draw_codes(codes, PICTURES / "codes.png")
    draw_tables(tables, PICTURES / "tables.png")


def in_order(found: pd.DataFrame, suite: str, models: Collection[str]) -> pd.DataFrame:
    """The cells of a suite: small tables first, classifiers as they are listed."""
    places = {name: place for names in (NAMES, models) for place, name in enumerate(names)}
    return found[found.suite == suite].sort_values(["data", "model"], key=lambda names: names.map(places))


def versions() -> str:
    """What was measured, and on what."""
    return f"{machine()}; {', '.join(f'{name} {found}' for name in PACKAGES if (found := installed(name)))}."


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def pairs(codes: pd.DataFrame) -> pd.DataFrame:
    """A row for each peer's method on a table, beside ours."""
    of = codes.set_index(["data", "model"])
    rows = []
    for method, libraries in ON_CODES.items():
        for peer in [library for library in libraries if library != OURS]:
            for data in codes.data.unique():
                mine, theirs = f"{OURS} {method}", f"{peer} {method}"
                if (data, mine) in of.index and (data, theirs) in of.index:
                    rows.append({"method": method, "peer": peer, "data": data, **compared(of, data, mine, theirs)})
    return pd.DataFrame(rows)


def compared(of: pd.DataFrame, data: str, mine: str, theirs: str) -> dict[str, object]:
    ours, other = of.loc[(data, mine)], of.loc[(data, theirs)]
    return {
        "status": str(other.status),
        "accuracy": 100 * ours.accuracy,
        "points": 100 * (ours.accuracy - other.accuracy),
        "log_loss": ours.log_loss,
        "their_log_loss": other.log_loss,
        "fit": other.fit / ours.fit,
        "predict": other.predict / ours.predict,
    }


def of_codes(codes: pd.DataFrame) -> str:
    """A table for each method and peer."""
    header = ["table", "accuracy", "points", "log-loss", "theirs", "fit, times", "predict, times"]
    parts = []
    for (method, peer), rows in codes.groupby(["method", "peer"], sort=False):
        lines = [[row.data, *figures(row)] for row in rows.itertuples()]
        parts.append(f"**{method}**, beside {peer}:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


def figures(row: Any) -> list[str]:
    """What a row of the table says after its name."""
    if row.status != "measured":
        return [f"{row.accuracy:.2f}", short(row.status), f"{row.log_loss:.3f}", "", "", ""]
    times = [f"{ratio:,.2f}" if ratio < 10 else f"{ratio:,.0f}" for ratio in (row.fit, row.predict)]
    return [f"{row.accuracy:.2f}", f"{row.points:+.2f}", f"{row.log_loss:.3f}", f"{row.their_log_loss:.3f}", *times]


def short(status: str) -> str:
    """The limit that was met, or the kind of error."""
    return status if status.startswith("not in ") else status.split(":")[0].split(".")[-1][:40]


def of_tables(tables: pd.DataFrame) -> str:
    """Accuracy / log-loss / seconds of fitting of every classifier on every table."""
    names, models = list(tables.data.unique()), list(tables.model.unique())
    of = tables.set_index(["data", "model"])
    lines = [[model, *(outcome(of, data, model) for data in names)] for model in models]
    caption = "Accuracy / log-loss / seconds of fitting. An empty cell was not tried."
    return f"{caption}\n\n" + markdown(["classifier", *names], lines)


def outcome(of: pd.DataFrame, data: str, model: str) -> str:
    if (data, model) not in of.index:
        return ""
    row = of.loc[(data, model)]
    if row.status != "measured":
        return short(row.status)
    return f"{100 * row.accuracy:.1f} / {row.log_loss:.3f} / {row.fit:.2g}"


def better(codes: pd.DataFrame, tables: pd.DataFrame) -> str:
    """Every table and method where a peer has the better figure, and the best of all on each table."""
    measured = codes[codes.status == "measured"]
    lines = [
        f"- {row.peer}'s {row.method} on {row.data}: {what}" for row in measured.itertuples() for what in lost(row)
    ]
    heads = "Of the same method on the same codes, a peer is faster, more than 0.3 points more accurate, or 0.005 lower"
    found = "\n".join(lines) or "- nothing"
    done, best = tables[tables.status == "measured"], []
    for data, rows in done.groupby("data", sort=False):
        names = [first_of(rows, -100 * rows.accuracy, "{:.2f}"), first_of(rows, rows.log_loss, "{:.4f}")]
        best.append([data, *names, str(len(rows))])
    table = markdown(["table", "accuracy", "log-loss", "classifiers measured"], best)
    return f"{heads} in log-loss:\n\n{found}\n\nThe best on each table, of those that were measured:\n\n{table}"


def first_of(rows: pd.DataFrame, figures: pd.Series[float], digits: str) -> str:
    """The classifier with the smallest figure as it is written, or how many share it."""
    written = figures.abs().map(digits.format)
    names = rows.model[written == written[figures.idxmin()]]
    return f"{names.iloc[0] if len(names) == 1 else f'{len(names)} classifiers'} {written[figures.idxmin()]}"


def lost(row: Any) -> list[str]:
    """What the peer does better."""
    times = [
        f"{what} in {ratio:.2f} of our time"
        for what, ratio in (("fits", row.fit), ("predicts", row.predict))
        if ratio < 1
    ]
    points = [f"{-row.points:.2f} points more"] if row.points < -0.3 else []
    lower = row.their_log_loss < row.log_loss - 0.005
    return times + points + ([f"log-loss {row.their_log_loss:.3f} against {row.log_loss:.3f}"] if lower else [])


def manners(found: pd.DataFrame) -> str:
    """One row per classifier."""
    behaved = in_order(found, "behaviour", bare()).set_index("model")
    checked = found[found.suite == "checks"].set_index("model")
    lines = []
    for model, row in behaved.iterrows():
        tried = [str(row[name]) if row.status == "measured" else short(row.status) for name in MANNERS]
        lines.append([str(model), *tried, failures(checked, str(model))])
    return markdown(["classifier", *(name.replace("_", " ") for name in MANNERS), "checks failed"], lines)


def failures(checked: pd.DataFrame, model: str) -> str:
    if model not in checked.index:
        return ""
    row = checked.loc[model]
    return f"{row.failed:.0f} of {row.checks:.0f}" if row.status == "measured" else short(row.status)


def ranks(tables: pd.DataFrame) -> str:
    """Mean ranks of our classifiers, by log-loss; who met a limit comes last."""
    mine = tables[tables.model.str.startswith(f"{OURS} ")]
    models = mine.model.unique()
    everywhere = mine.groupby("data").filter(lambda rows: len(rows) == len(models))
    columns = ["log_loss", "accuracy", "fit", "predict"]
    signed = everywhere.assign(accuracy=-everywhere.accuracy)
    ranked = signed.groupby("data")[columns].rank(na_option="bottom").assign(model=signed.model)
    stopped = everywhere[everywhere.status != "measured"].groupby("model").size()
    lines = [
        [f"`{str(model).removeprefix(OURS).strip()}`", *(f"{value:.1f}" for value in row), str(stopped.get(model, 0))]
        for model, row in ranked.groupby("model").mean().sort_values("log_loss").iterrows()
    ]
    caption = f"{', '.join(everywhere.data.unique())}.\n\n"
    header = ["classifier", "log-loss", "accuracy", "seconds to fit", "to predict", "tables on which it met a limit"]
    return caption + markdown(header, lines)
