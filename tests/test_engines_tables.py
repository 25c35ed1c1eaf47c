"""What is learned from a table in an engine is what is learned from the same rows in memory."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from every import CLASSIFIERS, make
from neuralkdb.engines.counts import TableCounts
from neuralkdb.engines.frame import WEIGHT, Frame
from neuralkdb.engines.local import LocalEngine
from neuralkdb.engines.unions import CodedFrame
from neuralkdb.tables import SparseTable
from tabled import SOURCES, Door, assert_same, in_memory, rows, source

every_source = pytest.mark.parametrize("kind", SOURCES)


def learned_twice(classifier, table, kind, folder, **options):
    """The classifier from the engine, and from memory."""
    weight = options.get("weight")
    here = in_memory(table, folder)
    features = [name for name in here if name not in ("y", "weight")]
    from_engine = classifier.fit_table(source(kind, table, folder), features=features, **options)
    from_memory = type(classifier)(**classifier.get_params())
    from_memory.fit(here[features], here["y"].to_numpy(object), sample_weight=None if weight is None else here[weight])
    return from_engine, from_memory, here[features]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_learns_the_same_from_an_engine_and_from_memory(classifier, tmp_path):
    one, other, X = learned_twice(make(classifier), rows(120), "path", tmp_path)
    assert_same(one, other)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("missing", ["value", "impute", "marginalize"])
@every_source
def test_engines_agree_whatever_is_missing(kind, missing, tmp_path):
    assert_same(*learned_twice(nk.KDBClassifier(missing=missing), rows(), kind, tmp_path)[:2])


@pytest.mark.parametrize("discretization", ["mdl", "width", "quantile"])
@every_source
def test_engines_agree_on_cut_points_and_marked_categories(kind, discretization, tmp_path):
    marked = nk.TANClassifier(discretization=discretization, categorical_features=["steps", "count"])
    assert_same(*learned_twice(marked, rows(), kind, tmp_path)[:2])


@every_source
def test_weights_count_as_in_memory_and_rows_of_weight_zero_do_not_exist(kind, tmp_path):
    for classifier in (nk.KDBClassifier(missing="marginalize"), nk.AODEClassifier()):
        assert_same(*learned_twice(classifier, rows(), kind, tmp_path, weight="weight")[:2])


@every_source
def test_numbers_with_many_values_are_cut_on_the_same_grid(kind, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150_000)
    table = pd.DataFrame(
        {
            "normal": rng.normal(y, 1.0),
            "skewed": np.exp(rng.normal(y, 4.0)),
            "far": 1.7e18 + rng.integers(0, 10**15, len(y)).astype(float),
            "few_in_a_corner": np.where(np.arange(len(y)) == 7, 1e12, rng.integers(0, 400, len(y)) / 1e3),
            "y": y,
        }
    )
    one, other, _ = learned_twice(nk.KDBClassifier(), table.astype({"y": str}), kind, tmp_path)
    assert_same(one, other)
    assert max(len(coder.cuts) for coder in one.members_[0].encoding.coders) > 4


def test_sparse_tables_are_the_same(tmp_path):
    rng = np.random.default_rng(0)
    names = np.array([f"name {i}" for i in range(300)], dtype=object)
    table = pd.DataFrame({f"x{j}": rng.choice(names, 600) for j in range(3)}).assign(y=rng.choice(["a", "b"], 600))
    one, other, _ = learned_twice(nk.KDBClassifier(), table, "polars", tmp_path)
    assert any(isinstance(each, SparseTable) for each in one.members_[0].statistics.tables.values())
    assert_same(one, other)


def test_labels_may_be_numbers_bools_or_text(tmp_path):
    table = rows(90)
    for labels in (
        np.arange(90) % 3 * 10,
        np.arange(90) % 2 == 0,
        np.array(list("abc"), dtype=object)[np.arange(90) % 3],
    ):
        learned = nk.NaiveBayesClassifier().fit_table(source("polars", table.assign(y=labels), tmp_path))
        np.testing.assert_array_equal(learned.classes_, np.unique(labels))
        assert learned.classes_.dtype == labels.dtype


def test_a_folder_and_a_pattern_are_the_table_of_their_files(tmp_path):
    table = rows(100).drop(columns="weight")
    (tmp_path / "parts" / "more").mkdir(parents=True)
    table[:40].to_parquet(tmp_path / "parts" / "a.parquet")
    table[40:].to_parquet(tmp_path / "parts" / "more" / "b.parquet")
    whole = nk.KDBClassifier().fit_table(source("path", table, tmp_path))
    assert_same(nk.KDBClassifier().fit_table(tmp_path / "parts"), whole)
    assert_same(nk.KDBClassifier().fit_table(f"{tmp_path}/parts/**/*.parquet"), whole)


def test_tables_of_csv_and_duckdb_files_are_read(tmp_path):
    table = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "b": ["x", "y"] * 10, "y": ["n", "n", "p", "p"] * 5})
    table.to_csv(tmp_path / "rows.csv", index=False)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute(f"CREATE TABLE one AS FROM '{tmp_path}/rows.csv'")
        connection.execute("CREATE TABLE other AS FROM one WHERE a < 3")
    whole = nk.TANClassifier().fit_table(pl.from_pandas(table).lazy())
    assert_same(nk.TANClassifier().fit_table(tmp_path / "rows.csv"), whole)
    assert_same(nk.TANClassifier().fit_table(f"{tmp_path}/rows.duckdb::one"), whole)
    assert nk.TANClassifier().fit_table(f"{tmp_path}/rows.duckdb::other").classes_.tolist() == ["n"]


@every_source
def test_nothing_but_the_cells_asked_for_leaves_an_engine(kind, tmp_path, monkeypatch):
    """Pairs and families are summed up from wider tables, which stay inside."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{j}": rng.integers(0, 4, 5000) for j in range(8)}).assign(y=rng.integers(0, 2, 5000))
    door = Door(monkeypatch)
    learned = nk.KDBClassifier(discretization="codes").fit_table(source(kind, table, tmp_path))
    values, bounds, labels = 8 * 4 * 2, 1, 2
    singles, pairs = 8 * 4 * 2, 28 * 16 * 2
    families = sum(len(each.cells()[2]) for each in learned.members_[0].statistics.tables.values())
    assert door.rows <= values + bounds + labels + singles + pairs + families < len(table)
    assert door.queries == 6


