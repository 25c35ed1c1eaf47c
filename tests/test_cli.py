import subprocess
import sys

import pytest

from neuralkdb.cli import main


def refused(arguments, capsys):
    """What is said of a command line that is wrong."""
    try:
        code = main(arguments)
    except SystemExit as left:
        code = left.code
    assert code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["reprodice"], "invalid choice: 'reprodice'"),
        (["data"], "the following arguments are required: ACTION"),
        (["reproduce"], "the following arguments are required: experiment"),
        (["reproduce", "table3"], "invalid choice: 'table3'"),
        (["reproduce", "table1", "--splits", "0"], "0 is not a positive whole number"),
        (["reproduce", "table1", "--jobs", "many"], "many is not a positive whole number"),
        (["reproduce", "table1", "--data", "nowhere"], "nowhere is not a folder"),
        (["reproduce", "table1", "--sets", "iris"], "unrecognized arguments: --sets iris"),
        (["data", "list", "--data", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments, message, capsys):
    assert message in refused(arguments, capsys)


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "iris,tulips"], "unknown data set tulips"),
        (["--methods", "KDC"], "unknown method KDC"),
        (["--methods", "KDB(3)"], "write settings as (name=value, name=value)"),
        (["--methods", "no_such_package:Model"], "needs the package no_such_package"),
        (["--methods", "RF(depth=3)"], "RF(depth=3) cannot be made"),
    ],
)
def test_wrong_names_are_one_sentence(arguments, message, capsys, tmp_path):
    out = ["--out", str(tmp_path / "results")]
    assert message in refused(["reproduce", "table1", *arguments, *out], capsys)


@pytest.mark.usefixtures("stand_ins")
def test_an_out_that_is_a_file_is_one_sentence(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file" in refused(["reproduce", "table1", "--out", str(tmp_path / "file")], capsys)


@pytest.mark.parametrize("arguments", [["--help"], ["reproduce", "--help"]])
def test_help_has_examples_of_experiments(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    examples = capsys.readouterr().out.partition("examples:\n")[2]
    assert "  neuralkdb reproduce table1 --quick" in examples


@pytest.mark.usefixtures("stand_ins")
def test_a_quick_table_is_written_and_exits_well(tmp_path, capsys):
    command = ["reproduce", "table1", "--quick", "--datasets", "iris", "wine", "--out"]
    assert main([*command, str(tmp_path)]) == 0
    assert "32 evaluations to do, 0 done before" in capsys.readouterr().err
    assert {"scores.csv", "seconds.csv", "table1.md", "paper.html"} <= {file.name for file in tmp_path.iterdir()}
    assert main([*command, str(tmp_path)]) == 0
    assert "0 evaluations to do, 32 done before" in capsys.readouterr().err


@pytest.mark.usefixtures("stand_ins")
def test_everything_is_written_with_a_report_for_the_docs(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    command = ["reproduce", "all", "--quick", "--datasets", "iris,wine"]
    assert main([*command, "--out", str(tmp_path / "r"), "--docs", str(docs)]) == 0
    assert "(figures/scatter.svg)" in (tmp_path / "r" / "paper.md").read_text()
    assert "(paper/scatter.svg)" in (docs / "paper.md").read_text()
    assert (docs / "paper" / "scatter.svg").exists()


@pytest.mark.usefixtures("stand_ins")
def test_a_method_that_fails_ends_with_one(tmp_path):
    command = ["reproduce", "table1", "--quick", "--datasets", "iris", "--methods", "Failing"]
    assert main([*command, "--out", str(tmp_path)]) == 1


OWN = """
from sklearn.linear_model import RidgeClassifier

class Mine(RidgeClassifier):
    pass
"""


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_estimator_in_a_file_of_ones_own_is_a_column(tmp_path, monkeypatch, jobs):
    (tmp_path / f"own{jobs}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    command = ["reproduce", "table1", "--quick", "--datasets", "iris", "--jobs", jobs, "--out", "out"]
    assert main([*command, "--methods", f"own{jobs}:Mine(alpha=2.0)"]) == 0
    assert f"own{jobs}:Mine(alpha=2.0)" in (tmp_path / "out" / "table1.csv").read_text().splitlines()[0]


def test_an_interrupt_says_that_the_command_goes_on(monkeypatch, capsys, tmp_path):
    def interrupted(request, say):
        raise KeyboardInterrupt

    monkeypatch.setattr("neuralkdb.paper.reproduction.reproduce", interrupted)
    assert main(["reproduce", "table1", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "neuralkdb: stopped; the same command goes on from here\n"


def test_the_list_has_a_line_for_every_data_set(capsys):
    assert main(["data", "list"]) == 0
    listed = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert len(listed) == 63
    assert "150 rows, 4 features, 3 classes" in listed["iris"]
    assert "scikit-learn" in listed["iris"]
    assert "OpenML" in listed["zoo"]


def test_a_reader_that_has_seen_enough_is_no_error():
    command = [sys.executable, "-m", "neuralkdb.cli", "data", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 0


def test_the_command_line_loads_nothing_before_a_command_needs_it():
    late = ("matplotlib", "rich", "neuralkdb.paper.methods")
    code = f"import neuralkdb.cli, sys; print([name for name in {late} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
