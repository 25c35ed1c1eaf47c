"""What Spark counts is what is counted in memory, also where an executor dies."""

import os
import shutil
import socket
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest

import neuralkdb as nk
from neuralkdb.cli import main
from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.tables import table_data
from tabled import Door, assert_same, assert_same_parts, in_memory, rows

pytest.importorskip("pyspark", reason="PySpark is not installed: the extra spark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java 17, which is not here", allow_module_level=True)
from losing import executor_lost_while_counting

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
QUICK_TO_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # these tests are over before a thorough compiler pays
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK_TO_START,
    "spark.executor.extraJavaOptions": QUICK_TO_START,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


@pytest.fixture(scope="module")
def spark():
    """Two workers in processes of their own."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def tabled(spark, table, folder):
    """The table in Spark, and in memory."""
    here = in_memory(table, folder)
    return spark.read.parquet(str(folder / "memory.parquet")).repartition(3), here


def test_spark_learns_what_is_learned_in_memory_and_predicts_it(spark, tmp_path):
    table = rows(300).assign(id=np.arange(300))
    there, here = tabled(spark, table, tmp_path)
    features = ["size", "colour", "lit", "day", "steps"]
    learned = nk.KDBClassifier().fit_table(there, weight="weight", features=features)
    expected = nk.KDBClassifier().fit(here[features], here["y"].to_numpy(object), sample_weight=here["weight"])
    assert_same(learned, expected)
    learned.predict_table(there, tmp_path / "out", keep=["id", "y"])
    written = pd.read_parquet(tmp_path / "out").sort_values("id", ignore_index=True)
    assert written.columns.tolist() == ["id", "y", "prediction", "probability_no", "probability_so", "probability_yes"]
    np.testing.assert_array_equal(written["prediction"], learned.predict(here[features]))
    np.testing.assert_array_equal(written.filter(like="probability").to_numpy(), learned.predict_proba(here[features]))


def few_codes(n_rows, n_columns=4):
    """Columns of four values, and two classes."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.integers(0, 4, n_rows) for j in range(n_columns)}
    return pd.DataFrame(columns).assign(y=rng.integers(0, 2, n_rows))


def test_nothing_is_lost_with_an_executor(spark, tmp_path):
    """It is killed while it counts, and coded rows are lost with it."""
    there, here = tabled(spark, few_codes(20_000), tmp_path)
    with executor_lost_while_counting(spark) as lost:
        learned = nk.KDBClassifier(discretization="codes").fit_table(there)
    assert lost[0] > 0
    assert_same(learned, nk.KDBClassifier(discretization="codes").fit(here.drop(columns="y"), here["y"].to_numpy()))


def test_nothing_but_the_cells_asked_for_leaves_spark(spark, tmp_path, monkeypatch):
    there, _ = tabled(spark, few_codes(5000), tmp_path)
    door, sent = Door(monkeypatch), Sent(monkeypatch)
    learned = nk.KDBClassifier(discretization="codes").fit_table(there)
    values, bounds, labels = 4 * 4 * 2, 1, 2
    singles, pairs = 4 * 4 * 2, 6 * 16 * 2
    families = sum(len(each.cells()[2]) for each in learned.members_[0].statistics.tables.values())
    assert sent.rows == door.rows <= values + bounds + labels + singles + pairs + families < 5000
    assert door.queries == 6


def test_a_sample_leaves_spark_in_batches_in_the_order_of_its_codes(spark, tmp_path, monkeypatch):
    there, _ = tabled(spark, few_codes(3000, 6).assign(weight=np.arange(3000) % 3 / 2), tmp_path)
    with coded(there) as mine, coded(pl.scan_parquet(tmp_path / "memory.parquet")) as theirs:
        sent = Sent(monkeypatch)
        some, same = mine.sampled(300), theirs.sampled(300)
        assert_same_parts(some.class_weights(), same.class_weights())
        assert_same_parts(list(some.of_class(1).blocks(64)), list(same.of_class(1).blocks(64)))
        assert sent.rows == 1 + 2
        assert 0 < sent.batches < 10


