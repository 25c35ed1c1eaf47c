"""Tables from files and from standard input, whole or as a stream of frames."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuralkdb.columns import MISSING
from neuralkdb.tabular.arff import read_arff
from neuralkdb.tabular.errors import MissingPackageError, TableError
from neuralkdb.tabular.packages import pandas, parquet

if TYPE_CHECKING:
    from pandas import DataFrame

SEPARATORS = {".tsv": "\t", ".tab": "\t"}
COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}
STANDARD_INPUT = "-"

Frames = Iterator["DataFrame"]


@dataclass(frozen=True)
class Source:
    """Where a table comes from: a file, or bytes of standard input."""

    name: str
    bytes_: Any  # a path or a binary file
    suffix: str


def read_table(path: str | Path) -> DataFrame:
    """The whole table; an empty cell, `?` and the usual spellings of not available are missing."""
    frames = list(stream_table(path, None))
    if not frames or not len(frames[0]):
        raise TableError(f"{path} has no rows")
    return frames[0]


def stream_table(path: str | Path, n_rows: int | None, texts: Collection[str] = ()) -> Frames:
    """The table as frames of about `n_rows` rows; columns in `texts` are left as they are written."""
    source = source_of(str(path))
    try:
        yield from READERS[source.suffix](source, n_rows, texts)
    except (OSError, MissingPackageError):
        raise
    except Exception as error:
        raise TableError(f"{source.name} is not a readable {source.suffix[1:]} table: {error}") from error


def source_of(path: str) -> Source:
    """The file, and the kind of table it says it is."""
    if path == STANDARD_INPUT:
        return _standard_input()
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() not in COMPRESSED]
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in READERS:
        raise TableError(f"{path} is of no known kind: name it .csv, .tsv, .parquet or .arff, or pass - for stdin")
    with open(path, "rb"):  # whatever is wrong with the file is said by the system
        return Source(path, path, suffix)


def _standard_input() -> Source:
    """Standard input, its kind told from how it begins."""
    stream = sys.stdin.buffer
    begins = stream.peek(4096) if hasattr(stream, "peek") else b""
    if begins.startswith(b"PAR1"):
        return Source("stdin", io.BytesIO(stream.read()), ".parquet")
    first = begins.lstrip().lower()
    if first.startswith((b"%", b"@relation")):
        return Source("stdin", stream, ".arff")
    return Source("stdin", stream, ".tsv" if b"\t" in begins.partition(b"\n")[0] else ".csv")


def _read_csv(source: Source, n_rows: int | None, texts: Collection[str]) -> Frames:
    options = {
        "sep": SEPARATORS.get(source.suffix, ","),
        "dtype": dict.fromkeys(texts, "str"),
        "skipinitialspace": True,
        "keep_default_na": False,
        "na_values": MISSING,
        "index_col": False,
        "low_memory": False,
        "encoding": "utf-8-sig",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas().errors.ParserWarning)  # rows longer than the header
        if n_rows is None:
            yield pandas().read_csv(source.bytes_, **options)
            return
        with pandas().read_csv(source.bytes_, chunksize=n_rows, **options) as frames:
            yield from frames


def _read_parquet(source: Source, n_rows: int | None, texts: Collection[str]) -> Frames:
    if n_rows is None:
        yield pandas().read_parquet(source.bytes_)
        return
    with parquet().ParquetFile(source.bytes_) as file:
        for batch in file.iter_batches(batch_size=n_rows):
            yield batch.to_pandas()


def _read_arff(source: Source, n_rows: int | None, texts: Collection[str]) -> Frames:
    if isinstance(source.bytes_, str):
        with open(source.bytes_, encoding="utf-8") as lines:
            yield from read_arff(lines, n_rows)
    else:
        yield from read_arff(io.TextIOWrapper(source.bytes_, encoding="utf-8"), n_rows)


READERS: dict[str, Callable[[Source, int | None, Collection[str]], Frames]] = {
    **dict.fromkeys((".csv", ".txt", ".data", ".tsv", ".tab"), _read_csv),
    ".parquet": _read_parquet,
    ".arff": _read_arff,
}


class Writer:
    """Frames one after another into a CSV or Parquet file, or as CSV to standard output."""

    def __init__(self, path: str) -> None:
        suffix = Path(path).suffix.lower()
        if path != STANDARD_INPUT and suffix not in (".csv", ".tsv", ".parquet"):
            raise TableError(f"{path} is of no known kind: name it .csv, .tsv or .parquet")
        self._path = path
        self._separator = SEPARATORS.get(suffix, ",")
        self._is_parquet = suffix == ".parquet"
        self._file: Any = None

    def write(self, frame: DataFrame) -> None:
        """Append the rows of a frame."""
        if self._is_parquet:
            self._write_parquet(frame)
            return
        first = self._file is None
        if first:
            self._file = sys.stdout if self._path == STANDARD_INPUT else open(self._path, "w", encoding="utf-8")  # noqa: SIM115
        frame.to_csv(self._file, sep=self._separator, index=False, header=first, lineterminator="\n")

    def _write_parquet(self, frame: DataFrame) -> None:
        from neuralkdb.tabular.packages import arrow

        table = arrow().Table.from_pandas(frame, preserve_index=False)
        if self._file is None:
            self._file = parquet().ParquetWriter(self._path, table.schema)
        self._file.write_table(table)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None and self._file is not sys.stdout:
            self._file.close()
