"""The results in words: what of the paper reproduces, what does not, and why."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from neuralkdb.paper import plan
from neuralkdb.paper.claims import Claim, claims
from neuralkdb.paper.comparison import Comparison
from neuralkdb.paper.ledger import write_atomically
from neuralkdb.paper.page import DRAWN
from neuralkdb.paper.printed import METHODS, published_comparison
from neuralkdb.paper.registry import paper_entries, registry
from neuralkdb.paper.rendering import markdown
from neuralkdb.paper.results import Results
from neuralkdb.paper.statistics import FloatArray
from neuralkdb.paper.tables import signed, wilcoxon_text, wins_ties_losses_text

FARTHEST = 10
SMALL = 1000  # rows


def write_report(results: Results, drawings: Sequence[Path], file: Path) -> None:
    """Write the report; the drawings are linked from where it stands."""
    links = [drawing.relative_to(file.parent).as_posix() for drawing in drawings]
    write_atomically(file, report(results, links))


def report(results: Results, links: Sequence[str]) -> str:
    """The report as Markdown, every number worked out from the results."""
    found = claims(results)
    sections = [
        INTRODUCTION.format(datasets=len(results.main.datasets), splits=results.n_splits),
        "\n".join(_averages(results)),
        _claims("What reproduces", [claim for claim in found if claim.holds]),
        _claims("What does not", [claim for claim in found if not claim.holds]),
        "\n".join(_formula(results)),
        "\n".join(_one_parent(results)),
        "\n".join(_forest(results)),
        "\n".join(_plain_network(results)),
        "\n".join(_larger_sets(results)),
        "\n".join(_distances(results)),
        _pictures(links),
        "\n".join(_further(results)),
        "## Tables\n",
        markdown(results.table2()),
        markdown(results.printed_columns().table1()),
        "\n".join(_doubts(results)),
    ]
    return "\n".join(filter(None, sections))


INTRODUCTION = """# The paper, reproduced

*Towards the Next-generation Bayesian Network Classifiers* (Zhang, Zhang, Meng and Webb, UAI 2025), its
experiments run again. This page is written by one command from the scores of {datasets} data sets and {splits} splits;
no number on it is typed.

```bash
neuralkdb reproduce all --data DIR --docs docs
```
"""


def _averages(results: Results) -> Iterator[str]:
    """The averages of Table 1 beside the paper's over the same data sets."""
    both = _beside_the_paper(results)
    if both is None:
        return
    ours, paper = both
    columns = (
        *(c.average_accuracies() for c in (paper, ours)),
        np.abs(ours.means - paper.means).mean(axis=0),
        *(c.average_ranks() for c in (paper, ours)),
    )
    yield "## In short\n"
    yield f"Over the {len(ours.datasets)} data sets that both have:\n"
    yield "| | accuracy, paper | here | mean absolute difference per data set | average rank, paper | here |"
    yield "|---|---:|---:|---:|---:|---:|"
    for method, *values in zip(METHODS, *columns, strict=True):
        yield f"| {method} | " + " | ".join(f"{value:.2f}" for value in values) + " |"
    yield ""


def _beside_the_paper(results: Results) -> tuple[Comparison, Comparison] | None:
    """The paper's methods here and in print, over the data sets that both have."""
    paper = published_comparison().on(results.main.datasets)
    return (results.main.on(paper.datasets).among(METHODS), paper) if paper.datasets else None


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
        yield from _formula_average(results)
        yield ""


FORMULA = """## The printed formula cannot give the printed numbers

The paper's P(x | parents, class) is a softmax over the values x of W'\\_x · (Σ v\\_parent + v\\_class). The sum enters
it as it is, so that the score of x is a term of its parents plus a term of the class, and the term of the parents, the
same for every class, cancels in P(class | row). What is left of a feature is W'\\_x · v\\_class, as in naive Bayes,
and the logarithm of the softmax's normalizer, which knows the parents and the class but not x. No term knows a value,
its parents and the class together: with one parent the log-odds are a sum over single features, with more only the
normalizers can hold a little of what the parents say among themselves. Where the class is such an interaction (monks
asks whether two features are equal), no embedding and no training gets it back. A nonlinearity between the sum and W'
does, and the program behind the printed numbers must have had one: with tanh they come out. So tanh is the default
here; `activation="identity"` is the formula as printed.
"""


def _formula_row(results: Results, dataset: str) -> str | None:
    curve = results.curve(dataset, [plan.IDENTITY, "NeuralKDB"])
    printed = published_comparison().mean(dataset, "NeuralKDB")
    if curve is None:
        return None
    identity, tanh = curve[0]
    return f"| {dataset} | {identity:.2f} | {tanh:.2f} | {printed:.2f} |"


