import numpy as np
import pytest

from neuralkdb.coders import Categories, Intervals, coder_of
from neuralkdb.columns import Column
from neuralkdb.discretization import EqualWidth
from neuralkdb.encoding import Encoding, learn_encoding
from neuralkdb.summaries import summarize

NAN = np.nan


def numbers(*values, dtype=float):
    return Column("a", np.array(values, dtype=dtype))


def words(*values):
    levels = tuple(dict.fromkeys(value for value in values if value is not None))
    at = [-1 if value is None else levels.index(value) for value in values]
    return Column("a", np.array(at, dtype=np.int8), levels)


def coder(column, missing="value", way=EqualWidth(3), weights=None, categorical=None):  # noqa: B008
    marked = None if categorical is None else np.array([categorical])
    weights = None if weights is None else np.array(weights, dtype=float)
    (summary,) = summarize([column], None, 1, weights, categorical=marked)
    return coder_of("a", summary, 0, way, missing)


def codes(coder, column):
    return Encoding((coder,)).encode([column])[:, 0].tolist()


def test_numbers_get_the_code_of_their_interval():
    learned = coder(numbers(0, 1, 2, 3, 9))
    assert codes(learned, numbers(-99, 0, 2.9, 3, 5.9, 6, 99)) == [0, 0, 0, 1, 1, 2, 2]
    assert learned.labels == ("(-inf, 3)", "[3, 6)", "[6, inf)")


def test_a_number_between_known_ones_is_the_nearest():
    learned = coder(numbers(1, 2, 10))
    assert codes(learned, numbers(1, 1.4, 1.6, 2, 5.9, 6.1, 10)) == [0, 0, 1, 1, 1, 2, 2]


def test_a_missing_number_has_a_code_of_its_own_if_fit_saw_one():
    with_missing, without = coder(numbers(1, 2, NAN)), coder(numbers(1, 2))
    assert codes(with_missing, numbers(2, NAN)) == [1, 2]
    assert with_missing.labels == ("(-inf, 1.5)", "[1.5, inf)", "missing")
    assert with_missing.cardinality == 3
    assert codes(without, numbers(2, NAN)) == [1, without.cardinality]
    assert without.cardinality == 2


def test_a_missing_number_is_imputed_by_the_weighted_mean():
    values = numbers(0, 3, 9, NAN)
    assert codes(coder(values, "impute"), numbers(NAN)) == [1]
    assert codes(coder(values, "impute", weights=[1, 1, 9, 1]), numbers(NAN)) == [2]
    assert coder(values, "impute").cardinality == 3


def test_a_missing_number_is_left_out_under_marginalize():
    learned = coder(numbers(0, 3, 9, NAN), "marginalize")
    assert codes(learned, numbers(0, NAN)) == [0, 3]
    assert learned.cardinality == 3


def test_categories_get_codes_in_their_order():
    learned = coder(words("red", "blue", "red"))
    assert codes(learned, words("blue", "red")) == [0, 1]
    assert learned.labels == ("blue", "red")


def test_an_unseen_category_is_marginalized():
    learned = coder(words("red", "blue"))
    assert codes(learned, words("green", "red", None)) == [2, 1, 2]


@pytest.mark.parametrize(("missing", "code"), [("value", 2), ("impute", 1), ("marginalize", 2)])
def test_a_missing_category_follows_the_policy(missing, code):
    learned = coder(words("red", "blue", "red", None), missing)
    assert codes(learned, words("blue", None)) == [0, code]
    assert learned.cardinality == (3 if missing == "value" else 2)


def test_an_unseen_category_is_not_a_missing_one():
    learned = coder(words("red", None))
    assert codes(learned, words("red", "green", None)) == [0, 2, 1]


def test_a_missing_category_is_imputed_by_the_heaviest():
    values = words("red", "blue", "red", None)
    assert codes(coder(values, "impute", weights=[1, 5, 1, 9]), words(None)) == [0]


@pytest.mark.parametrize("constant", [numbers(7, 7), words("x", "x"), words("", "")])
def test_a_constant_column_has_one_code(constant):
    learned = coder(constant)
    assert learned.cardinality == 1
    assert codes(learned, constant) == [0, 0]


