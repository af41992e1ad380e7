"""The short way of eager arithmetic gives what the general way gives: values bit for bit, dtypes, errors, tape nodes."""
from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import active

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    'AddV2': operator.add, 'Sub': operator.sub, 'Mul': operator.mul, 'RealDiv': operator.truediv}
TYPES = ['float16', 'float32', 'float64', 'int8', 'uint8', 'int32', 'int64']


def values(dtype: str) -> list[Any]:
    rng = np.random.default_rng(3)
    column, row = (rng.normal(size=(3, 1)) * 50).astype(dtype), (rng.normal(size=4) * 50).astype(dtype)
    largest = np.iinfo(dtype).max if np.dtype(dtype).kind in 'iu' else np.inf
    return [np.dtype(dtype).type(3), column, row, np.array([largest, 0, 1, 2]).astype(dtype)]


@pytest.mark.parametrize('dtype', TYPES)
@pytest.mark.parametrize('op', OPERATORS)
def test_operators_compute_what_the_op_computes(op: str, dtype: str) -> None:
    if op == 'RealDiv' and np.dtype(dtype).kind in 'iu':
        assert (tf.constant(np.array(7, dtype)) / tf.constant(np.array(2, dtype))).numpy() == 3.5
        return
    for a in values(dtype):
        for b in values(dtype):
            x, y = tf.constant(a), tf.constant(b)
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                short = OPERATORS[op](x, y)
            whole = apply(op, (x, y))
            assert short.dtype is whole.dtype
            assert short.shape == whole.shape
            assert np.asarray(short).tobytes() == np.asarray(whole).tobytes()


@pytest.mark.parametrize(('number', 'dtype'), [
    (2.5, 'float32'), (2, 'float64'), (-3, 'int8'), (200, 'uint8'), (1e30, 'float32')])
def test_python_numbers_take_the_dtype_of_the_tensor(number: Any, dtype: str) -> None:
    x = tf.constant(np.array([1, 2], dtype))
    for result in (x + number, number + x):
        assert result.dtype.name == dtype
        assert result.numpy().tolist() == (np.array([1, 2], dtype) + np.array([number], dtype)).tolist()


@pytest.mark.parametrize(('x', 'y', 'text'), [
    ([1., 2.], [1., 2., 3.], r'Incompatible shapes: \[2\] vs. \[3\]'),
    (1, 2.5, 'expected to be a int32 tensor but is a float tensor'),
    (1., np.array(1.), 'expected to be a float tensor but is a double tensor'),
])
def test_what_does_not_fit_is_refused_in_the_words_of_the_long_way(x: Any, y: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.constant(x) * tf.constant(y)


def test_the_users_error_state_is_as_before() -> None:
    with np.errstate(over='raise'):
        tf.constant(3e38) * tf.constant(3e38)
        with pytest.raises(FloatingPointError):
            np.float32(3e38) * np.float32(3e38)


def test_inside_a_graph_operators_on_values_make_nodes() -> None:
    x = tf.constant(2.)
    graph = tf.Graph()
    with graph.as_default():
        y = x * x
    assert y.op.type == 'Mul'


def test_hooks_on_ops_see_the_calls() -> None:
    class Watch:
        kinds = ('op',)

        def __init__(self) -> None:
            self.seen: list[str] = []

        def around(self, call: Any, proceed: Any) -> Any:
            self.seen.append(call.site.op_type)
            return proceed()

    watch: Any = Watch()
    hooks.add(watch)
    try:
        tf.exp(tf.constant(2.) * tf.constant(3.))
    finally:
        hooks.remove(watch)
    assert watch.seen == ['Mul', 'Exp']


@pytest.fixture
def mixed() -> Iterator[None]:
    context.process.mixed = True
    yield
    context.process.mixed = False


@pytest.mark.usefixtures('mixed')
def test_in_programs_that_make_nodes_in_eager_mode_the_long_way_notes_origins() -> None:
    v = tf.Variable(2.)
    assert hasattr(v.read_value() * tf.constant(3.), 'origin')


def test_only_what_is_watched_is_recorded() -> None:
    x, p = tf.constant(2.), tf.constant(3.)
    with tf.GradientTape() as tape:
        p * p
        tape.watch(x)
        y = x * p
        p + p
        tf.square(y)
        nodes = list(active.recordings[0].nodes)
    assert [node.type for node in nodes] == ['Mul', 'Square']
    assert [node.name for node in nodes] == ['mul', 'Square']


def test_nested_tapes_both_record() -> None:
    x = tf.constant(3.)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        dy = inner.gradient(y, x)
    assert dy.numpy() == 27
    assert outer.gradient(dy, x).numpy() == 18


def test_gradients_of_unwatched_factors_are_not_computed() -> None:
    x, p = tf.constant([2., 3.]), tf.constant([5., 7.])
    computed: list[str] = []

    class Watch:
        kinds = ('op',)

        def around(self, call: Any, proceed: Any) -> Any:
            computed.append(call.site.op_type)
            return proceed()

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * p
    watch: Any = Watch()
    hooks.add(watch)
    try:
        g = tape.gradient(y, x)
    finally:
        hooks.remove(watch)
    assert g.numpy().tolist() == [5, 7]
    assert computed.count('Mul') == 1


def test_outputs_without_gradient_make_no_second_order_work() -> None:
    logits = tf.constant([[1., 2., 4.]])
    computed: list[str] = []

    class Watch:
        kinds = ('op',)

        def around(self, call: Any, proceed: Any) -> Any:
            computed.append(call.site.op_type)
            return proceed()

    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    watch: Any = Watch()
    hooks.add(watch)
    try:
        g = tape.gradient(loss, logits)
    finally:
        hooks.remove(watch)
    p = np.exp([1., 2., 4.]) / np.exp([1., 2., 4.]).sum()
    assert np.allclose(g.numpy(), [p - [0, 1, 0]], atol=1e-6)
    assert 'Softmax' not in computed
    assert 'ZerosLike' not in computed


def test_cross_entropy_of_logits_in_column_order() -> None:
    logits = np.asfortranarray([[1., 2.], [3., 5.], [0., 1.]])
    x = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 1], logits=x)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert np.allclose(loss.numpy(), -np.log(p[[0, 1, 2], [0, 1, 1]]))
    assert np.allclose(tape.gradient(loss, x).numpy(), p - [[1, 0], [0, 1], [0, 1]])
