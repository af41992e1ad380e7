"""What is kept of a wrapped function: nothing after the last reference to its graph, tape or result is gone."""
from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import OpError
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.ops.script import registry
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function, py_func, py_function
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session

X = tf.constant(3.)


def plain(i: int) -> None:
    block = np.full(64, i, np.float32)
    py_function(lambda a: a * block, [X], tf.float32)


def dropped_tape(i: int) -> None:
    block = np.full(64, i, np.float32)
    with GradientTape() as tape:
        tape.watch(X)
        py_function(lambda a: a * block, [X], tf.float32)


def differentiated(i: int) -> None:
    block = np.full(64, i, np.float32)
    with GradientTape() as tape:
        tape.watch(X)
        y = py_function(lambda a: a * block, [X], tf.float32)
    tape.gradient(y, X)


def failing(i: int) -> None:
    block = np.full(64, i, np.float32)

    def fail(a: Any) -> Any:
        raise ValueError(block)

    with pytest.raises(OpError):
        py_function(fail, [X], tf.float32)


def arrays(i: int) -> None:
    block = np.full(64, i, np.float32)
    numpy_function(lambda a: a * block, [X], tf.float32)


@pytest.mark.parametrize(('call', 'times'), [
    (plain, 10_000), (arrays, 10_000), (dropped_tape, 10_000), (differentiated, 3_000), (failing, 1_000)])
def test_eager_calls_leave_nothing_behind(call: Callable[[int], None], times: int) -> None:
    for i in range(20):
        call(i)
    gc.collect()
    living, objects, blocks = registry.size(), len(gc.get_objects()), sys.getallocatedblocks()
    for i in range(times):
        call(i)
    gc.collect()
    assert registry.size() == living
    assert len(gc.get_objects()) - objects < 200
    assert sys.getallocatedblocks() - blocks < 2_000


@pytest.mark.parametrize('call', [plain, arrays, dropped_tape])
def test_memory_does_not_grow(call: Callable[[int], None]) -> None:
    for i in range(100):
        call(i)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for i in range(1_000):
            call(i)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000


@pytest.mark.parametrize('call', ['py_function', 'numpy_function', 'tape'])
def test_a_closure_dies_at_once_without_the_collector(call: str) -> None:
    class Held:
        pass

    held = Held()
    watch = weakref.ref(held)

    def function(a: Any, held: Any = held) -> Any:
        return a * 1.

    gc.collect()
    gc.disable()
    try:
        if call == 'tape':
            with GradientTape() as tape:
                tape.watch(X)
                y = py_function(function, [X], tf.float32)
            tape.gradient(y, X)
            del tape
        else:
            {'py_function': py_function, 'numpy_function': numpy_function}[call](function, [X], tf.float32)
        del function, held
        assert watch() is None
    finally:
        gc.enable()


def test_a_failed_call_dies_with_its_error_without_the_collector() -> None:
    class Held:
        pass

    held = Held()
    watch = weakref.ref(held)

    def fail(held: Any = held) -> Any:
        raise ValueError

    gc.collect()
    gc.disable()
    try:
        try:
            py_function(fail, [], tf.float32)
        except OpError as error:
            assert error.__cause__ is not None
        del fail, held
        assert watch() is None
    finally:
        gc.enable()


def made_in_a_graph(function: Any) -> tuple[Graph, bytes]:
    graph = Graph()
    with graph.as_default():
        op = py_func(function, [], tf.float32).op
    return graph, op.get_attr('token')


def imported(token: bytes) -> Any:
    """A node with only what a GraphDef holds."""
    graph = Graph()
    op = graph.create_op('PyFunc', [], {'token': token, 'Tin': [], 'Tout': [tf.float32]})
    with Session(graph=graph) as session:
        return session.run(op.outputs[0])


def test_a_token_finds_its_function_while_the_graph_lives() -> None:
    graph, token = made_in_a_graph(lambda: np.float32(4))
    assert imported(token) == 4.
    living = registry.size()
    del graph
    gc.collect()
    assert registry.size() == living - 1
    with pytest.raises(OpError, match=rf'ValueError: Could not find callback with key={token.decode()} in the registry\.'):
        imported(token)


def test_a_token_of_a_function_that_lives_on_is_revived() -> None:
    def named() -> Any:
        return np.float32(5)

    tokens = [made_in_a_graph(named)[1] for _ in range(2)]
    gc.collect()
    assert [imported(token) for token in tokens] == [5., 5.]
    del named
    gc.collect()
    with pytest.raises(OpError, match='Could not find callback'):
        imported(tokens[0])


def test_the_memory_of_tokens_is_bounded() -> None:
    def named() -> Any:
        return np.float32(5)

    for number in range(5000):
        registry._remembered[f'test_{number}'] = lambda: None
    made_in_a_graph(named)
    assert len(registry._remembered) <= 4096
    for number in range(5000):
        registry._remembered.pop(f'test_{number}', None)


def test_tokens_differ_for_every_use() -> None:
    with Graph().as_default():
        tokens = {py_func(plain, [1.], tf.float32).op.get_attr('token') for _ in range(5)}
    assert len(tokens) == 5
