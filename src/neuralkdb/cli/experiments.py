"""The commands `reproduce` and `data`: the paper's experiments."""

import argparse
import os
import sys
from pathlib import Path

from neuralkdb.cli.arguments import Commands, add_command, folder, names, positive, say

EXAMPLES = """\
  neuralkdb reproduce table1 --quick             a taste, on data sets that scikit-learn has
  neuralkdb reproduce all --data DIR --jobs 2    the whole paper, from the tables in a folder
  neuralkdb reproduce table1 --datasets car,iris --methods AODE "KDB(k=3)" sklearn.svm:SVC
  neuralkdb data list                            which data sets can be had, and from where
"""


def add_to(commands: Commands) -> None:
    """Both commands."""
    _add_reproduce(commands)
    _add_data(commands)


def _add_reproduce(commands: Commands) -> None:
    command = add_command(
        commands,
        "reproduce",
        "run the paper's experiments",
        "Run the paper's experiments and write its tables and figures, each number beside the one the paper printed. "
        "A stopped run goes on where it was.",
        EXAMPLES,
    )
    command.set_defaults(if_stopped="; the same command goes on from here")
    add = command.add_argument
    add("experiment", choices=("table1", "table2", "figures", "all"), help="what to reproduce")
    add("--data", type=folder, metavar="DIR", help="folder of NAME.parquet, .csv or .arff files")
    add("--datasets", type=names, nargs="+", action="extend", metavar="NAMES",
        help="only these, separated by commas or spaces")  # fmt: skip
    add("--methods", nargs="+", default=[], metavar="METHOD",
        help="further columns: AODE, WAODE, A2DE, SKDB, ESKDB, MNKDB, SPTAN, NeuralKDBEnsemble, LR, "
        "XGBoost, LightGBM, CatBoost, module:Class, each with (setting=value) as wanted")  # fmt: skip
    add("--splits", type=positive, default=5, metavar="N", help="random 70/30 splits (5)")
    add("--jobs", type=positive, default=1, metavar="N", help="processes (1)")
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
    return 0 if run(quick(request) if options.quick else request, say) else 1


def _add_data(commands: Commands) -> None:
    command = commands.add_parser("data", help="the paper's data sets")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="which data sets can be had, and from where")
    listing.add_argument("--data", type=folder, metavar="DIR", help="a folder of tables")
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
