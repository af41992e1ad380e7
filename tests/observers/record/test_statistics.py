"""Statistics against a slow computation in exact arithmetic."""
from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra import numpy as npst

from pyfuncdbg.observers.record.histogram import BINS, OCTAVES, Bar
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots import statistics
from pyfuncdbg.observers.record.snapshots.statistics import (
    all_finite,
    has_row,
    have_bad,
    rows_of,
    stats_of,
    stats_of_row,
)

FLOATS = st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64, np.uint8])
SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


def exact(array):
    """Counts and moments of the elements as fractions."""
    values = [v.item() for v in array.reshape(-1)]
    finite = [Fraction(v) for v in values if math.isfinite(v)]
    mean = sum(finite) / len(finite) if finite else None
    variance = sum((v - mean) ** 2 for v in finite) / len(finite) if finite else None
    return values, finite, mean, variance


LEAST = Fraction(np.finfo(np.float64).smallest_subnormal.item())
"""Half of it is no float64: a mean so small is rounded to 0."""


@example(np.array([5e-324, 0.0]))
@settings(max_examples=300, deadline=None)
@given(FLOATS.flatmap(lambda dtype: npst.arrays(dtype, SHAPES)))
def test_agrees_with_exact_arithmetic(array):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        stats = stats_of(array)
    values, finite, mean, variance = exact(array)
    assert stats.size == len(values)
    assert stats.nan == sum(v != v for v in values)
    assert (stats.neg_inf, stats.pos_inf) == (values.count(-math.inf), values.count(math.inf))
    assert stats.neg == sum(v < 0 for v in finite)
    assert stats.zero == sum(v == 0 for v in finite)
    assert stats.pos == sum(v > 0 for v in finite)
    assert all_finite(array) == (len(finite) == len(values))
    if len(finite) < len(values):
        first = next(i for i, v in enumerate(values) if not math.isfinite(v))
        assert stats.first_bad == np.unravel_index(first, array.shape)
    else:
        assert stats.first_bad is None
    if not finite:
        assert (stats.min, stats.max, stats.mean, stats.std, stats.histogram) == (None, None, None, None, ())
        return
    assert (stats.min, stats.max) == (min(finite), max(finite))
    largest = max(abs(v) for v in finite)
    assert abs(Fraction(stats.mean) - mean) <= largest * Fraction(1, 10 ** 13) + LEAST
    spread = math.sqrt(float(variance / largest ** 2)) if largest else 0.0
    assert abs(stats.std - float(largest) * spread) <= float(largest) * 1e-7 + LEAST
    assert stats.histogram == octaves(finite, float(largest))
    assert_bars_hold(stats, finite)


def octaves(finite, largest):
    """The histogram by one look at each element."""
    bins = [0] * BINS
    top = math.frexp(largest)[1]
    for value in finite:
        below = min(top - math.frexp(float(abs(value)))[1], OCTAVES - 1)
        if value:
            bins[below if value < 0 else BINS - 1 - below] += 1
    return tuple(bins)


def assert_bars_hold(stats, finite):
    """Bars lie one behind the other from the least element to the greatest, and each holds the elements within it."""
    bars = stats.bars()
    assert (bars[0].low, bars[-1].high) == (stats.min, stats.max)
    assert all(left.high <= right.low for left, right in itertools.pairwise(bars))
    assert sum(bar.elements for bar in bars) == len(finite)
    if type(stats.max) is float:                # else it may be no double
        for bar in bars:
            inside = [value for value in finite if (bar.low <= value <= bar.high)]
            assert len([value for value in inside if bar.low < value < bar.high]) <= bar.elements <= len(inside)


def test_a_histogram_has_a_bar_for_each_power_of_two():
    stats = stats_of(np.array([0.0, 0.04, 0.06, 0.5, 0.99, 1.0, -0.3, -0.3]))
    bars = {(bar.low, bar.high): bar.elements for bar in stats.bars() if bar.elements}
    assert bars == {(-0.3, -0.25): 2, (0.0, 0.0): 1, (0.03125, 0.0625): 2, (0.5, 1.0): 2, (1.0, 1.0): 1}


