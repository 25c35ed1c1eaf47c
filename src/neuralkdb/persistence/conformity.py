"""Whether a value is what the annotation of a field says."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np


@cache
def kinds_of_fields(kind: Any) -> dict[str, Any]:
    """The annotations of the fields of a dataclass or named tuple."""
    names = getattr(kind, "_fields", None) or kind.__dataclass_fields__
    hints = get_type_hints(kind)
    return {name: hints[name] for name in names}


def conforms(value: Any, annotation: Any) -> bool:
    """Whether a value is what an annotation says; protocols ask for their public names."""
    origin = get_origin(annotation)
    if origin in CONTAINERS:
        return CONTAINERS[origin](value, get_args(annotation))
    if annotation in PLAIN:
        return PLAIN[annotation](value)
    if getattr(annotation, "_is_protocol", False):
        return all(_has(type(value), name) for name in _public(annotation))
    return isinstance(value, annotation)


def _has(kind: type, name: str) -> bool:
    """Whether values of a type have an attribute; no property is asked."""
    return hasattr(kind, name) or name in getattr(kind, "__dataclass_fields__", ())


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) < 2**63


def _is_hashable(value: Any) -> bool:
    hash(value)  # a TypeError says it as well
    return True


PLAIN: dict[Any, Callable[[Any], bool]] = {
    Any: lambda value: True,
    int: _is_whole,
    float: lambda value: _is_whole(value) or isinstance(value, float | np.floating),
    Hashable: _is_hashable,
    Callable: callable,
    NoneType: lambda value: value is None,
}


def _is_tuple(value: Any, kinds: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    if kinds[1:] == (...,):
        return all(conforms(each, kinds[0]) for each in value)
    return len(value) == len(kinds) and all(map(conforms, value, kinds))


def _is_mapping(value: Any, kinds: tuple[Any, ...]) -> bool:
    return isinstance(value, Mapping) and all(
        conforms(key, kinds[0]) and conforms(each, kinds[1]) for key, each in value.items()
    )


def _is_array(value: Any, kinds: tuple[Any, ...]) -> bool:
    (kind,) = get_args(kinds[1])
    return isinstance(value, np.ndarray) and (kind is Any or bool(np.issubdtype(value.dtype, kind)))


def _is_any_of(value: Any, kinds: tuple[Any, ...]) -> bool:
    return any(conforms(value, kind) for kind in kinds)


CONTAINERS: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    tuple: _is_tuple,
    list: lambda value, kinds: isinstance(value, list) and all(conforms(each, kinds[0]) for each in value),
    dict: _is_mapping,
    Mapping: _is_mapping,
    np.ndarray: _is_array,
    Union: _is_any_of,
    UnionType: _is_any_of,
    Literal: lambda value, kinds: isinstance(value, str) and value in kinds,
    Callable: lambda value, kinds: callable(value),
}


@cache
def _public(protocol: type) -> tuple[str, ...]:
    return tuple(name for name in vars(protocol) if not name.startswith("_"))