def _formula_average(results: Results) -> Iterator[str]:
    """Over all data sets, where the formula as printed has run on more than a few."""
    ours = results.comparison([plan.IDENTITY, "NeuralKDB"])
    paper = published_comparison().on(ours.datasets)
    if len(paper.datasets) <= len(plan.IDENTITY_SETS):
        return
    both, printed = ours.on(paper.datasets), paper.column("NeuralKDB")
    means = " | ".join(f"{value:.2f}" for value in (*both.average_accuracies(), printed.mean()))
    yield f"| average of {len(paper.datasets)} data sets | {means} |"
    off = " | ".join(f"{value:.2f}" for value in np.abs(both.means - printed[:, None]).mean(axis=0))
    yield f"| mean absolute difference to the paper | {off} | |"


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
    both = _beside_the_paper(results)
    if both is None:
        return
    ours, paper = both
    here, printed = ours.column("RF"), paper.column("RF")
    better = here.mean() > printed.mean()
    yield "## A default random forest does better than the paper's\n" if better else "## The forest\n"
    yield (
        f"A random forest of 100 trees on the same codes, otherwise as scikit-learn makes it, "
        f"has an average accuracy of {ours.average('RF'):.2f} here; the paper printed "
        f"{paper.average('RF'):.2f} ({signed(ours.average('RF') - paper.average('RF'))}). It is above the paper's "
        f"on {int((here > printed).sum())} of {len(here)} data sets. NeuralKDB's average here is "
        f"{ours.average('NeuralKDB'):.2f}. The paper does not say how its forest was "
        f"made.\n"
    )


def _plain_network(results: Results) -> Iterator[str]:
    both = _beside_the_paper(results)
    if both is None:
        return
    ours, paper = both
    above = ours.column("NN") - paper.column("NN")
    small = np.array([registry()[name].rows < SMALL for name in ours.datasets])
    better = above.mean() > 0
    yield "## So does the plain network\n" if better else "## The plain network\n"
    yield (
        f"NN, trained as NeuralKDB is (d, batch size, epochs and learning rate the same), has an average accuracy of "
        f"{ours.average('NN'):.2f} here; the paper printed {paper.average('NN'):.2f} "
        f"({signed(above.mean())})."
    )
    if small.any() and not small.all():
        yield (
            f"On the {int(small.sum())} data sets of fewer than {SMALL} rows the difference is "
            f"{signed(above[small].mean())}, on the {int((~small).sum())} others {signed(above[~small].mean())}."
        )
    row = int(above.argmax())
    yield (
        f"It is largest on {ours.datasets[row]}: {paper.column('NN')[row]:.2f} in print, "
        f"{ours.column('NN')[row]:.2f} here.\n"
    )


def _larger_sets(results: Results) -> Iterator[str]:
    """The numbers behind the figure of accuracy against k, and what weight decay does to them."""
    curves = results.dependence_curves()
    if curves:
        yield MORE_PARENTS
        yield "| | " + " | ".join(f"k = {k}" for k in plan.DEPENDENCES) + " | from first to last |"
        yield "|---|" + "---:|" * (len(plan.DEPENDENCES) + 1)
        for dataset, lines in curves.items():
            decayed = results.decayed_curve(dataset)
            shown = {**lines, f"NeuralKDB with weight decay {plan.DECAY}": decayed} if decayed else lines
            yield from (_curve_row(f"{dataset}, {name}", means) for name, (means, _) in shown.items())
        yield ""


MORE_PARENTS = """## More parents

The paper shows these as curves, without numbers, and does not mention weight decay (here decoupled, as in AdamW): the
rows with it show how much of what NeuralKDB loses is overfitting.
"""


def _curve_row(label: str, means: FloatArray) -> str:
    cells = [*(f"{mean:.2f}" for mean in means), signed(means[-1] - means[0])]
    return f"| {label} | " + " | ".join(cells) + " |"


def _distances(results: Results) -> Iterator[str]:
    """Where NeuralKDB is farthest from the paper's, and how often the t-tests agree."""
    both = _beside_the_paper(results)
    if both is None:
        return
    ours, paper = both
    same = (ours.verdicts == paper.verdicts)[:, 1:]
    yield "## Where the accuracies are farthest from the printed ones\n"
    yield f"The t-tests of Table 1 come to the paper's verdict in {int(same.sum())} of {same.size} comparisons."
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


def _further(results: Results) -> Iterator[str]:
    """What was run beyond the paper's columns, in the same words as Table 1."""
    everything = results.main
    if results.extra and everything.datasets:
        yield "## Further methods\n"
        yield (
            "On the same splits. Wins, ties and losses are NeuralKDB's by the t-tests of Table 1, ranks are among all "
            f"{len(everything.methods)}.\n"
        )
        yield "| | average accuracy | average rank | wins/ties/losses | Wilcoxon p |"
        yield "|---|---:|---:|---:|---:|"
        averages = zip(everything.methods, everything.average_accuracies(), everything.average_ranks(), strict=True)
        for method, accuracy, rank in sorted(averages, key=lambda row: row[2]):
            against = (
                ("", "")
                if method == everything.methods[0]
                else (wins_ties_losses_text(everything, method), wilcoxon_text(everything, method))
            )
            yield f"| {method} | {accuracy:.2f} | {rank:.2f} | {' | '.join(against)} |"
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
