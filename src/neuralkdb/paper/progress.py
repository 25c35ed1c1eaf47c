"""How far a long run is, and how long it will take: a bar on a terminal, lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TextIO

LEAST_TOLD = 0.02  # of the work: before that the time left is a guess


class Progress(Protocol):
    """Told of each piece of work done."""

    def advance(self, work: float, what: str) -> None:
        """So much work was done, this."""

    def say(self, line: str) -> None:
        """Something to tell beside the progress."""


@dataclass
class Plain:
    """A line now and then."""

    total: float
    stream: TextIO
    pause: float = 5.0  # seconds between lines
    done: float = 0.0
    started: float = field(default_factory=time.monotonic)
    spoke: float = field(default_factory=time.monotonic)

    def advance(self, work: float, what: str) -> None:
        """So much work was done, this."""
        self.done += work
        now = time.monotonic()
        share = self.done / self.total
        if now - self.spoke >= self.pause and share >= LEAST_TOLD:
            self.spoke = now
            left = (now - self.started) * (1 - share) / share
            self.say(f"{share:4.0%}, {duration(left)} left: {what}")

    def say(self, line: str) -> None:
        """Something to tell beside the progress."""
        print(line, file=self.stream, flush=True)


class Rich:
    """A bar at the foot of the terminal."""

    def __init__(self, total: float) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            transient=True,
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def advance(self, work: float, what: str) -> None:
        """So much work was done, this."""
        self._bar.update(self._task, advance=work, description=what)

    def say(self, line: str) -> None:
        """Something to tell beside the progress."""
        self._bar.console.print(line, markup=False, highlight=False)

    def stop(self) -> None:
        """Clear the bar away."""
        self._bar.stop()


@contextmanager
def progress(total: float, stream: TextIO | None = None) -> Iterator[Progress]:
    """A progress of this much work."""
    stream = stream or sys.stderr
    bar = _rich(total) if stream.isatty() else None
    try:
        yield bar or Plain(total, stream)
    finally:
        if bar:
            bar.stop()


def _rich(total: float) -> Rich | None:
    try:
        return Rich(total)
    except ImportError:
        return None


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
