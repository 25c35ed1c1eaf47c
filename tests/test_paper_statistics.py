import csv

import numpy as np
import pytest

from neuralkdb.paper import statistics
from neuralkdb.paper.comparison import compare
from neuralkdb.paper.printed import METHODS, published_comparison, published_dependences

PRINTED_P = ["<0.001", "<0.001", "0.003", "0.003", "0.001", "0.001", "<0.001"]
PRINTED_WINS = {
    "NeuralNB": (30, 26, 4),
    "NN": (29, 23, 8),
    "KDF": (20, 34, 6),
    "KDB": (25, 27, 8),
    "TAN": (23, 31, 6),
    "NB": (30, 24, 6),
    "RF": (14, 38, 8),
}


def printed(p):
    return "<0.001" if round(p, 3) == 0 else f"{p:.3f}"


def test_the_published_table_is_the_shared_one(shared):
    with (shared.parent / "paper" / "table1.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    table = published_comparison()
    assert table.datasets == tuple(row["dataset"] for row in rows)
    assert table.means.tolist() == [[float(row[m]) for m in METHODS] for row in rows]
    assert table.deviations.tolist() == [[float(row[m + "_std"]) for m in METHODS] for row in rows]


def test_the_average_accuracies_follow_from_the_published_table():
    assert [f"{mean:.2f}" for mean in published_comparison().average_accuracies()] == (
        ["83.05", "78.88", "76.53", "82.27", "80.71", "81.72", "79.74", "81.13"]
    )


def test_the_average_ranks_follow_from_the_published_table():
    assert [f"{rank:.2f}" for rank in published_comparison().average_ranks()] == (
        ["2.95", "5.30", "5.29", "3.96", "4.54", "4.72", "4.59", "4.65"]
    )


def test_the_wilcoxon_p_values_follow_from_the_published_table():
    table = published_comparison()
    assert [printed(table.wilcoxon_p(method)) for method in METHODS[1:]] == PRINTED_P


def test_dropping_zero_differences_would_not_give_the_published_p_values():
    from scipy.stats import wilcoxon

    table = published_comparison()
    differences = (table.column("NeuralKDB") - table.column("KDF")).round(2)
    assert printed(wilcoxon(differences, zero_method="wilcox").pvalue) == "0.004"


def test_the_wins_ties_and_losses_follow_from_the_published_marks():
    table = published_comparison()
    assert {method: table.wins_ties_losses(method) for method in METHODS[1:]} == PRINTED_WINS


def test_the_row_k_2_of_the_second_table_follows_from_the_first():
    row = published_dependences()[2]
    pair = published_comparison().among(["NeuralKDB", "KDB"])
    assert tuple(pair.average_accuracies().round(2)) == row.accuracies
    assert tuple(pair.average_ranks().round(2)) == row.ranks
    assert pair.wins_ties_losses("KDB") == row.wins_ties_losses
    assert round(pair.wilcoxon_p("KDB"), 3) == row.p


def test_the_published_spread_is_the_sample_deviation_of_five_whole_counts():
    table = published_comparison()  # labor: 17 test rows, 78 of 5 * 17 right
    row = table.datasets.index("labor")
    squares = (table.deviations[row, 0] * 17 / 100) ** 2 * (5 - 1) + 5 * (78 / 5) ** 2
    assert squares == pytest.approx(round(squares), abs=0.02)
    assert round(squares) % 2 == 78 % 2


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([90, 91, 92, 93, 94], [80, 82, 81, 83, 85], "win"),
        ([80, 82, 81, 83, 85], [90, 91, 92, 93, 94], "loss"),
        ([90, 80, 70, 60, 50], [91, 79, 71, 58, 51], "tie"),
        ([90, 91, 92], [90, 91, 92], "tie"),
        ([91, 92, 93], [90, 91, 92], "win"),
        ([91], [10], "tie"),
    ],
)
def test_the_t_test_is_paired_and_two_tailed(first, second, expected):
    assert statistics.verdict(np.array(first, float), np.array(second, float)) == expected


def test_ties_share_their_ranks():
    means = np.array([[3.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert statistics.average_ranks(means).tolist() == [1.5, 2.25, 2.25]


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (8, 3.031), (10, 3.164)])
def test_the_critical_difference_is_the_one_tabulated_by_demsar(n_methods, q):
    n = 30
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * n))
    assert statistics.critical_difference(n_methods, n) == pytest.approx(expected, abs=5e-4)


def test_methods_closer_than_the_critical_difference_are_joined():
    ranks = np.array([4.0, 1.0, 1.5, 2.2, 6.0])
    assert statistics.indistinguishable(ranks, 1.0) == [(0, 1), (1, 2)]


def test_equal_columns_have_a_p_value_of_one():
    assert statistics.wilcoxon_p(np.ones(9), np.ones(9)) == 1.0


def test_a_comparison_leaves_out_data_sets_that_are_not_complete():
    scores = {(d, m, s): 0.5 for d in ("a", "b") for m in ("x", "y") for s in (0, 1)}
    del scores["b", "y", 1]
    assert compare(scores, ["a", "b"], ["x", "y"], 2).datasets == ("a",)
    assert compare(scores, ["b"], ["x", "y"], 2).means.shape == (0, 2)
