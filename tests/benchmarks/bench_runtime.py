"""The runtime against TensorFlow, where it is installed, and NumPy by hand."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')      # NumPy reads it when it is loaded; more threads wait for each other

import numpy as np
from cost_curves import Curve
from measurement import Row, Side, Target, Work

from pyfuncdbg import tf as ours
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.ops.script.function import PythonFunction

try:
    import tensorflow as theirs
except ImportError:
    theirs = None


def session_config(tf: Any) -> Any:
    """TensorFlow at its best: one thread, run in the caller's."""
    if tf is ours:
        return None
    return tf.compat.v1.ConfigProto(inter_op_parallelism_threads=-1, intra_op_parallelism_threads=1)


def in_graph(tf: Any, build: Any) -> Work:
    """A call of `session.run` on what `build(tf)` gives: (fetch, feeds)."""
    graph = tf.Graph()
    with graph.as_default():
        fetch, feeds = build(tf)
    session = tf.compat.v1.Session(graph=graph, config=session_config(tf))
    return lambda: session.run(fetch, feeds)


def py_func(tf: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [])
    return tf.compat.v1.py_func(np.sinh, [x], tf.float32), {x: np.float32(1)}


def chain(count: int, size: int | None) -> Any:
    def build(tf: Any) -> Any:
        value = np.float32(1) if size is None else np.ones(size, np.float32)
        x, p = (tf.compat.v1.placeholder(tf.float32, np.shape(value)) for _ in range(2))    # a constant would be folded
        y = x
        for _ in range(count):
            y = y + p
        return y, {x: value, p: value}
    return build


def network(tf: Any) -> Any:
    """One training step of 784-128-10 at batch 32, from fixed weights: forward, backward, four gradients."""
    rng = np.random.default_rng(0)
    x = tf.compat.v1.placeholder(tf.float32, [32, 784])
    t = tf.compat.v1.placeholder(tf.int32, [32])
    w1, b1, w2, b2 = (tf.constant(rng.normal(0, 0.05, s).astype(np.float32)) for s in ((784, 128), (128,), (128, 10), (10,)))
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits))
    feeds = {x: rng.normal(size=(32, 784)).astype(np.float32), t: rng.integers(0, 10, 32).astype(np.int32)}
    return tf.compat.v1.gradients(loss, [w1, b1, w2, b2]), feeds


def loop(count: int, python: bool = False) -> Any:
    """A while_loop of two scalars, with a Python call in its body or without."""
    def build(tf: Any) -> Any:
        x = tf.compat.v1.placeholder(tf.float32, [])

        def body(i: Any, a: Any) -> Any:
            a = a * 1.0001 + x
            return i + 1, tf.ensure_shape(tf.compat.v1.py_func(np.sin, [a], tf.float32), []) if python else a
        return tf.while_loop(lambda i, a: i < count, body, [0, x])[1], {x: np.float32(1)}
    return build


def slope_of_loop(tf: Any) -> Any:
    """The gradient of a loop of 100 iterations."""
    x = tf.compat.v1.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, a: i < 100, lambda i, a: (i + 1, a * x + 0.5), [0, x])[1]
    return tf.compat.v1.gradients(y, x), {x: np.float32(0.9)}


def eager_tape(tf: Any) -> Work:
    x, p = tf.constant(1.0), tf.constant(1.001)

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(50):
                y = y * p
        return tape.gradient(y, x)
    return step


def by_hand(count: int) -> Work:
    names = {'k': np.float32(1)}
    exec('def run(x):\n' + '    x = x + k\n' * count + '    return x', names)
    run: Any = names['run']
    return lambda: run(np.float32(1))


def plan_alone(count: int) -> Work:
    """The compiled plan without the session around it."""
    tf = ours
    graph = tf.Graph()
    with graph.as_default():
        fetch, feeds = chain(count, None)(tf)
    session = tf.compat.v1.Session(graph=graph)
    session.run(fetch, feeds)
    entry = next(iter(session._entries.values()))
    function = entry.plan.function
    return lambda: (function(None, np.float32(1), np.float32(1)), session)[0]     # a session that is gone clears its plans