@every_source
def test_learners_that_score_rows_see_them_a_few_at_a_time(kind, tmp_path, monkeypatch):
    """The same rows in the same blocks as from memory, so that sums are the same to the last bit."""
    monkeypatch.setattr("neuralkdb.structures.scoring.BLOCK_ENTRIES", 1)
    monkeypatch.setattr(TableCounts, "rows", lambda counts: pytest.fail("all rows were asked for"))
    sizes = seen_blocks(monkeypatch)
    for classifier in (nk.SKDBClassifier(k=2, loss="rmse"), nk.ESKDBClassifier(n_members=2, k=1, random_state=0)):
        sizes.clear()
        one, other, X = learned_twice(classifier, rows(1000), kind, tmp_path, weight="weight")
        assert_same(one, other)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        assert len(sizes) > 5
        assert max(sizes) == 64


def seen_blocks(monkeypatch):
    """How many rows came each time."""
    blocks, sizes = TableCounts.blocks, []

    def seen(counts, n_rows):
        for block in blocks(counts, n_rows):
            sizes.append(len(block.classes))
            yield block

    monkeypatch.setattr(TableCounts, "blocks", seen)
    return sizes


def test_coded_rows_are_let_go_when_the_fit_is_done_or_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    nk.KDBClassifier().fit_table(source("path", rows(), tmp_path))
    monkeypatch.setattr(CodedFrame, "cells", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        nk.KDBClassifier().fit_table(source("path", rows(), tmp_path))
    assert not list((tmp_path / "temporary").iterdir())


def test_the_answer_has_a_weight_for_every_cell():
    frame = pl.LazyFrame({"f0": [0, 0, 1], "f1": [2, 2, 0], "class": [0, 0, 1]})
    engine = LocalEngine("polars")
    (answer,) = CodedFrame(Frame.of(frame, engine), engine.streamed, (2, 3), 2, {}).cells([(0, 1)])
    cells = sorted(zip(answer["v0"].tolist(), answer["v1"].tolist(), answer[WEIGHT].tolist(), strict=True))
    assert cells == [(0, 2, 2.0), (1, 0, 1.0)]
