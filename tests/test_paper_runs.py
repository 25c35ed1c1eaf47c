import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from neuralkdb.paper import datasets, reproduction
from neuralkdb.paper.errors import DataError
from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.printed import METHODS
from neuralkdb.paper.reproduction import Request, quick, reproduce
from neuralkdb.paper.runs import Task, run


def silent(line):
    pass


@pytest.mark.usefixtures("stand_ins")
def test_a_failing_task_is_reported_and_the_others_are_done(iris):
    tasks = [Task(iris, parse_method(name), 0) for name in ("Failing", "NB")]
    for jobs in (1, 2):
        outcomes = {outcome.task.method.name: outcome for outcome in run(tasks, jobs)}
        assert outcomes["Failing"].problem == "RuntimeError: out of luck"
        assert outcomes["NB"].result


@pytest.mark.usefixtures("stand_ins")
def test_a_process_that_dies_takes_no_other_task_with_it(iris):
    names = ("NB", "KDB", "Dying", "RF", "TAN", "NN")
    tasks = [Task(iris, parse_method(name), split) for name in names for split in range(2)]
    outcomes = [(outcome.task.key, outcome.problem, bool(outcome.result)) for outcome in run(tasks, 2)]
    died = "the process that did it died, perhaps for want of memory"
    expected = [(task.key, *((died, False) if task.method.name == "Dying" else ("", True))) for task in tasks]
    assert sorted(outcomes) == sorted(expected)


REQUEST = Request("table1", datasets=("iris", "wine"), splits=2)


def files(folder, suffixes=(".csv", ".md", ".tex", ".html", ".json")):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(Path(folder).rglob("*"))
        if file.suffix in suffixes and file.name != "seconds.csv"
    }


@pytest.fixture
def finished(tmp_path, stand_ins):
    assert reproduce(replace(REQUEST, out=tmp_path / "once"), silent)
    return files(tmp_path / "once")


def test_the_number_of_jobs_changes_nothing(tmp_path, finished):
    assert reproduce(replace(REQUEST, out=tmp_path / "two", jobs=2), silent)
    assert files(tmp_path / "two") == finished


@pytest.mark.usefixtures("stand_ins")
def test_figures_and_the_report_are_the_same_from_any_number_of_jobs(tmp_path):
    everything = replace(REQUEST, experiment="all")
    found = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        assert reproduce(replace(everything, out=out / "results", jobs=jobs, docs=out / "docs"), silent)
        found.append(files(out, (".csv", ".md", ".tex", ".html", ".json", ".svg", ".png")))
    assert found[0] == found[1]
    assert {"results/figures/scatter.png", "docs/paper/scatter.svg", "docs/paper.md"} <= set(found[0])


@pytest.mark.parametrize("stop", [1, 7, 31])
def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, finished, monkeypatch, stop):
    request = replace(REQUEST, out=tmp_path / "stopped")
    done = []

    def until_stopped(tasks, jobs):
        for outcome in run(tasks, jobs):
            if len(done) == stop:
                raise KeyboardInterrupt
            done.append(outcome.task.key)
            yield outcome

    monkeypatch.setattr(reproduction, "run", until_stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce(request, silent)
    again = []
    monkeypatch.setattr(reproduction, "run", lambda *given: again.extend(given[0]) or run(*given))
    assert reproduce(request, silent)
    assert len(again) == 2 * 2 * len(METHODS) - stop
    assert files(tmp_path / "stopped") == finished


def test_what_is_complete_needs_no_data(tmp_path, finished, monkeypatch):
    def nowhere(entry, data):
        raise AssertionError

    monkeypatch.setattr(reproduction, "load", nowhere)
    assert reproduce(replace(REQUEST, out=tmp_path / "once"), silent)
    assert files(tmp_path / "once") == finished


@pytest.mark.usefixtures("stand_ins")
def test_a_data_set_that_fails_is_reported_and_the_rest_is_done(tmp_path, monkeypatch):
    def load(entry, data):
        if entry.name == "wine":
            raise DataError("wine is corked")
        return datasets.load(entry, data)

    monkeypatch.setattr(reproduction, "load", load)
    said = []
    assert not reproduce(replace(REQUEST, out=tmp_path), said.append)
    assert "wine left out: wine is corked" in said
    table = (tmp_path / "table1.md").read_text()
    assert "Left out, for want of scores: wine." in table
    assert "| iris |" in table


@pytest.mark.usefixtures("stand_ins")
def test_an_empty_table_is_reported_and_the_rest_is_done(tmp_path):
    (tmp_path / "wine.csv").write_text("alcohol,class\n")
    said = []
    assert not reproduce(replace(REQUEST, out=tmp_path / "out", data=tmp_path), said.append)
    assert any(line.startswith("wine left out: ") for line in said)
    assert "| iris |" in (tmp_path / "out" / "table1.md").read_text()


@pytest.mark.usefixtures("stand_ins")
def test_a_method_that_fails_is_reported_once_a_data_set(tmp_path):
    said = []
    request = replace(REQUEST, out=tmp_path, methods=("Failing",))
    assert not reproduce(request, said.append)
    assert [line for line in said if "failed" in line] == [
        "Failing on wine, split 0 failed: RuntimeError: out of luck",
        "Failing on iris, split 0 failed: RuntimeError: out of luck",
    ]


def test_quick_takes_two_splits_of_what_scikit_learn_has():
    request = quick(Request("table1"))
    assert request.splits == 2
    assert request.datasets == ("iris", "wine", "breast-cancer-diagnostic", "digits")


KILLED = """
import sys
sys.path.insert(0, {tests!r})
import paper_stand_ins
from neuralkdb import cli
from neuralkdb.paper import methods
if __name__ == "__main__":
    methods.RECIPES = paper_stand_ins.stand_in_recipes()
    sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_leaves_no_process_and_ends_in_the_same_files(tmp_path, finished, jobs):
    script = tmp_path / "main.py"
    script.write_text(KILLED.format(tests=str(Path(__file__).parent)))
    out = tmp_path / "killed"
    command = [sys.executable, str(script), "reproduce", "table1", "--datasets", "iris,wine",
               "--splits", "2", "--jobs", str(jobs), "--out", str(out)]  # fmt: skip
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: (out / "scores.csv").exists() and len(lines(out)) > 4)
    first.kill()
    first.wait()
    wait_for(lambda: not alive(first.pid))
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=True).returncode == 0
    assert files(out) == finished


def lines(out):
    return (out / "scores.csv").read_bytes().splitlines()


def alive(group):
    try:
        os.killpg(group, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
