"""The results folder: rows appended as they are computed, sorted at the end.

A run may be killed anywhere. The worst that leaves is half a last line, which opening removes.
"""

import csv
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from neuralkdb.paper.datasets import Dataset
from neuralkdb.paper.errors import LedgerError
from neuralkdb.paper.methods import Method
from neuralkdb.paper.protocol import Score, Seconds

Key = tuple[str, str, int]
DATASET_COLUMNS = ("dataset", "rows", "features", "classes", "fingerprint")


@dataclass(frozen=True)
class Ledger:
    """`scores.csv` and `seconds.csv` in a folder, and the protocol they belong to."""

    folder: Path

    @property
    def scores_file(self) -> Path:
        """A row for each evaluation."""
        return self.folder / "scores.csv"

    @property
    def datasets_file(self) -> Path:
        """A row for each data set that was used."""
        return self.folder / "datasets.csv"

    @property
    def seconds_file(self) -> Path:
        """How long each evaluation took."""
        return self.folder / "seconds.csv"

    def open(self, protocol: Mapping[str, object]) -> None:
        """Make the folder ready for further rows of this protocol."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _agree(self.folder / "protocol.json", protocol)
        _mend(self.scores_file, _names(Score))
        _mend(self.seconds_file, _names(Seconds))
        _mend(self.datasets_file, DATASET_COLUMNS)

    def accept(self, dataset: Dataset) -> None:
        """Note the data that the scores come from; other data under the same name are refused."""
        shape = dataset.n_rows, dataset.n_features, dataset.n_classes
        row = [dataset.name, *map(str, shape), dataset.fingerprint]
        known = {row[0]: row for row in _read(self.datasets_file)}
        if known.setdefault(dataset.name, row) != row:
            raise LedgerError(
                f"{self.folder} holds scores of {dataset.name} from other rows than those of "
                f"{dataset.source}, or in another order: give another folder by --out"
            )
        header = [list(DATASET_COLUMNS)]
        write_atomically(self.datasets_file, _lines(header + [known[n] for n in sorted(known)]))

    def add(self, score: Score, seconds: Seconds) -> None:
        """Append a result; the score is last, so that a row with a score is complete."""
        _append(self.seconds_file, astuple(seconds))
        _append(self.scores_file, astuple(score))

    def scores(self) -> dict[Key, Score]:
        """The scores so far; of a row computed twice the first."""
        rows = reversed(_read(self.scores_file))
        return {(score.dataset, score.method, score.split): score for score in map(_score, rows)}

    def done(self, methods: Iterable[Method]) -> set[Key]:
        """What need not be computed again, if it was computed by the same versions."""
        scores = self.scores()
        versions = {method.name: method.version for method in methods}
        for score in scores.values():
            if score.version != versions.get(score.method, score.version):
                raise LedgerError(
                    f"{self.scores_file} holds {score.method} by {score.version}, but this is "
                    f"{versions[score.method]}: give another folder by --out, or remove this one"
                )
        return set(scores)

    def sort(self) -> None:
        """Rewrite both files in the order of data set, method and split, one row for each."""
        for file in (self.scores_file, self.seconds_file):
            rows = {(row[0], row[1], int(row[2])): row for row in reversed(_read(file))}
            write_atomically(file, _lines([_header(file), *(rows[key] for key in sorted(rows))]))


def _agree(file: Path, protocol: Mapping[str, object]) -> None:
    text = json.dumps(protocol, indent=2) + "\n"
    if not file.exists():
        write_atomically(file, text)
    elif json.loads(file.read_text(encoding="utf-8")) != protocol:
        raise LedgerError(f"{file} says that these results were made otherwise: give another folder by --out")


def _names(row: type[Score] | type[Seconds]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(row))


def _mend(file: Path, columns: Iterable[str]) -> None:
    """Cut what stands after the last whole line, and begin a new file with its header."""
    content = file.read_bytes() if file.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        write_atomically(file, _lines([columns]))
    elif whole != content:
        os.truncate(file, len(whole))


def _append(file: Path, row: Iterable[object]) -> None:
    with file.open("ab", buffering=0) as stream:  # one write a row
        stream.write(_lines([row]).encode())


def _read(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))[1:]


def _header(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


def _score(row: list[str]) -> Score:
    dataset, method, split, accuracy, log_loss, version, seed = row
    return Score(dataset, method, int(split), float(accuracy), float(log_loss), version, int(seed))


def _lines(rows: Iterable[Iterable[object]]) -> str:
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\n') else text


def write_atomically(file: Path, text: str) -> None:
    """Write the file whole, or leave it as it was."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(file)
