"""Nodes that TensorFlow runs as one: what the session is known to have had is shown, not what the node gives alone."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg.hosts.tensorflow.sessions.whole_run import agree
from pyfuncdbg.observers.debug.numerics.fused_values import has_fused_remark
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield


class Fused:
    """x -> mm -> biased -> act -> peek (a Python function that gives what it got) -> loss; 0 may come of NaN."""

    def __init__(self, tf: Any, act: str, eager: bool) -> None:
        self.value = np.random.RandomState(0).randn(256, 32).astype('f')
        self.value[3, 4], self.value[4, 4] = np.nan, np.inf
        self.graph, self.got = tf.Graph(), []
        weights = np.random.RandomState(1).randn(32, 64).astype('f')
        with self.graph.as_default():
            self.x = tf.compat.v1.placeholder(tf.float32, (256, 32), name='x')
            mm = tf.matmul(self.x, tf.constant(weights), name='mm')
            biased = tf.nn.bias_add(mm, tf.constant(weights[0]), name='biased')
            self.act = getattr(tf.nn, act)(biased, name='act')
            make = tf.py_function if eager else tf.numpy_function
            self.loss = tf.add(make(self.peek, [self.act], tf.float32, name='peek'), 1.0, name='loss')
        with tf.compat.v1.Session(graph=self.graph) as session:
            self.alone = session.run(self.act, {self.x: self.value})

    def peek(self, value: Any) -> Any:
        self.got.append(np.array(value))
        return value


@pytest.mark.parametrize('eager', [False, True])
@pytest.mark.parametrize('act', ['relu', 'relu6', 'tanh'])
def test_what_a_python_function_got_is_shown(tf: Any, tmp_path: Any, act: str, eager: bool) -> None:
    program = Fused(tf, act, eager)
    with tf.compat.v1.Session(graph=program.graph) as session:
        expected = session.run(program.loss, {program.x: program.value})
        with pyfuncdbg.record(tmp_path / 'fused.pfd', ops=True, level='full'):
            assert session.run(program.loss, {program.x: program.value}).tobytes() == expected.tobytes()
    plain, watched = program.got
    assert plain.tobytes() == watched.tobytes()
    with Trace.open(tmp_path / 'fused.pfd') as trace:
        shown, = trace.calls(kind='op', site='act')
        table, health = (execute(line, Context(trace)).text(160) for line in ('lt', 'health'))
        assert shown.outputs[0].to_numpy().tobytes() == plain.tobytes()
        again = getattr(tf.nn, act)(shown.inputs[0].to_numpy())
        differs = not agree(plain, again.numpy())
        assert has_fused_remark(shown) is differs
        assert ('computed again it differs' in table) is ('act[0] the session had another value' in health) is differs
        card = execute('ni act', Context(trace)).text(160)
        assert ('this node gives something else' in card) is differs


def test_what_was_fetched_is_shown(tf: Any) -> None:
    program = Fused(tf, 'relu', False)
    shown: list[np.ndarray] = []

    def look(stop: Any) -> None:
        if stop.call is not None:
            context = Context(pyfuncdbg.observers.debug.debugger.debugger.live.trace(), stop)
            made, = context.trace.calls(kind='op', site='act')
            shown.append(made.outputs[0].to_numpy())
    with tf.compat.v1.Session(graph=program.graph) as session, ScriptedUser(['run', look, *repeat('run', 9)]):
        found = pyfuncdbg.DebugSession(session).run(program.act, {program.x: program.value})
    assert found.tobytes() == program.alone.tobytes() == shown[0].tobytes()


@pytest.mark.parametrize(('one', 'other', 'same'), [
    ([1.0, np.nan], [1.0, np.nan], True), ([1.0, np.nan], [1.0, 0.0], False), ([np.inf, 1.0], [-np.inf, 1.0], False),
    ([1e4, 1.0], [1e4, 1.0001], True), ([1e4, 1.0], [1e4, 9.0], False), ([0.0, 0.0], [0.0, -0.0], True)])
def test_values_agree_up_to_rounding(one: list[float], other: list[float], same: bool) -> None:
    assert agree(np.array(one, 'f'), np.array(other, 'f')) is same
    assert agree(np.array(one, 'F'), np.array(other, 'F')) is same


def test_integers_and_strings_agree_exactly() -> None:
    assert agree(np.array([1, 2]), np.array([1, 2])) and not agree(np.array([1, 2]), np.array([1, 3]))
    assert not agree(np.array([1, 2]), np.array([1.0, 2.0])) and not agree(np.array([1]), np.array([1, 1]))
    assert agree(np.array([b'a'], object), np.array([b'a'], object))
    assert not agree(np.array([b'a'], object), np.array([b'b'], object))


@pytest.mark.parametrize('resource', [True, False])
def test_what_was_written_to_a_variable_is_shown(tf: Any, tmp_path: Any, resource: bool) -> None:
    v1, program = tf.compat.v1, Fused(tf, 'relu', False)
    with program.graph.as_default():
        kept = v1.get_variable('kept', (256, 64), initializer=tf.zeros_initializer(), use_resource=resource)
        store, init = kept.assign(program.act).op, v1.global_variables_initializer()
    with v1.Session(graph=program.graph) as session:
        session.run(init)
        with pyfuncdbg.record(tmp_path / 'written.pfd', ops=True, level='full'):
            session.run(store, {program.x: program.value})
        value = session.run(kept)
    with Trace.open(tmp_path / 'written.pfd') as trace:
        shown, = trace.calls(kind='op', site='act')
        assert shown.outputs[0].to_numpy().tobytes() == value.tobytes()
        assert has_fused_remark(shown) is not bool(agree(value, tf.nn.relu(shown.inputs[0].to_numpy()).numpy()))
