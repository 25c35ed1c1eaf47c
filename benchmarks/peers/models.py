"""The classifiers: as their libraries have them, behind what turns a table into what they take, and on codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

Build = Callable[[], Any]
OURS = "neuralkdb"


def of(module: str, name: str, **options: Any) -> Build:
    """A class from a library that is imported only where it is measured."""
    return lambda: getattr(import_module(module), name)(**options)


def ours() -> dict[str, Build]:
    """Every public classifier of the library at its defaults."""
    import neuralkdb

    public = {name: getattr(neuralkdb, name) for name in neuralkdb.__all__}
    classes = {name: value for name, value in public.items() if inspect.isclass(value) and hasattr(value, "fit")}
    return {
        f"{OURS} {name.removesuffix('Classifier')}": of(OURS, name, **_seed(value)) for name, value in classes.items()
    }


def _seed(classifier: type[Any]) -> dict[str, int]:
    return {"random_state": 0} if "random_state" in inspect.signature(classifier).parameters else {}


def pyagrum(method: str, cuts: dict[str, Any] | None = None, **options: Any) -> Any:
    """pyAgrum's classifier, its own way of cutting numbers unless said otherwise."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    return BNClassifier(type_processor=DiscreteTypeProcessor(**(cuts or {})), learningMethod=method, **options)


ENDGAME = "endgame.models.bayesian"
PEERS: dict[str, Build] = {
    "scikit-learn CategoricalNB": of("sklearn.naive_bayes", "CategoricalNB"),
    "scikit-learn LogisticRegression": of("sklearn.linear_model", "LogisticRegression", max_iter=1000),
    "scikit-learn RandomForest": of("sklearn.ensemble", "RandomForestClassifier", random_state=0),
    "scikit-learn HistGradientBoosting": of(
        "sklearn.ensemble", "HistGradientBoostingClassifier", categorical_features="from_dtype", random_state=0
    ),
    "XGBoost": of("xgboost", "XGBClassifier", enable_categorical=True, n_jobs=1, random_state=0),
    "LightGBM": of("lightgbm", "LGBMClassifier", n_jobs=1, verbose=-1, random_state=0),
    "CatBoost": of(
        "catboost", "CatBoostClassifier", thread_count=1, verbose=0, allow_writing_files=False, random_state=0
    ),
    "interpret EBM": of("interpret.glassbox", "ExplainableBoostingClassifier", n_jobs=1, random_state=0),
    "pyAgrum NaiveBayes": lambda: pyagrum("NaiveBayes"),
    "pyAgrum TAN": lambda: pyagrum("TAN"),
    "scikit-bayes MixedNB": of("skbn", "MixedNB"),
    "scikit-bayes AnDE(1)": of("skbn", "AnDE", n_dependence=1),
    "endgame TAN": of(ENDGAME, "TANClassifier", random_state=0),
    "endgame KDB": of(ENDGAME, "KDBClassifier", random_state=0),
    "endgame ESKDB": of(ENDGAME, "ESKDBClassifier", n_jobs=1, random_state=0),
    "endgame NeuralKDB": of(ENDGAME, "NeuralKDBClassifier", device="cpu", random_state=0),
}


class Categories(TransformerMixin, BaseEstimator):
    """Text as pandas' categoricals, the categories those of the training rows."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Categories:
        self.categories_ = {name: X[name].dropna().unique() for name in X.select_dtypes("object")}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        columns = {name: pd.Categorical(X[name], known) for name, known in self.categories_.items()}
        return X.assign(**columns)


class Filled(TransformerMixin, BaseEstimator):
    """Text and numbers without gaps: a missing text is the text "missing", a missing number the mean."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Filled:
        self.means_ = X.select_dtypes("number").mean()
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        text = X.select_dtypes("object").fillna("missing").astype(str)
        return X.fillna(self.means_).assign(**text)


class TextColumns(BaseEstimator):
    """CatBoost, told which columns hold text."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Any) -> TextColumns:
        self.model.fit(X, y, cat_features=list(X.select_dtypes("object")))
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(X)


def numbers() -> Any:
    """Text as numbers in alphabetical order, gaps filled with means."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    text = (encoder, make_column_selector(dtype_include="object"))
    return make_column_transformer(text, remainder=SimpleImputer())


def as_categories(model: Any) -> Any:
    return make_pipeline(Categories(), model)


def as_numbers(model: Any) -> Any:
    return make_pipeline(numbers(), model)


