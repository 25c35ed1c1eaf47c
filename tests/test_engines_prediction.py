"""Predictions of a table in an engine are those of the same rows in memory."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from neuralkdb.engines import prediction
from tabled import SOURCES, in_memory, rows, source


@pytest.mark.parametrize("kind", SOURCES)
def test_predictions_stand_in_the_order_of_the_rows_beside_what_is_kept(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ENTRIES", 1)
    table = rows(3000).assign(id=np.arange(3000))
    learned = nk.KDBClassifier().fit_table(source(kind, table, tmp_path), features=["size", "colour", "lit", "day"])
    learned.predict_table(source(kind, table, tmp_path), tmp_path / "out.parquet", keep=["id", "y"])
    written = pd.read_parquet(tmp_path / "out.parquet")
    here = in_memory(table, tmp_path)[["size", "colour", "lit", "day"]]
    assert written.columns.tolist() == ["id", "y", "prediction", "probability_no", "probability_so", "probability_yes"]
    np.testing.assert_array_equal(written["id"], table["id"])
    np.testing.assert_array_equal(written["prediction"], learned.predict(here))
    np.testing.assert_array_equal(written.filter(like="probability").to_numpy(), learned.predict_proba(here))


def test_what_was_fitted_in_memory_predicts_tables(tmp_path):
    table = rows(200)
    X = in_memory(table, tmp_path)[["size", "count", "colour"]]
    learned = nk.TANClassifier().fit(X, table["y"].to_numpy(object))
    learned.predict_table(source("path", table, tmp_path), tmp_path / "out.parquet")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], learned.predict(X))


def test_categoricals_of_the_engine_are_read_as_text(tmp_path):
    table = pl.LazyFrame({"c": ["b", "a", None, "b"] * 5, "y": [0, 1, 1, 0] * 5})
    categorical = table.with_columns(pl.col("c").cast(pl.Categorical))
    learned = nk.NaiveBayesClassifier().fit_table(categorical)
    learned.predict_table(categorical, tmp_path / "out.parquet")
    expected = nk.NaiveBayesClassifier().fit_table(table).predict(table.select("c").collect())
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], expected)
