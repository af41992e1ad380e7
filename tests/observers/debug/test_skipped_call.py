"""`skip`: a call returns a value without its function, before the call and where its function begins."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.replaced_functions import SkippedCall

RAN: list[int] = []


def doubled(x: Any) -> Any:
    RAN.append(int(x[0]))
    return x * 2


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    RAN.clear()
    yield
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


def graph_runs(count: int, function: Any = doubled) -> list[int]:
    graph = tf.Graph()
    with graph.as_default():
        fed = tf.compat.v1.placeholder(tf.int64, [1])
        out = tf.numpy_function(function, [fed], tf.int64, name='node')
    with tf.compat.v1.Session(graph=graph) as session:
        return [int(session.run(out, {fed: [value]})[0]) for value in range(1, count + 1)]


@pytest.mark.parametrize(('place', 'phase'), [('function:doubled', 'call'), ('node', 'before')])
def test_one_call_is_skipped_and_the_next_is_not(place: str, phase: str, tmp_path: Path) -> None:
    user = ScriptedUser(['skip np.array([70])', 'cont'])
    with user, pyfuncdbg.record(tmp_path / 'trace.pfd'):
        debugger.start()
        debugger.breakpoints.set(place)
        results = graph_runs(3)
    assert results == [70, 4, 6] and RAN == [2, 3]
    assert user.phases == [phase, 'after', phase, phase]
    with pyfuncdbg.load(tmp_path / 'trace.pfd') as trace:
        assert [call.outputs[0].stats.max for call in trace.calls(kind='python')] == [70, 4, 6]


def test_what_a_skip_cannot_return_is_the_error_of_the_call_and_can_be_retried() -> None:
    user = ScriptedUser(["skip 'seventy'", 'retry'])
    with user:
        debugger.start()
        debugger.breakpoints.set('doubled', once=True)
        assert graph_runs(2) == [2, 4]
    assert user.phases[:2] == ['call', 'error'] and RAN == [1, 2]


def test_a_call_of_another_thread_runs_its_function() -> None:
    """Also one that begins while a call of the site waits to be skipped."""
    inner: list[int] = []

    def outer(stop: Any) -> None:
        SkippedCall(stop.call, np.array([70]))
        other = threading.Thread(target=lambda: inner.append(int(stop.call.site.function(np.array([4]))[0])))
        other.start()
        other.join()
    user = ScriptedUser([outer, 'cont'])
    with user:
        debugger.start()
        debugger.breakpoints.set('node')
        assert graph_runs(2) == [70, 4] and inner == [8]


@pytest.mark.parametrize('lines', [['step', 'skip x'], ['skip nothing_of_that_name'], ['next', 'skip x']])
def test_a_refusal_changes_nothing(lines: list[str]) -> None:
    user = ScriptedUser([*lines, 'cont'])
    with user:
        debugger.start()
        debugger.breakpoints.set('node', once=True)
        assert graph_runs(1) == [2]
    assert 'skip one before it' in user.answers[-2] or 'nothing_of_that_name' in user.answers[-2]
