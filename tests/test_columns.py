import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neuralkdb.columns import Column, as_categories, dictionary, is_missing


@given(arrays(st.sampled_from([np.int8, np.uint8, np.int64, np.uint64, np.bool_]), st.integers(1, 9)))
def test_a_dictionary_of_integers_gives_them_back(values):
    levels, positions = dictionary(values)
    assert len(set(levels)) == len(levels)
    np.testing.assert_array_equal(np.array(levels, values.dtype)[positions], values)


def test_a_dictionary_of_all_small_integers_gives_them_back():
    values = np.arange(-128, 128, dtype=np.int8)[::-1]
    levels, positions = dictionary(values)
    assert levels == list(range(-128, 128))
    np.testing.assert_array_equal(np.array(levels)[positions], values)


@given(st.lists(st.one_of(st.text(max_size=2), st.integers(), st.lists(st.integers(), max_size=1))))
def test_a_dictionary_of_objects_numbers_equal_ones_alike(cells):
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    levels, positions = dictionary(values)
    assert len(set(levels)) == len(levels)
    for i, one in enumerate(cells):
        for j, other in enumerate(cells):
            assert (positions[i] == positions[j]) == (one == other)


def test_a_value_is_not_missing_because_it_is_falsy():
    assert not any(map(is_missing, ["", 0, 0.0, False, (), "nan", "None"]))


def test_large_integers_stay_apart_as_categories():
    values = np.array([2**60, 2**60 + 1, 2**60])
    column = as_categories(Column("a", values))
    assert column.levels is not None
    assert [column.levels[i] for i in column.values] == values.tolist()


def test_small_integers_stay_a_view_as_categories():
    column = Column("a", np.array([1, 2]))
    assert as_categories(column) is column
