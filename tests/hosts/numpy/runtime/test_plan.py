"""Plans: the same values bit for bit as eager code and the executor, readable source, and memory that nobody shares."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest
from hosts.numpy.ops.examples import EXAMPLES
from hypothesis import strategies as st
from wrapped_calls import Keeper

from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph.definitions.registry import kernel_for, lookup, registered_ops
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

# Ops of one dtype and shape, so that any of them can follow any other.
STEPS: dict[str, tuple[int, Callable[..., Any]]] = {
    'add': (2, lambda a, b: a + b), 'sub': (2, lambda a, b: a - b), 'mul': (2, lambda a, b: a * b),
    'div': (2, lambda a, b: a / (b + 1.5)), 'maximum': (2, tf.maximum), 'tanh': (1, tf.tanh),
    'exp': (1, lambda a: tf.exp(-a * a)),
    'scaled': (1, lambda a: a * 0.3), 'mean': (1, lambda a: a - tf.reduce_mean(a)), 'same': (1, tf.identity),
    'reshaped': (1, lambda a: tf.reshape(tf.reshape(a, [-1]), a.shape)),
    'halves': (1, lambda a: tf.concat(tf.split(tf.reshape(a, [-1]), 1), 0)[0] + a),
    'python': (1, lambda a: tf.numpy_function(_in_place, [a], a.dtype)),
}


def _in_place(a: np.ndarray) -> np.ndarray:
    """Writes to its argument, as TensorFlow allows."""
    if isinstance(a, np.ndarray):
        a *= 2
        return a + a.dtype.type(1)
    return a * a.dtype.type(2) + a.dtype.type(1)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[tuple[str, tuple[int, ...]]], tuple[int, ...], list[int]]:
    """Steps with the indices of their inputs, the shape of all, and what is fetched."""
    steps, count = [], 2
    for _ in range(draw(st.integers(1, 12))):
        name = draw(st.sampled_from(sorted(STEPS)))
        arity = STEPS[name][0]
        steps.append((name, tuple(draw(st.integers(0, count - 1)) for _ in range(arity))))
        count += 1
    fetched = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4))
    return steps, draw(st.sampled_from([(), (3,), (33, 40)])), fetched


def built(steps: list[tuple[str, tuple[int, ...]]], values: list[Any], shape: tuple[int, ...]) -> list[Any]:
    for name, places in steps:
        result = STEPS[name][1](*[values[i] for i in places])
        if hasattr(result, 'set_shape'):
            result.set_shape(shape)
        values.append(result)
    return values


def alike(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(programs())
def test_plan_executor_function_and_eager_agree_bit_for_bit(program: Any) -> None:
    steps, shape, fetched = program
    random = np.random.default_rng(1)
    feeds = [np.asarray(random.normal(size=shape), np.float32) for _ in range(2)]
    kept = [feed.copy() for feed in feeds]
    eager = built(steps, [tf.constant(feed) for feed in feeds], shape)
    expected = [eager[i].numpy() for i in fetched]
    alike(list(tf.function(lambda a, b: [built(steps, [a, b], shape)[i] for i in fetched])(*map(tf.constant, feeds))),
          expected)
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float32, shape) for _ in feeds]
        nodes = built(steps, list(inputs), shape)
        wanted = [nodes[i] for i in fetched]
        fed = dict(zip(inputs, feeds, strict=True))
        first = session.run(wanted, fed)
        alike(first, expected)
        for value in first:
            if isinstance(value, np.ndarray) and value.ndim:
                value += 1000                       # the caller's own
        alike(session.run(wanted, fed), expected)
        watcher = Keeper('op')
        hooks.add(watcher)
        try:
            alike(session.run(wanted, fed), expected)
        finally:
            hooks.remove(watcher)
    alike(feeds, kept)


def test_the_source_of_a_plan_is_python_one_line_an_op() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name='x')
        y = tf.tanh(x * 2.0 + 1.0)
        session.run(y, {x: 1.0})
        (entry,) = session._entries.values()
        lines = entry.plan.source.split('\n')
        assert lines[0] == 'def plan(x, r0):'
        assert [line.partition('#')[2].strip() for line in lines[1:4]] == ['0', '1', '2']
        assert '*' in lines[1] and '+' in lines[2] and 'k2(' in lines[3]
        assert [step.op.type for step in entry.plan.steps] == ['Mul', 'AddV2', 'Tanh']
        compile(entry.plan.source, 'plan', 'exec')


def test_constants_are_computed_once_and_dead_values_let_go() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2000])
        y = tf.reduce_sum(x * 2.0 + tf.constant(np.ones(2000, np.float32)))
        assert session.run(y, {x: np.ones(2000, np.float32)}) == 6000
        (entry,) = session._entries.values()
        assert 'Const' not in [step.op.type for step in entry.plan.steps]


def test_what_is_not_needed_does_not_run() -> None:
    calls = []
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        a = tf.numpy_function(lambda v: calls.append('a') or v, [x], tf.float32)
        b = tf.numpy_function(lambda v: calls.append('b') or v, [a], tf.float32)
        assert session.run(a, {x: 1.0}) == 1.0 and calls == ['a']
        assert session.run(b, {a: 1.0}) == 1.0 and calls == ['a', 'b']
        with tf.control_dependencies([b]):
            c = tf.constant(3.0)
        assert session.run([c, x], {x: 2.0}) == [3.0, 2.0] and calls == ['a', 'b', 'a', 'b']
        assert session.run(b.op, {x: 2.0}) is None and calls[4:] == ['a', 'b']


def test_views_of_a_buffer_survive_its_reuse() -> None:
    ones = np.ones(4096, np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4096])
        fresh = x * 2.0
        left, right = tf.split(fresh, 2)
        pair = tf.identity_n([tf.zeros([4096]), fresh])
        over = fresh + 1.0                          # the last use of `fresh`: may be written into it
        more = tf.exp(over * 0.0)
        found = session.run([left, right, pair[1], tf.reduce_sum(more)], {x: ones})
        assert [float(np.asarray(v).max()) for v in found] == [2.0, 2.0, 2.0, 4096.0]
        assert [float(np.asarray(v).min()) for v in found[:3]] == [2.0, 2.0, 2.0]


CHECKED = [(d.name, example) for d in registered_ops() if not d.in_execution and not d.python
           for example in EXAMPLES.get(d.name, ())]


@pytest.mark.parametrize(('op', 'example'), CHECKED, ids=[f'{op}-{i}' for i, (op, _) in enumerate(CHECKED)])
def test_kernels_return_new_memory_and_leave_their_inputs(op: str, example: Any) -> None:
    definition = lookup(op)
    inputs = [np.array(value, copy=True) if isinstance(value, np.ndarray) and value.ndim else value
              for value in example.inputs]
    for value in inputs:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False           # a write raises
    keywords = {key: example.attrs[key] for key in definition.kernel_attrs if key in example.attrs}
    kernel = kernel_for(definition, getattr(inputs[0], 'dtype', None)) if inputs else definition.kernel
    with np.errstate(all='ignore'):
        outputs = kernel(*inputs, **keywords)
    for output in (outputs,) if definition.outputs == 1 else outputs:
        shared = [i for i, value in enumerate(inputs) if isinstance(value, np.ndarray) and isinstance(output, np.ndarray)
                  and np.shares_memory(output, value)]
        assert definition.free or not shared, f'{op} is not free, but its output shares the memory of input {shared}'


def test_many_ops_are_checked() -> None:
    assert len({op for op, _ in CHECKED}) > 80


def test_apply_in_a_graph_gives_what_the_op_has() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4])
        assert apply('NoOp', ()).type == 'NoOp'
        assert len(apply('Split', (tf.constant(0), x), {'num_split': 2})) == 2