def test_what_is_small_beside_the_largest_is_one_bar():
    stats = stats_of(np.array([1e-30, 2.0 ** -14.5, 2.0 ** -13.5, 1.0]))
    assert [(bar.high, bar.elements) for bar in stats.bars() if bar.elements] == [(2.0 ** -14, 2), (2.0 ** -13, 1), (1.0, 1)]
    assert stats.bars()[0].low == 1e-30


def test_all_equal_are_one_bar():
    assert stats_of(np.full(7, 3.0)).bars() == [Bar(3.0, 3.0, 7)]
    assert stats_of(np.full(7, 0.1)).std == 0.0
    assert stats_of(np.zeros(7)).bars() == [Bar(0.0, 0.0, 7)]


def test_histograms_of_earlier_versions_have_equal_bars():
    stats = Stats(5, pos=5, min=1.0, max=3.0, histogram=(3, 0, 2, 0))
    assert stats.bars() == [Bar(1.0, 1.5, 3), Bar(1.5, 2.0, 0), Bar(2.0, 2.5, 2), Bar(2.5, 3.0, 0)]


@pytest.mark.parametrize(('low', 'high'), [(2.0, 1.0), (math.nan, 1.0), (0.0, math.inf), (0, 10 ** 400)])
def test_a_range_that_is_none_has_no_bars(low, high):
    assert Stats(5, pos=5, min=low, max=high, histogram=(1,) * BINS).bars() == []


def test_bars_of_no_elements():
    assert stats_of(np.full(3, np.nan)).bars() == [] == Stats(2).bars()


def test_values_at_the_end_of_the_range_do_not_overflow():
    big = np.finfo(np.float64).max
    stats = stats_of(np.array([big, -big, big, -big]))
    assert (stats.mean, stats.min, stats.max) == (0.0, -big, big)
    assert stats.std == pytest.approx(big)
    assert stats.histogram[0] == 2 and stats.histogram[-1] == 2
    assert stats.bars()[0] == Bar(-big, -2.0 ** 1023, 2) and stats.bars()[-1] == Bar(2.0 ** 1023, big, 2)


def test_values_near_zero_keep_their_spread():
    assert stats_of(np.array([0, 1.7e-273])).std == pytest.approx(0.85e-273, rel=1e-12, abs=0)


def test_integers_keep_all_their_digits():
    stats = stats_of(np.array([2**63 - 1, -2**63, 5]))
    assert (stats.min, stats.max, stats.neg, stats.pos) == (-2**63, 2**63 - 1, 1, 2)


def test_more_elements_than_one_piece():
    rng = np.random.default_rng(0)
    array = rng.normal(2, 3, (1100, 1100)).astype(np.float32)
    array[1050, 7] = np.nan
    array[1060, 8] = -np.inf
    stats = stats_of(array)
    good = array[np.isfinite(array)].astype(np.float64)
    assert (stats.nan, stats.neg_inf, stats.first_bad) == (1, 1, (1050, 7))
    assert stats.mean == pytest.approx(good.mean()) and stats.std == pytest.approx(good.std())
    edges = [bar.high for bar in stats.bars() if bar.high > 0]
    assert [bar.elements for bar in stats.bars() if bar.high > 0] == np.histogram(good, [5e-324, *edges])[0].tolist()


def test_complex_is_summarised_by_magnitude():
    stats = stats_of(np.array([3 + 4j, 0, complex(np.inf, np.nan), complex(np.nan, 1), complex(0, -np.inf)]))
    assert (stats.min, stats.max, stats.zero, stats.pos) == (0.0, 5.0, 1, 1)
    assert stats.bad == 3 and stats.first_bad == (2,)


