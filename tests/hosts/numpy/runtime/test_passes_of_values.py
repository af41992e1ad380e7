"""A backward pass over values gives what the same pass over tensors does, bit for bit, in the program's error state."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyfuncdbg import tf
from pyfuncdbg.hosts.numpy.runtime.backward import backward_pass

DTYPES = (np.float16, np.float32, np.float64, np.complex64)
SHAPES = ((), (3,), (1, 3), (2, 3), (0,))
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a * a, lambda a, b: 2.0 - a,
    lambda a, b: tf.negative(a) * b, lambda a, b: tf.exp(a) / b, lambda a, b: tf.stop_gradient(a) * b)


@contextmanager
def over_tensors() -> Iterator[None]:
    """With no rule for values: the walk asks whether a node is of this kind."""
    before, backward_pass.ElementNode = backward_pass.ElementNode, type(None)  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        backward_pass.ElementNode = before  # type: ignore[misc]


def gradients(dtype: Any, shapes: list[tuple[int, ...]], steps: list[tuple[int, int, int]], seed: int,
              persistent: bool) -> list[Any]:
    random = np.random.default_rng(seed)
    values = [tf.constant((random.integers(-3, 4, shape) / random.integers(1, 4, shape)).astype(dtype)) for shape in shapes]
    with tf.GradientTape(persistent=persistent) as tape:
        for value in values[:2]:
            tape.watch(value)
        made = list(values)
        for op, one, two in steps:
            made.append(BINARY[op](made[one % len(made)], made[two % len(made)]))
    return [None if g is None else (g.dtype.name, g.numpy().dtype, g.shape.as_list(), g.numpy().tobytes())
            for g in tape.gradient(made[-1], values)]


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(DTYPES), st.lists(st.sampled_from(SHAPES[:4]), min_size=2, max_size=3),
       st.lists(st.tuples(st.integers(0, len(BINARY) - 1), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12),
       st.integers(0, 10**6), st.booleans())
def test_both_passes_give_the_same_bits(dtype: Any, shapes: list[tuple[int, ...]], steps: list[tuple[int, int, int]],
                                        seed: int, persistent: bool) -> None:
    with np.errstate(all='ignore'):
        found = gradients(dtype, shapes, steps, seed, persistent)
        with over_tensors():
            expected = gradients(dtype, shapes, steps, seed, persistent)
    assert found == expected


def test_values_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above compares nothing."""
    made: list[Any] = []
    original = backward_pass.apply_gradient
    monkeypatch.setattr(backward_pass, 'apply_gradient', lambda *args: made.append(args[0].type) or original(*args))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x * x + x)
    assert np.allclose(tape.gradient(y, x).numpy(), [3 * np.exp(2), 5 * np.exp(6)], rtol=1e-5)
    assert made == ['Exp']


def test_second_order_and_broadcasts_take_tensors() -> None:
    x = tf.constant([[1.0], [2.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * tf.constant([[3.0, 4.0]])
        first = inner.gradient(y, x)
    assert first.numpy().tolist() == [[14.0], [28.0]] and outer.gradient(first, x).numpy().tolist() == [[14.0], [14.0]]


def test_a_division_by_zero_in_the_pass_says_nothing_and_leaves_the_error_state() -> None:
    x, zero = tf.constant([1.0]), tf.constant([0.0])
    with np.errstate(all='raise'):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x / zero
        assert tape.gradient(y, x).numpy().tolist() == [np.inf] and np.geterr()['divide'] == 'raise'


def test_a_python_function_in_the_pass_has_the_error_state_of_the_program() -> None:
    seen: list[str] = []

    @tf.custom_gradient
    def same(x: Any) -> Any:
        def gradient(g: Any) -> Any:
            seen.append(np.geterr()['divide'])
            return g
        return tf.identity(x), gradient
    x = tf.constant([1.0])
    with np.errstate(divide='raise'):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = same(x * x) * x
        assert tape.gradient(y, x).numpy().tolist() == [3.0] and seen == ['raise']
