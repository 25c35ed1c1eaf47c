"""Tables as commands need them: features and target, and the columns of a model out of whatever a file has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neuralkdb.coders import Categories, Intervals
from neuralkdb.tabular.errors import TableError
from neuralkdb.tabular.packages import pandas
from neuralkdb.tabular.reading import read_table, stream_table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
MOST_NUMBERS, MOST_SHARE = 100, 0.1  # as classes: more numbers, and of more than this share of the rows, are none
TRUTH = {"true": True, "false": False}


def labelled(path: str, target: str, ignored: Sequence[str] = ()) -> tuple[DataFrame, Series, int]:
    """The features and the target of a table, and how many rows have no target and are left out."""
    table = read_table(path)
    absent = [name for name in (target, *ignored) if name not in table.columns]
    if absent:
        raise TableError(f"{path} has no column {absent[0]}: it has {', '.join(map(str, table.columns))}")
    known = table[target].notna()
    table = table[known].reset_index(drop=True)
    if not len(table):
        raise TableError(f"{path} has no row in which {target} is known")
    features = with_dates(table.drop(columns=[target, *ignored]))
    if not features.shape[1]:
        raise TableError(f"{path} has no column besides {target}")
    return features, labels_of(table[target]), int((~known).sum())


def labels_of(target: Series) -> Series:
    """The classes: categories as their values, whole numbers as integers."""
    values = target.astype(target.cat.categories.dtype) if hasattr(target, "cat") else target.infer_objects()
    if values.dtype.kind == "f":
        if not (values == np.floor(values)).all():
            raise TableError(
                f"{target.name} holds numbers with decimals such as {values.iloc[0]}: the target is a column of classes"
            )
        values = values.astype(np.int64)
    if values.dtype.kind in "iu" and (n := values.nunique()) > max(MOST_NUMBERS, MOST_SHARE * len(values)):
        raise TableError(f"{target.name} holds {n:,} different numbers: the target is a column of classes")
    return values.astype(object) if values.dtype.kind not in "biu" else values


def with_dates(table: DataFrame) -> DataFrame:
    """The table with columns of text that are all dates as dates."""
    columns = {name: _dates(table[name]) for name in table.columns if _is_text(table[name])}
    return table.assign(**{name: dates for name, dates in columns.items() if dates is not None})


def _is_text(column: Series) -> bool:
    return not hasattr(column, "cat") and column.dtype.kind in "OT"


def _dates(column: Series) -> Series | None:
    """The column as dates, if all it holds are."""
    known = column.dropna()
    if not len(known) or not isinstance(known.iloc[0], str) or not DATE.fullmatch(known.iloc[0]):
        return None
    try:
        return pandas().to_datetime(column, format="ISO8601", utc=True).dt.tz_convert(None)
    except (ValueError, TypeError):
        return None


def names_of(model: Any) -> list[str]:
    """The columns that a model needs, by name; numbers where it was fitted without names."""
    return list(model._names)


def text_columns(model: Any) -> list[str]:
    """The columns whose categories are text: not to be read as numbers, whatever they look like."""
    coders = zip(names_of(model), model.members_[0].encoding.column_coders, strict=True)
    return [
        name
        for name, coder in coders
        if isinstance(coder, Categories) and all(isinstance(level, str | None) for level in coder.levels)
    ]


def features_of(model: Any, table: DataFrame, source: str) -> DataFrame:
    """The columns that a model needs, in its order, as the types it learned them as."""
    names = names_of(model)
    if not hasattr(model, "feature_names_in_") and table.shape[1] == len(names):
        return table.set_axis(names, axis=1).to_numpy()
    absent = [name for name in names if name not in table.columns]
    if absent:
        more = f" and {len(absent) - 8} more" if len(absent) > 8 else ""
        raise TableError(
            f"{source} lacks {', '.join(absent[:8])}{more}, which the model needs: "
            f"it has {', '.join(map(str, table.columns[:20]))}"
        )
    coders = model.members_[0].encoding.column_coders
    columns = {name: _as_learned(table[name], coder) for name, coder in zip(names, coders, strict=True)}
    return pandas().DataFrame(columns)


def _as_learned(column: Series, coder: Any) -> Series:
    """A column of a part of a table, as it would be read in the whole."""
    if not _is_text(column):
        return column
    if isinstance(coder, Intervals):
        dates = _dates(column)
        return column if dates is None else dates
    if any(isinstance(level, bool) for level in coder.levels):
        return column.map(lambda cell: TRUTH.get(cell.lower(), cell) if isinstance(cell, str) else cell)
    return column


def parts_of(model: Any, path: str, n_rows: int) -> Iterator[DataFrame]:
    """The columns that a model needs, a part of the rows at a time."""
    for part in stream_table(path, n_rows, text_columns(model)):
        yield features_of(model, part, path)


def aligned(rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """Rows of text in columns; those that are numeric are set to the right."""
    rows = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if j in numeric else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def shortened(text: str, width: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def row_of(model: Any, path: str, row: int) -> DataFrame:
    """One row of a table, as a model needs it."""
    done = 0
    for part in parts_of(model, path, max(row + 1, 1000)):
        if row < done + len(part):
            return part[row - done : row - done + 1]
        done += len(part)
    raise TableError(f"{path} has no row {row}: it has {done} rows, from 0 on")


def judged(model: Any, path: str, target: str | None) -> tuple[DataFrame, Series, str]:
    """The features of a table as a model needs them, the classes, and the name of their column."""
    (table,) = stream_table(path, None, text_columns(model))
    column = target or getattr(model, "target_name_", None) or _only_other(model, table, path)
    if column not in table.columns:
        raise TableError(f"{path} has no column {column} of known classes: name one of its columns with --target")
    table = table[table[column].notna()].reset_index(drop=True)
    if not len(table):
        raise TableError(f"{path} has no row in which {column} is known")
    return features_of(model, table, path), labels_of(table[column]), column


def _only_other(model: Any, table: DataFrame, path: str) -> str:
    """The one column that is no feature."""
    others = [str(name) for name in table.columns if name not in names_of(model)]
    if len(others) != 1:
        raise TableError(f"name the column of the classes in {path} with --target")
    return others[0]
