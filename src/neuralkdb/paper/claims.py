"""What the paper says, held against the results: both numbers, and whether it holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from neuralkdb.paper import plan
from neuralkdb.paper.comparison import Comparison
from neuralkdb.paper.printed import METHODS, published_comparison, published_dependences
from neuralkdb.paper.results import Results
from neuralkdb.paper.tables import p_text, signed, wins_ties_losses_text

SIGNIFICANT = 0.05
STABLE = 3.0  # points between the lowest and the highest accuracy
CLOSE = 1.0  # points between an average accuracy and the paper's


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, what it printed, what came out here."""

    text: str
    paper: str
    here: str
    holds: bool


def claims(results: Results) -> list[Claim]:
    """All that the results can say something about."""
    found: list[Claim] = []
    if results.main.datasets:
        paper = published_comparison().on(results.main.datasets)
        ours = results.main.among(METHODS).on(paper.datasets)
        if paper.datasets:
            found += _averages(ours, paper)
            found += _leads(ours, paper)
            found += _pairwise(ours, paper)
    found += _dependences(results)
    found += _larger_sets(results)
    found += _sensitivities(results)
    return found


def _averages(ours: Comparison, paper: Comparison) -> Iterator[Claim]:
    pairs = zip(METHODS, ours.average_accuracies(), paper.average_accuracies(), strict=True)
    for method, here, printed in pairs:
        yield Claim(
            f"The average accuracy of {method} (within {CLOSE:.0f} point)",
            f"{printed:.2f}",
            f"{here:.2f} ({signed(round(float(here), 2) - round(float(printed), 2))})",
            abs(here - printed) <= CLOSE,
        )


def _leads(ours: Comparison, paper: Comparison) -> Iterator[Claim]:
    without_forest = [method for method in METHODS if method != "RF"]
    for methods, words in (
        (METHODS, "all eight"),
        (without_forest, "the seven without the forest"),
    ):
        here, printed = ours.among(methods), paper.among(methods)
        yield _lead(f"Of {words}, NeuralKDB has the best average accuracy", here, printed,
                    Comparison.average_accuracies, -1)  # fmt: skip
        yield _lead(f"Of {words}, NeuralKDB has the best average rank", here, printed,
                    Comparison.average_ranks, 1)  # fmt: skip


def _lead(
    text: str,
    ours: Comparison,
    paper: Comparison,
    statistic: Callable[[Comparison], np.ndarray],
    better: int,
) -> Claim:
    here, printed = statistic(ours), statistic(paper)
    holds = bool((better * here).argmin() == 0)
    return Claim(text, _first_and_best(paper, printed, better), _first_and_best(ours, here, better), holds)


def _first_and_best(table: Comparison, values: np.ndarray, better: int) -> str:
    rivals = better * values[1:]
    best = 1 + int(rivals.argmin())
    return f"{values[0]:.2f}, next {table.methods[best]} {values[best]:.2f}"


def _pairwise(ours: Comparison, paper: Comparison) -> Iterator[Claim]:
    if len(ours.datasets) > 1:
        yield Claim(
            "The methods do not all rank alike (Friedman)",
            f"p {p_text(paper.friedman_p())}",
            f"p {p_text(ours.friedman_p())}",
            ours.friedman_p() < SIGNIFICANT,
        )
    for method in METHODS[1:]:
        p, above = ours.wilcoxon_p(method), ours.column("NeuralKDB") - ours.column(method)
        yield Claim(
            f"NeuralKDB is significantly better than {method} over the data sets (Wilcoxon)",
            f"p {p_text(paper.wilcoxon_p(method))}, {wins_ties_losses_text(paper, method)}",
            f"p {p_text(p)}, {wins_ties_losses_text(ours, method)}",
            bool(p < SIGNIFICANT and np.median(above) >= 0 and above.mean() > 0),
        )


def _dependences(results: Results) -> Iterator[Claim]:
    printed = published_dependences()
    complete = {k: pair for k, pair in results.pairs.items() if pair.datasets}
    for k, pair in complete.items():
        neural, counted = pair.average_accuracies()
        yield Claim(
            f"With k = {k} NeuralKDB is above KDB",
            "{:.2f} over {:.2f}".format(*printed[k].accuracies) + _of_all(pair),
            f"{neural:.2f} over {counted:.2f}",
            bool(neural > counted),
        )
    if set(complete) == set(plan.DEPENDENCES):
        rises = complete[4].average_accuracies() - complete[2].average_accuracies()
        printed_rises = [printed[4].accuracies[c] - printed[2].accuracies[c] for c in (0, 1)]
        yield Claim(
            "From k = 2 to k = 4 NeuralKDB loses less than KDB",
            "{} against {}".format(*map(signed, printed_rises)) + _of_all(complete[2]),
            "{} against {}".format(*map(signed, rises)),
            bool(rises[0] > rises[1]),
        )


def _of_all(pair: Comparison) -> str:
    """A reminder where the paper's number is that of more data sets."""
    everything = published_comparison().datasets
    return "" if set(everything) <= set(pair.datasets) else f" on its {len(everything)} data sets"


def _larger_sets(results: Results) -> Iterator[Claim]:
    for dataset, lines in results.dependence_curves().items():
        neural, counted = (lines[method][0] for method in ("NeuralKDB", "KDB"))
        rises = [signed(line[-1] - line[0]) for line in (neural, counted)]
        yield Claim(
            f"On {dataset} NeuralKDB gains from k = 1 to k = 4 while KDB loses",
            "a figure",
            "{} and {}".format(*rises),
            bool(neural[-1] > neural[0] and counted[-1] < counted[0]),
        )


def _sensitivities(results: Results) -> Iterator[Claim]:
    for parameter, lines in results.sensitivity_curves().items():
        name = plan.PARAMETER_NAMES[parameter]
        for dataset, (means, _) in lines.items():
            yield Claim(
                f"On {dataset} NeuralKDB is stable in the {name} (within {STABLE:.0f} points)",
                "a figure",
                f"{means.min():.2f} to {means.max():.2f}",
                bool(np.ptp(means) <= STABLE),
            )
