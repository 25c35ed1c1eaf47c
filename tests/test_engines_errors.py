"""What goes wrong with a table in an engine is one clear error, and nothing is half done."""

import builtins
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from neuralkdb.engines.errors import EngineError, MissingEngineError
from tabled import rows, source

GOOD = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "b": ["x", "y"] * 10, "y": ["n", "n", "p", "p"] * 5})


def fit(table, **options):
    return nk.KDBClassifier().fit_table(table, **options)


def lazy(**columns):
    return pl.from_pandas(GOOD).lazy().with_columns(**columns)


def without(monkeypatch, library):
    """As if the library were not installed, as far as this package can see."""
    real = builtins.__import__

    def refuse(name, namespace=None, *others):
        if name.partition(".")[0] == library and (namespace or {}).get("__name__", "").startswith("neuralkdb."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=library)
        return real(name, namespace, *others)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_missing_library_says_what_to_install(monkeypatch, tmp_path):
    path = source("path", GOOD, tmp_path)
    without(monkeypatch, "duckdb")
    with pytest.raises(MissingEngineError, match=r'needs duckdb.*pip install "neuralkdb\[engines\]"'):
        fit(path)


def test_without_narwhals_nothing_but_the_method_is_lost(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.startswith("neuralkdb.engines.")]:
        monkeypatch.delitem(sys.modules, name)
    without(monkeypatch, "narwhals")
    nk.KDBClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ModuleNotFoundError, match=r'needs narwhals.*pip install "neuralkdb\[engines\]"'):
        fit(GOOD)


def test_paths_that_lead_nowhere_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing\.parquet"):
        fit(tmp_path / "nothing.parquet")
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing\.duckdb"):
        fit(tmp_path / "nothing.duckdb")
    with pytest.raises(EngineError, match=r"DuckDB failed while opening .*No files found"):
        fit(f"{tmp_path}/nothing/*.parquet")
    (tmp_path / "notes.docx").touch()
    with pytest.raises(EngineError, match=r"notes\.docx has no known ending: .*\.parquet.*\.csv"):
        fit(tmp_path / "notes.docx")


def test_a_database_of_several_tables_needs_a_name(tmp_path):
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE one (y INTEGER)")
        connection.execute("CREATE TABLE two (y INTEGER)")
    with pytest.raises(EngineError, match=r"holds the tables \['one', 'two'\]: name one of them, as .*::one"):
        fit(tmp_path / "rows.duckdb")


def test_a_column_of_a_type_that_is_not_known_is_named():
    with pytest.raises(TypeError, match=r"'tags' is of type List.*leave it out with features="):
        fit(lazy(tags=pl.concat_list("a", "a")))
    relation = duckdb.sql("SELECT 1 AS y, {'a': 1} AS pair")
    with pytest.raises(TypeError, match=r"'pair' is of type Struct"):
        fit(relation)
    assert fit(lazy(tags=pl.concat_list("a", "a")), features=["a"]).n_features_in_ == 1


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_target_with_holes_is_an_error(missing):
    labels = [1.0, 0.0, missing, missing] * 5
    with pytest.raises(ValueError, match=r"target 'y' is missing in 10 rows"):
        fit(lazy(y=pl.Series(labels)))


def test_columns_that_are_not_there_are_named():
    with pytest.raises(ValueError, match=r"no column 'z': it has \['a', 'b', 'y'\]"):
        fit(lazy(), target="z")
    with pytest.raises(ValueError, match=r"no column 'c'"):
        fit(lazy(), features=["a", "c"])
    with pytest.raises(ValueError, match=r"no column 'w'"):
        fit(lazy(), weight="w")
    with pytest.raises(ValueError, match=r"columns other than the target"):
        fit(lazy(), features=["a", "y"])


def test_weights_that_are_no_weights_are_errors():
    with pytest.raises(ValueError, match=r"'w' holds -1\.0"):
        fit(lazy(w=pl.col("a") - 2), weight="w")
    with pytest.raises(ValueError, match=r"'w' is missing in 5 rows"):
        fit(lazy(w=pl.when(pl.col("a") > 1).then(1.0)), weight="w")
    with pytest.raises(TypeError, match=r"'w' is of type String"):
        fit(lazy(w=pl.col("b")), weight="w")
    with pytest.raises(ValueError, match=r"0 rows of positive weight"):
        fit(lazy(w=pl.lit(0.0)), weight="w")


def test_infinity_and_too_many_categories_name_their_column():
    with pytest.raises(ValueError, match=r"'a' contains infinity"):
        fit(lazy(a=pl.Series([np.inf, 1.0] * 10)))
    names = pl.LazyFrame({"name": [f"n{i}" for i in range(10_001)], "y": [0, 1, 1] * 3333 + [0, 1]})
    with pytest.raises(ValueError, match=r"'name' has more than 10000 categories"):
        fit(names)


def broken(folder):
    """A table whose last row cannot be read as what the others are."""
    (folder / "rows.csv").write_text("a,y\n" + "1,0\n" * 5000 + "x,1\n")
    return duckdb.connect().sql(
        f"SELECT CAST(a AS INTEGER) AS a, y FROM read_csv('{folder}/rows.csv', all_varchar=true)"
    )


def test_an_engine_that_fails_half_way_says_at_what_and_nothing_is_learned(tmp_path):
    classifier = nk.KDBClassifier()
    with pytest.raises(EngineError, match=r"DuckDB failed while finding .*: Conversion Error: .*\bx\b"):
        classifier.fit_table(broken(tmp_path))
    assert not hasattr(classifier, "members_")
    learned = nk.KDBClassifier().fit_table(lazy())
    members = learned.members_
    with pytest.raises(EngineError):
        learned.fit_table(broken(tmp_path))
    assert learned.members_ is members


def test_parameters_are_checked_as_in_fit():
    with pytest.raises(ValueError, match="'k' parameter"):
        nk.KDBClassifier(k=-1).fit_table(lazy())


def test_predictions_are_written_whole_or_not_at_all(tmp_path):
    learned = nk.NaiveBayesClassifier().fit_table(pl.LazyFrame({"a": [0, 1, 1], "y": ["0", "1", "1"]}))
    out = tmp_path / "out" / "predictions.parquet"
    out.parent.mkdir()
    out.write_text("what was there before")
    with pytest.raises(EngineError, match=r"DuckDB failed while predicting: .*\bx\b"):
        learned.predict_table(broken(tmp_path), out)
    assert out.read_text() == "what was there before"
    assert [path.name for path in out.parent.iterdir()] == ["predictions.parquet"]


def test_predicting_needs_the_columns_that_were_learned_from(tmp_path):
    learned = fit(lazy())
    with pytest.raises(ValueError, match=r"no column 'b', which is needed to predict"):
        learned.predict_table(lazy().drop("b"), tmp_path / "out.parquet")
    with pytest.raises(ValueError, match=r"no column 'id'"):
        learned.predict_table(lazy(), tmp_path / "out.parquet", keep=["id"])
    assert not list(tmp_path.iterdir())


def test_a_table_that_cannot_be_streamed_is_not_predicted(tmp_path):
    learned = fit(lazy())
    with pytest.raises(EngineError, match="Tables of pandas cannot be streamed"):
        learned.predict_table(rows().rename(columns={"size": "a", "colour": "b"}), tmp_path / "out.parquet")
