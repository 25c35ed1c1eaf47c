"""The methods by name: the paper's eight, further columns, and whatever estimator a user names.

A method is written `KDB`, `KDB(k=3)` or `package.module:Class(setting=value)`.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import packages_distributions, version
from typing import Any

from neuralkdb.paper.errors import MethodError

Settings = Mapping[str, object]

PAPER_SETTINGS: Settings = {
    "discretization": "width",
    "n_bins": 10,
    "missing": "impute",
    "estimate": "m",
    "smoothing": 1.0,
}
NEURAL_SETTINGS: Settings = {"embedding_dim": 128, "batch_size": 32, "epochs": 10}
SPELLING = re.compile(r"(?P<name>[^()]+?)\s*(?:\((?P<settings>.*)\))?")


@dataclass(frozen=True)
class Recipe:
    """How a named method is made."""

    target: str  # module:Class
    settings: Settings = field(default_factory=dict)
    protocol: Settings = field(default_factory=lambda: PAPER_SETTINGS)  # where it has them


RECIPES: Mapping[str, Recipe] = {
    "NeuralKDB": Recipe(
        "neuralkdb:NeuralKDBClassifier",
        {"k": 2, "activation": "tanh", "schedule": "instances", **NEURAL_SETTINGS},
    ),
    "NeuralNB": Recipe(
        "neuralkdb:NeuralNBClassifier",
        {"activation": "tanh", "schedule": "instances", **NEURAL_SETTINGS},
    ),
    "NN": Recipe("neuralkdb:EmbeddingNetClassifier", NEURAL_SETTINGS),
    # The printed column is that of one feature-parent: see `report.py`.
    "KDF": Recipe("neuralkdb:KDFClassifier", {"k": 1}),
    "KDB": Recipe("neuralkdb:KDBClassifier", {"k": 2}),
    "TAN": Recipe("neuralkdb:TANClassifier"),
    "NB": Recipe("neuralkdb:NaiveBayesClassifier"),
    "RF": Recipe("sklearn.ensemble:RandomForestClassifier", {"n_estimators": 100}),
    "AODE": Recipe("neuralkdb:AODEClassifier"),
    "WAODE": Recipe("neuralkdb:WAODEClassifier"),
    "A2DE": Recipe("neuralkdb:AnDEClassifier", {"n": 2}),
    "SKDB": Recipe("neuralkdb:SKDBClassifier"),
    "ESKDB": Recipe("neuralkdb:ESKDBClassifier", protocol={}),  # has an encoding of its own
    "NeuralKDBEnsemble": Recipe("neuralkdb:NeuralKDBEnsembleClassifier", protocol={}),  # so has this
    "MNKDB": Recipe("neuralkdb:MNKDBClassifier", {"k": 2}),
    "SPTAN": Recipe("neuralkdb:SPTANClassifier"),
    "LR": Recipe("neuralkdb.paper.coded:one_hot_logistic_regression"),
    "XGBoost": Recipe("xgboost:XGBClassifier", {"n_estimators": 100}),
    "LightGBM": Recipe("lightgbm:LGBMClassifier", {"n_estimators": 100, "verbose": -1}),
    "CatBoost": Recipe(
        "catboost:CatBoostClassifier",
        {"verbose": False, "allow_writing_files": False, "thread_count": 1},
    ),
}


@dataclass(frozen=True)
class Method:
    """A column of a table: a name, and the estimator it stands for."""

    name: str  # canonical: no setting that is the recipe's own
    recipe: Recipe
    settings: Settings

    @cached_property
    def factory(self) -> Callable[..., Any]:
        """What makes the estimator."""
        module, _, attribute = self.recipe.target.partition(":")
        try:
            return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
        except ImportError as error:
            raise MethodError(f"{self.name} needs the package {error.name or module}: {error}") from error
        except AttributeError as error:
            raise MethodError(f"{self.name}: the module {module} has no {attribute}") from error

    def estimator(self, seed: int) -> Any:
        """The unfitted estimator; one that encodes tables does so by the paper's settings."""
        try:
            made = self.factory(**self.settings)
        except TypeError as error:
            raise MethodError(f"{self.name} cannot be made: {error}") from error
        known = made.get_params()
        encodes = "discretization" in known  # others mean other things by the same words
        wanted = {**(self.recipe.protocol if encodes else {}), "n_jobs": 1, "random_state": seed}
        free = set(known) - set(self.settings)
        return made.set_params(**{name: wanted[name] for name in wanted if name in free})

    @cached_property
    def version(self) -> str:
        """The distributions the method comes from, with their versions."""
        package = self.recipe.target.split(":")[0].split(".")[0]
        names = {"neuralkdb", *_distributions().get(package, ())}
        return " ".join(f"{name}-{version(name)}" for name in sorted(names))


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def parse_method(text: str) -> Method:
    """The method written so."""
    found = SPELLING.fullmatch(text.strip())
    if found is None:
        raise MethodError(f"{text!r} is not a method: write KDB, KDB(k=3) or module:Class")
    name = found["name"]
    recipe = RECIPES.get(name) or _named_by_user(name)
    given = _settings(found["settings"] or "", text)
    changed = {key: given[key] for key in sorted(given) if given[key] != recipe.settings.get(key)}
    return Method(_spelled(name, changed), recipe, {**recipe.settings, **changed})


def _named_by_user(name: str) -> Recipe:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        known = ", ".join(RECIPES)
        raise MethodError(f"unknown method {name}: there are {known}, and any module:Class")
    return Recipe(name)


def _settings(text: str, method: str) -> dict[str, object]:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert not call.args
        return {str(word.arg): _value(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise MethodError(f"{method!r}: write settings as (name=value, name=value)") from error


def _value(node: ast.expr) -> object:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def _spelled(name: str, settings: Settings) -> str:
    listed = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{name}({listed})" if listed else name
