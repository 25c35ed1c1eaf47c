"""The command line: one function a command."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from neuralkdb.paper.errors import ReproductionError

STOPPED = 130  # what a shell makes of an interrupt
MISUSED = 2

DESCRIPTION = "Bayesian network classifiers for tabular data."
EXAMPLES = """examples:
  neuralkdb reproduce table1 --quick             a taste, on data sets that scikit-learn has
  neuralkdb reproduce all --data DIR --jobs 2    the whole paper, from the tables in a folder
  neuralkdb reproduce table1 --datasets car,iris --methods AODE "KDB(k=3)" sklearn.svm:SVC
  neuralkdb data list                            which data sets can be had, and from where
"""


class Parser(argparse.ArgumentParser):
    """Wrong usage is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Leave with the sentence."""
        self.exit(MISUSED, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    parsed = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = parsed.command
    try:
        return command(parsed)
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ReproductionError, OSError) as error:
        print(f"neuralkdb: {' '.join(str(error).split())}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        print("neuralkdb: stopped; the same command goes on from here", file=sys.stderr)
        return STOPPED


def parser() -> Parser:
    """All commands and their options."""
    made = Parser(
        prog="neuralkdb",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    _add_reproduce(commands)
    _add_data(commands)
    return made


def _add_reproduce(commands: "argparse._SubParsersAction[Parser]") -> None:
    command = commands.add_parser(
        "reproduce",
        help="run the paper's experiments",
        description="Run the paper's experiments and write its tables and figures, each number "
        "beside the one the paper printed. A stopped run goes on where it was.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add("experiment", choices=("table1", "table2", "figures", "all"), help="what to reproduce")
    add("--data", type=_folder, metavar="DIR", help="folder of NAME.parquet, .csv or .arff files")
    add("--datasets", type=_names, nargs="+", action="extend", metavar="NAMES",
        help="only these, separated by commas or spaces")  # fmt: skip
    add("--methods", nargs="+", default=[], metavar="METHOD",
        help="further columns: AODE, WAODE, A2DE, SKDB, ESKDB, MNKDB, SPTAN, LR, XGBoost, "
        "LightGBM, CatBoost, module:Class, each with (setting=value) as wanted")  # fmt: skip
    add("--splits", type=_positive, default=5, metavar="N", help="random 70/30 splits (5)")
    add("--jobs", type=_positive, default=1, metavar="N", help="processes (1)")
    add("--out", type=Path, default=Path("results"), metavar="DIR", help="results folder (results)")
    add("--quick", action="store_true", help="2 splits of the data sets inside scikit-learn")
    add("--whole", action="store_true",
        help="discretize whole data sets before the split, as the paper did")  # fmt: skip
    add("--docs", type=Path, metavar="DIR", help="with all: also write DIR/paper.md, figures beside")
    command.set_defaults(command=reproduce)


def reproduce(options: argparse.Namespace) -> int:
    """The paper's experiments."""
    from neuralkdb.paper.reproduction import Request, quick
    from neuralkdb.paper.reproduction import reproduce as run

    sys.path.append(os.getcwd())  # where a module:Class of the user's own may be
    request = Request(
        experiment=options.experiment,
        out=options.out,
        data=options.data,
        datasets=tuple(name for names in options.datasets or () for name in names),
        methods=tuple(options.methods),
        splits=options.splits,
        jobs=options.jobs,
        whole=options.whole,
        docs=options.docs,
    )
    return 0 if run(quick(request) if options.quick else request, _say) else 1


def _add_data(commands: "argparse._SubParsersAction[Parser]") -> None:
    command = commands.add_parser("data", help="the paper's data sets")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="which data sets can be had, and from where")
    listing.add_argument("--data", type=_folder, metavar="DIR", help="a folder of tables")
    listing.set_defaults(command=list_data)


def list_data(options: argparse.Namespace) -> int:
    """A line for each data set: its size, and the places that have it, in the order tried."""
    from neuralkdb.paper.datasets import available
    from neuralkdb.paper.registry import registry

    entries = registry().values()
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        places = ", ".join(source.name for source in available(entry, options.data)) or "nowhere"
        print(f"{entry.name:<{width}}  {entry.shape:<40}  {places}")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _folder(text: str) -> Path:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
