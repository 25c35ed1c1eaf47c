"""The commands on tables: fit, predict, evaluate, inspect, report."""

import io
import json
import subprocess
import sys
import types
import warnings

import numpy as np
import pandas as pd
import pytest

import neuralkdb
from every import CLASSIFIERS
from neuralkdb.cli import main
from neuralkdb.cli.models import DEFAULT, MODELS

MIXED = """size,colour,lit,when,code,fruit
1.2,red,True,2024-01-05,007,yes
0.4,green,False,2024-02-05,007,no
,red,True,2024-01-07,010,yes
0.5,?,False,2024-03-01,010,no
0.6,blue,,2024-03-02,11a,no
1.1,red,True,,11a,yes
"""


@pytest.fixture
def table(tmp_path):
    """A small CSV file."""
    (tmp_path / "fruit.csv").write_text(MIXED * 1 + MIXED.partition("\n")[2] * 4)
    return tmp_path / "fruit.csv"


@pytest.fixture
def model(table, capsys):
    """A model of it."""
    path = table.with_name("fruit.nkdb")
    assert main(["fit", str(table), "--target", "fruit", "--model", "KDB", "--set", "k=1", "-o", str(path)]) == 0
    capsys.readouterr()
    return path


def run(*arguments) -> int:
    return main([str(argument) for argument in arguments])


def refused(capsys, *arguments) -> str:
    """The one line that is said, with exit code 2."""
    try:
        code = run(*arguments)
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr().err
    assert code == 2
    assert said.startswith("neuralkdb")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


def test_fit_says_what_it_understood_and_writes_a_model_that_predicts(table, capsys):
    path = table.with_name("m.nkdb")
    assert run("fit", table, "--target", "fruit", "--model", "kdb", "--set", "k=1", "estimate=backoff", "-o", path) == 0
    said = capsys.readouterr().out
    lines = {line.split()[0]: line for line in said.splitlines() if line}
    assert "30 rows, 5 columns; fruit is one of 2: " in said
    assert "number, in intervals" in lines["size"]
    assert "16.7%" in lines["size"]
    assert "category" in lines["colour"]
    assert "blue, green, red" in lines["colour"]
    assert "date, in intervals" in lines["when"]
    assert "007, 010, 11a" in lines["code"]
    assert "on 6 rows held out: accuracy" in said
    assert "learned from 30 rows in" in said
    loaded = neuralkdb.load(path)
    assert loaded.get_params()["estimate"] == "backoff"
    assert loaded.k == 1
    assert loaded.target_name_ == "fruit"
    frame = pd.read_csv(table, na_values="?", dtype={"code": str}, parse_dates=["when"])
    assert loaded.predict(frame.drop(columns="fruit")[:2]).tolist() == ["yes", "no"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arff", "csv.gz"])
def test_every_kind_of_table_is_fitted_and_predicted_alike(kind, table, tmp_path, capsys):
    frame = pd.read_csv(table, na_values="?", dtype={"code": str})
    frame = frame.drop(columns=["when", "lit"])
    path = tmp_path / f"table.{kind}"
    write(frame, path)
    outputs = []
    assert run("fit", path, "--target", "fruit", "--model", "TAN", "-o", tmp_path / "m.nkdb") == 0
    assert run("predict", tmp_path / "m.nkdb", path, "-o", tmp_path / "out.csv") == 0
    outputs = pd.read_csv(tmp_path / "out.csv")
    assert outputs.columns.tolist() == ["label", "probability_no", "probability_yes"]
    X = frame.drop(columns="fruit")
    direct = neuralkdb.TANClassifier().fit(X, frame["fruit"]).predict_proba(X)
    np.testing.assert_allclose(outputs.iloc[:, 1:], direct, rtol=1e-12)


def write(frame: pd.DataFrame, path) -> None:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".arff":
        path.write_text(
            "% made up\n@relation 'my fruit'\n@attribute size NUMERIC\n@attribute colour {red, 'green', blue}\n"
            "@attribute code string\n@attribute fruit {no, yes}\n\n@data\n"
            + frame.to_csv(index=False, header=False, na_rep="?").replace("green", "'green'")
        )
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arff"])
def test_standard_input_is_recognised_by_how_it_begins(kind, table, model, tmp_path, monkeypatch, capsys):
    frame = pd.read_csv(table, na_values="?", dtype={"code": str})[["size", "colour", "code", "fruit"]]
    write(frame, tmp_path / f"in.{kind}")
    data = io.BufferedReader(io.BytesIO((tmp_path / f"in.{kind}").read_bytes()))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=data))
    assert run("fit", "-", "--target", "fruit", "--model", "NaiveBayes", "-o", tmp_path / "m.nkdb") == 0
    assert "30 rows, 3 columns" in capsys.readouterr().out