@pytest.mark.parametrize('dtype', [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4])
def test_extended_types(dtype):
    stats = stats_of(np.array([-1, 0, 1, 2], dtype))
    assert (stats.neg, stats.zero, stats.pos, stats.min, stats.max, stats.mean) == (1, 1, 2, -1, 2, 0.5)


def test_extended_nan_is_found():
    array = np.array([1, np.nan, np.inf], ml_dtypes.bfloat16)
    assert (stats_of(array).nan, stats_of(array).pos_inf, all_finite(array)) == (1, 1, False)


@pytest.mark.parametrize('array', [
    np.array([True, False]), np.array([b'a', b'b']), np.array(['x', 'y']), np.array([None, 1])])
def test_others_have_a_size_only(array):
    stats = stats_of(array)
    assert (stats.size, stats.min, stats.pos, stats.bad) == (2, None, 0, 0)


def test_structured_arrays_have_none():
    assert stats_of(np.zeros(2, [('a', 'f4')])) is None
    assert stats_of(np.zeros(2, 'M8[s]')) is None


@pytest.mark.parametrize('value', [-1e6, 1e6])
@pytest.mark.parametrize('place', [5, 300_000])
def test_an_array_that_another_thread_changes_between_two_passes(value, place, monkeypatch):
    moments = statistics._moments

    def meanwhile(flat, *rest):
        flat[place] = value
        return moments(flat, *rest)
    monkeypatch.setattr(statistics, '_moments', meanwhile)
    found = stats_of(np.arange(400_000.))
    assert found is None or len(found.histogram) == BINS


def both(monkeypatch, array):
    """The statistics of one array: compiled where there was a compiler, and by NumPy."""
    compiled = stats_of(array)
    monkeypatch.setattr(statistics, '_fill_rows', None)
    by_numpy = stats_of(array)
    monkeypatch.undo()
    return compiled, by_numpy


TYPES = [np.float32, np.float64, np.float16, np.int32, np.int64, np.int8, np.uint8, np.int16, np.uint16, np.uint32,
         np.complex64]


