"""Several `Session.run`s of one graph at once: each Python call is in its own run, or where nobody can know it in none."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg.observers.debug.cards.node_card import node_card
from pyfuncdbg.observers.debug.inspecting.node_search import find_node
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(200)]
ENDLESS = 'functions and datasets'
Work = Callable[[], Any]


class Meeting:
    """Wrapped functions in which two runs wait for each other: from the first one's end to the last one's both go on."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(2, timeout=60)

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def meet(*values: Any) -> Any:
            self._barrier.wait()
            return function(*values)
        return meet


def at_once(*works: Work) -> None:
    """Do all of it at the same time, each on its thread."""
    failures: list[BaseException] = []

    def done(work: Work) -> None:
        try:
            work()
        except BaseException as error:      # shown by the thread of the test
            failures.append(error)
    threads = [threading.Thread(target=done, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def recorded(folder: Path, *works: Work, ops: bool) -> Trace:
    path = folder / 'runs.pfd'
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(path, ops=ops):
        at_once(*works)
    return Trace.open(path)


def in_runs(trace: Trace, calls: Sequence[CallRecord]) -> list[tuple[Any, Any]]:
    """For each call what it was given, and what its run was fed; None where it is in no session's run."""
    runs = {run.id: run for run in trace.runs()}
    return [(call.inputs[0].to_numpy().tolist(), None if runs[call.run].label == ENDLESS else
             runs[call.run].feeds[0].to_numpy().tolist()) for call in calls]


@pytest.mark.parametrize('ops', [False, True])
def test_what_may_be_of_two_runs_is_in_neither(tf: Any, tmp_path: Path, ops: bool) -> None:
    v1, meeting = tf.compat.v1, Meeting()
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        parsed = v1.py_func(meeting.of(lambda a: a + 1), [tf.multiply(x, 2.0, name='doubled')], tf.float32, name='parse')
        total = tf.reduce_sum(v1.py_func(meeting.of(lambda a: a * 10), [parsed], tf.float32, name='second'), name='total')
    answers: dict[float, Any] = {}
    with v1.Session(graph=graph) as session:
        def of(n: float) -> Work:
            return lambda: answers.update({n: session.run([parsed, total], {x: np.array([n, n], np.float32)})})
        with recorded(tmp_path, of(1.0), of(100.0), ops=ops) as trace:
            calls = trace.calls(kind='python')
            runs = [run for run in trace.runs() if run.label == 'Session.run']
            cards = {run.id: node_card(trace, find_node(trace, 'second', run.id)) for run in runs}
            texts = {run.id: execute(f'ni second --run {run.id}', Context(trace)).text(100) for run in runs}
            listed = [execute(f'graph --run {run.id}', Context(trace)).text(120) for run in runs]
    assert answers[1.0][1] == 60 and answers[100.0][1] == 4020
    seconds = [call for call in calls if call.site.name == 'second']
    assert len(calls) == 4 and [fed for _, fed in in_runs(trace, seconds)] == [None, None]
    for run in runs:
        own = answers[run.feeds[0].to_numpy()[0].item()][0]
        card = cards[run.id]
        if ops:                             # what the session itself gave
            assert card.inputs[0].value is not None and card.inputs[0].value.to_numpy().tolist() == own.tolist()
            assert card.outputs[0].value is not None and card.outputs[0].value.to_numpy().tolist() == (own * 10).tolist()
        else:
            assert card.inputs[0].value is card.outputs[0].value is card.newest is None
            assert f'2 calls may be of run #{run.id}: not known' in texts[run.id] and 'did not run' not in texts[run.id]
    assert ops or all('not known' in text and 'did not run' not in text for text in listed)


@pytest.mark.parametrize('ops', [False, True])
@pytest.mark.parametrize('kind', ['float', 'string', 'eager', 'nan'])
def test_what_was_given_a_feed_is_in_the_run_that_was_fed_it(tf: Any, tmp_path: Path, kind: str, ops: bool) -> None:
    v1, meeting = tf.compat.v1, Meeting()
    values = {'string': [np.array(['a', 'b']), np.array(['a', 'ß'])],
              'nan': [np.float32([np.nan, 1]), np.float32([np.nan, 2])]}.get(kind, [np.float32([1, 2]), np.float32([1, 3])])
    with tf.Graph().as_default() as graph:
        dtype = tf.string if kind == 'string' else tf.float32
        x = v1.placeholder(dtype, [None], name='x')
        function = meeting.of(lambda a: a)
        made = tf.py_function(function, [x], dtype) if kind == 'eager' else v1.py_func(function, [x], dtype)
    with v1.Session(graph=graph) as session:
        works = [lambda value=value: session.run(made, {x: value}) for value in values]
        with recorded(tmp_path, *works, ops=ops) as trace:
            pairs = in_runs(trace, trace.calls(kind='python'))
    assert len(pairs) == 2 and all(str(given) == str(fed) for given, fed in pairs)
    assert len({str(given) for given, _ in pairs}) == 2


def test_of_two_runs_that_are_fed_alike_it_is_in_neither(tf: Any, tmp_path: Path) -> None:
    v1, meeting = tf.compat.v1, Meeting()
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        with tf.control_dependencies([v1.py_func(meeting.of(lambda: np.float32(0)), [], tf.float32)]):
            made = v1.py_func(meeting.of(lambda a: a), [x], tf.float32, name='made')
    with v1.Session(graph=graph) as session:
        work = lambda: session.run(made, {x: [1.0, 2.0]})      # noqa: E731
        with recorded(tmp_path, work, work, ops=False) as trace:
            assert in_runs(trace, trace.calls(site='made')) == [([1, 2], None)] * 2


@pytest.mark.parametrize('ops', [False, True])
def test_a_run_of_other_nodes_cannot_have_made_it(tf: Any, tmp_path: Path, ops: bool,
                                                  request: pytest.FixtureRequest) -> None:
    v1, meeting = tf.compat.v1, Meeting()
    v1.disable_control_flow_v2()            # a loop is nodes of the graph itself
    request.addfinalizer(v1.enable_control_flow_v2)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        twice = x * 2.0
        one = v1.py_func(meeting.of(lambda a: a + 1), [twice], tf.float32, name='one')
        other = v1.while_loop(lambda i, value: i < 2, lambda i, value: (i + 1, v1.py_func(
            lambda a: a + 5, [value], tf.float32, name='turn')), [0, v1.py_func(
                meeting.of(lambda a: a + 1), [twice], tf.float32, name='other')])[1]
    session = v1.Session(graph=graph)
    works = [lambda: session.run(one, {x: [1.0, 1.0]}), lambda: session.run(other, {x: [9.0, 9.0]})]
    with session, recorded(tmp_path, *works, ops=ops) as trace:
        pairs = in_runs(trace, trace.calls(kind='python'))
    assert sorted(pairs) == [([2, 2], [1, 1]), *(([n, n], [9, 9]) for n in (18, 19, 24))]


def test_a_thread_that_waits_for_a_run_works_for_that(tf: Any, tmp_path: Path) -> None:
    v1, meeting = tf.compat.v1, Meeting()
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        made = v1.py_func(meeting.of(lambda a: a), [x * 2.0], tf.float32)
    here = v1.RunOptions(inter_op_thread_pool=-1)       # TensorFlow runs it on the thread that asks
    with v1.Session(graph=graph) as session:
        works = [lambda n=n: session.run(made, {x: [n, n]}, options=here) for n in (1.0, 7.0)]
        with recorded(tmp_path, *works, ops=False) as trace:
            pairs = in_runs(trace, trace.calls(kind='python'))
    assert sorted(pairs) == [([2, 2], [1, 1]), ([14, 14], [7, 7])]


def test_a_run_that_is_paused_makes_no_calls(tf: Any, tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        made = v1.py_func(lambda a: a + 1, [tf.multiply(x, 2.0, name='doubled')], tf.float32, name='made')
    path = tmp_path / 'runs.pfd'
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(path), v1.Session(graph=graph) as session:
        def beside(user: ScriptedUser) -> None:
            at_once(lambda: session.run(made, {x: [9.0, 9.0]}))
        with ScriptedUser(['node', beside, 'cont', 'cont']):
            answer = pyfuncdbg.DebugSession(session).run(made, {x: [1.0, 1.0]})
    with Trace.open(path) as trace:
        pairs = in_runs(trace, trace.calls(kind='python'))
    assert answer.tolist() == [3, 3]
    assert sorted(pairs) == [([2, 2], [1, 1]), ([18, 18], [9, 9])]
