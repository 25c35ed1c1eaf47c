"""narwhals, through which all engines are spoken to."""

from neuralkdb.engines.errors import missing

try:
    import narwhals as nw
except ModuleNotFoundError as error:
    raise missing("narwhals", "engines", "Learning from lazy tables") from error

__all__ = ["nw"]
