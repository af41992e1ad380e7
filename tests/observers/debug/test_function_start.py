"""Stops inside of a function, where it begins: what a SPEC that names it stops at, and what may still be changed there."""
from __future__ import annotations

import functools
import gc
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop


def scaled(x: Any, k: int = 2) -> Any:
    ran.append(x.tolist())
    y = x * k
    return y  # noqa: RET504 - a line to step to


class Scale:
    def __init__(self, k: int) -> None:
        self.k = k

    def by(self, x: Any) -> Any:
        return x * self.k

    def __call__(self, x: Any) -> Any:
        return x + self.k


def several(*values: Any) -> Any:
    return sum(values)


ran: list[Any] = []
FIRST = scaled.__code__.co_firstlineno


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    ran.clear()
    yield
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


def line(stop: Stop) -> tuple[str, int]:
    return stop.phase, stop.frames[-1].line - FIRST


def called(function: Callable[..., Any] = scaled, *values: Any, name: str | None = None) -> Any:
    inputs = [np.array([value]) for value in values or (3,)]
    return tf.numpy_function(function, inputs, tf.int64, name=name).numpy().tolist()


def session(places: list[str], lines: list[Any], run: Callable[[], Any], **options: Any) -> tuple[ScriptedUser, Any]:
    user = ScriptedUser(lines)
    with user:
        debugger.start()
        for place in places:
            debugger.breakpoints.set(place, **options)
        result = run()
    user.stops = [(phase, re.sub(r'breakpoint \d+', 'breakpoint 1', reason)) for phase, reason in user.stops]
    return user, result


def test_a_function_is_entered_and_its_lines_are_walked() -> None:
    user, result = session(['scaled'], [line, 'p x[0] + k', 'n', line, 'n', line, 'n', line, 'p y[0]', 'n', 'cont'], called)
    assert result == [6]
    assert user.stops == [('call', 'breakpoint 1'), *[('line', 'next')] * 3, ('after', 'return')]
    places = [answer for answer in user.answers if isinstance(answer, tuple)]
    assert places == [('call', 0), ('line', 1), ('line', 2), ('line', 3)]
    assert 'int64 5' in repr(user.answers[1]) and 'int64 6' in repr(user.answers[8]), user.answers


@pytest.mark.parametrize('verb', ['s', 'into', 'n'])
def test_each_verb_of_one_step_goes_to_the_first_line(verb: str) -> None:
    user, result = session(['scaled'], [verb, line, 'cont'], called)
    assert user.phases == ['call', 'line'] and ('line', 1) in user.answers and result == [6]


def test_return_goes_to_the_end_of_the_function() -> None:
    user, _ = session(['scaled'], ['r', line, 'cont'], called)
    assert user.phases == ['call', 'after'] and ran == [[3]]


@pytest.mark.parametrize(('place', 'options', 'phase'), [
    ('PyFunc', {}, 'before'), ('node', {}, 'before'), ('scaled[0]', {}, 'before'), ('nod?', {}, 'before'),
    ('scaled', {}, 'call'), ('function:scaled', {}, 'call'), ('scal*', {}, 'call'),
    ('scaled', {'timing': 'before'}, 'before'), ('scaled', {'when': 'k == 2'}, 'call'),
    ('scaled', {'when': 'out[0] == 6'}, 'after')])
def test_what_is_named_says_where_it_stops(place: str, options: dict[str, Any], phase: str) -> None:
    node = f'node{next(tf_names)}' if place != 'node' else 'node'
    user, result = session([place.replace('?', '*')], [], lambda: called(scaled, 3, name=node), **options)
    assert (user.phases, result, ran) == ([phase], [6], [[3]])


tf_names = iter(range(1000))


def test_a_name_of_a_node_and_of_its_function_is_the_node() -> None:
    for place, phase in (('scaled', 'before'), ('function:scaled', 'call')):
        user, _ = session([place], ['s', line, 'cont'], lambda: called(scaled, 3, name='scaled'))
        assert user.phases == [phase, 'line'] and user.answers[1] == ('line', 1)
        debugger.breakpoints.clear(max(debugger.breakpoints.entries))


