"""Classifiers by the names that commands take."""

import argparse
import inspect
import os
import re
from typing import Any

import neuralkdb
from neuralkdb.cli.arguments import setting

MODELS: dict[str, type[Any]] = {
    name.removesuffix("Classifier"): getattr(neuralkdb, name)
    for name in neuralkdb.__all__
    if name.endswith("Classifier")
}
DEFAULT = next(name for name in ("NeuralKDBEnsemble", "NeuralKDB") if name in MODELS)
SPELLING = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<settings>.*)\))?\s*")


def made(name: str, settings: dict[str, Any]) -> Any:
    """The classifier of a name, with settings; seeded, and on all processors, unless they say otherwise."""
    kinds = {known.lower(): kind for known, kind in MODELS.items()}
    kind = kinds.get(name.lower().removesuffix("classifier"))
    if kind is None:
        raise ValueError(f"there is no model {name}: there are {', '.join(MODELS)}")
    known = inspect.signature(kind).parameters
    unknown = [setting for setting in settings if setting not in known]
    if unknown:
        raise ValueError(f"{name} has no setting {unknown[0]}: it has {', '.join(known)}")
    defaults = {"random_state": 0, "n_jobs": os.cpu_count()}
    return kind(**{**{key: value for key, value in defaults.items() if key in known}, **settings})


def listed(text: str) -> dict[str, Any]:
    """The classifiers in a list such as `KDB(k=3),TAN`, by how they are written."""
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    found = {part: SPELLING.fullmatch(part) for part in parts}
    for part, match in found.items():
        if match is None:
            raise ValueError(f"{part!r} is not a model: write KDB or KDB(k=3)")
    return {part: made(match["name"], _settings(match["settings"])) for part, match in found.items() if match}


def _settings(text: str | None) -> dict[str, Any]:
    """The settings between the parentheses of a model."""
    try:
        return dict(setting(each.strip()) for each in (text or "").split(",") if each)
    except argparse.ArgumentTypeError as error:
        raise ValueError(str(error)) from None
