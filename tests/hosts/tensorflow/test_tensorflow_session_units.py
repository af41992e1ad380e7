"""What a session is asked for when a run goes node by node: nothing twice, nothing left out."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser
from test_tensorflow_session import Effects

import pyfuncdbg

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield


def test_a_variable_that_is_read_after_its_assignment_can_be_given_another_value(tf: Any) -> None:
    program = Effects(tf, references=True)
    lines = ['to current', 'inject count/read:0 np.float32(40)', 'cont', 'cont']
    with ScriptedUser(lines) as user, tf.compat.v1.Session(graph=program.graph) as session:
        session.run(program.init)
        assert pyfuncdbg.DebugSession(session).run(program.current, {program.x: [1, 2]}) == 40
    assert user.phases[:2] == ['run', 'node']


@pytest.mark.parametrize('line', ['run', 'node'])
def test_what_only_tensorflow_holds_and_what_is_only_waited_for(tf: Any, line: str) -> None:
    v1 = tf.compat.v1
    graph = tf.Graph()
    bodies: list[float] = []

    def body(value: Any) -> Any:
        bodies.append(value.item())
        return value * np.float32(2)

    with graph.as_default():
        x = v1.placeholder(tf.float32, [3], name='x')
        sums = tf.scan(lambda a, b: a + b, x)                   # a loop without state that gives a list of tensors
        v1.disable_control_flow_v2()
        try:
            chosen = v1.cond(x[0] > 0, lambda: v1.py_func(body, [x[1]], tf.float32), lambda: x[2])
            done = tf.group(chosen)
        finally:
            v1.enable_control_flow_v2()

    def both(session: Any) -> list[list[float]]:
        assert session.run([done, chosen.op], {x: [4, 5, 6]}) == [None, None]
        assert session.run(done, {x: [4, 6, 6]}) is None
        return session.run(sums, {x: [1, 2, 4]}).tolist()

    with ScriptedUser(repeat(line, 400)), tf.compat.v1.Session(graph=graph) as session:
        assert both(pyfuncdbg.DebugSession(session)) == [1, 3, 7]
    assert bodies == [5, 6]
