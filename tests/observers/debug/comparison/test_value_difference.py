"""Differences of two tensors: bit for bit, and within tolerances."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance, value_difference

EXACT = Tolerance()
floats = npst.arrays(st.sampled_from([np.float16, np.float32, np.float64]),
                     npst.array_shapes(min_dims=0, max_dims=3, max_side=4))


@given(floats)
def test_an_array_is_the_same_as_its_copy(array: np.ndarray) -> None:
    assert value_difference(array, array.copy(), EXACT) is None


@given(floats, st.data())
def test_one_step_to_the_next_number_is_found_where_it_is(array: np.ndarray, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(list(np.ndindex(array.shape))))
    after = array.copy()
    with np.errstate(all='ignore'):
        after[place] = np.nextafter(array[place], array.dtype.type(np.inf))
    if not np.isfinite(array[place]) or not np.isfinite(after[place]) or after[place] == array[place]:
        return
    found = value_difference(array, after, EXACT)
    assert found is not None
    assert (found.elements, found.size, found.first, found.ulp) == (1, array.size, place, 1)
    assert found.values == (str(array[place]), str(after[place]))
    assert value_difference(array, after, Tolerance(ulp=1)) is None


@pytest.mark.parametrize(('one', 'two', 'ulp'), [
    (0.0, -0.0, 0), (1.0, np.nextafter(np.nextafter(1.0, 2), 2), 2), (-5e-324, 5e-324, 2), (np.nan, 1.0, None),
    (np.inf, 1.0, None)])
def test_distances_in_representable_numbers(one: float, two: float, ulp: int | None) -> None:
    for pair in ((one, two), (two, one)):
        found = value_difference(np.array([7.0, pair[0]]), np.array([7.0, pair[1]]), EXACT)
        assert found is not None
        assert (found.first, found.ulp) == ((1,), ulp)


def test_tolerances_are_those_of_numpy_and_infinity_is_near_nothing() -> None:
    one, two = np.array([100.0, 1.0]), np.array([101.0, 1.0])
    assert value_difference(one, two, Tolerance(rtol=0.01)) is None
    assert value_difference(one, two, Tolerance(rtol=0.0099)).elements == 1
    assert value_difference(one, two, Tolerance(atol=1.0)) is None
    assert value_difference(one, two, Tolerance(atol=0.9)).relative == pytest.approx(1 / 101)
    for other in (np.inf, np.nan, -np.inf):
        found = value_difference(np.array([1.0]), np.array([other]), Tolerance(1e9, 1e9, 10 ** 9))
        assert found.values == ('1.0', str(other))
    assert value_difference(np.array([np.inf, np.nan]), np.array([np.inf, np.nan]), Tolerance(1e-9)) is None


def test_integers_text_and_complex_numbers() -> None:
    assert value_difference(np.array([1, 2, 3]), np.array([1, 5, 4]), EXACT).values == ('2', '5')
    assert value_difference(np.array([True, False]), np.array([True, True]), EXACT).first == (1,)
    assert value_difference(np.array([b'a', b'b'], object), np.array([b'a', b'c'], object), EXACT).values == ("b'b'", "b'c'")
    found = value_difference(np.array([1 + 1j]), np.array([1 + 2j]), EXACT)
    assert (found.elements, found.ulp) == (1, None) and found.relative == pytest.approx(1 / 5 ** 0.5)


def test_other_dtypes_and_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r'float32\[2\] and float64\[2\]'):
        value_difference(np.zeros(2, np.float32), np.zeros(2), EXACT)
    with pytest.raises(ValueError, match='one dtype and shape'):
        value_difference(np.zeros(2), np.zeros((2, 1)), EXACT)
