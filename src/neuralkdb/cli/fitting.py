"""The command `fit`: a table in, a model file out."""

import argparse
import sys
import time
import warnings
from typing import Any

from neuralkdb.cli.arguments import Commands, add_command, check_folder_of, names, setting, share, show_progress
from neuralkdb.cli.engines import add_engine_options, engine_of, fit_in_engine

EXAMPLES = """\
  neuralkdb fit adult.csv --target class -o adult.nkdb
  neuralkdb fit adult.csv --target class --model NeuralKDB -o adult.nkdb
  neuralkdb fit adult.csv --target class --model KDB --set k=3 estimate=backoff -o adult.nkdb
  neuralkdb fit "clicks/*.parquet" --target click --model NeuralKDB -o clicks.nkdb
"""
NOTHING = "-"
WIDEST = 44  # characters of an example
FEWEST_IDENTIFIERS = 20  # rows, more than which are needed to tell


def add_to(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "fit",
        "learn a model from a table",
        "Learn a model from a table and write it to a file. What was understood of each column is printed, and how "
        "good the model is on rows that were held out; the model that is written has learned from all rows.",
        EXAMPLES,
    )
    add = command.add_argument
    add(
        "table",
        metavar="TABLE",
        help=".csv, .tsv, .parquet or .arff, or - for standard input; a folder of .parquet files, a pattern or "
        "file.duckdb::table, which are counted where they are",
    )
    add("--target", required=True, metavar="COLUMN", help="the column to predict")
    add("-o", "--output", required=True, metavar="FILE", help="where the model goes")
    add(
        "--model",
        action=ModelOrList,
        metavar="NAME",
        help="which classifier (NeuralKDBEnsemble; NeuralKDB is many times faster); --model list names all",
    )
    add("--set", type=setting, nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="settings of it")
    add("--categorical", type=names, default=[], metavar="A,B", help="columns whose numbers are categories")
    add("--ignore", type=names, default=[], metavar="A,B", help="columns to leave out, identifiers say")
    add(
        "--held-out", type=share, default=0.2, metavar="SHARE", help="of the rows, to score the model on (0.2; 0: none)"
    )
    add_engine_options(command)
    command.set_defaults(command=fit)


class ModelOrList(argparse.Action):
    """The name of a model, or all names at once, whatever else is asked for."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Keep the name, or print the list and leave."""
        if values == "list":
            from neuralkdb.cli.models import MODELS

            print("\n".join(MODELS))
            parser.exit()
        setattr(namespace, self.dest, values)


def fit(options: argparse.Namespace) -> int:
    """Learn, score, and write the model."""
    from neuralkdb.cli.models import DEFAULT, made
    from neuralkdb.cli.tables import labelled

    started = time.perf_counter()
    check_folder_of(options.output)
    settings = dict(options.set) | ({"categorical_features": options.categorical} if options.categorical else {})
    model = made(options.model or DEFAULT, settings)
    engine = engine_of(options)
    if engine != "memory":
        return fit_in_engine(model, options, engine)
    X, y, n_unknown = labelled(options.table, options.target, options.ignore)
    print(_about(X, y, options.target, n_unknown), flush=True)
    scores = _held_out_scores(model, X, y, options.held_out)
    fitted = _timed(model, X, y)
    model.target_name_ = options.target
    model.save(options.output)
    print(_understood(model, X))
    print(f"\n{type(model).__name__} learned from {len(X):,} rows in {fitted:.2f} s")
    print(scores)
    print(f"written to {options.output} in {time.perf_counter() - started:.1f} s all in all")
    return 0


def _about(X: Any, y: Any, target: str, n_unknown: int) -> str:
    counts = y.value_counts()
    shown = ", ".join(f"{label} {count / len(y):.1%}" for label, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    without = f"; {n_unknown:,} rows without it left out" if n_unknown else ""
    return f"{len(X):,} rows, {X.shape[1]} columns; {target} is one of {len(counts)}: {shown}{more}{without}"


def _held_out_scores(model: Any, X: Any, y: Any, part: float) -> str:
    """How good a model of the other rows is on those held out."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    from neuralkdb.evaluation import scores_of

    rarest = int(y.value_counts().min())
    n_held_out = round(part * len(X))
    if n_held_out < 1 or len(X) - n_held_out < 2:
        return "no rows held out to score it on"
    stratified = y if rarest >= 2 and n_held_out >= y.nunique() <= len(X) - n_held_out else None
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=n_held_out, random_state=0, stratify=stratified)
    trial = clone(model)
    _timed(trial, X_train, y_train)
    scores = scores_of(y_test, trial.predict_proba(X_test), trial.classes_)
    auc = "" if scores.auc is None else f", AUC {scores.auc:.3f}"
    return (
        f"on {n_held_out:,} rows held out: accuracy {scores.accuracy:.3f}, log-loss {scores.log_loss:.3f}, "
        f"Brier {scores.brier:.3f}, calibration error {scores.calibration_error:.3f}{auc}"
    )


def _timed(model: Any, X: Any, y: Any) -> float:
    """Fit, and say on a terminal how far it is; the seconds."""
    started = time.perf_counter()
    told = {"verbose": 1} if sys.stderr.isatty() and "verbose" in model.get_params() else {}
    before = {name: model.get_params()[name] for name in told}
    show_progress("" if told else f"{type(model).__name__} learns from {len(X):,} rows ...")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many classes for so few rows: the scores say it better
        model.set_params(**told).fit(X, y)
    model.set_params(**before)
    show_progress()
    return time.perf_counter() - started


def _understood(model: Any, X: Any) -> str:
    """A line for each column: how it is read, what its values are, and how much of it is missing."""
    from neuralkdb.cli.tables import aligned

    coders = zip(X.columns, model.members_[0].encoding.column_coders, strict=True)
    rows = [_column(str(name), coder, X[name]) for name, coder in coders]
    return "\n" + aligned([("column", "read as", "values", "missing", "for example"), *rows], numeric=(2, 3))


def _column(name: str, coder: Any, column: Any) -> tuple[str, str, str, str, str]:
    from neuralkdb.cli.tables import shortened
    from neuralkdb.coders import Intervals

    labels = [label for label in coder.labels if label != "missing"]
    kind = "category"
    if isinstance(coder, Intervals):
        kind = "date, in intervals" if column.dtype.kind == "M" else "number, in intervals"
        labels = _interval_labels(coder, column)
    if _looks_like_an_identifier(coder, column):
        kind += " (an identifier? then --ignore it)"
    missing = column.isna().mean()
    example = shortened(", ".join(labels), WIDEST) or NOTHING
    return (shortened(name, 30), kind, str(len(labels)), f"{missing:.1%}" if missing else NOTHING, example)


def _looks_like_an_identifier(coder: Any, column: Any) -> bool:
    """Whether most rows have a category of their own, or every row a whole number of its own."""
    from neuralkdb.coders import Intervals

    if len(column) <= FEWEST_IDENTIFIERS:
        return False
    if isinstance(coder, Intervals):
        return bool(column.dtype.kind in "iu" and column.is_unique)
    return bool(coder.cardinality > max(len(column) / 2, FEWEST_IDENTIFIERS))


def _interval_labels(coder: Any, column: Any) -> list[str]:
    """Intervals as a person would write them; dates as dates."""
    from neuralkdb.columns import written_time

    if not coder.n_intervals:
        return []
    cuts = [written_time(cut) if column.dtype.kind == "M" else f"{cut:.6g}" for cut in coder.cuts]
    return ["all"] if not cuts else [f"< {cuts[0]}", *(f"< {cut}" for cut in cuts[1:]), f"≥ {cuts[-1]}"]
