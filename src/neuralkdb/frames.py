"""A table of anything -> columns; a target and weights of anything -> arrays.

scikit-learn validates, so its messages are the ones users know. No optional library is imported:
a frame is recognised by the library its type comes from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_non_negative,
    column_or_1d,
    validate_data,
)

from neuralkdb.columns import (
    Column,
    as_objects,
    dictionary,
    is_missing,
    read_array,
    read_categories,
    read_numbers,
    read_objects,
    read_times,
    view_column,
)


def read_columns(estimator: Any, X: Any, *, reset: bool) -> tuple[Column, ...]:
    """The columns of `X`; sets (`reset`) or checks the estimator's feature names and number."""
    kinds = (f"{base.__module__.split('.')[0]}.{base.__name__}" for base in type(X).__mro__)
    read = next((FRAMES[kind] for kind in kinds if kind in FRAMES), _array_columns)
    return read(estimator, X, reset)


def read_target(y: Any) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """The classes, ascending, and each row's position among them."""
    labels = column_or_1d(_plain_labels(y), warn=True)
    if labels.dtype.kind == "O":
        _check_labels(dictionary(labels)[0])
    assert_all_finite(labels, input_name="y")
    levels, positions = dictionary(labels)
    distinct = np.array(levels, labels.dtype)
    check_classification_targets(labels if len(labels) < 4 * len(levels) else np.tile(distinct, 3))
    classes, order = np.unique(distinct, return_inverse=True)
    if np.array_equal(order, np.arange(len(order))):
        return classes, positions.astype(np.uint32, copy=False)
    return classes, order.astype(np.uint32)[positions]


def _check_labels(labels: list[Any]) -> None:
    if any(map(is_missing, labels)):
        raise ValueError("Input y contains NaN or None: drop the rows whose class is not known.")
    try:
        sorted(labels)
    except TypeError as error:
        types = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"y mixes labels of the types {types}: use one, as astype(str).") from error


def _plain_labels(y: Any) -> Any:
    """The target without the nullable type that scikit-learn would turn into floats."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if plain is None or y.isna().any() else y.to_numpy(dtype=plain)


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """One weight a row, zeros included; None where every row weighs one."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, _without_memory((n_rows, 1)), dtype=np.float64)
    check_non_negative(weights, "`sample_weight`")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.asarray(weights, dtype=np.float64)


def mark_categorical(columns: Sequence[Column], categorical_features: Any) -> NDArray[np.bool_]:
    """Which columns hold categories: by their type, and those that are listed."""
    by_type = np.array([column.is_categorical for column in columns])
    if categorical_features is None or _is_text(categorical_features, "from_dtype"):
        return by_type
    listed = np.asarray(categorical_features)
    if listed.ndim == 1 and listed.size == 0:
        return by_type
    choose = SELECTIONS.get(listed.dtype.kind) if listed.ndim == 1 else None
    if choose is None:
        raise ValueError(
            'categorical_features must be "from_dtype" or a list of names, of column numbers or of '
            f"one bool for each column, got {categorical_features!r}."
        )
    return np.asarray(by_type | choose(listed, [column.name for column in columns]))


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def _by_name(listed: NDArray[Any], names: list[str]) -> NDArray[np.bool_]:
    unknown = [name for name in listed.tolist() if name not in names]
    if unknown:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is no column of X: it has {names}.")
    return np.isin(names, listed.tolist())


def _by_number(listed: NDArray[Any], names: list[str]) -> NDArray[np.bool_]:
    if listed.min() < 0 or listed.max() >= len(names):
        raise ValueError(
            f"categorical_features lists the columns {listed.tolist()}, but the columns of X are "
            f"numbered 0 to {len(names) - 1}."
        )
    return np.isin(np.arange(len(names)), listed)


def _by_mask(listed: NDArray[Any], names: list[str]) -> NDArray[np.bool_]:
    if len(listed) != len(names):
        raise ValueError(f"categorical_features has {len(listed)} bools, but X has {len(names)} columns.")
    return listed.astype(bool)


SELECTIONS = {"U": _by_name, "O": _by_name, "i": _by_number, "u": _by_number, "b": _by_mask}


def _array_columns(estimator: Any, X: Any, reset: bool) -> tuple[Column, ...]:
    X = _plain_array(X)
    array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    if array.dtype.kind == "V":
        raise ValueError("X is a structured array: pass pandas.DataFrame(X), or plain columns.")
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # numpy has turned the numbers of a list of mixed rows into text.
        array = np.array(X, dtype=object)
    read = view_column if array.dtype.kind in "biuf" else read_array
    names = _names(estimator, array.shape[1])
    return tuple(read(name, array[:, j]) for j, name in enumerate(names))


