"""Settings of the whole suite, and where the shared data is."""

import os
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy is imported: one of scikit-learn's checks needs it

import pytest
from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of the shared data sets."""
    folder = Path(os.environ.get("NEURALKDB_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip("the shared data sets are not here")
    return folder


@pytest.fixture
def stand_ins(monkeypatch):
    """The paper's methods replaced by fast ones, in this process and those it starts."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import paper_stand_ins

    monkeypatch.setattr("neuralkdb.paper.methods.RECIPES", paper_stand_ins.stand_in_recipes())
    return paper_stand_ins


@pytest.fixture
def iris():
    """The data set that scikit-learn has as well."""
    from neuralkdb.paper.datasets import load
    from neuralkdb.paper.registry import registry

    return load(registry()["iris"])
