"""Classifiers in joblib's threads and processes, and in a process forked after threads were used."""

import multiprocessing
import sys

import numpy as np
import pytest
from joblib import Parallel, delayed

from every import CLASSIFIERS, fitted_probabilities, make, mixed

every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)
TIMEOUT = 120  # seconds after which a child counts as hung


@every_classifier
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_computes_what_a_loop_computes(classifier, backend):
    expected = [fitted_probabilities(classifier, seed) for seed in range(4)]
    found = Parallel(n_jobs=2, backend=backend)(delayed(fitted_probabilities)(classifier, s) for s in range(4))
    np.testing.assert_array_equal(found, expected)


@every_classifier
def test_one_fitted_classifier_serves_several_threads(classifier):
    X, y = mixed(300)
    fitted = make(classifier, n_jobs=2).fit(X, y)
    expected = fitted.predict_proba(X)
    for found in Parallel(n_jobs=4, backend="threading")(delayed(fitted.predict_proba)(X) for _ in range(8)):
        np.testing.assert_array_equal(found, expected)


def _fit_and_predict_again(fitted, X, y, connection):
    again = type(fitted)(**fitted.get_params()).fit(X, y)
    connection.send((fitted.predict_proba(X), again.predict_proba(X)))


@every_classifier
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely under all libraries here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # what is tested is that it works all the same
def test_a_forked_process_fits_and_predicts(classifier):
    X, y = mixed(120)
    fitted = make(classifier, n_jobs=2).fit(X, y)
    expected = fitted.predict_proba(X)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_fit_and_predict_again, args=(fitted, X, y, there))
    child.start()
    try:
        assert here.poll(TIMEOUT), "the forked process hangs"
        for found in here.recv():
            np.testing.assert_array_equal(found, expected)
    finally:
        child.kill()
        child.join()
