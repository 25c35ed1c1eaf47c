"""Many evaluations over several processes, each result reported as it comes."""

import os
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context, parent_process

from neuralkdb.paper.datasets import Dataset
from neuralkdb.paper.methods import Method
from neuralkdb.paper.protocol import Score, Seconds, evaluate

AHEAD = 2  # tasks under way for each process, so that the data of all of them are not queued at once


@dataclass(frozen=True)
class Task:
    """One evaluation to do."""

    dataset: Dataset
    method: Method
    split: int

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from all others."""
        return self.dataset.name, self.method.name, self.split

    @property
    def work(self) -> float:
        """A rough measure of how long it takes, to tell the time left."""
        return float(self.dataset.n_rows * self.dataset.n_features + 5000)

    def __str__(self) -> str:
        return f"{self.method.name} on {self.dataset.name}, split {self.split}"


@dataclass(frozen=True)
class Outcome:
    """A result, or why there is none."""

    task: Task
    result: tuple[Score, Seconds] | None
    problem: str = ""


def run(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes of the tasks, in the order they are finished."""
    ordered = sorted(tasks, key=lambda task: -task.work)
    if jobs == 1 or len(ordered) < 2:
        return map(attempt, ordered)
    return _in_processes(ordered, jobs)


def attempt(task: Task) -> Outcome:
    """Do a task; whatever goes wrong concerns that task alone."""
    try:
        return Outcome(task, evaluate(task.dataset, task.method, task.split))
    except Exception as error:
        return Outcome(task, None, sentence(error))


def sentence(error: BaseException) -> str:
    """What went wrong, on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}"


def _in_processes(tasks: Iterable[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes, whatever becomes of the processes: a task under way when one died is tried again alone."""
    left = iter(tasks)
    while suspects := (yield from _until_a_process_dies(left, jobs)):
        for task in suspects:
            if (yield from _until_a_process_dies(iter([task]), 1)):
                yield Outcome(task, None, "the process that did it died, perhaps for want of memory")


def _until_a_process_dies(tasks: Iterator[Task], jobs: int) -> Generator[Outcome, None, list[Task]]:
    """The outcomes, and in the end the tasks that were under way when a process died."""
    with _pool(jobs) as pool:
        running = {pool.submit(attempt, task): task for task in islice(tasks, AHEAD * jobs)}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                try:
                    outcome = _outcome(future, running[future])
                except BrokenProcessPool:
                    return list(running.values())
                del running[future]
                yield outcome
            for task in islice(tasks, AHEAD * jobs - len(running)):
                try:
                    running[pool.submit(attempt, task)] = task
                except BrokenProcessPool:
                    return [*running.values(), task]
    return []


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that are gone in the end, whatever they are doing."""
    # spawn: a fork of a process with threads may hang
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _outcome(future: "Future[Outcome]", task: Task) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:  # what cannot be sent between processes
        return Outcome(task, None, sentence(error))


def _end_with_parent() -> None:
    """End this process when its parent is killed; it would wait for tasks for ever."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