def _plain_array(X: Any) -> Any:
    """The array without what scikit-learn cannot read or would ignore: numpy's text and masks."""
    if getattr(getattr(X, "dtype", None), "kind", None) == "T":
        return X.astype(object)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(float if X.dtype.kind in "biuf" else object), np.nan)
    return X


def _names(estimator: Any, n_features: int) -> Iterable[str]:
    return getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n_features)])


def _without_memory(shape: tuple[int, ...]) -> NDArray[Any]:
    return np.broadcast_to(np.int8(1), shape)


def _frame(cells: Callable[[Any], Iterable[Any]], read: Callable[[str, Any], Column]) -> Any:
    """The reader of a kind of frame, from how to list its columns and how to read one."""

    def columns(estimator: Any, X: Any, reset: bool) -> tuple[Column, ...]:
        _check_distinct_names(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        check_array(_without_memory(X.shape), estimator=estimator, input_name="X")
        names = _names(estimator, X.shape[1])
        return tuple(read(name, cell) for name, cell in zip(names, cells(X), strict=True))

    return columns


def _check_distinct_names(X: Any) -> None:
    names = Counter(getattr(X, "column_names", X.columns))
    repeated = [name for name, n_columns in names.items() if n_columns > 1]
    if repeated:
        raise ValueError(f"X has more than one column named {repeated[0]!r}: give each its own name.")


def _pandas_columns(X: Any) -> Iterable[Any]:
    return (series for _, series in X.items())


def _pandas_column(name: str, series: Any) -> Column:
    if isinstance(series.dtype, np.dtype):
        return read_array(name, series.to_numpy())
    if hasattr(series, "cat"):
        return Column(name, series.cat.codes.to_numpy(), tuple(series.cat.categories.tolist()))
    if hasattr(series.dtype, "pyarrow_dtype"):
        return _arrow_column(name, _one_chunk(series.array.__arrow_array__()))
    if type(series.dtype).__name__ == "PeriodDtype":
        series = series.dt.to_timestamp()
    return PANDAS_EXTENSIONS.get(series.dtype.kind, _pandas_objects)(name, series)


def _pandas_numbers(name: str, series: Any) -> Column:
    if series.isna().any():
        return read_numbers(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    return read_numbers(name, series.to_numpy(dtype=np.dtype(f"{series.dtype.kind}8")))


def _pandas_times(name: str, series: Any) -> Column:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert(None)
    return read_times(name, series.to_numpy())


def _pandas_objects(name: str, series: Any) -> Column:
    if type(series.dtype).__name__ != "StringDtype":
        return read_objects(name, series.to_numpy(dtype=object))
    positions, levels = series.factorize()
    return read_categories(name, levels.tolist(), positions)


PANDAS_EXTENSIONS = {
    **dict.fromkeys("iuf", _pandas_numbers),
    **dict.fromkeys("mM", _pandas_times),
}


def _polars_column(name: str, series: Any) -> Column:
    if series.dtype.is_nested():
        return read_objects(name, as_objects(series.to_list()))
    if series.dtype.is_decimal():
        series = series.cast(float)
    if not str(series.dtype).startswith(("String", "Categorical", "Enum")):
        return read_array(name, series.to_numpy())
    levels = series.cast(str).unique().drop_nulls().sort()
    positions = series.cast(str).rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
    return read_categories(name, levels.to_list(), positions)


def _arrow_column(name: str, column: Any) -> Column:
    kind = str(column.type)
    if not kind.startswith(("string", "large_string", "string_view", "dictionary")):
        return read_array(name, column.to_numpy(zero_copy_only=False))
    encoded = column if kind.startswith("dictionary") else column.dictionary_encode()
    positions = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return read_categories(name, encoded.dictionary.to_pylist(), positions)


def _arrow_columns(X: Any) -> Iterable[Any]:
    return map(_one_chunk, X.columns)


def _one_chunk(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _refuse_lazy(estimator: Any, X: Any, reset: bool) -> tuple[Column, ...]:
    raise TypeError("X is a LazyFrame, whose rows are not there yet: pass X.collect().")


FRAMES = {
    "pandas.DataFrame": _frame(_pandas_columns, _pandas_column),
    "polars.DataFrame": _frame(lambda X: X.get_columns(), _polars_column),
    "polars.LazyFrame": _refuse_lazy,
    "pyarrow.Table": _frame(_arrow_columns, _arrow_column),
    "pyarrow.RecordBatch": _frame(_arrow_columns, _arrow_column),
}
