"""What Spark counts is what is counted in memory, also where an executor dies."""

import os
import shutil
import signal
import socket
import warnings
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import neuralkdb as nk
from neuralkdb.cli import main
from neuralkdb.engines.errors import EngineError
from neuralkdb.engines.frame import Frame
from tabled import assert_same, in_memory, rows

pytest.importorskip("pyspark", reason="PySpark is not installed: the extra spark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java 17, which is not here", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


@pytest.fixture(scope="module")
def spark():
    """Two workers in processes of their own."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
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


def test_nothing_is_lost_with_an_executor(spark, tmp_path, monkeypatch):
    """It is killed while it counts, when it holds coded rows."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{j}": rng.integers(0, 4, 20_000) for j in range(4)}).assign(y=rng.integers(0, 2, 20_000))
    there, here = tabled(spark, table, tmp_path)
    killed = []
    ask = Frame.cells

    def cells(frame, *asked):
        if not killed:
            frame.lazy.to_native().count()  # the coded rows are in the executors now
            killed.append(executors()[0])
            Thread(target=os.kill, args=(killed[0], signal.SIGKILL)).start()
        return ask(frame, *asked)

    monkeypatch.setattr(Frame, "cells", cells)
    learned = nk.KDBClassifier(discretization="codes").fit_table(there)
    assert killed
    assert_same(learned, nk.KDBClassifier(discretization="codes").fit(here.drop(columns="y"), here["y"].to_numpy()))


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
    assert main(asked) == 2
    assert "name it with --master" in capsys.readouterr().err


def executors():
    """The processes of executors, of all that this process has started."""
    return [pid for pid in below(os.getpid()) if "CoarseGrainedExecutorBackend" in command_of(pid)]


def below(pid):
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [each for child in children for each in (child, *below(child))]


def command_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_text()
