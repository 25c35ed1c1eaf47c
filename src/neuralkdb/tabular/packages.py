"""pandas and pyarrow, or a sentence on how to get them."""

from __future__ import annotations

from typing import Any

from neuralkdb.tabular.errors import MissingPackageError


def pandas() -> Any:
    """The pandas module."""
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "reading data files needs pandas and pyarrow: pip install 'neuralkdb[cli]'"
        ) from error
    return pandas


def parquet() -> Any:
    """The Parquet module of pyarrow."""
    pandas()
    import pyarrow.parquet

    return pyarrow.parquet


def arrow() -> Any:
    """The pyarrow module."""
    pandas()
    import pyarrow

    return pyarrow
