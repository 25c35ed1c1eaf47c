"""The command `predict`: labels and probabilities of the rows of a table of any size."""

import argparse

from neuralkdb.cli.arguments import Commands, add_command, check_folder_of, say, show_progress
from neuralkdb.cli.engines import add_engine_options, engine_of, predict_in_engine

EXAMPLES = """\
  neuralkdb predict adult.nkdb new.csv -o answers.csv
  zcat new.csv.gz | neuralkdb predict adult.nkdb - -o answers.parquet
"""
ROWS_AT_ONCE = 50_000


def add_to(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "predict",
        "label the rows of a table",
        "Write the most probable class of each row, and the probability of every class. Columns are found by name, "
        "columns that the model does not know are left aside, and a table of any size is worked on part by part.",
        EXAMPLES,
    )
    add = command.add_argument
    add("model", metavar="MODEL", help="a file that fit wrote")
    add("table", metavar="TABLE", help="as for fit")
    add("-o", "--output", default="-", metavar="FILE", help=".csv, .tsv or .parquet (standard output, as CSV)")
    add_engine_options(command)
    command.set_defaults(command=predict)


def predict(options: argparse.Namespace) -> int:
    """Read, predict and write, a part of the rows at a time."""
    import neuralkdb
    from neuralkdb.cli.tables import parts_of
    from neuralkdb.tabular.packages import pandas
    from neuralkdb.tabular.reading import Writer

    check_folder_of(options.output)
    model = neuralkdb.load(options.model)
    engine = engine_of(options)
    if engine != "memory":
        return predict_in_engine(model, options, engine)
    names = [f"probability_{label}" for label in model.classes_.tolist()]
    done = 0
    with Writer(options.output) as writer:
        for part in parts_of(model, options.table, ROWS_AT_ONCE):
            probabilities = model.predict_proba(part)
            answers = pandas().DataFrame(probabilities, columns=names, copy=False)
            answers.insert(0, "label", model.classes_[probabilities.argmax(axis=1)])
            writer.write(answers)
            done += len(answers)
            show_progress(f"{done:,} rows")
    show_progress()
    if options.output != "-":
        say(f"{done:,} rows written to {options.output}")
    return 0
