"""What attaching to the real TensorFlow costs: `python tests/benchmarks/bench_tensorflow.py`, where TensorFlow is installed.

Each way of calling a Python function, against itself without us: attached with nobody watching, with a breakpoint elsewhere,
and recorded (on the thread of the calls, and until the log is written).
"""
from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from timing import Result, Work, table

import pyfuncdbg
from pyfuncdbg.debug.debugger import debugger
from pyfuncdbg.record.recorder import Recorder

SERIES = 40
"""Calls that are timed together."""
DATASET = 2000


def add(value: Any) -> Any:
    return value + 1


def session(value: Any) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, value.shape)
        y = tf.compat.v1.py_func(add, [x], tf.float32)
    run = tf.compat.v1.Session(graph=graph).make_callable(y, [x])
    return lambda: run(value)


def alone(op: Any, value: Any) -> Work:
    """What TensorFlow's C++ does for one call, without its threads: nothing else takes time there."""
    from tensorflow.python.ops.script_ops import _py_funcs
    function = tf.function(lambda x: op(add, [x], tf.float32)).get_concrete_function(tf.constant(value))
    node = next(node for node in function.graph.get_operations() if 'PyFunc' in node.type)
    token, given = node.get_attr('token').decode(), [tf.constant(value) if op is tf.py_function else value]

    def call(_alive: Any = function) -> None:
        _py_funcs(token, None, given)
    return call


def traced(op: Any, value: Any) -> Work:
    function = tf.function(lambda x: op(add, [x], tf.float32))
    tensor = tf.constant(value)
    return lambda: function(tensor)


def dataset(at_once: int) -> Work:
    """A whole dataset: the time is that of all its elements."""
    data = tf.data.Dataset.range(DATASET).map(lambda x: tf.numpy_function(add, [x], tf.int64), num_parallel_calls=at_once)
    return lambda: sum(1 for _ in data)


def ways() -> Iterator[tuple[str, Work, int]]:
    """Name, one piece of work, and how many pieces make a series."""
    scalar, image = np.float32(1), np.ones((64, 64), np.float32)
    yield 'py_function alone, 64x64', alone(tf.py_function, image), SERIES
    yield 'numpy_function alone, 64x64', alone(tf.numpy_function, image), SERIES
    yield 'Session, py_func, scalar', session(scalar), SERIES
    yield 'Session, py_func, 64x64', session(image), SERIES
    yield 'tf.function, py_function, scalar', traced(tf.py_function, scalar), SERIES
    yield 'tf.function, py_function, 64x64', traced(tf.py_function, image), SERIES
    yield 'tf.function, numpy_function, scalar', traced(tf.numpy_function, scalar), SERIES
    for at_once in (1, 4):
        yield f'Dataset.map, {at_once} at once, {DATASET} x numpy_function', dataset(at_once), 1
    yield 'eager py_function, scalar', lambda: tf.py_function(add, [scalar], tf.float32), SERIES
    yield 'eager numpy_function, scalar', lambda: tf.numpy_function(add, [scalar], tf.float32), SERIES


@contextmanager
def breakpoint_elsewhere() -> Iterator[None]:
    with pyfuncdbg.attach():
        entry = debugger.breakpoints.set('nowhere')
        debugger.start()
        try:
            yield
        finally:
            debugger.breakpoints.clear(entry.number)
            debugger.leave()


def recorded(folder: Path) -> Callable[[], AbstractContextManager[Any]]:
    numbers = iter(range(1_000_000))

    @contextmanager
    def state() -> Iterator[None]:
        with pyfuncdbg.attach(), Recorder(folder / f'{next(numbers)}.pfd', budget=2 << 30):
            yield
    return state


States = dict[str, Callable[[], AbstractContextManager[Any]]]


def best(work: Work, states: States, count: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Microseconds of one piece of work in each state, and of CPU on all threads: the median of several short series, the
    states in turn. CPU is the steadier of the two where a machine has other work.

    What it takes to enter a state, and the first calls in it, do not count: that happens once in a program.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in states}
    for _ in range(rounds):
        for name, state in states.items():
            with state():
                for _ in range(3 if count > 1 else 1):
                    work()
                for _ in range(4):
                    start, cpu = time.perf_counter(), time.process_time()
                    for _ in range(count):
                        work()
                    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
                    found[name].append((wall / count * 1e6, cpu / count * 1e6))
    return {name: (statistics.median(wall for wall, _ in series), statistics.median(cpu for _, cpu in series))
            for name, series in found.items()}


TARGETS = {'attached': '<= 1.02x the time', 'breakpoint elsewhere': '<= 3 µs more', 'recorded': '<= 1.1x the time'}


def results(folder: Path) -> Iterator[Result]:
    states: States = {'plain': nullcontext, 'attached': pyfuncdbg.attach, 'breakpoint elsewhere': breakpoint_elsewhere,
                      'recorded': recorded(folder)}
    for name, work, count in ways():
        found = best(work, states, count, 6)
        calls = DATASET if count == 1 else 1
        peer, peer_cpu = (figure / calls for figure in found['plain'])
        for what, target in TARGETS.items():
            ours, cpu = (figure / calls for figure in found[what])
            yield Result(f'{name}: {what}', ours, peer, target,
                         f'{ours / peer:.2f}x the time, {ours - peer:+.1f} µs ({cpu - peer_cpu:+.1f} of CPU)')


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        print(table(list(results(Path(folder)))))