def test_predictions_go_to_standard_output_and_parquet(model, table, capsys):
    assert run("predict", model, table) == 0
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert run("predict", model, table, "-o", table.with_name("out.parquet")) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(table.with_name("out.parquet")), printed, check_dtype=False)
    assert len(printed) == 30


def test_a_stream_in_parts_is_predicted_as_the_whole(model, table, monkeypatch, capsys):
    """Parts in which a column looks like another type: all codes are numbers, no cell of `lit` is missing."""
    assert run("predict", model, table) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr("neuralkdb.cli.predicting.ROWS_AT_ONCE", 1)
    assert run("predict", model, table) == 0
    assert capsys.readouterr().out == whole
    assert "11a" in table.read_text()


def test_columns_are_found_by_name_whatever_their_order(model, table, capsys):
    assert run("predict", model, table) == 0
    expected = capsys.readouterr().out
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    frame.assign(more="x")[["more", *frame.columns[::-1]]].to_csv(table.with_name("other.csv"), index=False)
    assert run("predict", model, table.with_name("other.csv")) == 0
    assert capsys.readouterr().out == expected


def test_models_fitted_on_arrays_predict_tables_of_as_many_columns(tmp_path, capsys):
    neuralkdb.NaiveBayesClassifier().fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]).save(tmp_path / "m")
    (tmp_path / "t.csv").write_text("p,q\n1,2\n3,4\n")
    assert run("predict", tmp_path / "m", tmp_path / "t.csv") == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["label", "a", "b"]