class Direct(PythonFunction):
    """A wrapped function without the seam: its conversions, and neither hooks nor runs."""

    __slots__ = ()

    def invoke(self, execution: Any, inputs: list[Any], keeping: Any = None, handles: Any = ()) -> Any:
        numpy_errstate.state.set(execution.errstate)
        try:
            return self._body(keeping, handles, *inputs)
        finally:
            execution.errstate = numpy_errstate.current_state()
            numpy_errstate.state.set(numpy_errstate.IGNORE)


def mixed(direct: bool) -> Work:
    """The plan of 100 ops, 10 of them calls of Python functions, on 64 elements; or the same that knows nothing of hooks."""
    graph = ours.Graph()
    with graph.as_default():
        x, p = (ours.compat.v1.placeholder(ours.float32, [64]) for _ in range(2))
        y = x
        for i in range(100):
            y = y + p if i % 10 else ours.numpy_function(np.sinh, [y], ours.float32)
    session = ours.compat.v1.Session(graph=graph)
    feeds = {x: np.zeros(64, np.float32), p: np.full(64, 1e-3, np.float32)}
    session.run(y, feeds)
    if direct:
        plan = next(iter(session._entries.values())).plan
        for op in graph.get_operations():
            if (function := op.attrs.get('_py_function')) is not None:
                function.__class__ = Direct
        source = '\n'.join(line for line in plan.source.splitlines() if 'paused' not in line)
        names = dict(plan.function.__globals__)
        exec(source, names)
        plan.function.__code__ = names['plan'].__code__
    return lambda: session.run(y, feeds)


def _row(name: str, work: Callable[[Any], Work], times: float, **options: Any) -> Row:
    """Ours against TensorFlow."""
    def build() -> tuple[Side, Side | None]:
        return Side('pyfuncdbg', work(ours)), None if theirs is None else Side('TensorFlow', work(theirs))
    return Row(name, build, Target('faster', times), **options)


def rows(folder: Path) -> Iterator[Row]:
    def graph(build: Any) -> Callable[[Any], Work]:
        return lambda tf: in_graph(tf, build)

    yield _row('Session.run of a py_func, scalar', graph(py_func), 15, per='run')
    yield _row('eager py_function', lambda tf: lambda: tf.py_function(np.sinh, [1.0], tf.float32), 100)
    yield _row('100-op scalar chain', graph(chain(100, None)), 10, per='run')
    yield _row('10,000-op scalar chain', graph(chain(10_000, None)), 3, per='run')
    yield _row('100 ops on 1,000 elements', graph(chain(100, 1000)), 2.5, per='run')
    yield _row('eager tape, 50 ops forward and back', eager_tape, 15, per='step')
    yield _row('gradients of an MLP 784-128-10, batch 32', graph(network), 1, per='run')
    yield _row('while_loop, 1,000 iterations of scalars', graph(loop(1000)), 1, per='run')
    yield _row('while_loop, 100 Python calls', graph(loop(100, python=True)), 1, per='run')
    yield _row('gradient of a while_loop, 100 iterations', graph(slope_of_loop), 1, per='run')
    yield Row('plan of 100 ops', lambda: (Side('pyfuncdbg', plan_alone(100)), Side('NumPy by hand', by_hand(100))),
              Target('time', 1.1), per='run', same=False)
    yield Row('100 ops, 10 of them Python calls, no hook installed',
              lambda: (Side('pyfuncdbg', mixed(False)), Side('no hooks at all', mixed(True))), Target('time', 1.02),
              per='run', seconds=3)


def curves(folder: Path) -> Iterator[Curve]:
    yield Curve('A run of a chain of adds', 'ops', (10, 100, 1_000, 10_000),
                lambda count: _row('', lambda tf: in_graph(tf, chain(count, None)), 1, per='run'))
    yield Curve('A run of 100 adds', 'elements of each tensor', (1, 100, 10_000, 1_000_000),
                lambda size: _row('', lambda tf: in_graph(tf, chain(100, size)), 1, per='run'))
