"""The page of `neuralkdb report`: what a model knows, how good it is, and why it said what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.coders import Coder, Intervals
from neuralkdb.columns import written_time
from neuralkdb.evaluation import UNKNOWN, calibration, class_numbers, scores_of
from neuralkdb.layout import arc_diagram, has_two_dimensions
from neuralkdb.network import Floats
from neuralkdb.pages.drawings import (
    bars,
    contributions,
    embedding_map,
    grid,
    network,
    network_style,
    reliability,
)
from neuralkdb.pages.markup import document, escaped, section, table, tiles
from neuralkdb.similarity import value_similarities

MOST_SHOWN = 25  # features
MOST_CLASSES = 15  # of a confusion matrix in numbers
MOST_OF_GRID = 40
MOST_MISTAKES = 10
MOST_MAPS = 6
MOST_VALUES = 60  # of a map
MOST_TERMS = 12  # of a row
MOST_EXPLAINED = 2**24  # entries of an explanation
FEWEST_VALUES = 4  # that are worth a map


@dataclass(frozen=True, eq=False)
class Judged:
    """A model, rows whose classes are known, and what the model says of them."""

    model: Any
    X: Any
    y: Any
    truth: NDArray[np.int64]  # (rows,) positions among the classes
    probabilities: Floats  # (rows, classes)

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> Judged:
        """The model asked about all rows."""
        return cls(model, X, y, class_numbers(y, model.classes_), model.predict_proba(X))

    @property
    def said(self) -> NDArray[np.int64]:
        """The most probable class of each row, (rows,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    def cell(self, row: int, feature: int) -> str:
        """What a row holds, as text."""
        value = self.X.iloc[row, feature] if hasattr(self.X, "iloc") else self.X[row, feature]
        if value is None or value != value:
            return "missing"
        return f"{value:.6g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")

    def written(self, name: str, coder: Coder) -> dict[str, str]:
        """The labels of a feature as a person would write them: dates as dates."""
        dtype = self.X[name].dtype if hasattr(self.X, "iloc") else self.X.dtype
        if isinstance(coder, Intervals) and getattr(dtype, "kind", "") == "M":
            return dict(zip(coder.labels, coder.labelled(written_time), strict=True))
        return dict(zip(coder.labels, coder.labels, strict=True))

    def rows(self, rows: Sequence[int]) -> Any:
        """Some of the rows."""
        return self.X.iloc[list(rows)] if hasattr(self.X, "iloc") else self.X[list(rows)]


def report_page(model: Any, X: Any, y: Any, target: str, source: str, rows: Sequence[int] = ()) -> str:
    """The whole page."""
    for row in rows:
        if row >= len(X):
            raise ValueError(f"{source} has no row {row}: it has {len(X)} rows, from 0 on")
    judged, diagram = Judged.of(model, X, y), arc_diagram(model)
    matters = _what_matters(judged)
    name = type(model).__name__.removesuffix("Classifier")
    parts = [
        f"<h1>{escaped(target)}, by {escaped(name)}</h1>",
        f'<p class="soft">{escaped(_about(judged, source))}</p>',
        _scores(judged),
        section("What matters", _MATTERS, bars([(str(name), size) for name, size in matters], 2)),
        section("Who depends on whom", _network_caption(diagram.caption), network(diagram)),
        f'<div class="pair">{_calibration(judged)}{_confusion(judged)}</div>',
        _maps(judged, [name for name, _ in matters]),
        section("Why the model said so", _WHY, _explained(judged, rows or _telling_rows(judged))),
    ]
    return document(f"{target}, by {name}", parts, network_style(diagram))


_MATTERS = "How far each feature moves the log-odds of the predicted class, on average over the rows of the table."
_WHY = (
    "Terms that add up to the log-odds of the predicted class: blue, to the right, speaks for it; orange, to the left, "
    "against it."
)


def _network_caption(caption: str) -> str:
    return f"{caption} Wider arcs are stronger; gray bars are what a feature says about the class on its own."


def _about(judged: Judged, source: str) -> str:
    n_features, n_classes = judged.model.n_features_in_, len(judged.model.classes_)
    return f"{len(judged.X):,} rows of {source}; {n_features} features, {n_classes} classes."


def _scores(judged: Judged) -> str:
    scores = scores_of(judged.y, judged.probabilities, judged.model.classes_)
    values = [
        ("accuracy", f"{scores.accuracy:.1%}"),
        ("log-loss", f"{scores.log_loss:.3f}"),
        ("Brier score", f"{scores.brier:.3f}"),
        ("calibration error", f"{scores.calibration_error:.3f}"),
    ]
    return tiles(values + ([] if scores.auc is None else [("AUC", f"{scores.auc:.3f}")]))