@contextmanager
def coded(table):
    """The coded rows that are counted."""
    with table_data(table, "y", "weight", None) as data:
        yield data.counts(data.encoding(None, "value", "from_dtype"))


class Sent:
    """How many rows Spark has sent here, in whatever way, and how many batches of coded rows."""

    def __init__(self, monkeypatch):
        from pyspark.sql.classic.dataframe import DataFrame

        self.rows = self.batches = 0
        for way in ("collect", "toArrow", "toPandas"):
            monkeypatch.setattr(DataFrame, way, self.counted(getattr(DataFrame, way)))
        stream = DataFrame.toLocalIterator
        monkeypatch.setattr(DataFrame, "toLocalIterator", lambda *asked, **options: self.passed(stream(*asked)))

    def counted(self, send):
        def counting(*asked, **options):
            answer = send(*asked, **options)
            self.rows += len(answer)
            return answer

        return counting

    def passed(self, batches):
        for batch in batches:
            self.batches += 1
            assert len(batch["weights"]) <= 8 * 10_000  # as many as Spark puts into a batch
            yield batch


def test_a_job_that_fails_half_way_is_one_error_and_writes_nothing(spark, tmp_path):
    broken = spark.sql("SELECT CAST(id % 3 AS INT) AS a, raise_error('a disk is gone') AS b, id % 2 AS y FROM range(9)")
    broken = broken.selectExpr("a", "CAST(b AS STRING) AS b", "y")
    classifier = nk.KDBClassifier()
    with pytest.raises(EngineError, match=r"Spark failed while counting values: .*a disk is gone"):
        classifier.fit_table(broken)
    assert not hasattr(classifier, "members_")
    learned = nk.KDBClassifier().fit(pd.DataFrame({"a": [0, 1], "b": ["x", "y"]}), [0, 1])
    with pytest.raises(EngineError, match=r"Spark failed while predicting"):
        learned.predict_table(broken, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_what_fails_in_a_worker_is_said_without_its_traceback(spark):
    def full(batches):
        raise OSError("a disk is full")

    table = spark.range(9).selectExpr("id AS a", "id % 2 AS y").mapInArrow(full, "a long, y long")
    with pytest.raises(EngineError, match=r"Spark failed while counting classes: [^/]*OSError: a disk is full$"):
        nk.KDBClassifier().fit_table(table)


def test_columns_of_types_that_spark_alone_knows_are_named(spark):
    with pytest.raises(TypeError, match=r"'m' is of type .*leave it out with features="):
        nk.KDBClassifier().fit_table(spark.sql("SELECT id % 2 AS y, array(id) AS m FROM range(4)"))
    with pytest.raises(ValueError, match=r"target 'y' is missing in 2 rows"):
        nk.KDBClassifier().fit_table(spark.sql("SELECT id AS a, nullif(id % 2, 1) AS y FROM range(4)"))


def test_the_command_line_connects_to_a_master_that_is_there(spark, tmp_path, capsys):
    here = in_memory(rows(120).drop(columns="weight"), tmp_path)
    out = str(tmp_path / "model.nkdb")
    asked = ["fit", str(tmp_path / "memory.parquet"), "--target", "y", "--model", "NaiveBayes", "-o", out]
    assert main([*asked, "--engine", "spark", "--master", spark.conf.get("spark.master")]) == 0
    assert "learned from counts by spark" in capsys.readouterr().out
    expected = nk.NaiveBayesClassifier().fit(here.drop(columns="y"), here["y"].to_numpy(object))
    assert_same(nk.load(out), expected)


def test_a_master_that_is_not_there_is_named(tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = ["fit", str(tmp_path / "a.parquet"), "--target", "y", "-o", str(tmp_path / "m.nkdb"), "--engine", "spark"]
    assert main([*asked, "--master", f"spark://127.0.0.1:{port}"]) == 2
    assert f"There is no Spark master at spark://127.0.0.1:{port}" in capsys.readouterr().err
    assert main([*asked, "--master", "127.0.0.1:7077"]) == 2
    assert "127.0.0.1:7077 is no Spark master: name one as spark://host:7077" in capsys.readouterr().err
    assert main(asked) == 2
    assert "name it with --master" in capsys.readouterr().err
