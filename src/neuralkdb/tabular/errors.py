"""What a user can mend: each error is a sentence that says how."""


class TableError(ValueError):
    """A table cannot be read, or does not have the columns it should have."""


class MissingPackageError(ValueError):
    """A package is needed that is not installed."""
