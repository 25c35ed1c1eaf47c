"""Scores as the tables and figures of the paper, and the files they are written to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from neuralkdb.paper import plan
from neuralkdb.paper.comparison import Accuracies, Comparison, compare
from neuralkdb.paper.errors import MissingPackageError
from neuralkdb.paper.ledger import write_atomically
from neuralkdb.paper.methods import NEURAL_SETTINGS
from neuralkdb.paper.page import page
from neuralkdb.paper.printed import METHODS, published_comparison, published_dependences
from neuralkdb.paper.rendering import FORMATS
from neuralkdb.paper.statistics import FloatArray
from neuralkdb.paper.tables import Table, table1, table2

CUTS = {
    False: "on the training rows alone",
    True: "on the whole data set before it is split, as the paper did",
}


@dataclass(frozen=True)
class Results:
    """The scores of the data sets that were asked for."""

    accuracies: Accuracies
    datasets: tuple[str, ...]
    extra: tuple[str, ...]  # methods beyond the paper's
    n_splits: int
    whole: bool  # whether whole data sets were discretized

    def comparison(self, methods: Sequence[str]) -> Comparison:
        """These methods on the data sets that have all their scores."""
        return compare(self.accuracies, self.datasets, methods, self.n_splits)

    @cached_property
    def main(self) -> Comparison:
        """What Table 1 shows."""
        return self.comparison((*METHODS, *self.extra))

    @cached_property
    def pairs(self) -> dict[int, Comparison]:
        """NeuralKDB and KDB for each k: what Table 2 and the scatter plots show."""
        return {
            k: self.comparison([plan.with_k(method, k) for method in ("NeuralKDB", "KDB")]) for k in plan.DEPENDENCES
        }

    def printed_columns(self) -> "Results":
        """The same results without the columns that the paper does not have."""
        return replace(self, extra=())

    def table1(self) -> Table:
        """The paper's Table 1."""
        return table1(self.main, published_comparison(), self._caption(self.main, TABLE1_CAPTION))

    def table2(self) -> Table:
        """The paper's Table 2."""
        complete = {k: pair for k, pair in self.pairs.items() if pair.datasets}
        whole_paper = published_comparison().datasets
        same = {k for k, pair in complete.items() if pair.datasets == whole_paper}
        published = {k: row for k, row in published_dependences().items() if k in same}
        return table2(complete, published, self._caption(self.pairs[1], TABLE2_CAPTION))

    def _caption(self, comparison: Comparison, text: str) -> str:
        left_out = [name for name in self.datasets if name not in comparison.datasets]
        missing = f" Left out, for want of scores: {', '.join(left_out)}." if left_out else ""
        return PROTOCOL_CAPTION.format(splits=self._splits, cuts=CUTS[self.whole]) + text + missing

    @property
    def _splits(self) -> str:
        if self.n_splits == 1:
            return "one random 70/30 split (seed 0)"
        return f"{self.n_splits} random 70/30 splits (seeds 0 to {self.n_splits - 1})"

    def curve(self, dataset: str, methods: Sequence[str]) -> tuple[FloatArray, FloatArray] | None:
        """Mean and deviation of each method on one data set, where all of them have run."""
        found = compare(self.accuracies, [dataset], methods, self.n_splits)
        if not found.datasets:
            return None
        return found.means[0], found.deviations[0]

    def dependence_curves(self) -> dict[str, dict[str, tuple[FloatArray, FloatArray]]]:
        """Data set -> method -> accuracies by k."""
        return {
            dataset: {"NeuralKDB": neural, "KDB": counted}
            for dataset in plan.DEPENDENCE_SETS
            if (neural := self.curve(dataset, [plan.with_k("NeuralKDB", k) for k in plan.DEPENDENCES]))
            and (counted := self.curve(dataset, [plan.with_k("KDB", k) for k in plan.DEPENDENCES]))
        }

    def decayed_curve(self, dataset: str) -> tuple[FloatArray, FloatArray] | None:
        """NeuralKDB's accuracies with weight decay, by k."""
        return self.curve(dataset, [plan.decayed(k) for k in plan.DEPENDENCES])

    def sensitivity_curves(self) -> dict[str, dict[str, tuple[FloatArray, FloatArray]]]:
        """Hyper-parameter -> data set -> accuracies by value."""
        return {
            parameter: {
                dataset: curve
                for dataset in plan.SENSITIVITY_SETS
                if (curve := self.curve(dataset, [plan.varied(parameter, v) for v in values]))
            }
            for parameter, values in plan.SENSITIVITY.items()
        }


PROTOCOL_CAPTION = (
    "Mean over {splits}. Numeric columns are cut into 10 equal widths {cuts}; missing values "
    "are filled by mode or mean; counted probabilities are m-estimates with m = 1. "
)
TABLE1_CAPTION = (
    "± is the sample's standard deviation. The best of a row is bold, the second underlined. "
    "● (○): NeuralKDB is significantly better (worse) by a two-tailed paired t-test at 0.05. "
    "Small: what the paper printed, and how far the mean here is above it. "
    "Forests and whatever is not a Bayesian network classifier run on the same codes."
)
TABLE2_CAPTION = "Ranks are among the two. Wins, ties and losses are NeuralKDB's, as in Table 1."


def write_tables(results: Results, experiment: str, folder: Path) -> list[Table]:
    """Write the tables of an experiment in every form but HTML."""
    makers = {"table1": [results.table1], "table2": [results.table2], "figures": []}
    tables = [make() for make in makers.get(experiment, [results.table1, results.table2])]
    for table in tables:
        for suffix, form in FORMATS.items():
            write_atomically(folder / f"{table.name}{suffix}", form(table))
    return tables


def write_figures(results: Results, folder: Path, forms: Sequence[str] = (".svg", ".png")) -> list[Path]:
    """Draw every figure there are scores for; the SVG files."""
    save = drawing_module().save
    return [save(drawing, folder, name, forms) for name, drawing in _drawings(results)]


def _drawings(results: Results) -> Iterator[tuple[str, Any]]:
    figures = drawing_module()
    if all(pair.datasets for pair in results.pairs.values()):
        yield "scatter", figures.scatter_plots(results.pairs)
    if dependences := results.dependence_curves():
        yield "dependence", figures.by_dependence(dependences, plan.DEPENDENCES)
    if all((curves := results.sensitivity_curves()).values()):
        yield "sensitivity", figures.sensitivity(curves, plan.SENSITIVITY, NEURAL_SETTINGS)
    if results.main.datasets:
        yield "critical-difference", figures.critical_differences(results.main)


def drawing_module() -> ModuleType:
    """The module that draws, or a sentence on what it needs."""
    try:
        from neuralkdb.paper import figures
    except ImportError as error:
        raise MissingPackageError("figures need matplotlib: pip install 'neuralkdb[paper]'") from error
    return figures


def write_page(tables: Sequence[Table], drawings: Sequence[Path], folder: Path) -> Path:
    """Write the page of everything."""
    file = folder / "paper.html"
    write_atomically(file, page(PAGE_TITLE, PAGE_ABOUT, tables, drawings))
    return file


PAGE_TITLE = "Towards the Next-generation Bayesian Network Classifiers, reproduced"
PAGE_ABOUT = (
    "The experiments of Zhang, Zhang, Meng and Webb, run again with neuralkdb: each number "
    "beside the one the paper printed."
)
