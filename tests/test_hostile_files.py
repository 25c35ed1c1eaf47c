"""Files that are cut off, changed, hostile or from the future: one kind of error, which says what is wrong."""

import io
import json
import random
import resource
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import neuralkdb
from every import CLASSIFIERS, make, mixed
from mutations import many_values, mutated, packed, survives, unpacked, variants
from neuralkdb.persistence.archive import FREE, NUMBERS

NUMBER_OF_MUTATIONS = 500


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A good file."""
    path = tmp_path_factory.mktemp("files") / "model.nkdb"
    make(neuralkdb.KDBClassifier).fit(*mixed()).save(path)
    return path.read_bytes()


def said_of(data: bytes, folder) -> str:
    (folder / "bad.nkdb").write_bytes(data)
    with pytest.raises(neuralkdb.ModelFileError) as found:
        neuralkdb.load(folder / "bad.nkdb")
    assert str(found.value).startswith(f"{folder / 'bad.nkdb'} cannot be loaded: ")
    assert "\n" not in str(found.value)
    return str(found.value)


def changed(file: bytes, change) -> bytes:
    document, numbers = unpacked(file)
    change(document)
    return packed(document, numbers)


def entry(document, name: str):
    return next(fields for kind, fields in document["values"] if kind == name)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", b"\x80\x04\x95", b'{"format": "neuralkdb"}'])
def test_what_is_no_model_file_is_said_to_be_none(data, tmp_path):
    assert "it is no model file, or only a part of one" in said_of(data, tmp_path)


def test_every_truncation_is_refused(file, tmp_path):
    for length in range(0, len(file), 7):
        said_of(file[:length], tmp_path)


def test_a_zip_of_something_else_is_refused(tmp_path):
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("../../model.json", "{}")
    assert "it does not hold model.json and numbers.bin" in said_of(other.getvalue(), tmp_path)
    assert "it is no model file of neuralkdb" in said_of(packed([], b""), tmp_path)


@pytest.mark.parametrize("name", ["/model.json", "../model.json", "model.json/", "MODEL.JSON"])
def test_paths_that_lead_elsewhere_are_refused(name, file, tmp_path):
    document, numbers = unpacked(file)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(name, json.dumps(document))
        archive.writestr("numbers.bin", numbers)
    assert "it does not hold" in said_of(other.getvalue(), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["bad.nkdb"]


def test_more_members_than_two_are_refused(file, tmp_path):
    document, numbers = unpacked(file)
    other = io.BytesIO(packed(document, numbers))
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("more", "")
    assert "it does not hold" in said_of(other.getvalue(), tmp_path)


def test_a_newer_file_says_so(file, tmp_path):
    said = said_of(changed(file, lambda document: document.update(version=2)), tmp_path)
    assert "it was written by a newer neuralkdb, in version 2 of the format; this one reads up to 1" in said


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, None, True])
def test_a_version_that_is_none_is_refused(version, file, tmp_path):
    assert "version" in said_of(changed(file, lambda document: document.update(version=version)), tmp_path)


@pytest.mark.parametrize("name", ["os.system", "Path", "Mine", "BaseEstimator", "", None, 3, ["x"]])
def test_classes_and_types_that_are_not_listed_are_never_looked_for(name, file, tmp_path):
    said_of(changed(file, lambda document: document.update({"class": name})), tmp_path)

    def change(document):
        document["values"][0][0] = name

    said_of(changed(file, change), tmp_path)


def test_an_abstract_class_is_refused(file, tmp_path):
    said_of(changed(file, lambda document: document.update({"class": "BayesianNetworkClassifier"})), tmp_path)


def test_a_changed_byte_of_the_numbers_is_noticed(file, tmp_path):
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        at = archive.getinfo(NUMBERS).header_offset + 30 + len(NUMBERS) + 20 + 5
    bad = bytearray(file)
    bad[at] ^= 1
    assert "it is damaged" in said_of(bytes(bad), tmp_path)


def bomb(n_bytes: int, shape: list[int], document) -> bytes:
    """A small file whose numbers expand a thousandfold."""
    document["arrays"] = [{"type": "uint8", "stored": "uint8", "shape": shape, "order": "C"}]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("model.json", json.dumps(document))
        with archive.open(NUMBERS, "w") as member:
            for _ in range(n_bytes // 2**20):
                member.write(bytes(2**20))
    return file.getvalue()


def test_a_zip_bomb_is_refused_before_it_expands(file, tmp_path):
    document, _ = unpacked(file)
    data = bomb(2**28, [2**28], document)
    assert len(data) < 2**20
    tracemalloc.start()
    assert "claims" in said_of(data, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**22


def test_numbers_that_are_more_than_the_zip_says_are_refused(file, tmp_path):
    """The zip claims few bytes, and its data has many."""
    document, _ = unpacked(file)
    data = bytearray(bomb(2**28, [100], document))
    size = struct.pack("<L", 2**28)
    where = data.rfind(size)
    data[where : where + 4] = struct.pack("<L", 100)
    tracemalloc.start()
    said_of(bytes(data), tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < FREE[NUMBERS]


def test_a_bomb_of_json_is_refused(file, tmp_path):
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("model.json", "[" + "0," * 2**26 + "0]")
        archive.writestr("numbers.bin", b"")
    assert "model.json claims" in said_of(other.getvalue(), tmp_path)


@pytest.mark.parametrize(
    "shape", [[2**62], [2**20, 2**20], [2**31, 2**31, 2**31], [10**30], [-1], [1.5], ["1"], [True], None, 7]
)
def test_huge_and_odd_shapes_are_refused(shape, file, tmp_path):
    def change(document):
        document["arrays"][0]["shape"] = shape

    said = said_of(changed(file, change), tmp_path)
    assert "claim" in said or "shape" in said


@pytest.mark.parametrize(
    "name", ["object", "O", "|V8", "complex128", "float128", "datetime64[s]", "U5", "", None, 1, ["u1"]]
)
@pytest.mark.parametrize("key", ["type", "stored"])
def test_types_of_numbers_that_are_not_listed_are_refused(name, key, file, tmp_path):
    def change(document):
        document["arrays"][0][key] = name

    said_of(changed(file, change), tmp_path)


def test_deep_nesting_is_refused(file, tmp_path):
    document, numbers = unpacked(file)
    deep = json.dumps(document).replace('"values":', '"deep": ' + "[" * 100_000 + "]" * 100_000 + ', "values":')
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("model.json", deep)
        archive.writestr("numbers.bin", numbers)
    assert "it is damaged" in said_of(other.getvalue(), tmp_path)


def test_references_that_double_at_every_step_take_no_time(file, tmp_path):
    def change(document):
        values = [["KDependence", {"k": 1}]]
        values += [["ExpandedSuperParents", {"sets": {"value": at}}] for at in range(1000)]
        document["values"] = values
        document["parameters"]["k"] = [{"value": 1000}] * 1000

    started = time.perf_counter()
    said_of(changed(file, change), tmp_path)
    assert time.perf_counter() - started < 1.0


def test_one_long_text_among_many_takes_no_memory(file, tmp_path):
    def change(document):
        document["fitted"]["classes_"] = {"texts": ["a" * 50_000, *(["b"] * 10_000)], "width": 50_000}

    tracemalloc.start()
    assert "its texts are too long" in said_of(changed(file, change), tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


def _edit(name, **fields):
    def change(document):
        entry(document, name).update(fields)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _edit("Family", child=99),
        _edit("Family", child=-1),
        _edit("Family", parents=[0, 99]),
        _edit("Family", child=2**40),
        _edit("Intervals", missing=10**12),
        _edit("Intervals", missing=-1),
        _edit("Intervals", n_intervals=10**12),
        _edit("Intervals", n_intervals=0),
        _edit("Categories", levels=[]),
        _edit("Categories", levels=[{"list": []}]),
        _edit("Encoding", missing="anything"),
        _edit("Encoding", coders=[]),
        _edit("DenseTable", weights={"array": 0}),
        _edit("MEstimate", m=-1.0),
        _edit("MEstimate", m={"float": "nan"}),
        _edit("Member", weight=0.0),
        _edit("Member", weight={"float": "inf"}),
        _edit("Member", structure=None),
        _edit("Member", unheard=1),
        _edit("Structure", weights=[]),
        _edit("Structure", averages="nothing"),
        _edit("Structure", min_count={"float": "nan"}),
        lambda document: document["fitted"].update(n_features_in_=3),
        lambda document: document["fitted"].update(n_features_in_=10**9),
        lambda document: document["fitted"].update(n_features_in_=2**40, feature_names_in_=None),
        lambda document: document["fitted"].update(n_features_in_=2**40) or document["fitted"].pop("feature_names_in_"),
        lambda document: document["fitted"].update(predict=1),
        lambda document: document["fitted"].pop("members_"),
        lambda document: document["parameters"].update(k=-1),
        lambda document: document["parameters"].update(n_jobs=0),
        lambda document: document["parameters"].update(unheard=1),
        lambda document: document["values"][-1][1].update(encoding={"value": 10**9}),
        lambda document: document["values"][-1][1].update(encoding={"value": -1}),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(change, file, tmp_path):
    said_of(changed(file, change), tmp_path)


def with_numbers(file: bytes, number: float, where) -> bytes:
    """The file with one number of an array changed, the array chosen by its description."""
    document, numbers = unpacked(file)
    data, at = bytearray(), 0
    for description in document["arrays"]:
        stored = np.dtype(description["stored"])
        array = np.frombuffer(numbers, stored, int(np.prod(description["shape"])), at).astype(description["type"])
        at += array.size * stored.itemsize
        if where(description, array):
            array[len(array) // 2] = number
        description["stored"] = description["type"]
        data += array.tobytes()
    return packed(document, bytes(data))


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0])
def test_counts_that_are_none_are_refused(number, file, tmp_path):
    data = with_numbers(file, number, lambda description, array: description["type"] == "float64" and array.size == 3)
    said_of(data, tmp_path)


@pytest.mark.parametrize(
    ("type_", "number"), [("int64", 10**9), ("int64", -1), ("uint8", 255), ("uint8", 91), ("float64", -1.0)]
)
def test_cells_of_sparse_tables_out_of_range_are_refused(type_, number, tmp_path):
    X, y = many_values()
    neuralkdb.KDBClassifier(k=2).fit(X, y).save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    assert any(kind == "SparseTable" for kind, _ in unpacked(good)[0]["values"])
    said_of(
        with_numbers(good, number, lambda description, array: description["type"] == type_ and array.size > 5), tmp_path
    )


@pytest.mark.parametrize(("type_", "number"), [("int64", 10**9), ("int64", -1), ("uint32", 2**31)])
def test_packed_counts_out_of_range_are_refused(type_, number, tmp_path):
    X, y = many_values()
    neuralkdb.AnDEClassifier(n=1).fit(X, y).save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    said_of(
        with_numbers(good, number, lambda description, array: description["type"] == type_ and array.size), tmp_path
    )


def test_families_counted_more_often_than_their_parents_are_refused(tmp_path):
    X, y = many_values()
    neuralkdb.AnDEClassifier(n=1).fit(X, y).save(tmp_path / "good")
    document, numbers = unpacked((tmp_path / "good").read_bytes())
    families = next(fields for kind, fields in document["values"] if kind == "PackedCounts" and fields["size"] == 2)
    changed_one = document["arrays"][families["parts"][4]["array"]]
    data = with_numbers(packed(document, numbers), 255, lambda description, array: description == changed_one)
    assert "families are counted more often than their parents" in said_of(data, tmp_path)


def test_a_missing_file_is_no_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        neuralkdb.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        neuralkdb.load(tmp_path)


def test_files_with_random_damage_are_refused_or_predict(tmp_path):
    files = []
    for model in variants():
        model.save(tmp_path / "good")
        files.append((tmp_path / "good").read_bytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loaded = 0
    for number in range(NUMBER_OF_MUTATIONS):
        bad = mutated(files[number % len(files)], random.Random(number))
        loaded += survives(bad, tmp_path / "bad")
    assert 0 < loaded < NUMBER_OF_MUTATIONS / 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kilobytes


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_the_document_names_no_module(classifier, tmp_path):
    """What is read is looked up in a list of this library's, never imported by name."""
    make(classifier).fit(*mixed()).save(tmp_path / "file")
    document, _ = unpacked((tmp_path / "file").read_bytes())
    assert "neuralkdb." not in json.dumps(document)
