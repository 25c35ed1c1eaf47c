"""Tables of several sites add up to the table of all their rows."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from every import INCREMENTAL, make
from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.frame import Frame
from tabled import assert_same, rows, source


def sites(table, folder):
    """Two thirds of the rows in one engine, the rest in another."""
    first, second = table[: len(table) * 2 // 3], table[len(table) * 2 // 3 :]
    second.to_parquet(folder / "second.parquet")
    return [source("relation", first, folder), pl.scan_parquet(folder / "second.parquet")]


@pytest.mark.parametrize("classifier", INCREMENTAL)
def test_the_model_of_several_sites_is_the_model_of_the_union(classifier, tmp_path):
    table = rows(150)
    (tmp_path / "union").mkdir()
    union = make(classifier).fit_table(source("path", table, tmp_path / "union"), weight="weight")
    assert_same(make(classifier).fit_table(sites(table, tmp_path), weight="weight"), union)


def test_a_class_may_be_at_one_site_only(tmp_path):
    table = rows(150).sort_values("y", ignore_index=True)
    (tmp_path / "union").mkdir()
    union = nk.TANClassifier().fit_table(source("path", table, tmp_path / "union"))
    assert_same(nk.TANClassifier().fit_table(sites(table, tmp_path)), union)


@pytest.mark.parametrize("n_values", [150_000, 99_990])
def test_numbers_with_many_values_are_cut_as_in_the_union(n_values, tmp_path):
    """Values of both sites together are too many, or overlap and are just few enough."""
    rng = np.random.default_rng(0)
    numbers = rng.permutation(n_values) / 7.0
    numbers = numbers if n_values > 100_000 else np.concatenate([numbers, numbers[:60_000]])
    table = pd.DataFrame({"a": numbers, "y": np.where(rng.random(len(numbers)) < numbers / numbers.max(), "p", "n")})
    (tmp_path / "union").mkdir()
    union = nk.NaiveBayesClassifier().fit_table(source("path", table, tmp_path / "union"))
    assert_same(nk.NaiveBayesClassifier().fit_table(sites(table, tmp_path)), union)


def test_rows_do_not_leave_their_sites(tmp_path, monkeypatch):
    table = pd.DataFrame({f"x{j}": np.arange(4000) % (3 + j) for j in range(4)}).assign(y=np.arange(4000) % 2)
    moved = []
    collect = Frame.collect
    monkeypatch.setattr(Frame, "collect", lambda *asked: moved.append(collect(*asked)) or moved[-1])
    nk.KDBClassifier(discretization="codes").fit_table(sites(table, tmp_path))
    assert sum(len(next(iter(answer.values()))) for answer in moved) < len(table) / 2
    with pytest.raises(EngineError, match="must see rows, which do not leave their sites"):
        nk.SKDBClassifier().fit_table(sites(table, tmp_path))


def test_columns_of_other_types_are_named(tmp_path):
    one, other = pl.LazyFrame({"a": [1, 2], "y": [0, 1]}), pl.LazyFrame({"a": ["1", "2"], "y": [0, 1]})
    with pytest.raises(ValueError, match=r"'a' is of type Int64 in table 0 and of type String in table 1"):
        nk.KDBClassifier().fit_table([one, other])
    with pytest.raises(ValueError, match=r"'b' is of type nothing in table 0"):
        nk.KDBClassifier().fit_table([one, one.with_columns(b=1)])
    with pytest.raises(ValueError, match="pass at least one"):
        nk.KDBClassifier().fit_table([])


@pytest.mark.parametrize("classifier", INCREMENTAL)
def test_classifiers_of_one_encoding_and_structure_merge_into_that_of_the_union(classifier, tmp_path):
    table = rows(150)
    shared = make(classifier).fit_table(sites(table, tmp_path), weight="weight")
    parts = [make(classifier).fit_table(site, weight="weight", like=shared) for site in sites(table, tmp_path)]
    assert_same(nk.merge(*parts), shared)
    X = table.drop(columns=["y", "weight"])
    np.testing.assert_array_equal(nk.merge(*parts).predict_proba(X), shared.predict_proba(X))


def test_merging_leaves_what_is_merged_as_it_was(tmp_path):
    shared = nk.NeuralKDBClassifier(random_state=0, epochs=1).fit_table(sites(rows(90), tmp_path), features=["size"])
    members, embeddings = shared.members_, shared.embeddings_.parents[0].copy()
    nk.merge(shared, shared)
    assert shared.members_ is members
    np.testing.assert_array_equal(shared.embeddings_.parents[0], embeddings)


def test_what_does_not_add_up_is_not_merged():
    table = duckdb.sql("SELECT a, a % 3 AS b, a % 5 AS c, (a % 2)::VARCHAR AS y FROM range(60) t(a)")
    one = nk.KDBClassifier(k=1).fit_table(table)
    with pytest.raises(ValueError, match=r"Classifier 1 encodes 'a' differently, .*like=shared"):
        nk.merge(one, nk.KDBClassifier(k=1).fit_table(table.project("a * 2.5 AS a, b, c, y")))
    with pytest.raises(ValueError, match=r"Classifier 2 has another structure"):
        nk.merge(one, one, nk.KDBClassifier(k=0).fit_table(table))
    with pytest.raises(ValueError, match=r"is a TANClassifier, not a KDBClassifier"):
        nk.merge(one, nk.TANClassifier().fit_table(table))
    with pytest.raises(ValueError, match=r"has the classes \['0'\]"):
        nk.merge(one, nk.KDBClassifier(k=1).fit_table(table.filter("y = '0'")))
    with pytest.raises(ValueError, match="nothing to merge"):
        nk.merge()


def test_values_that_the_shared_encoding_does_not_know_are_named():
    table = pl.LazyFrame({"c": ["a", "b"] * 5, "y": [0, 1] * 5})
    shared = nk.KDBClassifier().fit_table(table)
    with pytest.raises(ValueError, match=r"'c' holds 'z', which the encoding does not know"):
        nk.KDBClassifier().fit_table(table.with_columns(c=pl.lit("z")), like=shared)
    with pytest.raises(ValueError, match=r"target holds 7, which is none of the classes \[0, 1\]"):
        nk.KDBClassifier().fit_table(table.with_columns(y=pl.lit(7)), like=shared)
