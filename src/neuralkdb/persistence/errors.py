"""What is wrong with a model file, or with what should become one."""


class ModelFileError(ValueError):
    """A file is no model file, is damaged, hostile or newer than this library; or a model cannot be written as one."""


def require(condition: object, otherwise: str) -> None:
    """Complain unless a condition holds."""
    if not condition:
        raise ModelFileError(otherwise)
