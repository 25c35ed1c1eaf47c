"""The commands on tables that stay in an engine."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import neuralkdb as nk
from neuralkdb.cli import main
from tabled import assert_same, in_memory, rows


@pytest.fixture
def folder(tmp_path):
    """A folder of two Parquet files, the same rows in a database and as text, and a place for models."""
    table = rows(200).drop(columns="weight")
    (tmp_path / "parts").mkdir()
    table[:90].to_parquet(tmp_path / "parts" / "a.parquet")
    table[90:].to_parquet(tmp_path / "parts" / "b.parquet")
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute(f"CREATE TABLE rows AS FROM '{tmp_path}/parts/*.parquet'")
    table.to_csv(tmp_path / "rows.csv", index=False, na_rep="?")
    return tmp_path


def expected(folder):
    """The model of the rows in memory."""
    here = in_memory(rows(200), folder)
    return nk.NaiveBayesClassifier().fit(here.drop(columns=["y", "weight"]), here["y"].to_numpy(object))


def fit(table, folder, *more):
    return main(["fit", str(table), "--target", "y", "--model", "NaiveBayes", "-o", f"{folder}/m.nkdb", *more])


@pytest.mark.parametrize("kind", ["parts", "parts/*.parquet", "rows.duckdb", "rows.duckdb::rows"])
def test_folders_patterns_and_databases_are_counted_and_predicted_where_they_are(kind, folder, capsys):
    assert fit(folder / kind, folder) == 0
    assert "learned from counts by duckdb: no rows were held out" in capsys.readouterr().out
    learned = nk.load(folder / "m.nkdb")
    assert_same(learned, expected(folder))
    assert main(["predict", f"{folder}/m.nkdb", str(folder / kind), "-o", f"{folder}/out.parquet"]) == 0
    here = in_memory(rows(200), folder)
    written = pd.read_parquet(folder / "out.parquet")
    np.testing.assert_array_equal(written["prediction"], learned.predict(here.drop(columns=["y", "weight"])))


def test_a_file_that_takes_more_than_the_budget_is_counted_where_it_is(folder, capsys):
    assert fit(folder / "rows.csv", folder, "--memory", "0.00001") == 0
    assert "learned from counts by duckdb" in capsys.readouterr().out
    assert_same(nk.load(folder / "m.nkdb"), expected(folder))
    assert fit(folder / "rows.csv", folder) == 0
    assert "learned from 200 rows" in capsys.readouterr().out
    assert fit(folder / "rows.csv", folder, "--memory", "0.00001", "--engine", "memory") == 0
    assert "learned from 200 rows" in capsys.readouterr().out


def test_columns_are_ignored_and_those_that_are_not_there_are_named(folder, capsys):
    assert fit(folder / "parts", folder, "--ignore", "day,lit") == 0
    assert nk.load(folder / "m.nkdb").feature_names_in_.tolist() == ["size", "count", "colour", "steps"]
    capsys.readouterr()
    assert fit(folder / "parts", folder, "--ignore", "nothing") == 2
    assert "has no column nothing" in capsys.readouterr().err


def test_what_goes_wrong_is_one_sentence_and_nothing_is_written(folder, capsys):
    assert fit(folder / "nothing*.parquet", folder) == 2
    assert "DuckDB failed while opening" in capsys.readouterr().err
    assert fit(folder / "parts", folder, "--master", "spark://here:7077") == 2
    assert "--master is for --engine spark" in capsys.readouterr().err
    assert not (folder / "m.nkdb").exists()
    expected(folder).save(folder / "m.nkdb")
    assert main(["predict", f"{folder}/m.nkdb", f"{folder}/parts", "-o", f"{folder}/out.csv"]) == 2
    assert "written as Parquet" in capsys.readouterr().err


def test_a_budget_is_a_number(folder, capsys):
    with pytest.raises(SystemExit):
        fit(folder / "rows.csv", folder, "--memory", "much")
    assert "much is not a positive number of gigabytes" in capsys.readouterr().err