@pytest.mark.parametrize('count', [2, 7, 31, 32, 33, 511, 512, 513, 2047, 2048, 2049, 5000])
@pytest.mark.parametrize('dtype', TYPES)
@pytest.mark.parametrize('bad', [None, np.nan, np.inf, -np.inf])
def test_compiled_and_numpy_agree(monkeypatch, count, dtype, bad):
    random = np.random.default_rng(count)
    array = (random.standard_normal(count) * 30 + 30).astype(np.int64).astype(dtype) if np.dtype(dtype).kind in 'iu' else (
        random.standard_normal(count) * np.exp(random.standard_normal(count) * 2) + 0.3).astype(dtype)
    array[random.integers(count)] = 0
    if bad is not None and array.dtype.kind in 'fc':
        array[count // 2] = bad
    compiled, by_numpy = both(monkeypatch, array)
    assert sum(compiled.histogram) == compiled.neg + compiled.pos
    same = ('size', 'nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf', 'min', 'max', 'histogram', 'first_bad')
    assert [getattr(compiled, name) for name in same] == [getattr(by_numpy, name) for name in same]
    assert [type(compiled.min), type(compiled.max)] == [type(by_numpy.min), type(by_numpy.max)]
    assert math.isclose(compiled.mean, by_numpy.mean, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(compiled.std, by_numpy.std, rel_tol=1e-12)


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
@pytest.mark.parametrize('scale', [1e-300, 1e-44, 1e-38, 1e-20, 1e-7, 1.0, 1e30, 1e300])
@pytest.mark.parametrize('count', [2, 40, 6000])
def test_compiled_and_numpy_agree_at_the_ends_of_the_range(monkeypatch, dtype, scale, count):
    random = np.random.default_rng(count)
    with np.errstate(all='ignore'):
        array = (random.standard_normal(count) * np.exp(random.standard_normal(count) * 5) * scale).astype(dtype)
    compiled, by_numpy = both(monkeypatch, array)
    same = ('size', 'nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf', 'min', 'max', 'histogram', 'first_bad')
    assert [getattr(compiled, name) for name in same] == [getattr(by_numpy, name) for name in same]
    if compiled.max is not None:
        largest = max(abs(compiled.min), abs(compiled.max))
        assert compiled.histogram == octaves([v for v in array.tolist() if math.isfinite(v)], largest)
        assert math.isclose(compiled.mean, by_numpy.mean, rel_tol=1e-12, abs_tol=1e-12 * largest)
        assert math.isclose(compiled.std, by_numpy.std, rel_tol=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TYPES).flatmap(lambda dtype: npst.arrays(dtype, npst.array_shapes(max_dims=1, max_side=80))),
       st.integers(1, 90))
def test_any_elements_are_counted_alike(array, times):
    array = np.tile(array, times)
    with pytest.MonkeyPatch.context() as monkeypatch:
        compiled, by_numpy = both(monkeypatch, array)
    same = ('size', 'nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf', 'min', 'max', 'histogram', 'first_bad')
    assert [getattr(compiled, name) for name in same] == [getattr(by_numpy, name) for name in same]
    if compiled.max is not None:
        largest = max(abs(compiled.min), abs(compiled.max))
        tolerance = 1e-12 * largest
        assert math.isclose(compiled.mean, by_numpy.mean, rel_tol=1e-12, abs_tol=tolerance)
        assert math.isclose(compiled.std, by_numpy.std, rel_tol=1e-9, abs_tol=1e-7 * largest)


@pytest.mark.parametrize('dtype', [*TYPES, np.complex128, np.uint64, np.bool_, ml_dtypes.bfloat16])
@pytest.mark.parametrize('count', [1, 33, 3000])
def test_a_bad_element_is_found_wherever_it_is(dtype, count):
    good = np.ones(count, dtype)
    arrays = [good]
    for bad in (np.nan, np.inf, -np.inf) if np.ones(1, dtype).dtype.kind in 'fcV' else ():
        for place in {0, count // 2, count - 1}:
            arrays.append(good.copy())
            arrays[-1][place] = bad
    assert have_bad(arrays) == [False] + [True] * (len(arrays) - 1)


def test_rows_hold_what_statistics_say():
    arrays = [np.float32([[1, np.nan], [-np.inf, 3]]), np.full((3, 2), np.nan), np.int64([[2 ** 62 + 1, -2 ** 63]]),
              np.uint64([2 ** 64 - 1, 3]), np.float64([]), np.float64(2.5), np.bool_([True, False]), np.float16([1, 2, 6]),
              np.complex64([3 + 4j, 1]), np.float64([1e300, -1e300, 5]), np.arange(12.0).reshape(3, 4)[:, ::2],
              np.int8([[-128], [127]])]
    assert all(has_row(array.dtype) for array in arrays)
    rows = rows_of(arrays)
    for array, row in zip(arrays, rows, strict=True):
        assert stats_of_row(row, array.dtype.kind, array.shape) == stats_of(array)


@pytest.mark.parametrize('array', [np.array(['a']), np.array([ml_dtypes.bfloat16(1)]), np.array([None]),
                                   np.array(['2026-01-01'], 'M8[D]'), np.array([1.0], '>f8')])
def test_other_types_have_no_row(array):
    assert not has_row(array.dtype)


def test_arrays_that_are_not_in_one_piece_are_summarised_as_their_copies() -> None:
    values = np.arange(-7, 13, dtype=np.float32).reshape(4, 5)
    values[1, 2] = np.nan
    for array in (values.T, values[:, ::2], values[::-1], values[:, 1]):
        copy = np.ascontiguousarray(array)
        assert stats_of(array) == stats_of(copy) and stats_of(array).size == array.size
        assert rows_of([array, copy])['size'].tolist() == [array.size] * 2
        assert (rows_of([array]) == rows_of([copy])).all()
