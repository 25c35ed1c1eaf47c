"""Fitted classifiers as files, and files as fitted classifiers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from neuralkdb.persistence.agreement import Size, check_agreement, check_statistics
from neuralkdb.persistence.archive import opened, write_archive
from neuralkdb.persistence.codec import Decoder, Encoder
from neuralkdb.persistence.conformity import conforms
from neuralkdb.persistence.errors import ModelFileError, require
from neuralkdb.persistence.numbers import described, read_arrays, write_arrays

FORMAT = "neuralkdb"
VERSION = 1
UPGRADES: dict[int, Callable[[Any], Any]] = {}  # from a document of a version to one of the next
OPTIONAL: dict[str, Any] = {"feature_names_in_": NDArray[Any], "target_name_": str}
CLASSIFIERS: dict[str, type[Savable]] = {}


class Savable:
    """A classifier that can be written to a file; those of this library are known to the reader by name."""

    _fitted: ClassVar[dict[str, Any]] = {"n_features_in_": int, "classes_": NDArray[Any]}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("neuralkdb."):
            CLASSIFIERS[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to a file that `neuralkdb.load` reads.

        The file holds all that is needed to predict and to go on with `partial_fit`, as plain data: reading it runs no
        code. It is complete before it takes the place of a file of the same name.

        Parameters
        ----------
        path : str or path-like
            The file; `.nkdb` is the usual ending.
        """
        check_is_fitted(self)
        if CLASSIFIERS.get(type(self).__name__) is not type(self):
            raise ModelFileError(f"{type(self).__name__} is not a class of neuralkdb: write it with pickle or joblib.")
        encoder = Encoder()
        parameters = _encoded(encoder, _portable(self.get_params(deep=False)))  # type: ignore[attr-defined]
        fitted = _encoded(encoder, {name: vars(self)[name] for name in self._attributes() if name in vars(self)})
        descriptions = [described(array) for array in encoder.arrays]
        document = {
            "format": FORMAT,
            "version": VERSION,
            "class": type(self).__name__,
            "parameters": parameters,
            "fitted": fitted,
            "values": encoder.entries,
            "arrays": descriptions,
        }
        text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
        write_archive(
            path,
            lambda stream: stream.write(text),
            lambda stream: write_arrays(encoder.arrays, descriptions, stream),
        )

    @classmethod
    def _attributes(cls) -> dict[str, Any]:
        """What was learned, by name, and of which type it is."""
        own = [vars(base).get("_fitted", {}) for base in reversed(cls.__mro__)]
        return {name: kind for part in own for name, kind in part.items()} | OPTIONAL


def load(path: str | os.PathLike[str]) -> Any:
    """The classifier that was saved to a file.

    Reading a file runs no code from it and allocates no more than its size explains.

    Parameters
    ----------
    path : str or path-like
        A file written by the method `save` of a classifier.

    Returns
    -------
    classifier : object
        The fitted classifier: its probabilities are those of the one that was saved, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged, or was written by a newer version.

    Examples
    --------
    >>> import neuralkdb, os, tempfile
    >>> model = neuralkdb.NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.nkdb")
    >>> model.save(path)
    >>> neuralkdb.load(path).predict([["b"]])
    array([1])
    """
    with open(path, "rb") as file:
        try:
            return _read(file)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}.") from None
        except Exception as error:  # whatever a damaged file leads to
            raise ModelFileError(
                f"{os.fspath(path)} cannot be loaded: it is damaged ({type(error).__name__}: {error})."
            ) from error


def _read(file: IO[bytes]) -> Any:
    with opened(file) as (document, numbers, most_bytes):
        document = _upgraded(document)
        decoder = Decoder(read_arrays(document["arrays"], numbers, most_bytes), most_bytes)
    decoder.read(document["values"])
    name = document["class"]
    require(name in CLASSIFIERS, f"it holds a {name!r}, which this version does not know")
    return _classifier(
        CLASSIFIERS[name], _decoded(decoder, document["parameters"]), _decoded(decoder, document["fitted"])
    )


def _upgraded(document: Any) -> Any:
    """The document as the current version would have written it."""
    require(isinstance(document, dict) and document.get("format") == FORMAT, "it is no model file of neuralkdb")
    version = document["version"]
    require(type(version) is int and version >= 1, f"it has the version {version!r}")
    require(
        version <= VERSION,
        f"it was written by a newer neuralkdb, in version {version} of the format; this one reads up to {VERSION}",
    )
    for older in range(version, VERSION):
        document = UPGRADES[older](document)
    return document


def _encoded(encoder: Encoder, values: dict[str, Any]) -> dict[str, Any]:
    return {name: encoder.encode(value) for name, value in values.items()}


def _decoded(decoder: Decoder, values: dict[str, Any]) -> dict[str, Any]:
    return {name: decoder.decode(value) for name, value in values.items()}


def _portable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without types of other libraries: an index of a data frame becomes an array."""
    foreign = {name for name, value in parameters.items() if hasattr(value, "__array__")}
    return {name: np.asarray(value) if name in foreign else value for name, value in parameters.items()}


def _classifier(kind: type[Any], parameters: dict[str, Any], fitted: dict[str, Any]) -> Any:
    """The classifier, if all that it is made of fits together."""
    classifier = kind(**parameters)
    classifier._validate_params()
    require(parameters.get("n_jobs") != 0, "n_jobs is 0")
    expected = kind._attributes()
    require(fitted.keys() | OPTIONAL.keys() == expected.keys(), f"{kind.__name__} was not learned")
    for name, value in fitted.items():
        require(conforms(value, expected[name]), f"{name} is a {type(value).__name__}")
        setattr(classifier, name, value)
    _check_fitted(classifier, fitted)
    return classifier


def _check_fitted(classifier: Any, fitted: dict[str, Any]) -> None:
    n_features, classes, members = classifier.n_features_in_, classifier.classes_, classifier.members_
    require(classes.ndim == 1 and len(set(classes.tolist())) == len(classes) > 0, "classes have no labels")
    require(members and all(0 < member.weight < np.inf for member in members), "members have no weight")
    for member in members:
        size = Size(member.encoding.cardinalities, len(classes), member.encoding.n_features)
        require(size.n_features == n_features, "features have no codes")
        check_agreement(member, size)
        check_statistics(member.structure, member.statistics)
        learned = [value for name, value in fitted.items() if name != "members_"]
        check_agreement(tuple(learned), size)
    if "feature_names_in_" in fitted:
        names = classifier.feature_names_in_
        require(names.shape == (n_features,) and names.dtype == object, "columns have no names")
        distinct = {name for name in names.tolist() if isinstance(name, str)}
        require(len(distinct) == n_features, "columns have no names of their own")
