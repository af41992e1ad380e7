"""What attaching to the real TensorFlow costs, where it is installed.

Each way of calling a Python function, against itself without us: attached with nobody watching, with a breakpoint elsewhere,
and recorded. Then `--ops`, with TensorFlow's own debugger beside it.
"""
from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from measurement import PROCESS, WALL, Around, Row, Side, Target, Work, warm

import pyfuncdbg
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES = 60
"""Calls after which the next state has its turn: the clock of a processor changes, and with it all times."""
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


def ways() -> Iterator[tuple[str, Callable[[], Work], int, int]]:
    """Name, what makes one piece of work, how many pieces make a series, and how many calls a piece is."""
    scalar, image = np.float32(1), np.ones((64, 64), np.float32)
    for op, name in ((tf.py_function, 'py_function'), (tf.numpy_function, 'numpy_function')):
        yield f'{name} alone, 64x64', partial(alone, op, image), SERIES, 1
    for value, name in ((scalar, 'scalar'), (image, '64x64')):
        yield f"Session on the caller's thread, py_func, {name}", partial(session, value, -1), SERIES, 1
        yield f'Session on threads, py_func, {name}', partial(session, value, 0), SERIES, 1
        yield f'tf.function, py_function, {name}', partial(traced, tf.py_function, value), SERIES, 1
    yield 'tf.function, numpy_function, scalar', partial(traced, tf.numpy_function, scalar), SERIES, 1
    for at_once in (1, 4):
        yield f'Dataset.map, {at_once} at once, {DATASET} x numpy_function', partial(dataset, at_once), 1, DATASET
    yield 'Keras, 2 epochs of 1797 digits', keras_epochs, 1, 2 * 1797
    yield 'eager py_function, scalar', lambda: lambda: tf.py_function(add, [scalar], tf.float32), SERIES, 1
    yield 'eager numpy_function, scalar', lambda: lambda: tf.numpy_function(add, [scalar], tf.float32), SERIES, 1


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


def recorded(folder: Path, **options: Any) -> Around:
    @contextmanager
    def state() -> Iterator[None]:
        with tempfile.TemporaryDirectory(dir=folder) as place, pyfuncdbg.attach('tensorflow'), Recorder(
                Path(place) / 't.pfd', budget=2 << 30, **options):
            yield
    return state


TARGETS = {'attached': Target('time', 1.02), 'breakpoint elsewhere': Target('adds', 3), 'recorded': Target('time', 1.1)}


def rows(folder: Path) -> Iterator[Row]:
    states: dict[str, Around] = {'attached': lambda: pyfuncdbg.attach('tensorflow'),
                                 'breakpoint elsewhere': breakpoint_elsewhere, 'recorded': recorded(folder)}

    def sides(way: Callable[[], Work], state: str) -> tuple[Side, Side]:
        work = way()
        return Side(state, work, warm(work, states[state])), Side('TensorFlow alone', work, warm(work, nullcontext))

    for name, way, series, calls in ways():
        for state, target in TARGETS.items():
            yield Row(f'TensorFlow: {name}, {state}', partial(sides, way, state), target, calls=calls, series=series,
                      clock=WALL if series > 1 else PROCESS, same=False, seconds=1.5)
    yield from op_rows(folder)


def session_sides(folder: Path) -> tuple[Side, Side]:
    """A run of 100 small nodes, each recorded, and the same without us."""
    def work() -> Work:
        graph = tf.Graph()
        with graph.as_default():
            x = y = tf.compat.v1.placeholder(tf.float32, [8, 8])
            for _ in range(100):
                y = tf.tanh(y)
        session, value = tf.compat.v1.Session(graph=graph), np.ones((8, 8), np.float32)
        return lambda: session.run(y, {x: value})
    recording = work()
    return Side('--ops', recording, warm(recording, recorded(folder, ops=True))), Side('TensorFlow alone', work())


def op_rows(folder: Path) -> Iterator[Row]:
    """100 small ops of a traced function, each recorded; and by TensorFlow's own debugger, which keeps no values.

    CPU time of all threads: that of the writer counts, and what else the machine does counts little.
    """
    def work() -> Work:
        def chain(x: Any) -> Any:
            for _ in range(100):
                x = tf.tanh(x)              # TensorFlow folds adds of constants
            return x
        function, value = tf.function(chain), tf.constant(np.ones((8, 8), np.float32))
        return lambda: function(value).numpy()

    def sides(**options: Any) -> tuple[Side, Side]:
        recording, state = work(), recorded(folder, ops=True, **options)
        return Side('--ops', recording, warm(recording, state)), Side('TensorFlow alone', work())

    def tfdbg() -> tuple[Side, Side]:
        """The last row: TensorFlow crashes if its debugger is switched on and off many times."""
        alone, dumping = work(), work()
        alone()                                 # traced before: TensorFlow's debugger changes what is traced later
        tf.debugging.experimental.enable_dump_debug_info(str(folder / 'tfdbg'), 'FULL_HEALTH', -1)
        return Side('tfdbg v2', dumping), Side('TensorFlow alone', alone)

    for name, options, times in (('statistics', {'level': 'stats', 'full_limit': 0}, 4), ('values', {}, 12)):
        yield Row(f'TensorFlow: 100 small ops with --ops, {name}', partial(sides, **options), Target('time', times),
                  per='op', calls=100, series=5, clock=PROCESS, seconds=3)
    yield Row('TensorFlow: Session.run of 100 small ops with --ops, values', partial(session_sides, folder),
              Target('time', 12), per='op', calls=100, series=5, clock=PROCESS, seconds=3)
    yield Row('TensorFlow: 100 small ops, tfdbg v2, FULL_HEALTH', tfdbg, per='op', calls=100, series=5, clock=PROCESS,
              seconds=3)
