"""Measuring in a process of its own: one thread, its own peak of memory, and limits that end only itself."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS"]
WALL_FACTOR = 60  # how much longer than its processor time a process may take by the clock


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time and megabytes of private memory."""

    seconds: int
    megabytes: int

    def apply(self) -> None:
        """Limit this process."""
        resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (self.megabytes * 2**20,) * 2)


class CellError(Exception):
    """A process without an answer, and why: the limit that it met, or the last line it wrote about an error."""


def answer(arguments: Sequence[str], limits: Limits | None = None, cwd: Path | None = None) -> Any:
    """What a Python process prints last, as JSON."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    wall = limits.seconds * WALL_FACTOR if limits else None
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=wall,
            preexec_fn=limits.apply if limits else None,
        )
    except subprocess.TimeoutExpired:
        raise CellError(f"not in {wall} s by the clock") from None
    if done.returncode:
        raise CellError(_reason(done, limits))
    return json.loads(done.stdout.splitlines()[-1])


def _reason(done: subprocess.CompletedProcess[str], limits: Limits | None) -> str:
    if limits and done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        return f"not in {limits.seconds} s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else f"exit {done.returncode}"
    out_of_memory = "MemoryError" in last or "bad_alloc" in done.stderr or "can't allocate memory" in done.stderr
    return f"not in {limits.megabytes:,} MB" if limits and out_of_memory else last[:200]


def peak_megabytes() -> float:
    """The largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # `getrusage` would count what the parent held when it started this process
        (peak,) = re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())
        return int(peak) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def best(times: list[tuple[float, float]]) -> tuple[float, float]:
    """The least CPU time and the least wall time."""
    cpu, wall = zip(*times, strict=True)
    return min(cpu), min(wall)
