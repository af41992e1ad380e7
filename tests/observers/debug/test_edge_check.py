"""`check` of one input: wrong gradients of means and sums are BAD at any size, right ones never; noise is called noise."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyfuncdbg.observers.debug.gradients.edge_check import EdgeCheck
from pyfuncdbg.observers.debug.gradients.finite_differences import WeightedOutputs

SCALES = st.sampled_from([0.03, 0.05, 1.0])
SIZES = (1, 2, 3, 10, 16, 17, 64, 256, 1_000, 10_000)


def logistic(x, y):
    return np.log1p(np.exp(-x)), -1 / (1 + np.exp(x)), 0 * y


def square(x, y):
    return x * x, 2 * x, 0 * y


def product(x, y):
    return x * np.tanh(y), np.tanh(y), x / np.cosh(y) ** 2


def sine(x, y):
    return np.sin(x + 2) * y, np.cos(x + 2) * y, np.sin(x + 2)


def checked(function, reduce, dtype, size, scale, mistake, seed, slot=0):
    """The outcome for a gradient with a mistake, and the right gradient in double precision."""
    random = np.random.default_rng(seed)
    inputs = [random.normal(0, scale, size).astype(dtype) for _ in range(2)]
    share = 1 / size if reduce is np.mean else 1.0
    with np.errstate(all='ignore'):
        right = [part * share for part in function(*(value.astype(np.float64) for value in inputs))[1:]]
        weighted = WeightedOutputs(lambda values: [np.asarray(reduce(function(*values)[0])).astype(dtype)], inputs,
                                   [np.ones((), dtype)], 60)
        outcome = EdgeCheck(weighted, slot, inputs[slot], mistake(right, slot).astype(dtype), analytic=False).outcome()
    return outcome, right[slot], inputs


def times(factor):
    return lambda right, slot: right[slot] * factor


MISTAKES = {'sign': times(-1), 'half': times(0.5), 'three times': times(3)}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([logistic, square, product, sine]), st.sampled_from([np.mean, np.sum]),
       st.sampled_from([np.float16, np.float32, np.float64]), st.sampled_from(SIZES), SCALES,
       st.sampled_from(sorted(MISTAKES)), st.integers(0, 99))
def test_wrong_gradients(function, reduce, dtype, size, scale, mistake, seed):
    outcome, _, _ = checked(function, reduce, dtype, size, scale, MISTAKES[mistake], seed)
    rough = dtype == np.float16 or (dtype == np.float32 and size == 1 and scale < 0.1)     # one number of few digits
    assert outcome.verdict in (('BAD', 'unchecked') if rough else ('BAD',)), outcome
    if outcome.verdict == 'unchecked':
        assert any(why in outcome.reason for why in ('noisy', 'no finite value', 'elements do not fit'))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([logistic, square, product, sine]), st.sampled_from([np.mean, np.sum]),
       st.sampled_from([np.float16, np.float32, np.float64]), st.sampled_from(SIZES), SCALES,
       st.integers(0, 99), st.sampled_from([0, 1]))
def test_right_gradients(function, reduce, dtype, size, scale, seed, slot):
    outcome, _, _ = checked(function, reduce, dtype, size, scale, times(1), seed, slot)
    assert outcome.verdict in (('OK',) if dtype == np.float64 else ('OK', 'unchecked')), outcome


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([product, sine]), st.sampled_from([np.mean, np.sum]), st.sampled_from([np.float32, np.float64]),
       st.sampled_from(SIZES), st.integers(0, 99))
def test_swapped_gradients(function, reduce, dtype, size, seed):
    outcome, _, _ = checked(function, reduce, dtype, size, 1.0, lambda right, slot: right[1 - slot], seed)
    assert outcome.verdict == 'BAD', outcome


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([logistic, square, sine]), st.sampled_from([np.mean, np.sum]),
       st.sampled_from([np.float32, np.float64]), st.sampled_from(SIZES), st.integers(0, 99))
def test_one_wrong_element(function, reduce, dtype, size, seed):
    place = {}

    def wrong(right, slot):
        place['at'] = int(np.argmax(np.abs(right[slot])))
        return np.where(np.arange(size) == place['at'], -right[slot], right[slot])
    outcome, right, inputs = checked(function, reduce, dtype, size, 1.0, wrong, seed)
    values = function(*inputs)[0]
    total = float(np.abs(values.astype(np.float64)).sum() * (1 / size if reduce is np.mean else 1))
    share = 2 * abs(right[place['at']]) * abs(float(inputs[0][place['at']])) * 0.05 / max(total, 1e-300)
    if share > 1e4 * np.finfo(dtype).eps and (size <= 256 or dtype == np.float64):
        assert outcome.verdict == 'BAD', (outcome, share)
        assert outcome.index in ((place['at'],), None)


def test_noise_is_told_with_its_size():
    def faint(x, y):
        return x * 1e-7 + 1, np.full_like(x, 1e-7), y
    outcome, _, _ = checked(faint, np.mean, np.float32, 64, 1.0, times(-1), 3)
    assert outcome.verdict == 'unchecked' and 'noisy' in outcome.reason and 'give or take' in outcome.reason


@pytest.mark.parametrize('size', [4, 100])
def test_a_function_without_finite_values_is_not_noisy(size):
    def nowhere(x, y):
        return np.where(np.arange(size) >= 0, np.inf, x), np.ones(size), y
    outcome, _, _ = checked(nowhere, np.sum, np.float64, size, 1.0, times(1), 0)
    assert outcome.verdict == 'unchecked' and 'no finite value' in outcome.reason


def cancelling(x):
    """Two sums of some 10^8 cancel: in float32 the result changes by 32 at least."""
    moved = np.float32(1000) + x
    return np.sum(moved ** 2, dtype=np.float32) - np.float32(1e6 * x.size)


def near_poles(x):
    """Of both signs, some of them nearer to the pole at 0 than the longest steps are long."""
    return np.mean(np.log(np.abs(x) + np.float32(1e-7)), dtype=np.float32)


@pytest.mark.parametrize(('function', 'gradient', 'size'), [
    (cancelling, lambda x: 2 * (1000 + x), 320),
    (near_poles, lambda x: np.sign(x) / (np.abs(x) + 1e-7) / x.size, 5000)], ids=['cancelling', 'near poles'])
@pytest.mark.parametrize('seed', range(3))
def test_a_right_gradient_in_float32_is_not_bad_where_steps_do_not_see_the_function(function, gradient, size, seed):
    x = np.random.default_rng(seed).normal(size=size).astype(np.float32)

    def outcome(factor):
        weighted = WeightedOutputs(lambda values: [function(values[0])], [x], [np.ones((), np.float32)], 60)
        right = gradient(x.astype(np.float64))
        return EdgeCheck(weighted, 0, x, (right * factor).astype(np.float32), analytic=False).outcome()
    assert outcome(1).verdict in ('OK', 'unchecked')
    if function is cancelling:
        assert (outcome(1).verdict, outcome(-1).verdict) == ('OK', 'BAD')
    else:                                       # the right one is not told from all wrong ones
        assert 'two lengths disagree' in outcome(1).reason or outcome(1).verdict == 'OK'
