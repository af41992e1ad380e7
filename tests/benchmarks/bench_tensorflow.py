"""What attaching to the real TensorFlow costs: `python tests/benchmarks/bench_tensorflow.py`, where TensorFlow is installed.

Each way of calling a Python function, against itself without us: attached with nobody watching, with a breakpoint elsewhere,
and recorded. Names of ways are arguments: `bench_tensorflow.py Session Dataset` measures those alone.
"""
from __future__ import annotations

import sys
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
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES = 60
"""Calls after which the next state has its turn: the clock of a processor changes, and with it all times."""
ROUNDS = 40
DATASET = 2000


def add(value: Any) -> Any:
    return value + 1


def session(value: Any, threads: int = 0) -> Work:
    """A run of a session; with -1 threads all of it is done on the caller's, and no time goes for waking others."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, value.shape)
        y = tf.compat.v1.py_func(add, [x], tf.float32)
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=threads)
    run = tf.compat.v1.Session(graph=graph, config=config).make_callable(y, [x])
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
    """A whole dataset: the time is that of all its elements, of CPU, for at its end TensorFlow waits for its tuner, which
    sleeps for 80, 160 or 320 ms.
    """
    data = tf.data.Dataset.range(DATASET).map(lambda x: tf.numpy_function(add, [x], tf.int64), num_parallel_calls=at_once)
    return lambda: sum(1 for _ in data)


def normalize(pixels: Any, number: Any) -> Any:
    mean = pixels.mean()
    spread = pixels.std()
    shifted = pixels - mean
    return shifted / spread


def keras_epochs() -> Work:
    """Two epochs of a Keras model on digits: Python functions in its dataset, four at once, in a layer and in the loss."""
    import keras

    class Squash(keras.layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            found = tf.py_function(tf.tanh, [inputs], tf.float32)
            found.set_shape(inputs.shape)
            return found

    def loss(wanted: Any, given: Any) -> Any:
        found = tf.py_function(lambda w, g: tf.reduce_mean(tf.square(w - g), axis=-1), [wanted, given], tf.float32)
        found.set_shape(given.shape[:1])
        return found

    def element(pixels: Any, number: Any, wanted: Any) -> Any:
        image = tf.numpy_function(normalize, [pixels, number], tf.float32)
        image.set_shape([64])
        return image, wanted
    digits = np.loadtxt(Path(pyfuncdbg.__file__).parent / 'demo' / 'digits.csv.gz', delimiter=',', dtype=np.int32)
    images, wanted = digits[:, :-1].astype(np.float32), np.eye(10, dtype=np.float32)[digits[:, -1]]
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(len(images)), wanted))
    data = data.map(element, num_parallel_calls=4).batch(64)
    model = keras.Sequential([keras.layers.Dense(32), Squash(), keras.layers.Dense(10)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, jit_compile=False)
    return lambda: model.fit(data, epochs=2, verbose=0)


def ways() -> Iterator[tuple[str, Work, int, int]]:
    """Name, one piece of work, how many pieces make a series, and how many calls a piece is."""
    scalar, image = np.float32(1), np.ones((64, 64), np.float32)
    yield 'py_function alone, 64x64', alone(tf.py_function, image), SERIES, 1
    yield 'numpy_function alone, 64x64', alone(tf.numpy_function, image), SERIES, 1
    for threads, where in ((-1, "caller's thread"), (0, 'threads')):
        yield f'Session on {where}, py_func, scalar', session(scalar, threads), SERIES, 1
        yield f'Session on {where}, py_func, 64x64', session(image, threads), SERIES, 1
    yield 'tf.function, py_function, scalar', traced(tf.py_function, scalar), SERIES, 1
    yield 'tf.function, py_function, 64x64', traced(tf.py_function, image), SERIES, 1
    yield 'tf.function, numpy_function, scalar', traced(tf.numpy_function, scalar), SERIES, 1
    for at_once in (1, 4):
        yield f'Dataset.map, {at_once} at once, {DATASET} x numpy_function', dataset(at_once), 1, DATASET
    yield 'Keras, 2 epochs of 1797 digits', keras_epochs(), 1, 2 * 1797
    yield 'eager py_function, scalar', lambda: tf.py_function(add, [scalar], tf.float32), SERIES, 1
    yield 'eager numpy_function, scalar', lambda: tf.numpy_function(add, [scalar], tf.float32), SERIES, 1


@contextmanager
def breakpoint_elsewhere() -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
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
        with pyfuncdbg.attach('tensorflow'), Recorder(folder / f'{next(numbers)}.pfd', budget=2 << 30):
            yield
    return state


States = dict[str, Callable[[], AbstractContextManager[Any]]]


def best(work: Work, states: States, count: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Microseconds of one piece of work in each state: of the usual one, and on the average, in which the turns of the
    thread that writes the log, garbage collections and the like are. The lower quartile of many short series, in turn.

    What it takes to enter a state, and the first calls in it, do not count: that happens once in a program.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in states}
    clock = time.perf_counter_ns if count > 1 else time.process_time_ns
    for _ in range(rounds):
        for name, state in states.items():
            with state():
                for _ in range(3 if count > 1 else 1):
                    work()
                times = []
                begin = clock()
                for _ in range(count):
                    start = clock()
                    work()
                    times.append(clock() - start)
                mean = (clock() - begin) / count
                found[name].append((sorted(times)[count // 2] / 1e3, mean / 1e3))
    return {name: (_quartile([usual for usual, _ in series]), _quartile([mean for _, mean in series]))
            for name, series in found.items()}


def _quartile(values: list[float]) -> float:
    return sorted(values)[len(values) // 4]


TARGETS = {'attached': '<= 1.02x the time', 'breakpoint elsewhere': '<= 3 µs more', 'recorded': '<= 1.1x the time'}


def results(folder: Path, wanted: list[str]) -> Iterator[Result]:
    states: States = {'plain': nullcontext, 'attached': pyfuncdbg.attach, 'breakpoint elsewhere': breakpoint_elsewhere,
                      'recorded': recorded(folder)}
    for name, work, count, calls in ways():
        if wanted and not any(word in name for word in wanted):
            continue
        found = best(work, states, count, ROUNDS if count > 1 else ROUNDS // 5)
        peer, peer_mean = (figure / calls for figure in found['plain'])
        for what, target in TARGETS.items():
            ours, mean = (figure / calls for figure in found[what])
            yield Result(f'{name}: {what}', ours, peer, target,
                         f'{ours / peer:.2f}x the time, {ours - peer:+.1f} µs (average {mean - peer_mean:+.1f})')


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        print(table(list(results(Path(folder), sys.argv[1:]))))