def test_the_target_may_be_numbers_bools_and_missing(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,n,b\n1,1,True\n2,2,False\n3,,True\n4,1,False\n5,2,\n")
    for target, kind in [("n", "i"), ("b", "b")]:
        path = tmp_path / f"{target}.nkdb"
        command = ["fit", tmp_path / "t.csv", "--target", target, "--ignore", "b" if target == "n" else "n", "-o", path]
        assert run(*command, "--model", "NaiveBayes") == 0
        assert "1 rows without it left out" in capsys.readouterr().out
        assert neuralkdb.load(path).classes_.dtype.kind == kind


def test_all_classifiers_are_models_by_name(capsys):
    assert {kind.__name__ for kind in CLASSIFIERS} == {kind.__name__ for kind in MODELS.values()}
    assert DEFAULT in MODELS
    with pytest.raises(SystemExit) as left:
        run("fit", "--model", "list")
    assert left.value.code == 0
    assert capsys.readouterr().out.split() == list(MODELS)


def test_numbers_can_be_categories_and_columns_left_out(table, capsys):
    path = table.with_name("m.nkdb")
    command = ["fit", table, "--target", "fruit", "--model", "NaiveBayes", "-o", path, "--held-out", "0"]
    assert run(*command, "--categorical", "size", "--ignore", "when,code") == 0
    said = capsys.readouterr().out
    assert "0.4, 0.5, 0.6, 1.1, 1.2" in said
    assert "when" not in said
    assert "no rows held out" in said


def test_evaluate_prints_scores_that_are_those_of_cross_validation(table, capsys):
    assert (
        run("evaluate", table, "--target", "fruit", "--models", "NaiveBayes,KDB(k=1, smoothing=2.0),TAN", "--cv", "3")
        == 0
    )
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "30 rows, 5 columns, 2 classes of fruit, 3 folds"
    assert said[1].split()[:3] == ["model", "accuracy", "log-loss"]
    assert [line.split("  ")[0] for line in said[2:]] == ["NaiveBayes", "KDB(k=1, smoothing=2.0)", "TAN"]
    assert "1.0000 ± 0.0000" in said[2]


def test_evaluate_gives_classes_that_a_fold_lacks_no_probability(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{'abc'[min(i % 9, 2)]}\n" for i in range(20)) + "5,rare\n")
    assert run("evaluate", tmp_path / "t.csv", "--target", "y", "--models", "NaiveBayes", "--cv", "4") == 0
    assert "-" in capsys.readouterr().out


def test_inspect_shows_structure_dependencies_and_settings(model, capsys):
    assert run("inspect", model) == 0
    said = capsys.readouterr().out
    assert "KDBClassifier(k=1" in said
    assert "5 features, 2 classes of fruit: no, yes" in said
    assert "what each feature says about the class" in said
    assert "parents of each feature, besides the class:" in said


@pytest.mark.parametrize("classifier", sorted(MODELS))
def test_every_model_can_be_inspected(classifier, table, capsys):
    path = table.with_name("m.nkdb")
    small = {"ESKDB": ["--set", "n_members=2"], "NeuralKDB": ["--set", "epochs=1"]}.get(classifier, [])
    assert run("fit", table, "--target", "fruit", "--model", classifier, "-o", path, "--held-out", "0", *small) == 0
    assert run("inspect", path) == 0
    assert run("inspect", path, "--explain", table, "--row", "3") == 0
    assert "row 3: " in capsys.readouterr().out


def test_inspect_lists_similar_values(model, capsys):
    assert run("inspect", model, "--similar", "colour=red", "--top", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("values of colour that occur in the contexts of red")
    assert len(lines) == 3


def test_inspect_explains_a_row(model, table, capsys):
    assert run("inspect", model, "--explain", table, "--row", "0") == 0
    said = capsys.readouterr().out
    assert said.startswith("row 0: yes, with the probabilities no ")
    terms = {line.split()[0]: float(line.split()[-1]) for line in said.splitlines()[2:]}
    assert set(terms) == {"class", "size", "colour", "lit", "when", "code", "averaging"}
    frame = pd.read_csv(table, na_values="?", dtype={"code": str}, parse_dates=["when"]).drop(columns="fruit")
    shares = neuralkdb.load(model).predict_proba(frame[:1])[0]
    assert sum(terms.values()) == pytest.approx(np.log(shares[1] / shares[0]), abs=0.01)


BAD_TABLES = {
    "empty.csv": "",
    "header.csv": "a,b\n",
    "ragged.csv": "a,b\n1,2\n1,2,3\n",
    "longer.csv": "a,b\n1,2,3\n4,5,6\n",
    "no.parquet": "a,b\n1,2\n",
    "no.arff": "@relation x\n@attribute a numeric\n1\n",
    "sparse.arff": "@relation x\n@attribute a numeric\n@attribute b {x,y}\n@data\n{0 1}\n",
    "rows.arff": "@relation x\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x,2\n",
    "table.doc": "a,b\n1,2\n",
    "bytes.csv": b"a,b\n\xff\xfe,1\n",
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_are_one_sentence(name, tmp_path, capsys):
    data = BAD_TABLES[name]
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    assert name in refused(capsys, "fit", tmp_path / name, "--target", "b", "-o", tmp_path / "m")
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "fruits"], "has no column fruits: it has size, colour, lit, when, code, fruit"),
        (["--target", "size"], "holds numbers with decimals such as"),
        (["--target", "fruit", "--ignore", "x"], "has no column x"),
        (["--target", "fruit", "--ignore", "size,colour,lit,when,code"], "has no column besides fruit"),
        (["--target", "fruit", "--model", "KDC"], "there is no model KDC: there are "),
        (["--target", "fruit", "--model", "KDB", "--set", "depth=3"], "KDB has no setting depth: it has k, "),
        (["--target", "fruit", "--model", "KDB", "--set", "k=-3"], "'k' parameter of KDBClassifier must be"),
        (["--target", "fruit", "--set", "k"], "'k' is not name=value"),
        (["--target", "fruit", "--held-out", "1.5"], "1.5 is not a share"),
        (["--target", "fruit", "--categorical", "x"], "categorical_features names 'x'"),
        ([], "the following arguments are required: --target"),
    ],
)
def test_wrong_wishes_are_one_sentence(options, message, table, capsys):
    said = refused(capsys, "fit", table, "-o", table.with_name("m"), *options)
    assert message in said


