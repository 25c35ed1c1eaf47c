"""The paper's tables, each number beside the one the paper printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import rankdata

from neuralkdb.paper.comparison import Comparison
from neuralkdb.paper.printed import DependenceRow
from neuralkdb.paper.statistics import FloatArray

MARKS = {"win": "●", "loss": "○"}
MINUS = "−"
PLACES_SHOWN = (1, 2)
LONG = 20  # rows
SHORT_CAPTION = (
    "What the {rows} rows come to. Small: the same from the paper's own table, and how far the number here is above it."
)


@dataclass(frozen=True)
class Cell:
    """A number as text, and what the paper printed in its place."""

    value: str
    spread: str = ""
    place: int = 0  # 1 the best of its row, 2 the second
    mark: str = ""
    paper: str = ""
    paper_spread: str = ""
    difference: str = ""


@dataclass(frozen=True)
class Row:
    """A label and its cells."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table for any form of print."""

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    body: tuple[Row, ...]
    footer: tuple[Row, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether what it comes to is worth a table of its own."""
        return len(self.body) > LONG and bool(self.footer)

    def short(self) -> "Table":
        """What it comes to alone."""
        title = f"{self.title.split('.')[0]} in short"
        caption = SHORT_CAPTION.format(rows=len(self.body))
        return Table(f"{self.name}-short", title, caption, ("", *self.header[1:]), self.footer)


def table1(ours: Comparison, paper: Comparison, caption: str) -> Table:
    """Accuracies by data set and method, and what they come to."""
    return Table(
        "table1",
        "Table 1. Classification accuracy on each data set",
        caption,
        ("Data set", *ours.methods),
        tuple(_accuracy_row(ours, paper, dataset) for dataset in ours.datasets),
        _summary(ours, paper.on(ours.datasets)),
    )


def _accuracy_row(ours: Comparison, paper: Comparison, dataset: str) -> Row:
    row = ours.datasets.index(dataset)
    places = rankdata(-ours.means[row], method="min").astype(int)
    cells = [
        Cell(
            f"{ours.means[row, column]:.2f}",
            f"{ours.deviations[row, column]:.2f}",
            shown_place(int(places[column])),
            MARKS.get(str(ours.verdicts[row, column]), ""),
            *_paper_cell(paper, dataset, method, float(ours.means[row, column])),
        )
        for column, method in enumerate(ours.methods)
    ]
    return Row(dataset, tuple(cells))


def _paper_cell(paper: Comparison, dataset: str, method: str, mean: float) -> tuple[str, str, str]:
    """The paper's mean and spread, and how far ours is above."""
    printed = paper.mean(dataset, method)
    if printed is None:
        return "", "", ""
    at = paper.datasets.index(dataset), paper.methods.index(method)
    return f"{printed:.2f}", f"{paper.deviations[at]:.2f}", signed(mean - printed)


def _summary(ours: Comparison, paper: Comparison) -> tuple[Row, ...]:
    """The rows below the rule; the paper's are worked out over the same data sets."""
    if not ours.datasets:
        return ()
    shared = [method for method in ours.methods if method in paper.methods]
    theirs = paper.among(shared) if paper.datasets == ours.datasets else None
    rows = [
        _number_row("Average accuracy", ours.methods, _accuracies(ours), _accuracies(theirs), -1),
        _number_row("Average rank", ours.methods, _ranks(ours.among(shared)), _ranks(theirs), 1),
    ]
    if len(shared) < len(ours.methods):
        rows += [_number_row("Average rank, all columns", ours.methods, _ranks(ours), {}, 1)]
    return (
        *rows,
        _text_row("Wins/ties/losses", ours, theirs, wins_ties_losses_text),
        _text_row("Wilcoxon p", ours, theirs, wilcoxon_text),
    )


def _accuracies(table: Comparison | None) -> dict[str, float]:
    return dict(zip(table.methods, table.average_accuracies(), strict=True)) if table else {}


def _ranks(table: Comparison | None) -> dict[str, float]:
    return dict(zip(table.methods, table.average_ranks(), strict=True)) if table else {}


def _number_row(
    label: str,
    methods: Sequence[str],
    ours: Mapping[str, float],
    theirs: Mapping[str, float],
    better: int,
) -> Row:
    """A row of numbers of which the smallest, or with `better` -1 the largest, is the best."""
    order = rankdata([better * round(value, 2) for value in ours.values()], method="min")
    places = dict(zip(ours, order.astype(int), strict=True))
    return Row(
        label,
        tuple(compared_cell(ours.get(method), theirs.get(method), places.get(method, 0)) for method in methods),
    )


def compared_cell(ours: float | None, theirs: float | None, place: int = 0) -> Cell:
    """A number with two digits beside the paper's."""
    if ours is None:
        return Cell("")
    if theirs is None:
        return Cell(f"{ours:.2f}", place=shown_place(place))
    difference = signed(round(float(ours), 2) - round(float(theirs), 2))
    return Cell(f"{ours:.2f}", place=shown_place(place), paper=f"{theirs:.2f}", difference=difference)


def _text_row(
    label: str,
    ours: Comparison,
    theirs: Comparison | None,
    text: Callable[[Comparison, str], str],
) -> Row:
    """A row that says how the first method stands to each of the others."""
    cells = [
        Cell(
            text(ours, method),
            paper=text(theirs, method) if theirs and method in theirs.methods else "",
        )
        for method in ours.methods[1:]
    ]
    return Row(label, (Cell(""), *cells))


def table2(pairs: Mapping[int, Comparison], paper: Mapping[int, DependenceRow], caption: str) -> Table:
    """NeuralKDB against KDB for each k; the paper's numbers where the data sets are the paper's."""
    return Table(
        "table2",
        "Table 2. NeuralKDB against KDB for each number of parents k",
        caption,
        (
            "k",
            "Accuracy of NeuralKDB",
            "Accuracy of KDB",
            "Rank of NeuralKDB",
            "Rank of KDB",
            "Wins/ties/losses",
            "Wilcoxon p",
        ),
        tuple(_dependence_row(k, pair, paper.get(k)) for k, pair in pairs.items()),
    )


def _dependence_row(k: int, pair: Comparison, paper: DependenceRow | None) -> Row:
    accuracies, ranks = pair.average_accuracies(), pair.average_ranks()
    other = pair.methods[1]
    return Row(
        f"k = {k}",
        (
            *_pair_cells(accuracies, paper.accuracies if paper else None, -1),
            *_pair_cells(ranks, paper.ranks if paper else None, 1),
            Cell(
                wins_ties_losses_text(pair, other),
                paper="/".join(map(str, paper.wins_ties_losses)) if paper else "",
            ),
            Cell(wilcoxon_text(pair, other), paper=p_text(paper.p) if paper else ""),
        ),
    )


def _pair_cells(ours: FloatArray, theirs: tuple[float, float] | None, better: int) -> tuple[Cell, ...]:
    best = (better * ours.round(2)).min()
    return tuple(
        compared_cell(
            float(value),
            theirs[column] if theirs else None,
            int(better * round(value, 2) == best),
        )
        for column, value in enumerate(ours)
    )


def shown_place(place: int) -> int:
    """The place where it is marked, else 0."""
    return place if place in PLACES_SHOWN else 0


def wins_ties_losses_text(table: Comparison, method: str) -> str:
    """The wins, ties and losses of the first method."""
    return "/".join(map(str, table.wins_ties_losses(method)))


def wilcoxon_text(table: Comparison, method: str) -> str:
    """The p-value between the first method and this one."""
    return p_text(table.wilcoxon_p(method))


def p_text(p: float) -> str:
    """A p-value to three digits, as the paper prints them."""
    return "<0.001" if round(p, 3) == 0 else f"{p:.3f}"


def signed(difference: float, digits: int = 2) -> str:
    """A difference with its sign."""
    text = f"{abs(difference):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if difference > 0 else MINUS}{text}"
