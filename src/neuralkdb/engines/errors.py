"""What can go wrong with an engine, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EngineError(RuntimeError):
    """An engine is missing, cannot be reached, or failed half-way."""


class MissingEngineError(ModuleNotFoundError, EngineError):
    """An engine whose library is not installed."""


def missing(library: str, extra: str, what: str) -> MissingEngineError:
    """The error of an engine whose library is not installed."""
    message = f'{what} needs {library}, which is not installed: pip install "neuralkdb[{extra}]".'
    return MissingEngineError(message, name=library)


@contextmanager
def failing(engine: str, doing: str) -> Iterator[None]:
    """Whatever an engine raises becomes one sentence that says what it was doing."""
    try:
        yield
    except (EngineError, KeyboardInterrupt):
        raise
    except Exception as error:
        reason = " ".join(_without_frames(str(error)).split()) or type(error).__name__
        raise EngineError(f"{engine} failed while {doing}: {reason[:400]}") from error


def _without_frames(message: str) -> str:
    """What is said in a message that holds the traceback of another process."""
    start, traceback, rest = message.partition("Traceback (most recent call last):")
    if not traceback:
        return message
    return "\n".join([start, *(line for line in rest.splitlines() if not line.startswith((" ", "\t")))])
