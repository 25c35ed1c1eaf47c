import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peers import averaged_estimators, categorical_nb
from strategies import coded_tables, every_cell
from twins import Parameters, ande, naive_bayes

few = settings(max_examples=25, deadline=None)


@few
@given(table=coded_tables(features=(2, 4)), alpha=st.sampled_from([0.5, 1.0, 3.0]))
def test_naive_bayes_is_categorical_nb_with_laplace(table, alpha):
    cells = every_cell(table)
    ours = naive_bayes(table, Parameters("laplace", alpha)).posterior(cells)
    np.testing.assert_allclose(ours, categorical_nb(table, cells, alpha), rtol=0, atol=1e-9)


@few
@given(
    table=coded_tables(features=(2, 4), weights=("none",)),
    n=st.sampled_from([1, 2]),
    alpha=st.sampled_from([0.5, 1.0, 3.0]),
    min_count=st.sampled_from([1, 4, 15]),
)
def test_averaged_estimators_are_those_of_scikit_bayes_with_laplace(table, n, alpha, min_count):
    pytest.importorskip("skbn")
    cells = every_cell(table)
    ours = ande(table, Parameters("laplace", alpha), n, min_count).posterior(cells)
    theirs = averaged_estimators(table, cells, n, alpha, min_count)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
