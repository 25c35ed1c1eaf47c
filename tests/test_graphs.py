"""What depends on what: strengths, graphs, similar values."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

import neuralkdb
from every import CLASSIFIERS, make, mixed
from neuralkdb.dependencies import dependencies
from neuralkdb.evaluation import Calibration
from neuralkdb.graphs import to_dot, to_networkx
from neuralkdb.layout import parents_first, placed_labels, shares_from, shortened, value_map
from neuralkdb.network import Family
from neuralkdb.similarity import similar_values, value_similarities


def codes(n_rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_rows)
    a = (y + rng.integers(0, 2, n_rows)) % 4
    b = (a + rng.integers(0, 2, n_rows)) % 4
    return pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 3, n_rows)}), y


def conditional(X: pd.DataFrame, one: str, other: str, y: np.ndarray) -> float:
    """MI(one; other | y), by scikit-learn."""
    parts = [(np.mean(y == c), X[y == c]) for c in np.unique(y)]
    return sum(share * mutual_info_score(part[one], part[other]) for share, part in parts)


@pytest.mark.parametrize(
    "classifier",
    [neuralkdb.KDBClassifier(2), neuralkdb.AODEClassifier(), neuralkdb.AODEClassifier(estimate="backoff")],
    ids=["KDB", "packed AODE", "AODE of networks"],
)
def test_strengths_are_mutual_information(classifier):
    X, y = codes()
    found = dependencies(classifier.set_params(discretization="codes").fit(X, y))
    assert found == sorted(found, key=lambda each: -each.information)
    for child, parent, nats in found:
        wanted = mutual_info_score(X[child], y) if parent is None else conditional(X, child, parent, y)
        assert nats == pytest.approx(wanted, abs=1e-9)
    assert {each.child for each in found if each.parent is None} == {"a", "b", "c"}
    assert {frozenset(each[:2]) for each in found if each.parent} >= {frozenset("ab")}


def test_packed_counts_stored_sparsely_have_the_same_strengths():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 120, (150, 3)), columns=list("abc")), rng.integers(0, 2, 150)
    model = neuralkdb.AODEClassifier(discretization="codes").fit(X, y)
    assert len(model.members_[0].statistics.families.parts[4])
    for child, parent, nats in dependencies(model):
        wanted = mutual_info_score(X[child], y) if parent is None else conditional(X, child, parent, y)
        assert nats == pytest.approx(wanted, abs=1e-9)


def test_networks_of_classes_have_strengths_too():
    X, y = codes()
    found = dependencies(neuralkdb.MNKDBClassifier(2, discretization="codes").fit(X, y))
    for child, parent, nats in found:
        if parent is None:
            assert nats == pytest.approx(mutual_info_score(X[child], y), abs=1e-9)
    assert any(each.parent for each in found)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_tells_its_dependencies(classifier):
    X, y = mixed()
    found = dependencies(make(classifier).fit(X, y))
    assert {name for each in found for name in each[:2] if name} <= set(X.columns)
    assert all(each.information >= -1e-9 for each in found)


def test_the_ensemble_tells_each_pair_once_as_counted_when_it_learned():
    X, y = codes()
    found = dependencies(neuralkdb.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X.astype(str), y))
    assert len({frozenset(each[:2]) for each in found}) == len(found) == 6
    for child, parent, nats in found:
        expected = mutual_info_score(X[child], y) if parent is None else conditional(X, child, parent, y)
        assert nats == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "classifier", [neuralkdb.KDBClassifier(2), neuralkdb.TANClassifier(), neuralkdb.KDFClassifier()]
)
def test_graphs_have_an_arc_for_every_parent(classifier):
    pytest.importorskip("networkx")
    X, y = mixed()
    model = classifier.fit(X, y)
    structure = model.structure_[1] if isinstance(model.structure_, tuple) else model.structure_
    graph = to_networkx(model, network=1 if isinstance(model.structure_, tuple) else 0)
    wanted = {(parent, child) for child, parents in structure.items() for parent in ("class", *parents)}
    assert set(graph.edges) == wanted
    assert next(iter(graph.nodes)) == "class"
    assert all(data["information"] >= 0 for *_, data in graph.edges(data=True))


def test_dot_quotes_what_needs_it_and_has_every_arc():
    X, y = mixed()
    X = X.rename(columns={"size": 'si"ze\\', "colour": "class"})
    model = neuralkdb.KDBClassifier(1).fit(X, y)
    text = to_dot(model)
    assert text.startswith("digraph {")
    assert '"class_" [shape=box];' in text
    assert '"si\\"ze\\\\"' in text
    arcs = sum(len(parents) + 1 for parents in model.structure_.values())
    assert len(re.findall(" -> ", text)) == arcs


def test_dot_is_read_by_graphviz_like_tools():
    pydot = pytest.importorskip("pydot")
    model = neuralkdb.KDBClassifier(2).fit(*mixed())
    (graph,) = pydot.graph_from_dot_data(to_dot(model))
    assert len(graph.get_edges()) == sum(len(parents) + 1 for parents in model.structure_.values())


def test_networks_that_are_not_stored_are_refused():
    with pytest.raises(ValueError, match='estimate="backoff"'):
        to_dot(neuralkdb.AODEClassifier().fit(*mixed()))
    assert "->" in to_dot(neuralkdb.AODEClassifier(estimate="backoff").fit(*mixed()), network=2)


def test_similar_values_are_those_of_the_classifier_by_embeddings():
    X, y = mixed()
    model = make(neuralkdb.NeuralKDBClassifier).fit(X, y)
    assert similar_values(model, "colour", "red") == model.similar_values("colour", "red")
    labels, similar, weights = value_similarities(model, "colour")
    np.testing.assert_allclose(np.diag(similar), 1.0)
    assert weights.tolist() == [int((X["colour"].fillna("missing") == label).sum()) for label in labels]


def test_the_ensemble_knows_values_in_the_same_contexts_and_how_frequent_they_are():
    rng = np.random.default_rng(0)
    context = rng.integers(0, 4, 4000)
    y = (context >= 2) ^ (rng.random(4000) < 0.2)
    twin, other = np.array(["a1", "a2"])[rng.integers(0, 2, 4000)], np.array(["b", "c"])[rng.integers(0, 2, 4000)]
    X = pd.DataFrame({"context": context.astype(str), "value": np.where((context + y) % 3 == 0, twin, other)})
    model = neuralkdb.NeuralKDBEnsembleClassifier(4, random_state=0).fit(X, y)
    (first, alike), *others = similar_values(model, "value", "a1")
    assert first == "a2"
    assert alike > 0.99
    assert all(similar < 0 for _, similar in others)
    labels, similar, weights = value_similarities(model, "value")
    np.testing.assert_allclose(np.diag(similar), 1.0)
    shares = X["value"].value_counts(normalize=True)
    np.testing.assert_allclose(weights, [shares[label] for label in labels], atol=0.01)


def test_similar_values_say_what_there_is():
    model = neuralkdb.KDBClassifier().fit(*mixed())
    with pytest.raises(ValueError, match="there is no feature shape, only size"):
        similar_values(model, "shape", "x")
    with pytest.raises(ValueError, match="colour has no value mauve, only blue"):
        similar_values(model, "colour", "mauve")


def test_a_map_keeps_distances_that_fit_a_plane():
    angles = np.linspace(0, 2 * np.pi, 7)[:-1]
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    found = value_map(points @ points.T)
    np.testing.assert_allclose(found @ found.T, points @ points.T, atol=1e-9)


def test_parents_come_first():
    families = [Family(0, (1, 2)), Family(1, (3,)), Family(2), Family(3, (2,))]
    assert parents_first(families) == [2, 3, 1, 0]


def test_labels_find_room_or_stay_away():
    assert placed_labels([(50, 50)], [3], ["name"], (100, 100))[0].anchor == "start"
    assert placed_labels([(95, 50)], [3], ["name"], (100, 100))[0].anchor == "end"
    crowd = placed_labels([(50, 50)] * 9, [3] * 9, ["a longish name"] * 9, (220, 100))
    assert None in crowd


def test_a_label_at_a_corner_is_plainly_of_its_own_point():
    """To the right another point is in the way, and to the left, above and below the frame."""
    own, blocking = (15.0, 50.0), (30.0, 50.0)
    assert placed_labels([own, blocking], [3, 2], ["a name", ""], (200, 100))[0] is None
    far = (45.0, 50.0)
    label = placed_labels([own, far], [3, 2], ["a name", ""], (200, 100))[0]
    assert (label.anchor, label.y < 50.0) == ("start", True)


@pytest.mark.parametrize(
    ("lowest", "marks"),
    [(0.1, [0, 0.25, 0.5, 0.75, 1]), (0.45, [0.4, 0.6, 0.8, 1]), (0.97, [0.8, 0.85, 0.9, 0.95, 1])],
)
def test_axes_of_shares_begin_at_a_round_one_below_all_points(lowest, marks):
    found = Calibration(np.array([0, 0.5, 1]), np.array([3, 0]), np.array([lowest, np.nan]), np.array([1, np.nan]))
    assert shares_from(found) == marks


def test_long_names_keep_both_ends():
    assert shortened("short") == "short"
    assert shortened("the_first_of_many_names_and_number_17", 21) == "the_first_…_number_17"
    assert len(shortened("x" * 100)) == 36
