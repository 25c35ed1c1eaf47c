"""The whole run: data, evaluations, tables, figures, report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neuralkdb.paper.datasets import Dataset, load
from neuralkdb.paper.errors import DataError, LedgerError, MissingPackageError
from neuralkdb.paper.ledger import Ledger
from neuralkdb.paper.methods import PAPER_SETTINGS, Method, parse_method
from neuralkdb.paper.plan import Wish, wishes
from neuralkdb.paper.progress import progress
from neuralkdb.paper.protocol import TEST_SHARE, discretized_whole
from neuralkdb.paper.registry import Entry, chosen_entries, paper_entries, quick_entries
from neuralkdb.paper.report import write_report
from neuralkdb.paper.results import (
    Results,
    drawing_module,
    write_figures,
    write_page,
    write_tables,
)
from neuralkdb.paper.runs import Task, run, sentence

Say = Callable[[str], None]
QUICK_SPLITS = 2


@dataclass(frozen=True)
class Request:
    """What to reproduce, and where."""

    experiment: str  # table1, table2, figures or all
    out: Path = Path("results")
    data: Path | None = None
    datasets: tuple[str, ...] = ()  # all of the paper's where none is named
    methods: tuple[str, ...] = ()  # columns beyond the paper's
    splits: int = 5
    jobs: int = 1
    whole: bool = False  # discretize whole data sets, as the paper did
    docs: Path | None = None

    @property
    def draws(self) -> bool:
        """Whether there are figures to draw."""
        return self.experiment in ("figures", "all") or self.docs is not None

    def entries(self) -> list[Entry]:
        """The data sets asked for."""
        return chosen_entries(self.datasets) if self.datasets else paper_entries()


def quick(request: Request) -> Request:
    """A taste on the data sets that come with scikit-learn."""
    names = request.datasets or tuple(entry.name for entry in quick_entries())
    return replace(request, datasets=names, splits=min(request.splits, QUICK_SPLITS))


def reproduce(request: Request, say: Say) -> bool:
    """Compute what is missing, write everything; whether nothing went wrong."""
    extra = tuple(parse_method(text).name for text in request.methods)
    asked = wishes(request.experiment, extra)
    methods = {wish.method: parse_method(wish.method) for wish in asked}
    for method in methods.values():
        method.estimator(seed=0)  # what cannot be made is said before anything is run
    if request.draws:
        drawing_module()  # so is a package that is missing
    ledger = Ledger(request.out)
    ledger.open(_protocol(request))
    tasks, problems = _tasks(request, asked, methods, ledger, say)
    problems += _run(tasks, request.jobs, ledger, say)
    ledger.sort()
    _write(request, extra, ledger, say)
    for problem in problems:
        say(problem)
    return not problems


def _protocol(request: Request) -> dict[str, object]:
    return {
        "test_share": TEST_SHARE,
        "discretized": "whole data sets" if request.whole else "training rows",
        **PAPER_SETTINGS,
    }


def _tasks(
    request: Request,
    asked: Sequence[Wish],
    methods: dict[str, Method],
    ledger: Ledger,
    say: Say,
) -> tuple[list[Task], list[str]]:
    """The evaluations still to do, and what is wrong with data sets that cannot be had."""
    done = ledger.done(methods.values())
    tasks: list[Task] = []
    problems: list[str] = []
    for entry in request.entries():
        missing = [
            (methods[wish.method], split)
            for wish in asked
            for split in range(request.splits)
            if wish.wants(entry.name) and (entry.name, wish.method, split) not in done
        ]
        try:
            dataset = _dataset(entry, request, ledger) if missing else None
        except (LedgerError, MissingPackageError):  # of the whole run, not of this data set
            raise
        except Exception as error:
            why = str(error) if isinstance(error, DataError) else sentence(error)
            problems.append(f"{entry.name} left out: {why}")
            continue
        tasks += [Task(dataset, method, split) for method, split in missing if dataset]
    say(f"{len(tasks)} evaluations to do, {len(done)} done before")
    return tasks, problems


def _dataset(entry: Entry, request: Request, ledger: Ledger) -> Dataset:
    dataset = load(entry, request.data)
    ledger.accept(dataset)
    return discretized_whole(dataset) if request.whole else dataset


def _run(tasks: Sequence[Task], jobs: int, ledger: Ledger, say: Say) -> list[str]:
    """Do the tasks, each result going to the ledger; what went wrong, once a set and method."""
    problems: dict[tuple[str, str], str] = {}
    with progress(sum(task.work for task in tasks)) as bar:
        for outcome in run(tasks, jobs):
            task = outcome.task
            bar.advance(task.work, str(task))
            if outcome.result:
                ledger.add(*outcome.result)
            elif task.key[:2] not in problems:
                problems[task.key[:2]] = f"{task} failed: {outcome.problem}"
                bar.say(problems[task.key[:2]])
    return list(problems.values())


def _write(request: Request, extra: tuple[str, ...], ledger: Ledger, say: Say) -> None:
    """Write the tables, figures and pages of the experiment."""
    scores = ledger.scores()
    results = Results(
        {key: score.accuracy for key, score in scores.items()},
        tuple(entry.name for entry in request.entries()),
        extra,
        request.splits,
        request.whole,
    )
    drawings: list[Path] = []
    if request.experiment in ("figures", "all"):
        drawings = write_figures(results, request.out / "figures")
    tables = write_tables(results, request.experiment, request.out)
    page = write_page(tables, drawings, request.out)
    if request.experiment == "all":
        write_report(results, drawings, request.out / "paper.md")
    if request.docs:
        copied = write_figures(results, request.docs / "paper", forms=(".svg",))
        write_report(results, copied, request.docs / "paper.md")
    say(f"written: {page}")