@pytest.mark.parametrize("nothing", [numbers(NAN, NAN), words(None, None)])
@pytest.mark.parametrize(("missing", "code"), [("value", 0), ("impute", 1), ("marginalize", 1)])
def test_a_column_without_values_has_one_code_and_says_nothing(nothing, missing, code):
    learned = coder(nothing, missing)
    assert learned.cardinality == 1
    assert codes(learned, nothing) == [code, code]
    assert codes(learned, numbers(3.0)) == [1]


def test_bools_are_categories():
    learned = coder(numbers(True, False, dtype=bool), way=EqualWidth(1))
    assert learned.labels == ("False", "True")
    assert codes(learned, numbers(True, False, dtype=bool)) == [1, 0]
    assert codes(learned, words(True, False, None)) == [1, 0, 2]
    assert codes(learned, numbers(1, 0, 2)) == [1, 0, 2]


def test_a_number_listed_as_categorical_is_known_or_unseen():
    learned = coder(numbers(5, 1, 3, 5, dtype=int), categorical=True)
    assert learned.labels == ("1", "3", "5")
    assert codes(learned, numbers(1, 2, 3, 5, 9, -9, dtype=int)) == [0, 3, 1, 2, 3, 3]
    assert codes(learned, numbers(1, 2.5, 3, NAN)) == [0, 3, 1, 3]


def test_ready_codes_are_categories_too():
    learned = coder(numbers(0, 2, -1, NAN), way=None)
    assert learned.labels == ("-1", "0", "2", "missing")
    assert codes(learned, numbers(2, 1, NAN, -1)) == [2, 4, 3, 0]


def test_large_integers_are_told_apart():
    learned = coder(numbers(2**60, 2**60 + 1, dtype=int), categorical=True)
    assert codes(learned, numbers(2**60 + 1, 2**60, 2**60 + 2, 1, dtype=int)) == [1, 0, 2, 2]


def test_text_is_read_as_numbers_where_fit_saw_numbers():
    assert codes(coder(numbers(0, 3, 9)), words("0", "3.5", None)) == [0, 1, 3]
    assert codes(coder(numbers(1, 3), categorical=True), words("3", "x", "1")) == [1, 2, 0]


def test_numbers_where_fit_saw_text_are_an_error_unless_all_are_missing():
    learned = coder(words("1", "2"))
    assert codes(learned, numbers(NAN, NAN)) == [2, 2]
    with pytest.raises(ValueError, match="held text in fit"):
        codes(learned, numbers(1.0, NAN))


def test_new_categories_are_appended_and_old_codes_stay():
    learned = coder(words("b", "d"))
    extended = learned.extended(words("e", "b", "a"), new_missing=True)
    assert extended.labels == ("b", "d", "a", "e")
    assert codes(extended, words("a", "b", "d", "e", "z")) == [2, 0, 1, 3, 4]


def test_missing_gets_a_code_when_it_comes_for_the_first_time():
    for learned, column in [
        (coder(words("b")), words("a", None)),
        (coder(numbers(1)), numbers(NAN)),
    ]:
        extended = learned.extended(column, new_missing=True)
        assert extended.labels[-1] == "missing"
        assert codes(extended, column)[-1] == extended.cardinality - 1
        assert "missing" not in learned.extended(column, new_missing=False).labels
        assert extended.extended(column, new_missing=True).labels == extended.labels


def test_categories_after_a_missing_one_are_appended_after_it():
    extended = coder(words("b", None)).extended(words("c"), new_missing=True)
    assert extended.labels == ("b", "missing", "c")
    assert codes(extended, words("c", None, "b")) == [2, 1, 0]


def test_new_numbers_are_new_categories_where_numbers_are_categories():
    extended = coder(numbers(3, 1), categorical=True).extended(numbers(2, 3), new_missing=True)
    assert extended.labels == ("1", "3", "2")
    assert codes(extended, numbers(1, 2, 3)) == [0, 2, 1]


def test_cut_points_do_not_change_by_extension():
    learned = coder(numbers(0, 9))
    assert learned.extended(numbers(100, -100), new_missing=True) is learned


def test_a_column_of_bools_gains_the_other_one():
    learned = coder(numbers(True, dtype=bool))
    assert learned.extended(numbers(False, dtype=bool), new_missing=True).labels == (
        "True",
        "False",
    )


def test_every_coder_is_intervals_or_categories():
    encoding = learn_encoding(
        [numbers(1, 2), words("a", "b")],
        np.zeros(2, np.uint32),
        1,
        cut_points=EqualWidth(),
    )
    assert [type(each) for each in encoding.coders] == [Intervals, Categories]
