"""The exported network gives the same posteriors by somebody else's exact inference."""

import re
import warnings

import numpy as np
import pytest

import neuralkdb as nk
from every import mixed
from neuralkdb.bif import identifiers, to_bif


def read(text: str):
    """The network as pgmpy reads it; its own warnings are its own affair."""
    pytest.importorskip("pgmpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination
        from pgmpy.readwrite import BIFReader

        network = BIFReader(string=text).get_model()
        return network, VariableElimination(network)


def posterior(network, inference, codes) -> list[float]:
    """P(class | the codes of the features in the network)."""
    numbered = {int(re.match(r"x(\d+)", name)[1]): name for name in network.nodes() if name != "class"}
    states = {name: {int(re.match(r"v(\d+)", s)[1]): s for s in network.states[name]} for name in numbered.values()}
    evidence = {name: states[name][int(codes[j])] for j, name in numbered.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inference.query(["class"], evidence=evidence, show_progress=False)
    order = sorted(network.states["class"], key=lambda state: int(re.match(r"c(\d+)", state)[1]))
    return [found.get_value(**{"class": state}) for state in order]


@pytest.mark.parametrize("classifier", [nk.TANClassifier(), nk.KDBClassifier(2), nk.SKDBClassifier(2)])
def test_exact_inference_elsewhere_gives_the_same_posteriors(classifier):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    codes = np.stack([(y + rng.integers(0, 2, 60)) % 3, (y * rng.integers(0, 2, 60)), rng.integers(0, 3, 60)], axis=1)
    classifier.set_params(discretization="codes").fit(codes, y)
    network, inference = read(to_bif(classifier))
    found = [posterior(network, inference, row) for row in codes[:4]]
    np.testing.assert_allclose(found, classifier.predict_proba(codes[:4]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("classifier", [nk.NaiveBayesClassifier(), nk.KDBClassifier(1), nk.SPTANClassifier()])
def test_a_table_of_anything_has_valid_names_and_states(classifier):
    X, y = mixed()
    text = to_bif(classifier.fit(X.rename(columns={"size": "size (cm)"}), np.array(["no!", "so so", "yes"])[y]))
    network, _ = read(text)
    assert {"class", "x0_size_cm", "x2_colour"} <= set(network.nodes())
    assert set(network.states["class"]) == {"c0_no", "c1_so_so", "c2_yes"}
    assert all("class" in network.get_parents(name) for name in network.nodes() if name != "class")


def test_probabilities_have_all_their_digits():
    text = to_bif(nk.NaiveBayesClassifier(discretization="codes").fit([[0], [0], [1]], [0, 0, 1]))
    assert "table 0.66666666666666663, 0.33333333333333331;" in text
    assert "(c0_0) 0.83333333333333337, 0.16666666666666666;" in text


def test_texts_that_look_alike_have_different_identifiers():
    assert identifiers("v", ["a b", "a-b", "é", ""]) == ["v0_a_b", "v1_a_b", "v2", "v3"]


@pytest.mark.parametrize("classifier", [nk.AODEClassifier(), nk.KDFClassifier(), nk.MNKDBClassifier()])
def test_averages_and_networks_of_classes_are_refused(classifier):
    with pytest.raises(ValueError, match="is not one network"):
        to_bif(classifier.fit(*mixed()))
