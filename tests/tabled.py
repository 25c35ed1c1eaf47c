"""A table as engines hold it, the same rows in memory, and what is compared of two classifiers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import duckdb
import numpy as np
import pandas as pd
import polars as pl

from every import mixed
from neuralkdb.counting import PackedCounts
from neuralkdb.engines.frame import Frame
from neuralkdb.tables import DenseTable, SparseTable

SOURCES = ["path", "relation", "polars"]


def rows(n_rows: int = 300, seed: int = 0, *, missing: float = 0.1) -> pd.DataFrame:
    """Columns of all kinds, a weight and a target of text."""
    table, y = mixed(n_rows, seed, missing=missing)
    rng = np.random.default_rng(seed)
    day = np.datetime64("2024-02-27", "us") + rng.integers(0, 10**12, n_rows) * (1 + y)
    table["day"] = pd.Series(day.astype("datetime64[us]")).mask(rng.random(n_rows) < missing)
    table["steps"] = rng.poisson(3.0 * (1 + y))
    return table.assign(weight=rng.integers(0, 5, n_rows) / 4, y=np.array(["no", "so", "yes"], dtype=object)[y])


def source(kind: str, table: pd.DataFrame, folder):
    """The table in an engine."""
    path = folder / "rows.parquet"
    table.to_parquet(path)
    if kind == "relation":
        return duckdb.connect().read_parquet(str(path))
    return pl.scan_parquet(path) if kind == "polars" else str(path)


def in_memory(table: pd.DataFrame, folder) -> pd.DataFrame:
    """The table as it is read from a file."""
    table.to_parquet(folder / "memory.parquet")
    return pd.read_parquet(folder / "memory.parquet")


def assert_same(one, other):
    """Two classifiers have the same code books, structures and statistics, count for count."""
    assert_same_parts(one.members_, other.members_)
    np.testing.assert_array_equal(one.classes_, other.classes_)
    assert one.structure_ == other.structure_


def assert_same_parts(one, other):
    """Two values are the same to the bottom."""
    assert type(one) is type(other)
    if isinstance(one, DenseTable | SparseTable):
        assert one == other
    elif isinstance(one, np.ndarray):
        assert one.dtype.kind == "O" or one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same_parts(list(one.values()), list(other.values()))
    elif isinstance(one, tuple | list) and not isinstance(one, str):
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            assert_same_parts(mine, its)
    elif is_dataclass(one) or isinstance(one, PackedCounts):
        for each in fields(one):
            assert_same_parts(getattr(one, each.name), getattr(other, each.name))
    elif not callable(one):
        assert one == other


class Door:
    """What went through the only way out of an engine."""

    def __init__(self, monkeypatch):
        self.rows = self.queries = 0
        collect = Frame.collect

        def counted(frame, lazy, doing):
            answer = collect(frame, lazy, doing)
            self.rows += len(next(iter(answer.values())))
            self.queries += 1
            return answer

        monkeypatch.setattr(Frame, "collect", counted)
