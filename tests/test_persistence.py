"""What is saved is what is loaded, for every classifier."""

import copy
import hashlib
import io
import os
import pickle
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import neuralkdb
from every import CLASSIFIERS, accepts, make, mixed
from mutations import rows_for, variants
from neuralkdb.classifiers import saving
from neuralkdb.parameters.counted import Counted, MEstimate
from neuralkdb.persistence import archive
from neuralkdb.persistence.codec import Decoder, Encoder
from neuralkdb.persistence.numbers import described, read_arrays, smallest, write_arrays
from neuralkdb.structures.k_dependence import RotatedKDependence
from neuralkdb.structures.parent_sets import SuperParents
from neuralkdb.structures.selective import SelectiveKDependence
from neuralkdb.structures.tree import Tree

FILES = Path(__file__).parent / "files"
VERSION_1_EMBEDDINGS = "9d58f98c01339d411ae48ef579782503793f4fb3a319bf5e2bc5c00b12bdcd8e"


def saved_and_loaded(model: BaseEstimator, folder: Path) -> BaseEstimator:
    model.save(folder / "model.nkdb")
    return neuralkdb.load(folder / "model.nkdb")


def assert_same(one: BaseEstimator, other: BaseEstimator, X: object) -> None:
    assert type(one) is type(other)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.explain(X).values, other.explain(X).values)
    if hasattr(one, "predict_joint_log_proba"):
        np.testing.assert_array_equal(one.predict_joint_log_proba(X), other.predict_joint_log_proba(X))
    assert repr(one.structure_) == repr(other.structure_)


@pytest.mark.parametrize("model", variants(), ids=lambda model: type(model).__name__)
def test_probabilities_are_the_same_bits_after_a_round_trip(model, tmp_path):
    loaded = saved_and_loaded(model, tmp_path)
    assert_same(model, loaded, rows_for(model))
    assert {**loaded.get_params(), "random_state": None} == {**model.get_params(), "random_state": None}
    assert loaded.classes_.dtype == model.classes_.dtype
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("classifier", [each for each in CLASSIFIERS if hasattr(each, "partial_fit")])
def test_learning_goes_on_after_a_round_trip_as_it_would_have_without(classifier, tmp_path):
    X, y = mixed(120)
    X.loc[100, "colour"] = "mauve"
    random = {"random_state": np.random.RandomState(3)} if accepts(classifier, "random_state") else {}
    model = make(classifier, **random).fit(X[:80], y[:80])
    loaded = saved_and_loaded(model, tmp_path)
    assert_same(model.partial_fit(X[80:], y[80:]), loaded.partial_fit(X[80:], y[80:]), X)
    if hasattr(model, "loss_curve_"):
        assert model.loss_curve_ == loaded.loss_curve_


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_what_was_loaded_can_be_saved_again_as_the_same_file(classifier, tmp_path):
    make(classifier).fit(*mixed()).save(tmp_path / "once")
    neuralkdb.load(tmp_path / "once").save(tmp_path / "twice")
    assert (tmp_path / "once").read_bytes() == (tmp_path / "twice").read_bytes()


