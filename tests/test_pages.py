"""The pages are whole, small, safe, and open in a browser without an error or a request."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import neuralkdb
from every import CLASSIFIERS, make, mixed
from neuralkdb.cli import main
from neuralkdb.comparison import cross_validated
from neuralkdb.pages import comparison_page, report_page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr"),
]
BROWSERS_OWN = re.compile(r"https?://[\w.-]+\.(google|googleapis|gstatic|gvt1)\.com/")  # it looks for updates of itself
NASTY = '<script>alert("1")</script>&\'"'


class Tags(HTMLParser):
    """Checks that tags close in the order in which they opened."""

    VOID = {"meta", "link"}

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.addresses = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "action")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(page: str) -> Tags:
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser


def nasty(n_features: int = 6) -> tuple[pd.DataFrame, np.ndarray]:
    """A table whose names and values would break markup that took them as they are."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    columns = {f"{NASTY} {j} {'long ' * 12}": y + rng.normal(size=150) for j in range(n_features)}
    X = pd.DataFrame({**columns, "kind": np.array([NASTY, "b", "c", "d", "e"])[(y + rng.integers(0, 3, 150))]})
    return X, np.array(["first", NASTY, "third\n"], dtype=object)[y]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_has_a_page(classifier):
    X, y = mixed()
    model = make(classifier).fit(X, y)
    page = report_page(model, X, y, "fruit", "table.csv")
    found = tags_of(page)
    assert found.addresses == ["data:,"]
    assert "script" not in found.seen
    assert "What matters" in page
    assert "Why the model said so" in page


def test_names_are_only_text():
    X, y = nasty()
    model = neuralkdb.KDBClassifier().fit(X, y)
    page = report_page(model, X, y, NASTY, NASTY, rows=[0, 5])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "script" not in tags_of(page).seen


def test_the_terms_on_the_page_are_those_of_the_explanation():
    X, y = mixed()
    model = neuralkdb.KDBClassifier().fit(X, y)
    page = report_page(model, X, y, "fruit", "table.csv", rows=[7])
    label = model.predict(X[7:8])[0]
    for name, value in model.explain(X[7:8]).strongest(0, label):
        assert re.search(rf"<span title=\"{name} [^\"]*\">.*?<b>{re.escape(f'{value:+.2f}')}</b>", page), name


def test_dates_are_written_as_dates():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300) + 200 * (y % 3), unit="D")
    X = pd.DataFrame({"since": days, **{f"size {j}": y + rng.normal(size=300) for j in range(3)}})
    model = neuralkdb.KDBClassifier(discretization="quantile").fit(X, y)
    page = report_page(model, X, y, "bought", "table.csv", rows=[3])
    assert re.search(r"\(-inf, 20\d\d-\d\d-\d\d\)", page)
    assert f"{days[3]:%Y-%m-%d}<" in page
    assert "e+18" not in page


def test_scores_and_mistakes_on_the_page_are_those_of_the_table():
    X, y = mixed()
    model = neuralkdb.NaiveBayesClassifier().fit(X, y)
    page = report_page(model, X, y, "fruit", "table.csv")
    assert f"<b>{model.score(X, y):.1%}</b><span>accuracy</span>" in page
    right = [int(((y == c) & (model.predict(X) == c)).sum()) for c in range(3)]
    cells = [int(text) for text in re.findall(r'<td class="cell"[^>]*>(\d+)</td>', page)]
    assert [cells[0], cells[4], cells[8]] == right
    assert sum(cells) == len(y)


