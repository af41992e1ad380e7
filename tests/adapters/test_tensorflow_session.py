"""A `DebugSession` around a real TensorFlow session: what it runs is seen node by node, and comes out the same."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg.debug.debugger import debugger
from pyfuncdbg.hooks.chain import hooks

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield
    assert debugger not in hooks


class Training:
    """A small network with Adam, dropout, a Python function and a counter, made anew with the same seeds."""

    def __init__(self, tf: Any, references: bool = False) -> None:
        v1 = tf.compat.v1
        self.calls: list[float] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            v1.set_random_seed(3)
            self.x = v1.placeholder(tf.float32, [None, 6], name='x')
            self.y = v1.placeholder(tf.int32, [None], name='y')
            first = v1.get_variable('first', [6, 5], initializer=v1.random_normal_initializer(0, .5, seed=1),
                                    use_resource=not references)
            second = v1.get_variable('second', [5, 3], initializer=v1.random_normal_initializer(0, .5, seed=2),
                                     use_resource=not references)
            bias = v1.get_variable('bias', [3], initializer=v1.zeros_initializer(), use_resource=not references)
            hidden = v1.nn.dropout(tf.nn.relu(tf.matmul(self.x, first, name='mm')), rate=0.25, seed=5)
            logits = tf.nn.bias_add(tf.matmul(hidden, second), bias, name='logits')
            self.noted = v1.py_func(self.note, [logits], tf.float32, name='noted')
            self.noted.set_shape([None, 3])
            self.loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(
                labels=self.y, logits=logits + 0.0 * tf.stop_gradient(self.noted)), name='loss')
            self.steps = v1.train.get_or_create_global_step()
            self.train = v1.train.AdamOptimizer(0.05).minimize(self.loss, global_step=self.steps)
            self.variables = [first, second, bias, self.steps]
            self.init = v1.global_variables_initializer()

    def note(self, logits: Any) -> Any:
        self.calls.append(float(logits.sum()))
        return logits

    def feed(self, step: int) -> dict[Any, Any]:
        random = np.random.RandomState(step)
        return {self.x: random.rand(4, 6).astype('f'), self.y: random.randint(0, 3, 4)}

    def trained(self, session: Any, steps: int) -> list[Any]:
        """Losses, and the variables at the end, as bytes."""
        session.run(self.init)
        losses = [session.run([self.loss, self.train], self.feed(step))[0] for step in range(steps)]
        return [type(losses[0]), *(one.tobytes() for one in losses),
                *(value.tobytes() for value in session.run(self.variables))]


def plainly(tf: Any, steps: int, references: bool = False) -> tuple[list[Any], list[float]]:
    program = Training(tf, references)
    with tf.compat.v1.Session(graph=program.graph) as session:
        return program.trained(session, steps), program.calls


@pytest.mark.parametrize('references', [False, True])
@pytest.mark.parametrize('line', ['run', 'node', 'run -f has_nan', 'run -n', 'into'])
def test_a_watched_run_gives_what_an_unwatched_one_gives(tf: Any, line: str, references: bool) -> None:
    expected, calls = plainly(tf, 3, references)
    program = Training(tf, references)

    class Typist(ScriptedUser):
        def next_line(self, stop: Any) -> str:
            return line if stop.phase in ('run', 'node') or line == 'run -n' else 'cont'

    with Typist() as user, tf.compat.v1.Session(graph=program.graph) as session:
        assert program.trained(pyfuncdbg.DebugSession(session), 3) == expected
    assert program.calls == calls
    assert 'run' in user.phases and not [answer for answer in user.answers if isinstance(answer, str) and answer]
    if line == 'node':
        assert user.phases.count('node') > 300


def debugged(tf: Any, graph: Any, lines: list[Any], body: Callable[[Any], Any]) -> tuple[ScriptedUser, Any]:
    """What a program does with a session that is debugged with these lines."""
    with ScriptedUser(lines) as user, tf.compat.v1.Session(graph=graph) as session:
        return user, body(pyfuncdbg.DebugSession(session))


class Effects:
    """Nodes that must run exactly once: each counts in Python how often it ran."""

    def __init__(self, tf: Any, references: bool = False) -> None:
        v1 = tf.compat.v1
        self.ran: list[str] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = v1.placeholder(tf.float32, [2], name='x')
            self.count = v1.get_variable('count', [], initializer=v1.zeros_initializer(), use_resource=not references)
            first = v1.py_func(self.named('first'), [self.x], tf.float32, name='first')
            self.more = v1.assign_add(self.count, 1.0, name='more')
            with tf.control_dependencies([self.more, first]):
                self.after = tf.identity(self.count.read_value(), name='after')
            self.again = v1.py_func(self.named('again'), [first + self.after], tf.float32, name='again')
            self.queue = v1.FIFOQueue(10, [tf.float32], name='queue')
            self.put = self.queue.enqueue([self.x[0]], name='put')
            with tf.control_dependencies([self.put]):
                self.got = tf.add(self.queue.dequeue(name='take'), self.after, name='got')
            self.element = v1.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
            self.noise = tf.random.normal([2], seed=4, name='noise')
            self.init = v1.global_variables_initializer()
            self.fetches = [self.again, self.got, self.element, self.noise]

    def named(self, name: str) -> Callable[[Any], Any]:
        def function(value: Any) -> Any:
            self.ran.append(name)
            return value * np.float32(2)
        return function

    def run(self, session: Any) -> list[Any]:
        session.run(self.init)
        return [[np.asarray(value).tolist() for value in session.run(self.fetches, {self.x: [n, n + 1]})] for n in range(3)]


@pytest.mark.parametrize('references', [False, True])
@pytest.mark.parametrize('line', ['run', 'node'])
def test_what_has_effects_runs_exactly_once(tf: Any, line: str, references: bool) -> None:
    plain = Effects(tf, references)
    with tf.compat.v1.Session(graph=plain.graph) as session:
        expected = plain.run(session)
    assert [values[2] for values in expected] == [0, 1, 2] and expected[2][1] == 5
    program = Effects(tf, references)
    lines = iter(lambda: line, None)
    with ScriptedUser(lines) as user, tf.compat.v1.Session(graph=program.graph) as session:
        assert program.run(pyfuncdbg.DebugSession(session)) == expected
    assert program.ran == ['first', 'again'] * 3 and 'run' in user.phases
