"""Pictures hold what the models say: names, numbers, places."""

import warnings

import numpy as np
import pandas as pd
import pytest

import neuralkdb
from every import CLASSIFIERS, make, mixed

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

from matplotlib import pyplot  # noqa: E402

from neuralkdb.plotting import ContributionsDisplay, EmbeddingMapDisplay, ReliabilityDisplay, StructureDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    """No figure outlives its test."""
    yield
    pyplot.close("all")


def texts_overlap(figure, texts) -> bool:
    """Whether two of the texts cover each other, as drawn."""
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    return any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def named_by(
    n_features: int, name: str = "a_rather_long_name_of_a_feature_number_{}_of_many"
) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    columns = {name.format(j): y * rng.random() + rng.normal(size=300) for j in range(n_features)}
    return pd.DataFrame(columns), y


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_structure_is_drawn_with_the_names_of_its_features(classifier):
    X, y = mixed()
    display = StructureDisplay.from_estimator(make(classifier).fit(X, y))
    drawn = {label.get_text() for label in display.ax_.get_yticklabels()}
    assert drawn <= set(X.columns)
    assert len(display.diagram.arcs) == len(display.ax_.patches) - len(drawn)


def test_parents_stand_above_their_children_and_all_arcs_are_there():
    X, y = named_by(12)
    model = neuralkdb.KDBClassifier(k=2).fit(X, y)
    diagram = StructureDisplay.from_estimator(model).diagram
    row = {name: place for place, name in enumerate(diagram.names)}
    wanted = {(row[p], row[child]) for child, parents in model.structure_.items() for p in parents}
    assert {(upper, lower) for upper, lower, _ in diagram.arcs} == wanted
    assert all(upper < lower for upper, lower in wanted)


def test_a_tree_rooted_anywhere_has_parents_above_children():
    X, y = named_by(12)
    model = neuralkdb.TANClassifier().fit(X, y)
    diagram = StructureDisplay.from_estimator(model).diagram
    row = {name: place for place, name in enumerate(diagram.names)}
    assert all(row[p] < row[child] for child, parents in model.structure_.items() for p in parents)


@pytest.mark.parametrize("n_features", [5, 40, 60])
def test_names_are_readable_however_many_and_long(n_features):
    X, y = named_by(n_features)
    display = StructureDisplay.from_estimator(neuralkdb.KDBClassifier().fit(X, y))
    display.figure_.canvas.draw()
    labels = display.ax_.get_yticklabels()
    assert len(labels) == min(n_features, 40)
    assert not texts_overlap(display.figure_, labels)
    assert len({label.get_text() for label in labels}) == len(labels)
    width, height = display.figure_.get_size_inches()
    assert width < 9
    assert height < 12
    box = display.figure_.bbox
    assert all(box.x0 <= label.get_window_extent().x0 for label in labels)


def test_labels_on_a_map_cover_neither_each_other_nor_the_frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    X = pd.DataFrame(
        {"place": [f"place {n}" for n in (y * 10 + rng.integers(0, 20, 2000))], "x": rng.integers(0, 4, 2000)}
    )
    display = EmbeddingMapDisplay.from_estimator(neuralkdb.KDBClassifier(discretization="codes").fit(X, y), "place")
    display.figure_.canvas.draw()
    texts = display.ax_.texts
    assert len(texts) > 10
    assert not texts_overlap(display.figure_, texts)
    frame = display.ax_.get_window_extent()
    for text in texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1


def test_values_in_the_same_contexts_lie_close_together_on_the_map():
    rng = np.random.default_rng(0)
    context = rng.integers(0, 4, 4000)
    y = (context >= 2) ^ (rng.random(4000) < 0.2)
    twin = np.array(["a1", "a2"])[rng.integers(0, 2, 4000)]
    X = pd.DataFrame(
        {
            "context": context,
            "value": np.where((context + y) % 3 == 0, twin, np.where(rng.random(4000) < 0.5, "b", "c")),
        }
    )
    model = neuralkdb.KDBClassifier(k=1, discretization="codes").fit(X, y)
    display = EmbeddingMapDisplay.from_estimator(model, "value")
    place = dict(zip(display.labels, display.points, strict=True))
    twins = np.linalg.norm(place["a1"] - place["a2"])
    assert all(twins < 0.3 * np.linalg.norm(place["a1"] - place[other]) for other in "bc"), place


def test_contributions_add_up_to_the_log_odds():
    X, y = mixed()
    model = neuralkdb.KDBClassifier().fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X, row=3, n_terms=2)
    total = sum(value for _, value in display.terms) + display.rest
    own = list(model.classes_).index(display.label)
    assert total == pytest.approx(model.explain(X[3:4]).log_odds[0, own])
    last = display.ax_.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(total)
    assert f"colour = {X['colour'][3]}" in {
        name for name, _ in ContributionsDisplay.from_estimator(model, X, row=3).terms
    }


def test_contributions_of_an_array_and_of_a_chosen_class_are_drawn():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = neuralkdb.NaiveBayesClassifier().fit(X, X[:, 0] > 0)
    display = ContributionsDisplay.from_estimator(model, X, row=1, label=True)
    assert display.label is True
    assert {name for name, _ in display.terms} <= {"class", "x0", "x1", "x2"}


def test_reliability_shows_confidence_and_accuracy():
    X, y = mixed(400)
    model = neuralkdb.NaiveBayesClassifier().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y)
    found = display.calibration
    (points,) = (each for each in display.ax_.collections)
    filled = found.counts > 0
    np.testing.assert_allclose(points.get_offsets(), np.column_stack([found.confidence, found.accuracy])[filled])
    other = ReliabilityDisplay.from_predictions(y, model.predict_proba(X), model.classes_)
    assert other.calibration.error == found.error


def test_displays_draw_into_the_axes_they_are_given():
    X, y = mixed()
    model = make(neuralkdb.NeuralKDBClassifier).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, axes = pyplot.subplots(2, 2, figsize=(12, 10))
        displays = [
            StructureDisplay.from_estimator(model, ax=axes[0, 0]),
            EmbeddingMapDisplay.from_estimator(model, "colour", ax=axes[0, 1]),
            ContributionsDisplay.from_estimator(model, X, ax=axes[1, 0]),
            ReliabilityDisplay.from_estimator(model, X, y, ax=axes[1, 1]),
        ]
    for display, ax in zip(displays, axes.flat, strict=True):
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
    assert len(pyplot.get_fignums()) == 1
