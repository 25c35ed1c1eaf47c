"""The eight tables, and codes of them that every classifier gets alike."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("NEURALKDB_SHARED", ROOT.parent / "shared")) / "data"
FILE = Path(__file__).with_name("results.csv")
MADE = ROOT / "results" / "peers"
MILLION = "million"
NAMES = ["car", "kr-vs-kp", "optdigits", "mushroom", "nursery", "letter", "adult", MILLION]


class Split(NamedTuple):
    """Seven tenths of a table to learn from, and the rest."""

    X: Any
    y: NDArray[np.intp]
    X_test: Any
    y_test: NDArray[np.intp]


def load(name: str) -> Split:
    """The table as it is: numbers, text, missing values."""
    X, y = rows_of_a_million() if name == MILLION else from_file(name)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0)
    known = np.unique(y[train])
    test = test[np.isin(y[test], known)]
    parts = (X.iloc[part].reset_index(drop=True) for part in (train, test))
    return Split(next(parts), np.searchsorted(known, y[train]), next(parts), np.searchsorted(known, y[test]))


def load_codes(name: str) -> Split:
    """The same as small whole numbers: ten intervals of equal width, missing filled in, learned from the first part.

    Every code occurs in the first part, and a value that does not becomes its nearest neighbour: not all peers can
    predict a value they have not seen.
    """
    from neuralkdb.paper.coded import Codes

    X, y, X_test, y_test = load(name)
    encoding = Codes().fit(X)
    train, test = (encoding.transform(part).astype(np.int64) for part in (X, X_test))
    for j in range(train.shape[1]):
        seen, train[:, j] = np.unique(train[:, j], return_inverse=True)
        test[:, j] = np.clip(np.searchsorted(seen, test[:, j]), 0, len(seen) - 1)
    return Split(train, y, test, y_test)


def from_file(name: str) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """One of the shared tables, and its classes as numbers."""
    folder = next(folder for folder in ("uci60", "large") if (SHARED / folder / f"{name}.parquet").exists())
    about = pd.read_csv(SHARED / f"{folder}.csv").set_index("name").loc[name]
    table = pd.read_parquet(SHARED / folder / f"{name}.parquet")
    y = np.unique(table[about["target"]].astype(str), return_inverse=True)[1]
    dropped = str(about.get("identifier_columns", "")).split(";")
    X = table.drop(columns=[about["target"], *(column for column in dropped if column in table)])
    text = X.select_dtypes(exclude="number").columns
    objects = {column: X[column].astype(object).where(X[column].notna(), None) for column in text}
    return X.assign(**objects), y


def rows_of_a_million() -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """1,000,000 x 20 integers with 5 values and 2 classes, made once and kept."""
    from benchmarks.rows import write_rows

    folder = MADE / MILLION
    if not (folder / "y.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_rows(str(folder), 1_000_000)
    X = np.load(folder / "X.npy")
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), np.load(folder / "y.npy")