def of_many_classes(n_classes: int) -> tuple[str, np.ndarray]:
    """A page about many classes, with a row of one never seen, and how often each is taken for which."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 600)
    X = pd.DataFrame({"a": y + rng.normal(size=600), "b": rng.integers(0, 3, 600)})
    model = neuralkdb.NaiveBayesClassifier().fit(X, y)
    counts = np.zeros((n_classes, n_classes), int)
    np.add.at(counts, (y[1:], model.predict(X)[1:]), 1)
    return report_page(model, X, np.where(np.arange(600) == 0, 99, y), "number", "t"), counts


def test_tens_of_classes_are_a_grid_of_shaded_cells():
    page, counts = of_many_classes(30)
    assert tags_of(page).addresses == ["data:,"]
    drawn = re.findall(r"<title>(\d+) taken for (\d+): (\d+) rows", page)
    true, said = np.nonzero(counts)
    wanted = zip(true.tolist(), said.tolist(), counts[true, said].tolist(), strict=True)
    assert {tuple(map(int, cell)) for cell in drawn} == set(wanted)


def test_still_more_classes_are_a_list_of_mistakes():
    page, counts = of_many_classes(50)
    assert "The most frequent mistakes." in page
    assert " taken for " not in page
    np.fill_diagonal(counts, 0)
    listed = re.findall(r'<th title="\d+">(\d+)</th><td title="\d+">(\d+)</td><td title="\d+">(\d+)</td>', page)
    assert len(listed) == 10
    assert all(counts[int(true), int(said)] == int(n) for true, said, n in listed)
    assert int(listed[0][2]) == counts.max()


def test_a_page_of_many_features_and_rows_is_small():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 3000)
    X = pd.DataFrame(
        rng.normal(size=(3000, 300)) + y[:, None] * rng.random(300), columns=[f"c{j}" * 20 for j in range(300)]
    )
    model = neuralkdb.KDBClassifier(k=1).fit(X, y)
    assert len(report_page(model, X, y, "y", "t").encode()) < 3_000_000


def test_a_comparison_has_all_models_and_scores():
    X, y = mixed()
    models = {"NB": neuralkdb.NaiveBayesClassifier(), NASTY: neuralkdb.TANClassifier()}
    results = [cross_validated(name, model, X, pd.Series(y), 3) for name, model in models.items()]
    page = comparison_page("t.csv", "80 rows", results)
    assert results[0].row[1] in page
    assert "<script" not in page
    assert tags_of(page).addresses == ["data:,"]


def test_cross_validation_is_that_of_scikit_learn():
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    X, y = mixed()
    model = neuralkdb.KDBClassifier()
    found = cross_validated("KDB", model, X, pd.Series(y), 4)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    np.testing.assert_allclose(found.values("accuracy"), cross_val_score(model, X, y, cv=folds))
    np.testing.assert_allclose(
        -found.values("log_loss"), cross_val_score(model, X, y, cv=folds, scoring="neg_log_loss")
    )


def opened(page: Path, width: int, *more: str) -> tuple[str, list[str], set[str]]:
    """What a browser makes of a page from disk, its console messages, and the addresses that the page asks for."""
    profile, log = page.with_name("profile"), page.with_name("net.json")
    command = [CHROMIUM, *QUIET, f"--user-data-dir={profile}", f"--log-net-log={log}", f"--window-size={width},3000"]
    done = subprocess.run(
        [*command, "--dump-dom", *more, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    shutil.rmtree(profile)
    addresses = re.findall(r'"url":"((?:https?|wss?|ftp)://[^"]+)"', log.read_text())
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console, {address for address in addresses if not BROWSERS_OWN.match(address)}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    X, y = nasty()
    neuralkdb.NeuralKDBClassifier(epochs=2, random_state=0).fit(X, y).save(folder / "m.nkdb")
    X.assign(y=y).to_csv(folder / "t.csv", index=False)
    command = ["report", str(folder / "m.nkdb"), str(folder / "t.csv"), "-o", str(folder / "r.html"), "--target", "y"]
    assert main(command) == 0
    return folder / "r.html"


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, to open the page in")
def test_errors_and_requests_would_be_noticed(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://127.0.0.1:9/x.png'><script>console.error('oh'); nothing()</script>")
    _, console, addresses = opened(bad, 800)
    assert len(console) >= 2
    assert "http://127.0.0.1:9/x.png" in addresses


WIDER = """<script>document.title = document.documentElement.scrollWidth + " " + innerWidth</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, to open the page in")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_opens_the_page_without_errors_or_requests(page, width):
    dom, console, addresses = opened(page, width)
    assert console == []
    assert "Why the model said so" in dom
    assert addresses == set()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, to open the page in")
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_sticks_out_of_the_page(page, width, tmp_path):
    """A frame of this width, since a headless window is never narrower than 500."""
    inner = tmp_path / "inner.html"
    inner.write_text(page.read_text().replace("</body>", WIDER.replace("document.title", "parent.document.title")))
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<!doctype html><title>none</title><iframe src="inner.html" width="{width}" height="900"></iframe>'
    )
    dom, _, _ = opened(outer, 1400, "--allow-file-access-from-files", "--disable-web-security")
    wide, inside = map(int, re.search(r"<title>(\d+) (\d+)</title>", dom).groups())
    assert wide <= inside
