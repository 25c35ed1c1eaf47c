import io

import pytest

from neuralkdb.paper import progress
from neuralkdb.paper.progress import Plain, duration


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_the_time_left_follows_from_the_work_that_is_left(clock):
    bar = Plain(total=80.0, stream=io.StringIO(), started=100.0, spoke=100.0)
    clock[0] += 30
    bar.advance(20.0, "NB on iris, split 0")
    assert bar.stream.getvalue() == " 25%, 2 min left: NB on iris, split 0\n"
    bar.advance(20.0, "NB on iris, split 1")  # too soon for another line
    assert bar.stream.getvalue().count("\n") == 1


def test_nothing_is_told_of_the_first_few_pieces_of_work(clock):
    bar = Plain(total=100.0, stream=io.StringIO(), started=100.0, spoke=100.0)
    clock[0] += 30
    bar.advance(1.0, "NB on iris, split 0")
    assert bar.stream.getvalue() == ""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_is_cleared_away(capsys):
    pytest.importorskip("rich")
    with progress.progress(10.0, Terminal()) as bar:
        assert not isinstance(bar, Plain)
        bar.advance(5.0, "NB on iris [split 0]")
        bar.say("a [line]")
    assert "a [line]" in capsys.readouterr().out


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich.progress", None)
    with progress.progress(10.0, Terminal()) as bar:
        assert isinstance(bar, Plain)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (95, "2 min"), (5000, "83 min"), (7200, "2.0 h")]
)
def test_durations_are_in_the_unit_that_suits(seconds, text):
    assert duration(seconds) == text
