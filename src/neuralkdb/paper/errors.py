"""What a user can mend: each error is a sentence that says how."""

from neuralkdb.tabular.errors import MissingPackageError

__all__ = ["DataError", "LedgerError", "MethodError", "MissingPackageError", "ReproductionError"]


class ReproductionError(ValueError):
    """The experiments cannot be run as asked."""


class DataError(ReproductionError):
    """A data set cannot be had, or is not what the registry says."""


class MethodError(ReproductionError):
    """A method cannot be understood or made."""


class LedgerError(ReproductionError):
    """The results folder holds the results of something else."""
