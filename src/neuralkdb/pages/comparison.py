"""The page of `neuralkdb evaluate`: classifiers side by side."""

from __future__ import annotations

from collections.abc import Sequence

from neuralkdb.comparison import Result
from neuralkdb.pages.drawings import bars, reliability
from neuralkdb.pages.markup import document, escaped, section, table


def comparison_page(source: str, about: str, results: Sequence[Result]) -> str:
    """Scores in a table, log-loss as bars, and how well calibrated each classifier is."""
    title = f"Classifiers on {source}"
    losses = sorted(((result.name, float(result.values("log_loss").mean())) for result in results), key=lambda r: r[1])
    drawings = "".join(
        f"<div><h3>{escaped(result.name)}</h3>{reliability(result.calibration)}</div>" for result in results
    )
    parts = [
        f'<h1>{escaped(title)}</h1><p class="soft">{escaped(about)}</p>',
        section(
            "Scores",
            "Means over the folds. Log-loss, Brier score and calibration error are better when lower.",
            table(results[0].header, [result.row for result in results]),
        ),
        section("Log-loss", "How surprised a classifier is by the truth; the best first.", bars(losses)),
        section(
            "Calibration",
            "Each point holds the rows whose class was said with about the same probability; on the dashed line that "
            "is how often it was right.",
            f'<div class="cards">{drawings}</div>',
        ),
    ]
    return document(title, parts)
