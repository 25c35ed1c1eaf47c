"""ARFF, the format of Weka: attributes with their types, then a row a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from neuralkdb.tabular.errors import TableError
from neuralkdb.tabular.packages import pandas

if TYPE_CHECKING:
    from pandas import DataFrame

ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s*(.*)", re.IGNORECASE)
CELL = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^,]*))\s*(?:,|$)")
ESCAPE = re.compile(r"\\(.)")
NUMERIC_TYPES = ("numeric", "real", "integer")

Row = list[str | None]


def read_arff(lines: Iterable[str], n_rows: int | None = None) -> Iterator[DataFrame]:
    """Frames of at most `n_rows` rows, all in one if None; numbers and categories as the attributes say."""
    lines = iter(lines)
    attributes = _attributes(lines)
    rows = _rows(lines, len(attributes))
    while part := list(islice(rows, n_rows)):
        yield _frame(part, attributes)
        if n_rows is None:
            return


def _attributes(lines: Iterator[str]) -> list[tuple[str, str]]:
    """Names and types, up to the line that says @data."""
    attributes = []
    for line in lines:
        found = ATTRIBUTE.match(line.strip())
        if found:
            attributes.append((_unescaped(found[1].strip("'\"")), found[2].strip()))
        if line.strip().lower() == "@data":
            return attributes
    raise TableError("there is no line @data")


def _rows(lines: Iterator[str], width: int) -> Iterator[Row]:
    for line in lines:
        if line.strip() and not line.startswith("%"):
            if line.lstrip().startswith("{"):
                raise TableError("sparse ARFF is not supported: write the rows in full")
            row = cells(line.strip())
            if len(row) != width:
                raise TableError(f"a row has {len(row)} cells instead of {width}: {line.strip()[:60]}")
            yield row


def cells(line: str) -> Row:
    """The cells of a line; `?` and nothing are missing."""
    if "'" not in line and '"' not in line:
        return [_cell(text) for text in line.split(",")]
    found = list(CELL.finditer(line))
    if line.rstrip()[-1:] != ",":
        found = found[:-1] if found[-1].start() == len(line) else found
    return [_cell(each[3]) if each[3] is not None else _unescaped(each[1] or each[2] or "") or None for each in found]


def _cell(text: str) -> str | None:
    text = text.strip()
    return None if text in ("?", "") else text


def _unescaped(text: str) -> str:
    return ESCAPE.sub(r"\1", text)


def _frame(rows: list[Row], attributes: list[tuple[str, str]]) -> DataFrame:
    frame: DataFrame = pandas().DataFrame(rows, columns=[name for name, _ in attributes])
    for name, kind in attributes:
        frame[name] = _column(frame[name], kind)
    return frame


def _column(column: Any, kind: str) -> Any:
    if kind.lower().startswith(NUMERIC_TYPES):
        return pandas().to_numeric(column)
    return column.astype("category")