def _what_matters(judged: Judged) -> list[tuple[str, float]]:
    """The mean size of each feature's term, the largest first."""
    n_terms = judged.model.n_features_in_ + 2
    n_rows = min(len(judged.X), 2000, max(20, MOST_EXPLAINED // (n_terms * judged.probabilities.shape[1])))
    chosen = np.linspace(0, len(judged.X) - 1, n_rows).astype(int).tolist()
    values = judged.model.explain(judged.rows(chosen)).values
    own = values[np.arange(n_rows), judged.said[chosen], 1:-1]
    sizes = np.abs(np.where(np.isfinite(own), own, 0.0)).mean(axis=0)
    order = np.argsort(-sizes, kind="stable")[:MOST_SHOWN]
    return [(judged.model._names[feature], float(sizes[feature])) for feature in order]


def _calibration(judged: Judged) -> str:
    found = calibration(judged.y, judged.probabilities, judged.model.classes_)
    caption = "On the dashed line, what is said with a probability is right that often. Larger points hold more rows."
    return section("Can its probabilities be trusted?", caption, reliability(found))


def _confusion(judged: Judged) -> str:
    n_classes, known = len(judged.model.classes_), judged.truth != UNKNOWN
    counts = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(counts, (judged.truth[known], judged.said[known]), 1)
    if n_classes > MOST_CLASSES:
        return section("What is mistaken for what", *_many(judged, counts))
    caption = "A row for each true class, a column for each predicted one."
    return section("What is mistaken for what", caption, _matrix(judged, counts))


def _many(judged: Judged, counts: NDArray[np.int64]) -> tuple[str, str]:
    """Caption and body for more classes than there is room for numbers."""
    if len(counts) > MOST_OF_GRID:
        return "The most frequent mistakes.", _mistakes(judged, counts)
    drawn = grid([str(label) for label in judged.model.classes_], counts)
    caption = "A row for each true class, a column for each predicted one; mistakes are orange."
    return caption, f"{drawn}<p></p>{_mistakes(judged, counts)}"


def _matrix(judged: Judged, counts: NDArray[np.int64]) -> str:
    labels = [escaped(label) for label in judged.model.classes_]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    head = "".join(f"<th>{label}</th>" for label in labels)
    body = "".join(
        f'<tr><th title="{label}">{label}</th>{"".join(_shaded(*cell) for cell in zip(row, share, strict=True))}</tr>'
        for label, row, share in zip(labels, counts.tolist(), shares.tolist(), strict=True)
    )
    return f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _shaded(count: int, share: float) -> str:
    return (
        f'<td class="cell" style="background:rgba(var(--shade),{0.55 * share:.2f})" title="{share:.1%}">{count:,}</td>'
    )


def _mistakes(judged: Judged, counts: NDArray[np.int64]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    labels = judged.model.classes_
    pairs = [(int(flat) // len(labels), int(flat) % len(labels)) for flat in order]
    rows = [
        (
            str(labels[true]),
            str(labels[said]),
            f"{wrong[true, said]:,}",
            f"{wrong[true, said] / counts[true].sum():.1%}",
        )
        for true, said in pairs
        if wrong[true, said]
    ]
    return table(("true class", "predicted", "rows", "share"), rows)


def _maps(judged: Judged, ranked: Sequence[str]) -> str:
    """Maps of the features that matter most, with some values; categories first, as intervals have an order."""
    coders = dict(zip(judged.model._names, judged.model.members_[0].encoding.column_coders, strict=True))
    some = [name for name in ranked if FEWEST_VALUES <= coders[name].cardinality <= MOST_VALUES]
    chosen = sorted(some, key=lambda name: isinstance(coders[name], Intervals))
    written = ((name, judged.written(name, coders[name])) for name in chosen)
    maps = list(islice(filter(None, (_map(judged.model, name, labels) for name, labels in written)), MOST_MAPS))
    if not maps:
        return ""
    caption = "Values that occur in the same contexts lie close together; larger points are more frequent values."
    return section("Which values are alike", caption, f'<div class="cards">{"".join(maps)}</div>')


def _map(model: Any, name: str, written: dict[str, str]) -> str:
    try:
        labels, similar, weights = value_similarities(model, name)
    except ValueError:  # a model without probabilities of this feature
        return ""
    texts = [written[label] for label in labels]
    return embedding_map(str(name), texts, similar, weights) if has_two_dimensions(similar) else ""


def _telling_rows(judged: Judged) -> list[int]:
    """A row that is surely right, one that is doubtful, and one that is surely wrong."""
    ordered = np.sort(judged.probabilities, axis=1)
    margin = ordered[:, -1] - (ordered[:, -2] if ordered.shape[1] > 1 else 0.0)
    right = judged.said == judged.truth
    candidates = [np.where(right, margin, -1.0), -margin, np.where(right, -1.0, margin)]
    rows = [int(candidate.argmax()) for candidate in candidates]
    return list(dict.fromkeys(rows))


def _explained(judged: Judged, rows: Sequence[int]) -> str:
    explanation = judged.model.explain(judged.rows(rows))
    numbers = {name: feature for feature, name in enumerate(judged.model._names)}
    cards = []
    for place, row in enumerate(rows):
        said = judged.model.classes_[judged.said[row]]
        strongest = explanation.strongest(place, said, MOST_TERMS)
        terms = [
            (str(name), judged.cell(row, numbers[name]) if name in numbers else "", value) for name, value in strongest
        ]
        cards.append(f"<div>{_heading(judged, row)}{contributions(terms)}</div>")
    return f'<div class="cards">{"".join(cards)}</div>'


def _heading(judged: Judged, row: int) -> str:
    classes, said, truth = judged.model.classes_, judged.said[row], judged.truth[row]
    share = judged.probabilities[row, said]
    label = classes[truth] if truth != UNKNOWN else list(judged.y)[row]
    verdict = "right" if truth == said else f"wrong: it is {label}"
    return f'<h3>Row {row}: {escaped(classes[said])}</h3><p class="soft">with {share:.1%}, and {escaped(verdict)}</p>'
