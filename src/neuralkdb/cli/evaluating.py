"""The command `evaluate`: classifiers side by side, by cross-validation."""

import argparse
from pathlib import Path

from neuralkdb.cli.arguments import Commands, add_command, check_folder_of, folds, names, say, show_progress

EXAMPLES = """\
  neuralkdb evaluate adult.csv --target class --models "NeuralKDB,KDB(k=3),TAN" --cv 5 --html adult.html
"""


def add_to(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "evaluate",
        "compare classifiers on a table",
        "Score classifiers by stratified cross-validation: each row is predicted once, by a model that has not seen "
        "it. Log-loss, Brier score and calibration error are better when lower.",
        EXAMPLES,
    )
    add = command.add_argument
    add("table", metavar="TABLE", help=".csv, .tsv, .parquet or .arff, or - for standard input")
    add("--target", required=True, metavar="COLUMN", help="the column to predict")
    add("--models", metavar="A,B,C", help="classifiers, with settings as in KDB(k=3)")
    add("--cv", type=folds, default=5, metavar="N", help="number of folds (5)")
    add("--ignore", type=names, default=[], metavar="A,B", help="columns to leave out, identifiers say")
    add("--html", metavar="FILE", help="also write a page")
    command.set_defaults(command=evaluate)


def evaluate(options: argparse.Namespace) -> int:
    """Score each model and print a table."""
    from neuralkdb.cli.models import DEFAULT, listed
    from neuralkdb.cli.tables import aligned, labelled
    from neuralkdb.comparison import cross_validated

    if options.html:
        check_folder_of(options.html)
    models = listed(options.models or f"{DEFAULT},KDB,TAN,NaiveBayes")
    X, y, _ = labelled(options.table, options.target, options.ignore)
    about = f"{len(X):,} rows, {X.shape[1]} columns, {y.nunique()} classes of {options.target}, {options.cv} folds"
    print(about, flush=True)
    results = []
    for name, model in models.items():
        results.append(cross_validated(name, model, X, y, options.cv, show_progress))
    rows = [results[0].header, *(result.row for result in results)]
    print(aligned(rows, numeric=range(1, len(rows[0]))))
    if options.html:
        from neuralkdb.pages import comparison_page, write_page

        write_page(options.html, comparison_page(Path(options.table).name, about, results))
        say(f"written to {options.html}")
    return 0
