"""All commands, and what becomes of their errors."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from neuralkdb.cli import evaluating, experiments, fitting, inspecting, predicting, reporting
from neuralkdb.cli.arguments import MISUSED, Parser, with_examples
from neuralkdb.engines.errors import EngineError

STOPPED = 130  # what a shell makes of an interrupt

DESCRIPTION = "Bayesian network classifiers for tabular data."
MODULES = (fitting, predicting, evaluating, inspecting, reporting, experiments)
EXAMPLES = "examples:\n" + "".join(module.EXAMPLES for module in MODULES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    parsed = parser().parse_args(arguments)
    command: Callable[[Any], int] = parsed.command
    try:
        code = command(parsed)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, EngineError) as error:
        print(f"neuralkdb: {sentence(error)}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        print(f"neuralkdb: stopped{parsed.if_stopped}", file=sys.stderr)
        return STOPPED


def parser() -> Parser:
    """All commands and their options."""
    made = Parser(prog="neuralkdb", description=DESCRIPTION, **with_examples(EXAMPLES))
    made.set_defaults(if_stopped="")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for module in MODULES:
        module.add_to(commands)
    return made


def sentence(error: Exception) -> str:
    """What an error says, in one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
