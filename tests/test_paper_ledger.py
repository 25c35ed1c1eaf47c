from dataclasses import replace

import pytest

from neuralkdb.paper.errors import LedgerError
from neuralkdb.paper.ledger import Ledger
from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.protocol import (
    Score,
    Seconds,
)

ROW = Score("iris", "NB", 0, 0.5, 1.25, "neuralkdb-1", 0)
TIME = Seconds("iris", "NB", 0, 0.1, 0.2, 0.05, 0.1)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "results")
    made.open({"n_bins": 10})
    return made


def test_scores_come_back_as_they_were_added(ledger):
    named = replace(ROW, method='m:C(a="x", b=2)', accuracy=1 / 3)
    ledger.add(ROW, TIME)
    ledger.add(named, TIME)
    assert list(ledger.scores().values()) == [named, ROW]


@pytest.mark.parametrize("cut", range(1, 34))
def test_half_a_last_line_is_forgotten(ledger, cut):
    ledger.add(ROW, TIME)
    whole = ledger.scores_file.read_bytes()
    ledger.add(replace(ROW, split=1), TIME)
    ledger.scores_file.write_bytes(ledger.scores_file.read_bytes()[:-cut])
    ledger.open({"n_bins": 10})
    assert ledger.scores_file.read_bytes() == whole


def test_sorting_keeps_one_row_of_each(ledger):
    for row in (replace(ROW, split=10), replace(ROW, split=9), ROW, ROW):
        ledger.add(row, TIME)
    ledger.sort()
    assert [score.split for score in ledger.scores().values()] == [10, 9, 0]
    assert len(ledger.scores_file.read_text().splitlines()) == 4


def test_results_of_another_protocol_are_refused(ledger):
    with pytest.raises(LedgerError, match="made otherwise: give another folder by --out"):
        ledger.open({"n_bins": 5})


def test_scores_of_another_version_are_refused(ledger):
    ledger.add(ROW, TIME)
    with pytest.raises(LedgerError, match="NB by neuralkdb-1, but this is neuralkdb-"):
        ledger.done([parse_method("NB")])


def test_scores_from_other_data_are_refused(ledger, iris):
    ledger.accept(iris)
    ledger.accept(iris)
    with pytest.raises(LedgerError, match="scores of iris from other rows"):
        ledger.accept(replace(iris, classes=iris.classes[::-1]))
