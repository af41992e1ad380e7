"""NumPy's floating-point errors in wrapped functions: noted in every call, in whichever way the function is reached."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import hooks


class Keeper:
    """Keeps every Python call."""

    kinds = frozenset(('python',))

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.calls.append(call)
        return proceed()


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    capture, kept = Capture(), Keeper()
    hooks.add(kept)
    capture.start()
    try:
        yield kept
    finally:
        capture.stop()
        hooks.remove(kept)


def root(x: Any) -> Any:
    return np.sqrt(np.asarray(x))


def in_session(make: Any) -> Callable[[], Any]:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float64)
        y = make(root, [x], tf.float64)
    return lambda: tf.compat.v1.Session(graph=graph).run(y, {x: -1.0})


def in_function(make: Any) -> Callable[[], Any]:
    @tf.function
    def step(x: Any) -> Any:
        return make(root, [x], tf.float64)
    return lambda: step(tf.constant(-1.0, tf.float64))


def eagerly(make: Any) -> Callable[[], Any]:
    return lambda: make(root, [tf.constant(-1.0, tf.float64)], tf.float64)


def under_a_tape(make: Any) -> Callable[[], Any]:
    def call() -> Any:
        with tf.GradientTape() as tape:
            x = tf.constant(-1.0, tf.float64)
            tape.watch(x)
            return make(root, [x], tf.float64)
    return call


@pytest.mark.parametrize('make', [tf.py_function, tf.numpy_function])
@pytest.mark.parametrize('way', [in_session, in_function, eagerly, under_a_tape])
@pytest.mark.parametrize('modes', [{'invalid': 'warn'}, {'invalid': 'ignore'}])
def test_every_call_has_the_line(way: Any, make: Any, modes: Any, keeper: Keeper) -> None:
    call = way(make)
    with warnings.catch_warnings(record=True) as shown, np.errstate(**modes):
        warnings.simplefilter('default')        # shown once a line, noted each time
        for _ in range(3):
            call()
        assert np.geterr()['invalid'] == modes['invalid']
    assert len(shown) == (modes['invalid'] == 'warn')
    assert len(keeper.calls) == 3
    line = root.__code__.co_firstlineno + 1
    for found in keeper.calls:
        assert found.output is not None
        assert [(entry.text, entry.filename, entry.line) for entry in found.output.entries if entry.kind == 'fp'] == [
            ('invalid value encountered in sqrt', __file__, line)]


@pytest.mark.parametrize('way', [in_session, in_function, eagerly])
def test_a_state_that_the_function_sets_stays_in_force_as_without_a_watcher(way: Any) -> None:
    def quiet(x: Any) -> Any:
        np.seterr(invalid='ignore', over='raise')
        return np.sqrt(np.asarray(x))

    def left_behind() -> dict[str, str]:
        with np.errstate(invalid='warn', over='warn'):
            call()
            return dict(np.geterr())

    call = way(lambda _, inputs, types: tf.py_function(quiet, inputs, types))
    alone = left_behind()
    capture = Capture()
    capture.start()
    try:
        watched = left_behind()
    finally:
        capture.stop()
    assert watched == alone
    assert (alone['invalid'], alone['over']) == ('ignore', 'raise')
