from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.protocol import (
    discretized_whole,
    evaluate,
    own_or_given_codes,
    score,
    split_rows,
    spread,
)


def test_a_split_is_scikit_learns_of_seventy_to_thirty(iris):
    train, test = split_rows(150, seed=3)
    assert len(test) == 45
    expected = train_test_split(iris.classes, test_size=0.3, random_state=3)
    assert iris.classes[train].tolist() == expected[0].tolist()
    assert iris.classes[test].tolist() == expected[1].tolist()


def test_accuracy_and_log_loss_are_those_of_the_definition():
    probabilities = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [1.0, 0.0, 0.0]])
    accuracy, loss = score(probabilities, np.array([0, 1, 2]))
    assert accuracy == pytest.approx(1 / 3)
    assert loss == pytest.approx(-np.log([0.5, 0.2, 1e-15]).mean())


def test_a_class_that_training_did_not_show_has_no_probability(iris):
    wide = spread(np.array([[0.4, 0.6]]), np.array([0, 2]), iris)
    assert wide.tolist() == [[0.4, 0.0, 0.6]]


def test_only_training_rows_are_discretized_unless_told_otherwise(iris):
    method = parse_method("sklearn.tree:DecisionTreeClassifier")
    outlier = replace(iris, features=iris.features.copy())
    row = split_rows(150, seed=0)[1][0]
    outlier.features[row] *= 1000  # a test row that would move every cut
    scores = [evaluate(data, method, 0)[0].accuracy for data in (iris, outlier)]
    assert abs(scores[0] - scores[1]) <= 1 / 45
    whole = evaluate(discretized_whole(outlier), method, 0)[0].accuracy
    assert whole < scores[1] - 0.2


def test_whole_data_sets_are_given_as_codes(iris, stand_ins):
    whole = discretized_whole(iris)
    assert whole.features.max() == 9
    given = own_or_given_codes(stand_ins.Encoding(discretization="width"), whole)
    assert given.discretization == "codes"
    own = own_or_given_codes(stand_ins.Encoding(discretization="mdl"), whole)
    assert own.discretization == "mdl"


def test_an_evaluation_repeats_itself(iris):
    method = parse_method("RF")
    assert evaluate(iris, method, 1)[0] == evaluate(iris, method, 1)[0]


def test_an_estimator_without_probabilities_has_an_accuracy_alone(iris):
    found, _ = evaluate(iris, parse_method("sklearn.linear_model:RidgeClassifier"), 0)
    assert found.accuracy > 0.7
    assert np.isnan(found.log_loss)


def test_seconds_by_the_clock_hold_those_of_work(iris):
    _, seconds = evaluate(iris, parse_method("RF"), 0)
    assert 0 < seconds.fit_cpu <= seconds.fit * 1.5
    assert 0 < seconds.predict_cpu <= seconds.predict * 1.5
