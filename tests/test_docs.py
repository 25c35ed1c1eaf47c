"""The pages say what is so: their code runs, what they link to exists, and the API lists what is public."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import neuralkdb

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))])
RUN = ["index.md", "start.md", "how-to.md", "adding-a-classifier.md", "guide.md", "../README.md"]
ENGINE = "fit_table("  # needs tables in an engine: tests of engines have them
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def named(module: str, name: str) -> object:
    return getattr(importlib.import_module(module), name)


def given() -> dict[str, object]:
    """What pages take for granted: a table, its classes, and a fitted model."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = neuralkdb.KDBClassifier().fit(X_train, y_train)
    return {"X": X_train, "y": y_train, "X_test": X_test, "y_test": y_test, "X_new": X_test, "model": model}


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "__page__", type(sys)("__page__"))
    names = sys.modules["__page__"].__dict__ | given()
    sys.modules["__page__"].__dict__.update(names)
    blocks = [block for block in CODE.findall((DOCS / page).read_text(encoding="utf-8")) if ENGINE not in block]
    assert blocks
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number}", "exec"), sys.modules["__page__"].__dict__)


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_that_link_to_a_module_are_in_it(page):
    for name, path in re.findall(r"\[`(\w+)`\]\(\.\./src/([\w/]+)\.py\)", page.read_text(encoding="utf-8")):
        assert named(path.replace("/", "."), name)


def listed() -> list[str]:
    text = (DOCS / "api.rst").read_text(encoding="utf-8")
    return re.findall(r"^   ~?(neuralkdb\.[\w.]+)$", text, re.MULTILINE)


def test_the_api_lists_every_public_name():
    assert {f"neuralkdb.{name}" for name in neuralkdb.__all__} <= set(listed())


def test_the_api_lists_only_what_exists():
    for name in listed():
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert named(module, last)