@pytest.mark.parametrize(
    "structure",
    [Tree(), SuperParents(1), RotatedKDependence(1), SelectiveKDependence(Counted(MEstimate()), 1)],
    ids=repr,
)
def test_structure_learners_are_saved_with_the_classifier(structure, tmp_path):
    X, y = mixed()
    model = make(neuralkdb.NeuralKDBClassifier, structure=structure).fit(X, y)
    loaded = saved_and_loaded(model, tmp_path)
    assert loaded.structure == structure
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1, 2, 3]),
        np.array([1.0, 2.0, 3.0]),
        np.array(["a", "é", ""]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([1, 2, 3], dtype=np.int8),
        np.array([2**60, 2**60 + 1, -(2**60)]),
        np.array([False, True, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_type(labels, tmp_path):
    X, y = mixed()
    model = neuralkdb.NaiveBayesClassifier().fit(X, labels[y])
    loaded = saved_and_loaded(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()


def test_categories_of_every_plain_type_are_kept(tmp_path):
    known = ["a", 1, 2.5, True, b"x", Decimal("1.10"), ("a", 2), frozenset({3}), date(2020, 1, 2)]
    known += [datetime(2020, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), timedelta(days=1, seconds=2), [1, 2], None]
    X = pd.DataFrame({"anything": pd.Series(known * 3, dtype=object), "number": np.arange(39.0)})
    model = neuralkdb.NaiveBayesClassifier().fit(X, np.arange(39) % 2)
    assert_same(model, saved_and_loaded(model, tmp_path), X)


def test_a_category_of_another_type_is_refused_with_the_way_out(tmp_path):
    X = pd.DataFrame({"place": pd.Series([object(), object()], dtype=object)})
    model = neuralkdb.NaiveBayesClassifier().fit(X, [0, 1])
    with pytest.raises(neuralkdb.ModelFileError, match=r"of the type builtins\.object: use text"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Mine(neuralkdb.NaiveBayesClassifier):
    """A classifier of somebody else."""


class Chain:
    """A structure learner of somebody else."""

    def learn(self, counts):
        return Tree().learn(counts)


def test_classes_that_are_not_of_the_library_are_refused(tmp_path):
    X, y = mixed()
    with pytest.raises(neuralkdb.ModelFileError, match="Mine is not a class of neuralkdb"):
        Mine().fit(X, y).save(tmp_path / "model")
    with pytest.raises(neuralkdb.ModelFileError, match=r"cannot hold .*Chain"):
        make(neuralkdb.NeuralKDBClassifier, structure=Chain()).fit(X, y).save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        neuralkdb.NaiveBayesClassifier().save(tmp_path / "model")


def test_features_chosen_by_a_data_frames_columns_are_saved(tmp_path):
    X, y = mixed()
    model = neuralkdb.NaiveBayesClassifier(categorical_features=X.columns[:2]).fit(X, y)
    assert_same(model, saved_and_loaded(model, tmp_path), X)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_pickle_and_joblib_keep_the_bits_too(classifier):
    X, y = mixed()
    model = make(classifier).fit(X, y)
    model.predict_proba(X)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for loaded in (pickle.loads(pickle.dumps(model)), joblib.load(file), copy.deepcopy(model)):
        assert_same(model, loaded, X)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_skops_keeps_the_bits_too(classifier):
    skops = pytest.importorskip("skops.io")
    X, y = mixed()
    model = make(classifier).fit(X, y)
    data = skops.dumps(model)
    trusted = skops.get_untrusted_types(data=data)
    assert all(name.startswith(("neuralkdb.", "numpy.")) for name in trusted), trusted
    assert_same(model, skops.loads(data, trusted=trusted), X)


@pytest.mark.parametrize(("name", "rtol"), [("version_1", 1e-5), ("version_1_counts", 1e-12)])
def test_a_file_of_version_1_loads(name, rtol):
    """Written by tests/files/write_version_1.py when version 1 was the newest; never written again.

    Sums over embeddings are of single precision, and processors add them up in different orders.
    """
    model = neuralkdb.load(FILES / f"{name}.nkdb")
    expected = pd.read_csv(FILES / f"{name}.csv")
    found = model.predict_proba(expected.drop(columns=["p_no", "p_yes"]))
    np.testing.assert_allclose(found, expected[["p_no", "p_yes"]], rtol=rtol)


def test_the_numbers_in_a_file_of_version_1_are_read_bit_for_bit():
    """They are the same on all processors, unlike what is computed from them."""
    numbers = neuralkdb.load(FILES / "version_1.nkdb")._embeddings.values
    assert hashlib.sha256(numbers.tobytes()).hexdigest() == VERSION_1_EMBEDDINGS


def test_an_older_version_is_upgraded_step_by_step(monkeypatch, tmp_path):
    X, y = mixed()
    model = neuralkdb.NaiveBayesClassifier().fit(X, y)
    model.save(tmp_path / "old")
    monkeypatch.setattr(saving, "VERSION", 3)
    steps = []
    monkeypatch.setattr(saving, "UPGRADES", {n: lambda document, n=n: steps.append(n) or document for n in (1, 2)})
    np.testing.assert_array_equal(neuralkdb.load(tmp_path / "old").predict_proba(X), model.predict_proba(X))
    assert steps == [1, 2]


KILLED = """
import os, sys, neuralkdb
from neuralkdb.parameters.counted import Counted, MEstimate
from neuralkdb.persistence import archive
archive.os.fsync = lambda number: os.kill(os.getpid(), 9)
neuralkdb.NaiveBayesClassifier().fit([[1], [2]], [0, 1]).save(sys.argv[1])
"""


def test_a_kill_while_saving_leaves_the_old_file(tmp_path):
    X, y = mixed()
    model = neuralkdb.TANClassifier().fit(X, y)
    model.save(tmp_path / "model")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "model")], check=False)
    assert done.returncode == -9
    assert_same(model, neuralkdb.load(tmp_path / "model"), X)


def test_a_failure_while_saving_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    X, y = mixed()
    model = neuralkdb.TANClassifier().fit(X, y)
    model.save(tmp_path / "model")

    def full(number):
        raise OSError("no space left")

    monkeypatch.setattr(archive.os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        neuralkdb.NaiveBayesClassifier().fit(X, y).save(tmp_path / "model")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert_same(model, neuralkdb.load(tmp_path / "model"), X)


def test_saving_through_a_link_writes_what_it_points_to(tmp_path):
    (tmp_path / "folder").mkdir()
    os.symlink("folder/model", tmp_path / "link")
    neuralkdb.TANClassifier().fit(*mixed()).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert neuralkdb.load(tmp_path / "folder" / "model").predict(mixed()[0]).shape == (80,)


def test_files_are_readable_as_others_are(tmp_path):
    (tmp_path / "other").write_text("")
    neuralkdb.TANClassifier().fit(*mixed()).save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([0.0, 3.0], "uint8"),
        ([0.0, 300.0], "uint16"),
        ([0.0, 70000.0], "uint32"),
        ([0.0, 2.0**32], "float64"),
        ([0.5], "float64"),
        ([-0.0], "float64"),
        ([-1.0], "float64"),
        ([np.nan, 1.0], "float64"),
        ([np.inf], "float64"),
        ([], "uint8"),
    ],
)
def test_numbers_are_stored_as_small_as_they_go(numbers, expected):
    assert smallest(np.array(numbers)).name == expected


def test_values_are_stored_once_however_often_they_occur():
    encoder, array = Encoder(), np.arange(3)
    tree = Tree()
    encoded = encoder.encode((array, array, tree, tree, Tree()))
    assert len(encoder.arrays) == 1
    assert len(encoder.entries) == 2
    decoder = Decoder(encoder.arrays, 100)
    decoder.read(encoder.entries)
    first, second, one, other, last = decoder.decode(encoded)
    assert first is second
    assert one is other
    assert one is not last


@pytest.mark.parametrize("numbers", [np.zeros(2**22), np.random.default_rng(0).random(2**22)], ids=["zeros", "noise"])
def test_what_would_expand_suspiciously_is_stored_uncompressed(numbers, tmp_path):
    description = described(numbers)
    archive.write_archive(
        tmp_path / "file",
        lambda stream: stream.write(b"{}"),
        lambda stream: write_arrays([numbers], [description], stream),
    )
    with open(tmp_path / "file", "rb") as file, archive.opened(file) as (_, stream, most_bytes):
        (read,) = read_arrays([description], stream, most_bytes)
    np.testing.assert_array_equal(read, numbers)
