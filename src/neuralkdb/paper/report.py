"""The results in words: what of the paper reproduces, what does not, and why."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from neuralkdb.paper import plan
from neuralkdb.paper.claims import Claim, claims
from neuralkdb.paper.ledger import write_atomically
from neuralkdb.paper.page import DRAWN
from neuralkdb.paper.printed import METHODS, published_comparison
from neuralkdb.paper.registry import paper_entries
from neuralkdb.paper.rendering import markdown
from neuralkdb.paper.results import Results
from neuralkdb.paper.tables import signed

FARTHEST = 10


def write_report(results: Results, drawings: Sequence[Path], file: Path) -> None:
    """Write the report; the drawings are linked from where it stands."""
    links = [drawing.relative_to(file.parent).as_posix() for drawing in drawings]
    write_atomically(file, report(results, links))


def report(results: Results, links: Sequence[str]) -> str:
    """The report as Markdown, every number worked out from the results."""
    found = claims(results)
    sections = [
        INTRODUCTION.format(datasets=len(results.main.datasets), splits=results.n_splits),
        _claims("What reproduces", [claim for claim in found if claim.holds]),
        _claims("What does not", [claim for claim in found if not claim.holds]),
        "\n".join(_formula(results)),
        "\n".join(_one_parent(results)),
        "\n".join(_forest(results)),
        "\n".join(_distances(results)),
        "## Tables\n",
        markdown(results.table1()),
        markdown(results.table2()),
        _pictures(links),
        "\n".join(_doubts(results)),
    ]
    return "\n".join(filter(None, sections))


INTRODUCTION = """# The paper, reproduced

*Towards the Next-generation Bayesian Network Classifiers* (Zhang, Zhang, Meng and Webb, 2025), its
experiments run again. This page is written by `neuralkdb reproduce all` from the scores of
{datasets} data sets and {splits} splits; no number on it is typed.
"""


def _claims(title: str, found: Iterable[Claim]) -> str:
    rows = [f"| {claim.text} | {claim.paper} | {claim.here} |" for claim in found]
    if not rows:
        return f"## {title}\n\nNothing that these scores can decide.\n"
    return "\n".join([f"## {title}\n", "| | paper | here |", "|---|---|---|", *rows, ""])


def _formula(results: Results) -> Iterator[str]:
    """The printed formula against the hidden tanh, where both have run."""
    rows = [row for dataset in plan.IDENTITY_SETS if (row := _formula_row(results, dataset))]
    if rows:
        yield FORMULA
        yield "| | formula as printed | with tanh | paper |"
        yield "|---|---:|---:|---:|"
        yield from rows
        yield ""


FORMULA = """## The printed formula cannot give the printed numbers

The paper's P(x | parents, class) is a softmax of a sum of one term for each parent and one for
the class. Without a nonlinearity that is a main-effects model: the log-odds of the child's values
are the parents' part plus the class's part, with no term for the two together. Accuracies that need
such an interaction appear with a tanh on the hidden sum, and are out of reach without one.
"""


def _formula_row(results: Results, dataset: str) -> str | None:
    curve = results.curve(dataset, [plan.IDENTITY, "NeuralKDB"])
    printed = published_comparison().mean(dataset, "NeuralKDB")
    if curve is None:
        return None
    identity, tanh = curve[0]
    return f"| {dataset} | {identity:.2f} | {tanh:.2f} | {printed:.2f} |"


def _one_parent(results: Results) -> Iterator[str]:
    """The printed KDF beside KDFs with one and with two parents, where both have run."""
    both = results.comparison(["KDF", plan.TWO_PARENTS])
    paper = published_comparison().on(both.datasets)
    if not paper.datasets:
        return
    ours, printed = both.on(paper.datasets), paper.column("KDF")
    yield ONE_PARENT
    yield "| | average accuracy | mean absolute difference to the printed KDF |"
    yield "|---|---:|---:|"
    for name, column in (
        ("KDF, k = 1", ours.column("KDF")),
        ("KDF, k = 2", ours.column(plan.TWO_PARENTS)),
        ("the printed TAN", paper.column("TAN")),
        ("the printed KDF", printed),
    ):
        yield f"| {name} | {column.mean():.2f} | {np.abs(column - printed).mean():.2f} |"
    yield ""


ONE_PARENT = """## The printed KDF has one feature-parent

The paper says k = 2 for KDF, but its column lies next to that of TAN, a tree, and next to a KDF of
order one: so the column KDF here is that of k = 1.
"""


def _forest(results: Results) -> Iterator[str]:
    paper = published_comparison().on(results.main.datasets)
    if not paper.datasets:
        return
    ours = results.main.on(paper.datasets)
    here, printed = ours.column("RF"), paper.column("RF")
    yield "## The forest\n"
    yield (
        f"A random forest of 100 trees on the same codes, otherwise as scikit-learn makes it, "
        f"has an average accuracy of {here.mean():.2f} here; the paper printed "
        f"{printed.mean():.2f} ({signed(here.mean() - printed.mean())}). It is above the paper's "
        f"on {int((here > printed).sum())} of {len(here)} data sets. NeuralKDB's average here is "
        f"{ours.column('NeuralKDB').mean():.2f}. The paper does not say how its forest was "
        f"made.\n"
    )


def _distances(results: Results) -> Iterator[str]:
    """How far each method is from the paper's, and where NeuralKDB is farthest."""
    paper = published_comparison().on(results.main.datasets)
    if not paper.datasets:
        return
    ours = results.main.on(paper.datasets).among(METHODS)
    off = np.abs(ours.means - paper.means).mean(axis=0)
    yield "## How far the accuracies are from the printed ones\n"
    yield "| | " + " | ".join(METHODS) + " |"
    yield "|---|" + "---:|" * len(METHODS)
    yield "| mean absolute difference | " + " | ".join(f"{value:.2f}" for value in off) + " |"
    same = (ours.verdicts == paper.verdicts)[:, 1:]
    yield (f"\nThe t-tests of Table 1 come to the paper's verdict in {int(same.sum())} of {same.size} comparisons.\n")
    yield "NeuralKDB is farthest from its printed accuracy on:\n"
    yield "| data set | paper | here | difference |"
    yield "|---|---:|---:|---:|"
    difference = ours.means[:, 0] - paper.means[:, 0]
    for row in np.argsort(-np.abs(difference), kind="stable")[:FARTHEST]:
        yield (
            f"| {paper.datasets[row]} | {paper.means[row, 0]:.2f} | {ours.means[row, 0]:.2f} | "
            f"{signed(difference[row])} |"
        )
    yield ""


def _pictures(links: Sequence[str]) -> str:
    shown = [f"{DRAWN[Path(link).stem]}\n\n![{Path(link).stem}]({link})\n" for link in links]
    return "\n".join(["## Figures\n", *shown]) if shown else ""


def _doubts(results: Results) -> Iterator[str]:
    noted = [entry for entry in paper_entries() if entry.note and entry.name in results.datasets]
    if noted:
        yield "## What is known and what is guessed of the data sets\n"
        yield from (f"- **{entry.name}**: {entry.note}" for entry in noted)
        yield ""
