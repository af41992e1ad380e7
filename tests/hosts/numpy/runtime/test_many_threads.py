"""Sessions, functions, variables and datasets used by several threads at once, threads that Python did not make."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from native_threads import run_native

import pyfuncdbg.tf as tf

v1 = tf.compat.v1


def at_once(count: int, function: Callable[[int], Any]) -> None:
    run_native([lambda number=number: function(number) for number in range(count)])  # type: ignore[misc]


@pytest.mark.parametrize('threads', [0, 3])
def test_one_session(threads: int) -> None:
    with tf.Graph().as_default():
        p = v1.placeholder(tf.float32, [])
        twice = tf.py_function(lambda x: x * 2, [p], tf.float32)
        counted = tf.while_loop(lambda i: i < p, lambda i: i + tf.reshape(
            tf.numpy_function(lambda z: np.float32(z * 0 + 1), [i], tf.float32), []), [0.])[0]
        total = v1.py_func(lambda x: np.float32(x + 1), [p], tf.float32) + twice + counted
        session = v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=threads))
    found: list[tuple[float, float]] = []

    def run(number: int) -> None:
        for k in range(20):
            x = float(number * 10 + k % 7)
            found.append((x, float(session.run(total, {p: x}))))
    at_once(4, run)
    session.close()
    assert len(found) == 80
    assert [pair for pair in found if pair[1] != pair[0] * 4 + 1] == []


def test_a_graph_that_grows_while_it_runs() -> None:
    graph = tf.Graph()
    with graph.as_default():
        p = v1.placeholder(tf.float32, [])
        fixed = p * 4. + 1.
    session = v1.Session(graph=graph)
    wrong: list[Any] = []

    def run(number: int) -> None:
        for k in range(30):
            with graph.as_default():
                fetch, expected = (tf.constant(float(k)) + p, k + 2.) if number % 2 else (fixed, 9.)
                value = session.run(fetch, {p: 2.})
            if value != expected:
                wrong.append((number, k, value))
    at_once(4, run)
    assert wrong == []
    assert len({op.name for op in graph.get_operations()}) == len(graph.get_operations())


def test_one_function_is_traced_once_for_each_kind_of_arguments() -> None:
    traced: list[tuple[int | None, int]] = []

    @tf.function
    def function(x: Any, n: int) -> Any:
        traced.append((x.shape[0], n))
        time.sleep(0.001)
        y = tf.py_function(lambda v: v + n, [x], tf.float32)
        y.set_shape(x.shape)
        for _ in tf.range(3):
            y = y + 1.
        return y * 2

    wrong: list[Any] = []

    def run(number: int) -> None:
        for k in range(12):
            value = function(tf.ones([k % 3 + 1]), k % 4).numpy()
            if value.tolist() != [(1 + k % 4 + 3) * 2.] * (k % 3 + 1):
                wrong.append((k, value))
    at_once(5, run)
    assert wrong == []
    assert sorted(traced) == sorted({(k % 3 + 1, k % 4) for k in range(12)})


def test_functions_that_call_each_other_in_opposite_order() -> None:
    @tf.function
    def a(x: Any, depth: int) -> Any:
        time.sleep(0.002)
        return b(x, depth - 1) + 1. if depth else x

    @tf.function
    def b(x: Any, depth: int) -> Any:
        time.sleep(0.002)
        return a(x, depth - 1) + 1. if depth else x

    wrong: list[Any] = []

    def run(number: int) -> None:
        for depth in range(5):
            value = (a, b)[number % 2](tf.constant(float(number)), depth).numpy()
            if value != number + depth:
                wrong.append((number, depth, value))
    at_once(4, run)
    assert wrong == []


def test_a_function_called_from_a_python_function_of_another() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x + 1.

    @tf.function
    def outer(x: Any) -> Any:
        return tf.py_function(inner, [x], tf.float32)

    wrong: list[Any] = []

    def run(number: int) -> None:
        for k in range(8):
            size = number * 10 + k + 1
            if outer(tf.ones([size])).numpy().tolist() != [2.] * size:
                wrong.append(size)
    at_once(4, run)
    assert wrong == []


def test_gradients_in_each_thread_are_its_own() -> None:
    wrong: list[Any] = []

    def run(number: int) -> None:
        x = tf.Variable(float(number))
        for _ in range(30):
            with tf.GradientTape() as tape:
                y = x * x * x
            if tape.gradient(y, x).numpy() != 3. * number ** 2:
                wrong.append(number)
    at_once(4, run)
    assert wrong == []


def test_a_session_entered_again_from_a_python_function_of_its_own_run() -> None:
    with tf.Graph().as_default():
        session = v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=2))
        six = tf.constant(3.) * 2.
        parts = [v1.py_func(lambda: session.run(six), [], tf.float32) for _ in range(4)]
        assert session.run(parts) == [6., 6., 6., 6.]
        session.close()                         # its graph and it hold each other: a thread would wait for the next run


def test_one_dataset() -> None:
    dataset = tf.data.Dataset.range(20).map(lambda x: tf.py_function(lambda z: z * 2, [x], tf.int64), num_parallel_calls=3)
    found: list[list[int]] = []
    at_once(4, lambda number: found.append([int(x) for x in dataset]))
    assert found == [list(range(0, 40, 2))] * 4


def test_a_session_closed_while_it_runs_ends_that_run_and_refuses_the_next() -> None:
    with tf.Graph().as_default():
        begun, go_on = threading.Event(), threading.Event()

        def wait() -> Any:
            begun.set()
            go_on.wait(20)
            return np.float32(1)

        fetch = v1.py_func(wait, [], tf.float32) + 1.
        session = v1.Session()
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(float(session.run(fetch)))
        except tf.errors.CancelledError as error:
            found.append(type(error))
    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(20)
    session.close()
    go_on.set()
    thread.join(20)
    assert not thread.is_alive()
    assert found in ([2.], [tf.errors.CancelledError])
    with pytest.raises(RuntimeError, match='Attempted to use a closed Session'):
        session.run(fetch)


@pytest.mark.parametrize('wrong', ['feed', 'fetch', 'graph'])
def test_a_wrong_call_in_one_thread_leaves_the_runs_of_the_others_alone(wrong: str) -> None:
    graph = tf.Graph()
    with graph.as_default():
        p = v1.placeholder(tf.float32, [])
        total = p + 1.
    with tf.Graph().as_default():
        foreign = tf.constant(1.)
    session, count = v1.Session(graph=graph), len(graph.get_operations())
    calls = {'feed': lambda: session.run(total, {p: 'x'}), 'fetch': lambda: session.run('nope:0'),
             'graph': lambda: session.run(foreign)}
    found: list[float] = []

    def run(number: int) -> None:
        for k in range(25):
            if number % 2:
                with pytest.raises((ValueError, KeyError)):
                    calls[wrong]()
            else:
                found.append(float(session.run(total, {p: float(k)})))
    at_once(4, run)
    assert sorted(found) == sorted([k + 1. for k in range(25)] * 2)
    assert len(graph.get_operations()) == count
