"""The paper's data sets, from wherever they can be had, checked against the registry."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.paper.errors import DataError
from neuralkdb.paper.registry import Entry, shape_text
from neuralkdb.paper.sources import Source, keep, sources, without


@dataclass(frozen=True)
class Dataset:
    """Features as raw as they come, and the class of each row as a code."""

    name: str
    features: Any  # a data frame, or an array of numbers
    classes: NDArray[np.intp]  # (rows,)
    source: str
    coded: bool = False  # whether the features are codes already

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.features.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.classes.max()) + 1

    @property
    def fingerprint(self) -> str:
        """The same for the same table in the same order, and hardly ever for another."""
        cells = [*np.asarray(self.features).ravel().tolist(), *self.classes.tolist()]
        return sha256("\x1f".join(map(str, cells)).encode()).hexdigest()[:16]

    def rows(self, chosen: NDArray[np.intp]) -> Any:
        """The features of some rows."""
        return self.features.iloc[chosen] if hasattr(self.features, "iloc") else self.features[chosen]


def load(entry: Entry, data: Path | None = None) -> Dataset:
    """The data set from the first place that has it, checked."""
    source = next(iter(available(entry, data)), None)
    if source is None:
        raise DataError(
            f"{entry.name} is nowhere to be had: put {entry.name}.parquet, .csv or .arff into a "
            "folder and give it by --data or NEURALKDB_DATA"
        )
    features, target = source.load(entry)
    dataset = checked(_dataset(entry, features, target, source.name), entry)
    if source.remote:
        keep(features.assign(**{entry.target: target}), entry)
    return dataset


def available(entry: Entry, data: Path | None = None) -> list[Source]:
    """The places that have the data set, in the order they are tried."""
    return [source for source in sources(data) if source.has(entry)]


def _dataset(entry: Entry, features: Any, target: Any, source: str) -> Dataset:
    if entry.dropped and hasattr(features, "columns"):
        features = without(features, entry.dropped)
    _, codes = np.unique(np.asarray(target).astype(str), return_inverse=True)
    return Dataset(entry.name, features, codes.astype(np.intp), source)


def checked(dataset: Dataset, entry: Entry) -> Dataset:
    """The data set, if it is as large as the registry says."""
    found = shape_text(dataset.n_rows, dataset.n_features, dataset.n_classes)
    if found != entry.shape:
        raise DataError(
            f"{entry.name} from {dataset.source} is not the registry's: it has {found}, expected {entry.shape}"
        )
    return dataset
