"""What a wrapped function raises is the cause of TensorFlow's error, and changes nothing else about it.

An abort goes through TensorFlow to the caller."""
from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.errors import RunAborted

pytestmark = pytest.mark.tensorflow
MODES = ['eager py_function', 'eager numpy_function', 'tf.function', 'Session', 'tf.data']


class PlantedError(ValueError):
    """What the function raises."""


def failing(value: Any) -> Any:
    raise PlantedError('the bug')


def call(tf: Any, mode: str, function: Callable[..., Any]) -> Any:
    """Call a function in one of the ways in which TensorFlow does."""
    if mode == 'eager py_function':
        return tf.py_function(function, [1.0], tf.float32)
    if mode == 'eager numpy_function':
        return tf.numpy_function(function, [1.0], tf.float32)
    if mode == 'tf.function':
        return tf.function(lambda x: tf.py_function(function, [x], tf.float32))(tf.constant(1.0))
    if mode == 'Session':
        with tf.Graph().as_default():
            node = tf.compat.v1.py_func(function, [tf.constant(1.0)], tf.float32, name='node')
            with tf.compat.v1.Session() as session:
                return session.run(node)
    data = tf.data.Dataset.range(4).map(lambda x: tf.py_function(function, [x], tf.int64), num_parallel_calls=4)
    return list(data)


def raised(tf: Any, mode: str, function: Callable[..., Any] = failing) -> BaseException:
    try:
        call(tf, mode, function)
    except BaseException as error:
        return error
    raise AssertionError('it did not raise')


def frames(error: BaseException) -> list[tuple[str, int, str]]:
    return [(entry.filename, entry.lineno or 0, entry.name) for entry in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize('mode', MODES)
def test_the_exception_itself_is_the_cause(tf: Any, seen: Seen, mode: str) -> None:
    error = raised(tf, mode)
    original = error if mode == 'eager numpy_function' else error.__cause__
    assert type(original) is PlantedError and str(original) == 'the bug'
    assert traceback.extract_tb(original.__traceback__)[-1].name == 'failing'
    text = ''.join(traceback.format_exception(error))
    assert text.startswith('Traceback') and text.count('PlantedError: the bug\n') >= 1
    assert 'InvalidArgumentError' not in text[:text.index('PlantedError: the bug')]
    assert any(call.error is original for call in seen.calls)


@pytest.mark.parametrize('mode', MODES)
def test_everything_else_is_as_without_us(tf: Any, mode: str) -> None:
    plain = raised(tf, mode)
    with pyfuncdbg.attach('tensorflow'):
        watched = raised(tf, mode)
    assert plain.__cause__ is None
    assert type(watched) is type(plain)
    # Names of functions and of datasets count up.
    numbers = str.maketrans('', '', '0123456789')
    assert str(watched).translate(numbers) == str(plain).translate(numbers)
    assert frames(watched) == frames(plain)
    if isinstance(plain, tf.errors.OpError):
        assert isinstance(watched, tf.errors.OpError)
        assert (watched.error_code, getattr(watched.op, 'name', None)) == (plain.error_code, getattr(plain.op, 'name', None))


@pytest.mark.parametrize('mode', MODES)
def test_an_abort_reaches_the_caller(tf: Any, seen: Seen, mode: str) -> None:
    aborts = RunAborted('enough')

    def abort(call: Any, proceed: Any) -> Any:
        raise aborts

    seen.change = abort
    error = raised(tf, mode, lambda x: x)
    assert error is aborts
    seen.change = None
    call(tf, mode, lambda x: x)                 # and it is over


def test_a_call_that_ends_with_an_abort_later_aborts_nothing_else(tf: Any, seen: Seen) -> None:
    aborts, arrived = RunAborted('enough'), threading.Event()

    def abort(call: Any, proceed: Any) -> Any:
        if int(call.site.host.to_numpy(call.inputs[0])):
            arrived.wait(60)
        raise aborts

    seen.change = abort
    data = iter(tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda y: y, [x], tf.int64), num_parallel_calls=3))
    with pytest.raises(RunAborted, match='enough'):
        next(data)
    arrived.set()
    for _ in range(2):                          # the other two, of which TensorFlow tells when they are over
        with pytest.raises(tf.errors.OpError, match='RunAborted: enough'):
            next(data)
    seen.change = None
    assert call(tf, 'tf.function', lambda x: x) == 1


def test_an_abort_that_the_graph_swallows_ends_the_dataset(tf: Any, seen: Seen) -> None:
    def abort(call: Any, proceed: Any) -> Any:
        raise RunAborted('enough')

    seen.change = abort
    data = tf.data.Dataset.range(4).map(lambda x: tf.py_function(lambda y: y, [x], tf.int64)).ignore_errors()
    with pytest.raises(RunAborted, match='enough'):
        list(data)
    assert len(seen.calls) == 1


def test_errors_of_errors(tf: Any, seen: Seen) -> None:
    def outer(value: Any) -> Any:
        return tf.py_function(failing, [value], tf.float32)

    error = raised(tf, 'tf.function', outer)
    assert isinstance(error.__cause__, tf.errors.OpError) and type(error.__cause__.__cause__) is PlantedError


def test_each_error_has_its_own_cause(tf: Any, seen: Seen) -> None:
    def picky(value: Any) -> Any:
        raise PlantedError(f'element {int(value)}')

    data = iter(tf.data.Dataset.range(3).map(lambda x: tf.py_function(picky, [x], tf.int64), num_parallel_calls=3))
    for number in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            next(data)
        assert str(caught.value.__cause__) == f'element {number}'


def test_a_program_s_own_use_of_the_errors_is_untouched(tf: Any, seen: Seen) -> None:
    error = tf.errors.InvalidArgumentError(None, None, 'mine')
    assert error.with_traceback(None) is error and error.__cause__ is None
    data = iter(tf.data.Dataset.range(1))
    next(data)
    with pytest.raises(StopIteration):
        next(data)
    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        data.get_next()
    assert caught.value.__cause__ is None


def test_an_exception_lives_no_longer_than_its_error(tf: Any, seen: Seen) -> None:
    error = raised(tf, 'tf.function')
    reference = weakref.ref(error.__cause__)
    seen.calls.clear()
    seen.returned.clear()
    del error
    gc.collect()
    assert reference() is None


def test_keras_keeps_the_cause(tf: Any, seen: Seen) -> None:
    import keras
    import numpy as np

    class Layer(keras.layers.Layer):    # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            found = tf.py_function(failing, [inputs], tf.float32)
            found.set_shape(inputs.shape)
            return found

    for eagerly in (False, True):
        model = keras.Sequential([Layer(), keras.layers.Dense(1)])
        model.compile(loss='mse', run_eagerly=eagerly, jit_compile=False)
        with pytest.raises(Exception, match='the bug') as caught:
            model.fit(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32), verbose=0)
        assert type(caught.value.__cause__) is PlantedError
