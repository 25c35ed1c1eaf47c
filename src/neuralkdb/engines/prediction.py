"""Predictions of a table that may be larger than memory, written as Parquet: all of them or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from neuralkdb.engines.engine import DistributedEngine
from neuralkdb.engines.errors import failing, missing
from neuralkdb.engines.frame import Frame
from neuralkdb.engines.sources import opened

BATCH_ENTRIES = 2**22  # cells of the table, and probabilities, that are held at once
Predictions = dict[str, NDArray[Any]]


def predict_table(classifier: Any, source: Any, out: str | os.PathLike[str], keep: Sequence[str] = ()) -> None:
    """One row of predictions a row of the table, beside the columns to `keep`."""
    check_is_fitted(classifier)
    native, engine = opened(source, ordered=True)
    frame = Frame.of(native, engine)
    features = feature_names(classifier, list(frame.schema), keep)
    plain = frame.plain(list(dict.fromkeys([*features, *keep])))
    with whole(out) as part, failing(engine.name, "predicting"):
        if isinstance(engine, DistributedEngine):
            engine.write_predictions(plain, classifier, predictor, features, keep, part)
        else:
            n_rows = max(BATCH_ENTRIES // (len(features) + len(classifier.classes_)), 256)
            _write(engine.batches(plain, n_rows), predictor(classifier, features), keep, part)


def feature_names(classifier: Any, columns: list[str], keep: Sequence[str]) -> list[str]:
    """The columns to predict from, which the table must have, like those to keep."""
    others = [name for name in columns if name not in keep]
    names = [str(name) for name in getattr(classifier, "feature_names_in_", others)]
    unknown = [name for name in (*names, *keep) if name not in columns]
    if unknown:
        raise ValueError(f"The table has no column {unknown[0]!r}, which is needed to predict: it has {columns}.")
    return names


def predictor(classifier: Any, features: Sequence[str]) -> Callable[[Any], Predictions]:
    """What a batch is turned into: the label and the probability of every class."""

    def predict(batch: Any) -> Predictions:
        rows = batch[list(features)] if hasattr(batch, "iloc") else batch.select(list(features))
        probabilities = classifier.predict_proba(rows)
        labels = classifier.classes_[probabilities.argmax(axis=1)]
        return {"prediction": labels, **dict(zip(probability_names(classifier.classes_), probabilities.T, strict=True))}

    return predict


def probability_names(labels: NDArray[Any]) -> list[str]:
    """The columns of the probabilities."""
    return [f"probability_{label}" for label in labels.tolist()]


@contextmanager
def whole(out: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside `out` that takes its name when all is written, and is gone when it is not."""
    path = Path(out)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(part, path)
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        part.unlink(missing_ok=True)


def _write(batches: Iterator[Any], predict: Callable[[Any], Predictions], keep: Sequence[str], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise missing("pyarrow", "engines", "Writing Parquet") from error
    writer = None
    try:
        for batch in batches:
            rows = pa.table(batch)
            kept = rows.select(list(keep))
            predicted = pa.table({name: pa.array(column) for name, column in predict(rows).items()})
            table = pa.table([*kept.columns, *predicted.columns], names=[*keep, *predicted.column_names])
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is None:
            raise ValueError("the table has no rows")
    finally:
        if writer is not None:
            writer.close()
