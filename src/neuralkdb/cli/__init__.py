"""The command line: one function a command."""

from neuralkdb.cli.main import main

__all__ = ["main"]
