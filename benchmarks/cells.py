"""Cells that are measured one after another, each in a process of its own, and written to a file at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.own_process import CellError, Limits, answer

ROOT = Path(__file__).parents[1]


def measure(cells: Iterable[Any], file: Path, module: str, limits: Callable[[Any], Limits], only: str = "") -> None:
    """What is not in the file yet: `python -m module` with the fields of a named tuple prints its result as JSON."""
    done = known(file)
    for cell in cells:
        fields = tuple(map(str, cell))
        if fields in done or only not in " ".join(fields):
            continue
        try:
            status, result = "measured", answer(["-m", module, *fields], limits(cell), ROOT)
        except CellError as failure:
            status, result = str(failure), {}
        row = pd.DataFrame([{**cell._asdict(), "status": status, "result": json.dumps(result)}])
        row.to_csv(file, mode="a", header=not file.exists(), index=False)
        print(*fields, status, result, flush=True)


def known(file: Path) -> set[tuple[str, ...]]:
    """The cells that were measured."""
    if not file.exists():
        return set()
    table = pd.read_csv(file, keep_default_na=False, dtype=str).drop(columns=["status", "result"])
    return set(table.itertuples(index=False, name=None))


def results(file: Path) -> pd.DataFrame:
    """The file, a column for each part of a result; NaN where there is none."""
    table = pd.read_csv(file, keep_default_na=False)
    fields = [name for name in table if name not in {"status", "result"}]
    table = table.drop_duplicates(fields, keep="last", ignore_index=True)
    return table.drop(columns="result").join(pd.json_normalize(table["result"].map(json.loads).tolist()))