def test_a_table_that_is_not_there_is_one_sentence(tmp_path, capsys):
    said = refused(capsys, "fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "m")
    assert said == f"neuralkdb: {tmp_path / 'no.csv'}: No such file or directory\n"


@pytest.mark.parametrize("command", ["predict", "inspect", "report"])
def test_a_bad_model_file_is_one_sentence(command, table, capsys):
    (table.with_name("bad")).write_text("nothing")
    more = {"predict": [table], "inspect": [], "report": [table, "-o", table.with_name("r.html")]}[command]
    assert "bad cannot be loaded: it is no model file" in refused(capsys, command, table.with_name("bad"), *more)
    assert "No such file" in refused(capsys, command, table.with_name("none"), *more)


def test_columns_that_are_missing_or_of_another_kind_are_one_sentence(model, table, capsys):
    other = table.with_name("other.csv")
    other.write_text("size,colour\n1,red\n")
    assert "lacks lit, when, code, which the model needs: it has size, colour" in refused(
        capsys, "predict", model, other
    )
    other.write_text(MIXED.replace("1.2,red", "large,red"))
    assert "Column 'size' held numbers in fit and now holds 'large'" in refused(capsys, "predict", model, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--similar", "shape=round"], "there is no feature shape, only size, colour"),
        (["--similar", "colour=mauve"], "colour has no value mauve, only blue, green, red"),
        (["--similar", "colour"], "'colour' is not feature=value"),
        (["--explain", "TABLE", "--row", "30"], "has no row 30: it has 30 rows, from 0 on"),
        (["--explain", "TABLE", "--row", "-1"], "-1"),
        (["--top", "0"], "0 is not a positive whole number"),
    ],
)
def test_wrong_questions_are_one_sentence(options, message, model, table, capsys):
    options = [table if option == "TABLE" else option for option in options]
    assert message in refused(capsys, "inspect", model, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--models", "KDC"], "there is no model KDC"),
        (["--models", "KDB(k=1"], "is not a model"),
        (["--models", "KDB(k)"], "'k' is not name=value"),
        (["--cv", "1"], "1 is no number of folds"),
        (["--cv", "50"], "50 folds need a class of as many rows: the largest has 15"),
    ],
)
def test_wrong_comparisons_are_one_sentence(options, message, table, capsys):
    assert message in refused(capsys, "evaluate", table, "--target", "fruit", *options)


def test_rows_that_are_no_numbers_are_refused(model, table, capsys):
    said = refused(capsys, "report", model, table, "-o", table.with_name("r.html"), "--rows", "1,x")
    assert "x is not a whole number" in said


def test_a_target_of_many_numbers_is_refused_before_the_work(tmp_path, capsys):
    pd.DataFrame({"a": range(300), "price": range(300)}).to_csv(tmp_path / "t.csv", index=False)
    said = refused(capsys, "fit", tmp_path / "t.csv", "--target", "price", "-o", tmp_path / "m")
    assert "price holds 300 different numbers: the target is a column of classes" in said


def test_results_that_have_no_place_are_refused_before_the_work(model, table, tmp_path, capsys):
    nowhere = tmp_path / "nowhere" / "file.csv"
    for command in (
        ["fit", table, "--target", "fruit", "-o", nowhere],
        ["predict", model, table, "-o", nowhere],
        ["report", model, table, "-o", nowhere],
        ["evaluate", table, "--target", "fruit", "--html", nowhere],
    ):
        assert f"there is no folder {tmp_path / 'nowhere'}" in refused(capsys, *command)
    assert "of no known kind" in refused(capsys, "predict", model, table, "-o", tmp_path / "out.xlsx")


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "inspect", "report"])
def test_help_of_every_command_has_examples(command, capsys):
    with pytest.raises(SystemExit) as left:
        run(command, "--help")
    assert left.value.code == 0
    assert f"examples:\n  neuralkdb {command}" in capsys.readouterr().out


PEAK = """
import json, resource, sys
from neuralkdb.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]), file=sys.stderr)
"""


def test_memory_does_not_grow_with_the_rows_to_predict(model, table):
    """Ten times as many rows: the 5-million-row table is in benchmarks/command_line.py."""
    rows = table.read_text().partition("\n")[2]
    peaks = []
    for n_copies in (3_000, 30_000):
        path = table.with_name("many.csv")
        path.write_text(MIXED.partition("\n")[0] + "\n" + rows * n_copies)
        command = [sys.executable, "-c", PEAK, "predict", str(model), str(path), "-o", str(table.with_name("o.csv"))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        code, peak = json.loads(done.stderr.splitlines()[-1])
        assert code == 0
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 60


def test_warnings_are_not_what_a_user_sees(table, capsys):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        run("evaluate", table, "--target", "code", "--models", "NaiveBayes", "--cv", "11")
    assert [str(each.message) for each in raised] == []


def test_fit_points_out_columns_that_look_like_identifiers(tmp_path, capsys):
    lines = [f"{row},k{row},{row % 25},{row % 2}" for row in range(50)]
    (tmp_path / "rows.csv").write_text("\n".join(["number,key,size,y", *lines]))
    assert run("fit", tmp_path / "rows.csv", "--target", "y", "--model", "KDB", "-o", tmp_path / "m.nkdb") == 0
    said = {line.split()[0]: "an identifier?" in line for line in capsys.readouterr().out.splitlines() if line}
    assert [said[name] for name in ("number", "key", "size")] == [True, True, False]
