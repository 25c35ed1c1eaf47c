"""An executor of Spark that is lost while it counts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neuralkdb.engines.spark import CodedParts


@contextmanager
def executor_lost_while_counting(session: Any) -> Iterator[list[int]]:
    """When cells are asked for the first time, an executor dies with its coded rows: the number of tasks it took along.

    It is stopped before the question, so that it cannot answer, and killed when it has been given a task.
    """
    ask, lost = CodedParts.cells, []

    def cells(coded: CodedParts, requests: Any) -> Any:
        CodedParts.cells = ask
        coded.parts.count()  # the coded rows are in the executors now
        victim = executors()[0]
        os.kill(victim, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as thread:
            killed = thread.submit(_killed_at_work, session.sparkContext.statusTracker(), victim)
            answer = ask(coded, requests)
            lost.append(killed.result())
        return answer

    CodedParts.cells = cells
    try:
        yield lost
    finally:
        CodedParts.cells = ask


def _killed_at_work(tracker: Any, victim: int) -> int:
    """How many tasks failed with it."""
    stage = _awaited(lambda: next((n for n in tracker.getActiveStageIds() if _is_everywhere(tracker, n)), None))
    os.kill(victim, signal.SIGKILL)
    return _awaited(lambda: tracker.getStageInfo(stage).numFailedTasks)


def _is_everywhere(tracker: Any, stage: int) -> bool:
    """Whether each of two executors has a task, or the stopped one has the last."""
    info = tracker.getStageInfo(stage)
    return info is not None and 0 < min(2, info.numTasks - info.numCompletedTasks) <= info.numActiveTasks


def _awaited(ask: Callable[[], Any]) -> Any:
    end = time.monotonic() + 60
    while not (answer := ask()):
        if time.monotonic() > end:
            raise TimeoutError("no executor was lost while it counted")
        time.sleep(0.02)
    return answer


def executors() -> list[int]:
    """The processes of executors, of all that this process has started."""
    return [pid for pid in _below(os.getpid()) if "CoarseGrainedExecutorBackend" in _command_of(pid)]


def _below(pid: int) -> list[int]:
    children = [int(n) for task in Path(f"/proc/{pid}/task").iterdir() for n in (task / "children").read_text().split()]
    return [each for child in children for each in (child, *_below(child))]


def _command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