def filled(model: Any) -> Any:
    return make_pipeline(Filled(), model)


def one_hot(model: Any) -> Any:
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    text = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="object"))
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(make_column_transformer(text, remainder=scaled), model)


# What stands before a peer so that it takes a table; those that are not here are compared on codes alone.
BEFORE: dict[str, Callable[[Any], Any]] = {
    "scikit-learn LogisticRegression": one_hot,
    "scikit-learn RandomForest": as_numbers,
    "scikit-learn HistGradientBoosting": as_categories,
    "XGBoost": as_categories,
    "LightGBM": as_categories,
    "CatBoost": lambda model: filled(TextColumns(model)),
    "interpret EBM": lambda model: model,
    "pyAgrum TAN": filled,
    "scikit-bayes MixedNB": as_numbers,
    "scikit-bayes AnDE(1)": as_numbers,
    "endgame ESKDB": as_numbers,
    "endgame NeuralKDB": as_numbers,
}


def bare() -> dict[str, Build]:
    """Every classifier as its library has it."""
    return {**ours(), **PEERS}


def on_tables() -> dict[str, Build]:
    """Every classifier that takes a table, alone or behind an encoder."""
    return {**ours(), **{name: (lambda name=name: BEFORE[name](PEERS[name]())) for name in BEFORE}}


def _coded(name: str, **options: Any) -> Build:
    return of(OURS, f"{name}Classifier", discretization="codes", **options)


class PyAgrumOnCodes(BaseEstimator):
    """pyAgrum takes whole numbers for categories where it is told not to cut them."""

    def __init__(self, method: str) -> None:
        self.method = method

    def fit(self, X: Any, y: Any) -> PyAgrumOnCodes:
        options = {"defaultDiscretizationMethod": "NoDiscretization", "defaultNumberOfBins": None}
        self.model_ = pyagrum(self.method, options, prior="Smoothing", priorWeight=1.0)
        self.model_.fit(self._frame(X), pd.Series(y, name="y"))
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(self.model_.predict_proba(self._frame(X)))

    @staticmethod
    def _frame(X: Any) -> pd.DataFrame:
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


class AnDEOnCodes(BaseEstimator):
    """scikit-bayes, told that all columns are categories."""

    def __init__(self, n: int) -> None:
        self.n = n

    def fit(self, X: Any, y: Any) -> AnDEOnCodes:
        from skbn import AnDE

        features = list(range(X.shape[1]))
        self.model_ = AnDE(n_dependence=self.n, alpha=1.0, categorical_features=features).fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


LAPLACE = {"estimate": "laplace", "smoothing": 1.0}
CODED = {"auto_discretize": False, "max_cardinality": 1000}

# Method, then library: the same method with the same smoothing.
ON_CODES: dict[str, dict[str, Build]] = {
    "naive Bayes": {
        OURS: _coded("NaiveBayes", **LAPLACE),
        "scikit-learn": of("sklearn.naive_bayes", "CategoricalNB", alpha=1.0),
        "pyAgrum": lambda: PyAgrumOnCodes("NaiveBayes"),
    },
    "TAN": {
        OURS: _coded("TAN", **LAPLACE),
        "pyAgrum": lambda: PyAgrumOnCodes("TAN"),
        "endgame": of(ENDGAME, "TANClassifier", smoothing=1.0, **CODED),
    },
    "KDB": {
        OURS: _coded("KDB", k=2, **LAPLACE),
        "endgame": of(ENDGAME, "KDBClassifier", k=2, smoothing="laplace", smoothing_alpha=1.0, **CODED),
    },
    "AODE": {OURS: _coded("AODE", **LAPLACE), "scikit-bayes": lambda: AnDEOnCodes(1)},
    "A2DE": {OURS: _coded("AnDE", n=2, **LAPLACE), "scikit-bayes": lambda: AnDEOnCodes(2)},
    "ESKDB": {
        OURS: of(OURS, "ESKDBClassifier", random_state=0),
        "endgame": of(ENDGAME, "ESKDBClassifier", n_jobs=1, random_state=0, **CODED),
    },
    "NeuralKDB": {
        OURS: _coded("NeuralKDB", random_state=0),
        "endgame": of(ENDGAME, "NeuralKDBClassifier", device="cpu", random_state=0, **CODED),
    },
}


def on_codes() -> dict[str, Build]:
    """Every classifier on codes, by method and library."""
    return {
        f"{library} {method}": build for method, libraries in ON_CODES.items() for library, build in libraries.items()
    }