def test_before_a_node_into_goes_in_and_next_goes_over() -> None:
    user, _ = session(['PyFunc'], ['into', line, 'cont'], called)
    assert user.phases == ['before', 'line'] and ('line', 1) in user.answers
    debugger.breakpoints.clear(max(debugger.breakpoints.entries))
    user, _ = session(['PyFunc'], ['n', 'cont'], called)
    assert user.phases == ['before', 'after']


@pytest.mark.parametrize(('function', 'place', 'phase', 'variables'), [
    (Scale(5).by, 'Scale.by', 'call', ['self', 'x']), (Scale(5), 'Scale', 'call', ['self', 'x']),
    (functools.partial(scaled, k=5), 'scaled', 'call', ['k', 'x']), (lambda x: x * 1, '<lambda>', 'call', ['x']),
    (np.negative, 'negative', 'before', None)])
def test_functions_of_all_kinds(function: Any, place: str, phase: str, variables: list[str] | None) -> None:
    def look(stop: Stop) -> Any:
        return sorted(stop.frame.f_locals) if stop.phase == 'call' and stop.frame is not None else None
    user, _ = session([place], [look], lambda: called(function))
    assert user.phases == [phase] and user.answers[0] == variables


def test_inputs_are_injected_and_the_record_has_what_the_function_got(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        user, result = session(['scaled'], ['inject x np.array([50])', 'p x', 'n', 'n', 'n', 'cont'], called)
    assert result == [100] and ran == [[50]]
    assert user.phases == ['call', 'line', 'line', 'line']
    with pyfuncdbg.load(tmp_path / 'trace.pfd') as trace:
        calls = list(trace.calls(kind='python'))
        assert [(call.number, call.retry_of or '') for call in calls] == [(calls[0].number, '')]
        stats = calls[0].inputs[0].stats
        assert stats is not None and stats.max == 50


@pytest.mark.parametrize('line', ['inject x np.array([50])', 'inject x = np.array([50])', 'inject x=np.array([50])',
                                  'inject x= np.array([50])', 'inject x =np.array([50])', 'inject in0=np.array([50])'])
def test_an_injection_may_be_typed_as_an_assignment(line: str) -> None:
    _, result = session(['scaled'], [line, 'cont'], called)
    assert result == [100] and ran == [[50]]


def test_an_injected_value_comes_through_parameters_that_have_no_variable_of_their_own() -> None:
    user, result = session(['several'], ['inject in1 np.array([50])', 'cont'], lambda: called(several, 1, 2, 3))
    assert (user.phases, result) == (['call'], [54])


def test_a_retry_after_an_injection_gets_the_injected_value() -> None:
    user, result = session(['scaled'], ['inject x np.array([50])', 'n', 'n', 'retry', 'cont'], called)
    assert result == [100] and ran == [[50], [50]] and user.phases[-1] == 'after'


def test_another_function_is_entered_too_and_the_first_has_not_run(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'trace.pfd'):
        user, result = session(['scaled'], ['swap lambda v: v + 1000', 'p v', 'n', 'cont'], called)
    assert (user.stops[:2], result, ran) == ([('call', 'breakpoint 1'), ('call', 'swap')], [1003], [])
    with pyfuncdbg.load(tmp_path / 'trace.pfd') as trace:
        assert [call.retry_of or '' for call in trace.calls(kind='python')] == ['']


def test_a_function_without_python_code_is_swapped_in() -> None:
    user, result = session(['scaled'], ['swap np.negative', 'cont'], called)
    assert (user.stops, result, ran) == ([('call', 'breakpoint 1'), ('before', 'swap')], [-3], [])


def test_retry_begins_anew_with_no_line_run_twice() -> None:
    user, result = session(['scaled'], ['retry', 'retry', 'cont'], called)
    assert user.stops == [('call', 'breakpoint 1'), ('call', 'retry'), ('call', 'retry')]
    assert (result, ran) == ([6], [[3]])


@pytest.mark.parametrize('last', ['quit', 'cont', 'node'])
def test_whatever_is_decided_after_an_injection_holds(last: str) -> None:
    user, result = session(['scaled'], ['inject x np.array([50])', last], called)
    assert (result, ran, user.phases[0]) == ([100], [[50]], 'call') and not debugger.plans
    assert debugger not in hooks


def test_conditions_and_counts_are_those_of_calls() -> None:
    user, _ = session(['scaled'], [], lambda: [called(scaled, value) for value in range(6)], when='x[0] > 1', every=2)
    assert user.stops == [('call', 'breakpoint 1')] * 2
    entry = debugger.breakpoints.entries[max(debugger.breakpoints.entries)]
    assert entry.hits == 4


def test_in_graphs_runs_can_be_rewound_to_the_function() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant([3], tf.int64)
        y = tf.numpy_function(scaled, [x], tf.int64, name='py')
    with tf.compat.v1.Session(graph=graph) as sess:
        user, result = session(['scaled'], ['n', 'n', 'n', 'node', 'rewind py', 'cont'], lambda: sess.run(y + 1).tolist())
    assert result == [7] and user.phases[:4] == ['call', 'line', 'line', 'line'], user.answers


PROGRAM = '''
def build(n):
    """Says what it does."""
    while n < 3:
        n += 1
    return n

class Net:
    def step(self, x):
        return x

build(1)
late = 1
def comes(x):
    return x
comes(2)
build(5)
Net().step(7)
'''


@pytest.mark.parametrize(('place', 'when', 'entered'), [
    ('build', None, [('build', 1), ('build', 5)]), ('build', 'n > 3', [('build', 5)]), ('comes', None, [('comes', 2)]),
    ('Net.step', None, [('step', 7)]), ('step', 'x == 7', [('step', 7)]), ('build', 'other > 3', []),
    ('build', 'out > 3', []), ('buil*', None, [])])
def test_functions_that_the_program_calls_itself(place: str, when: str | None, entered: list[Any], tmp_path: Path) -> None:
    path = tmp_path / 'own_calls.py'
    path.write_text(PROGRAM)
    seen: list[Any] = []

    def look(stop: Stop) -> None:
        assert stop.frame is not None and stop.phase == 'call'
        values = stop.frame.f_locals
        seen.append((stop.frame.f_code.co_name, values.get('n', values.get('x'))))
        assert PROGRAM.split('\n')[stop.frames[-1].line - 1].lstrip().startswith('def ')

    def load() -> None:
        spec = importlib.util.spec_from_file_location('own_calls', path)
        assert spec is not None and spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    session([place], [look, 'cont'] * len(entered), load, when=when)
    assert seen == entered


def test_an_ordinary_function_is_walked_and_its_caller_after_it() -> None:
    def caller() -> int:
        value = several(1, 2)
        return value + 1  # a line to come back to
    user, result = session(['several'], ['n', 'n', 'n', 'cont'], caller)
    assert (user.phases, result) == (['call', 'line', 'return', 'line'], 4)


def test_a_step_into_a_function_with_a_breakpoint_stops_at_its_start_once() -> None:
    def caller() -> int:
        debugger.stop_here(sys._getframe(), 'here')
        return several(1, 2)  # type: ignore[no-any-return]
    user, _ = session(['several'], ['s', 'n', 'n', 'cont'], caller)
    assert user.phases == ['line', 'call', 'line', 'return']


def test_a_call_whose_function_does_not_begin_leaves_its_thread_alone() -> None:
    """As where the host refuses the inputs: calls after it cost no more than before."""
    site = CallSite('node', 'PyFunc', 'python', host, function=scaled)
    invoke, run = partial(chain.invoke, site, list), Run('eager', host, 0)
    user = ScriptedUser([])
    with user:
        debugger.start()
        debugger.breakpoints.set('function:scaled')
        assert invoke(run, [[3]]) == [3]
        assert not debugger.plans and user.stops == []


@pytest.mark.parametrize(('verb', 'phases'), [('cont', ['call']), ('r', ['call', 'after']), ('s', ['call', 'line', 'line'])])
def test_callbacks_of_the_garbage_collector_are_no_part_of_the_call(verb: str, phases: list[str]) -> None:
    """Python runs them wherever memory is needed: between our call of the function and its first line too."""
    collections = []

    def collected(phase: str, info: dict[str, int]) -> None:
        collections.append(phase)

    def run() -> Any:
        before = gc.get_threshold()
        gc.callbacks.append(collected)
        gc.set_threshold(1, 1, 1)
        try:
            return called()
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(collected)
    user, result = session(['scaled'], ['p x[0] + 37', line, verb, line, verb, line, 'cont'], run)
    assert result == [6] and collections
    assert 'int64 40' in repr(user.answers[0]) and user.answers[1] == ('call', 0), user.answers
    assert user.phases[:len(phases)] == phases, user.phases
