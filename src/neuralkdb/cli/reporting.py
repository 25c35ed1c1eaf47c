"""The command `report`: a model and a table as one page."""

import argparse
from pathlib import Path

from neuralkdb.cli.arguments import Commands, add_command, check_folder_of, numbers, say

EXAMPLES = """\
  neuralkdb report adult.nkdb test.csv -o adult.html
"""


def add_to(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "report",
        "write a page about a model",
        "Write one page that opens from disk: the network, how good and how well calibrated the model is on the rows "
        "of a table, what matters, which values are alike, and why the model said what it said of some rows.",
        EXAMPLES,
    )
    add = command.add_argument
    add("model", metavar="MODEL", help="a file that fit wrote")
    add("table", metavar="TABLE", help="rows whose classes are known")
    add("-o", "--output", required=True, metavar="FILE", help="where the page goes")
    add("--target", metavar="COLUMN", help="the column of the classes (the one that fit was told)")
    add(
        "--rows",
        type=numbers,
        default=[],
        metavar="N,N",
        help="rows to explain, from 0 (a sure, a doubtful, a wrong one)",
    )
    command.set_defaults(command=report)


def report(options: argparse.Namespace) -> int:
    """Score the model on the table and write the page."""
    import neuralkdb
    from neuralkdb.cli.tables import judged
    from neuralkdb.pages import report_page, write_page

    check_folder_of(options.output)
    model = neuralkdb.load(options.model)
    X, y, target = judged(model, options.table, options.target)
    write_page(options.output, report_page(model, X, y, target, Path(options.table).name, options.rows))
    say(f"written to {options.output}")
    return 0
