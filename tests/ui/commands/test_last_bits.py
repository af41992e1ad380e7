"""Tensors and printed numbers that differ in their last bits, and those that differ in more."""
from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.ui.commands.programs.last_bits import distance, text_distance, tolerance
from pyfuncdbg.ui.commands.programs.result_list import Comparison, HostResult, difference

FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.complex64, np.complex128]


@pytest.mark.parametrize('dtype', FLOATS)
def test_the_next_number_is_near_and_a_tenth_more_is_not(dtype: type) -> None:
    real = np.dtype(dtype) if np.dtype(dtype).kind != 'c' else np.dtype(dtype).type(0).real.dtype
    one = np.array([3.0, -1.0], real)
    other = np.array([one[0], np.nextafter(one[1], real.type(-2.0))], real)
    assert 0 < distance(one.astype(dtype), other.astype(dtype)) <= tolerance(np.dtype(dtype)) < 0.1
    assert distance(one.astype(dtype), (one * real.type(1.1)).astype(dtype)) == pytest.approx(0.0909, rel=0.05)


@pytest.mark.parametrize(('one', 'other', 'apart'), [
    ([math.nan, 1.0], [math.nan, 1.0], 0.0), ([math.nan], [0.0], math.inf), ([math.inf], [-math.inf], math.inf),
    ([math.inf, 2.0], [math.inf, 1.0], 0.5), ([0.0], [-0.0], 0.0), ([], [], 0.0), ([1e-320], [2e-320], 0.0),
    ([1.7e308], [-1.7e308], 2.0)])
def test_what_is_not_finite_or_hardly_a_number(one: list[float], other: list[float], apart: float) -> None:
    assert distance(np.array(one), np.array(other)) == pytest.approx(apart, abs=1e-10)


@pytest.mark.parametrize('dtype', [np.int32, np.bool_, np.uint8])
def test_whole_numbers_have_no_last_bits(dtype: type) -> None:
    assert distance(np.array([0, 1], dtype), np.array([0, 0], dtype)) == math.inf
    assert distance(np.array([0, 1], dtype), np.array([0, 1], dtype)) == 0.0


@pytest.mark.parametrize(('one', 'other', 'apart'), [
    ('loss 2.011554', 'loss 2.0115538', 1e-7), ('0.33', '0.34', 0.0), ('[ 1.5  2.]', '[1.50000003 2.]', 2e-8),
    ('step 3: 1.0', 'step 4: 1.0', math.inf), ('loss 1.0', 'cost 1.0', math.inf), ('1.0', '1.0 2.0', math.inf),
    ('0.5', '0.25', 0.5), ('1e-05', '1.0003e-05', 3e-4), ('v1.2.3', 'v1.2.4', math.inf), ('nan', '1.0', math.inf),
    ('1e999', '1.0', math.inf), ('1e999', '1e9999', 0.0), ('-0.5', '0.5', 2.0), ('', '', 0.0)])
def test_texts_are_the_same_but_for_the_last_digits_of_numbers(one: str, other: str, apart: float) -> None:
    assert text_distance(one, other) == text_distance(other, one) == pytest.approx(apart, rel=0.05)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_have_a_distance(one: str, other: str) -> None:
    assert text_distance(one, one) == 0.0
    assert text_distance(one, other) >= 0.0


def result(thread: str, at: int, number: float, what: str = 'f') -> HostResult:
    """A result whose only value is number `at` of the bytes of its run."""
    return HostResult(thread, None, what, [], [[repr(number), 'float32', [], 4 * at]])


def test_results_on_threads_are_a_set_to_the_last_bits_too() -> None:
    near = float(np.nextafter(np.float32(2.0), np.float32(3.0)))
    run, other = [1.0, 2.0, 2.0], [near, 1.0, 2.0]
    data = tuple(np.array(numbers, np.float32).tobytes() for numbers in (run, other))
    mine = [result('a', 0, 1.0), result('a', 1, 2.0), result('b', 2, 2.0)]
    theirs = [result('b', 0, near), result('b', 1, 1.0), result('a', 2, 2.0)]
    assert difference(mine, theirs, Comparison(*data)) is not None
    comparison = Comparison(*data, near=lambda one: True)
    assert difference(mine, theirs, comparison) is None
    assert comparison.largest == pytest.approx(1.19e-7, rel=0.01)
    assert difference(mine, theirs, Comparison(*data, near=lambda one: one.what != 'f')) is not None


def test_a_value_that_was_not_kept_is_the_same_only_bit_by_bit() -> None:
    one, other = (HostResult('MainThread', None, 'f', [], [[digest, 'float32', [10], -1]]) for digest in 'ab')
    assert difference([one], [one], Comparison(b'', b'', lambda each: True)) is None
    assert difference([one], [other], Comparison(b'', b'', lambda each: True)) == ('f number 1, value 0', 'digest a',
                                                                                  'digest b')
