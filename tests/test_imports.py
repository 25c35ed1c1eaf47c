"""What importing the library loads, which module may know which, and that public names are documented."""

import importlib
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import neuralkdb
from every import CLASSIFIERS

ROOT = Path(__file__).parent.parent
OPTIONAL = ["pandas", "polars", "pyarrow", "torch", "matplotlib", "narwhals", "duckdb", "pyspark", "triton"]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(neuralkdb.__path__, "neuralkdb.")
    if not module.name.endswith("__main__")
]


def loaded_by(statement: str) -> set[str]:
    """The libraries that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    env = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}  # it loads torch
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return set(done.stdout.split())


def test_importing_the_library_loads_no_optional_library():
    with_sklearn = loaded_by("import sklearn.utils.validation, joblib")
    assert not (loaded_by("import neuralkdb") - with_sklearn) & set(OPTIONAL)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_and_says_what_it_is(module):
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name in OPTIONAL:
            pytest.skip(f"{error.name} is not installed")
        raise
    assert module == "neuralkdb._kernels" or (loaded.__doc__ or "").strip()


def test_public_names_are_sorted_and_exist():
    assert neuralkdb.__all__ == sorted(neuralkdb.__all__)
    assert len(set(neuralkdb.__all__)) == len(neuralkdb.__all__)
    for name in neuralkdb.__all__:
        assert inspect.getdoc(getattr(neuralkdb, name))


def sections(documented: object) -> list[str]:
    lines = (inspect.getdoc(documented) or "").splitlines()
    return [title for title, rule in pairwise(lines) if title and set(rule) == {"-"} and len(rule) == len(title)]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_classifiers_document_every_parameter(classifier):
    """As `name : type` below Parameters, and nothing that is no parameter; a range of two shares a line."""
    text = inspect.getdoc(classifier)
    assert {"Parameters", "Attributes", "Examples"} <= set(sections(classifier))
    assert "{" not in text.replace("{{", "").split("Parameters")[0]
    listed = text.partition("Parameters\n----------\n")[2].partition("\nAttributes\n")[0]
    heads = [line.partition(" : ")[0] for line in listed.splitlines() if line[:1].isalpha() and " : " in line]
    documented = {name.strip() for head in heads for name in head.split(",")}
    assert documented == set(inspect.signature(classifier).parameters)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_public_methods_document_what_they_take_and_return(classifier):
    own = {name for name, value in vars(classifier).items() if inspect.isfunction(value)}
    inherited = {"fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"}
    public = {name for name in own | inherited if not name.startswith("_") and hasattr(classifier, name)}
    for name in public:
        assert {"Parameters", "Returns"} <= set(sections(getattr(classifier, name))), name


def test_arrows_between_modules_point_one_way():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if linter is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
