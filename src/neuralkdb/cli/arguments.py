"""Arguments of commands: what they may be, and one sentence where they are not."""

import argparse
import ast
import os
import sys
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

MISUSED = 2


class Parser(argparse.ArgumentParser):
    """Wrong usage is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Leave with the sentence."""
        self.exit(MISUSED, f"{self.prog}: {message} (see {self.prog} --help)\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def with_examples(examples: str) -> dict[str, Any]:
    """What a parser needs to show examples as they are."""
    return {"epilog": examples, "formatter_class": argparse.RawDescriptionHelpFormatter}


def add_command(commands: Commands, name: str, summary: str, description: str, examples: str) -> Parser:
    """A command with its help."""
    return commands.add_parser(name, help=summary, description=description, **with_examples(f"examples:\n{examples}"))


def say(line: str) -> None:
    """Something to tell beside the results."""
    print(line, file=sys.stderr, flush=True)


def show_progress(line: str = "") -> None:
    """How far it is, in one line of a terminal that the next one overwrites; the empty line clears it away."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{line}", file=sys.stderr, flush=True, end="")


def check_folder_of(path: str) -> None:
    """Complain before the work is done, not after it, that there is no place for its result."""
    place = Path(path).parent
    if not place.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {place}")
    if Path(path).is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder")


def folder(text: str) -> Path:
    """A folder that is there."""
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in text.split(",") if name]


def positive(text: str) -> int:
    """A whole number from one on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


def natural(text: str) -> int:
    """A whole number from zero on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return int(text)


def numbers(text: str) -> list[int]:
    """Whole numbers from zero on, separated by commas."""
    return [natural(number) for number in names(text)]


def folds(text: str) -> int:
    """A number of folds: at least two."""
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text} is no number of folds: it takes two or more")
    return int(text)


def share(text: str) -> float:
    """A share of the rows, from 0 to less than 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share from 0 to less than 1")
    return number


def setting(text: str) -> tuple[str, Any]:
    """A name=value; the value is read as Python would, or as text."""
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not name=value")
    return name, literal(value)


def literal(text: str) -> Any:
    """The number, list or other plain value that a text says; the text itself where it says none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def pair(text: str) -> tuple[str, str]:
    """A feature=value."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not feature=value")
    return name, value
