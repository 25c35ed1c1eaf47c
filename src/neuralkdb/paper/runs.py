"""Many evaluations over several processes, each result reported as it comes."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context, parent_process

from neuralkdb.paper.datasets import Dataset
from neuralkdb.paper.methods import Method
from neuralkdb.paper.protocol import Score, Seconds, evaluate


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
        return Outcome(task, None, _sentence(error))


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}"


def _in_processes(tasks: Iterable[Task], jobs: int) -> Iterator[Outcome]:
    # spawn: a fork of a process with threads may hang
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            yield from _as_completed(pool.submit, iter(tasks), ahead=2 * jobs)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _as_completed(
    submit: Callable[[Callable[[Task], Outcome], Task], "Future[Outcome]"],
    tasks: Iterator[Task],
    ahead: int,
) -> Iterator[Outcome]:
    """Keep a few tasks under way, so that the data of all of them are not queued at once."""
    running = {submit(attempt, task): task for task in islice(tasks, ahead)}
    while running:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            task = running.pop(future)
            yield _outcome(future, task)
            running.update({submit(attempt, task): task for task in islice(tasks, 1)})


def _outcome(future: "Future[Outcome]", task: Task) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(f"a worker process died, at or near {task}") from error
    except Exception as error:  # what cannot be sent between processes
        return Outcome(task, None, _sentence(error))


def _end_with_parent() -> None:
    """End this process when its parent is killed; it would wait for tasks for ever."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
