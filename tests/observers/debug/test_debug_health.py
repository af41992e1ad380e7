"""Verdicts on non-finite values: born, fed, entered, inherited, masked."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from written_trace import tensor, trace_of

from pyfuncdbg.observers.debug.numerics.nan_outcomes import outcomes
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge, reported_lines
from pyfuncdbg.observers.record.records import ABSENT, CallRecord, OutputRecord, RunRecord, SiteRecord, TensorRecord
from pyfuncdbg.ui.views.sample_trace import sample

GOOD, NAN = np.array([1.0, 2.0]), np.array([1.0, np.nan])


def site(name, kind='python', id=1):
    return SiteRecord(id, 1, name, 'EagerPyFunc', kind, 'tf', name, 'user.py', 1, '', (), (), ())


def call(number, name, inputs, outputs, *, run=1, at=None, kind='python', **fields):
    """A call whose tensors are given as {name: value}."""
    made = {'error': None, 'output': (), **fields}
    process, started = made.pop('process', 1), float(number if at is None else at)
    given, got = (tuple(tensor(n, v) for n, v in named.items()) for named in (inputs, outputs))
    return CallRecord(str(number), process, run, site(name, kind), 0, 1, started, 0.1, given, got, **made)


def verdicts(*calls, runs=()):
    return {f.call.number: (f.verdict, f.origin) for f in judge(trace_of(calls, runs)).findings}


def test_born_and_inherited_by_name():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'a:0': NAN}, {'b:0': NAN}),
                    call(3, 'c', {'y': GOOD}, {'c:0': GOOD})) == {'1': ('born', ''), '2': ('inherited', '1')}


def test_two_births_in_one_run_keep_their_own_heirs():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'x': GOOD}, {'b:0': NAN}),
                    call(3, 'c', {'a:0': NAN}, {'c:0': NAN}), call(4, 'd', {'c:0': NAN}, {'d:0': NAN})) == {
        '1': ('born', ''), '2': ('born', ''), '3': ('inherited', '1'), '4': ('inherited', '1')}


def test_an_unnamed_path_goes_to_the_latest_origin_of_the_run():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'mul:0': NAN}, {'b:0': NAN}))['2'] == (
        'inherited', '1')


def test_a_way_without_names_is_followed_by_what_tensors_hold():
    """As in eager code, whose tensors have no names, and in loops, whose arguments have names of their own."""
    log, inf = np.array([3.0, np.nan]), np.array([np.inf, 4.0])
    found = judge(trace_of((
        call(1, 'log', {'': GOOD}, {'': log}), call(2, 'divide', {'': GOOD}, {'': inf}),
        call(3, 'add', {'': log}, {'': log + 1}), call(4, 'mask', {'': log + 1}, {'': GOOD}),
        call(5, 'scale', {'arg': inf}, {'': inf * 2}), call(6, 'later', {'': log}, {'': log}, run=2),
        call(7, 'max', {'arg': np.array([np.inf])}, {'': np.array([np.inf])}),
        call(8, 'other', {'arg': np.array([np.nan])}, {'': NAN})), ())).findings
    assert [(f.verdict, f.origin) for f in found] == [
        ('born', ''), ('born', ''), ('inherited', '1'), ('masked', '1'), ('inherited', '2'), ('inherited', '1'),
        ('inherited', '2'), ('inherited', '2')], 'what nothing held is of the latest origin that can have become it'
    assert [f.certain for f in found] == [True, True, *[False] * 6]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_an_origin_is_one_that_the_value_came_from(data):
    """Random programs whose values differ: of which births each came is known."""
    born: list[tuple[np.ndarray, str, frozenset[str]]] = []
    calls, expected = [], {}
    for number in range(1, data.draw(st.integers(2, 12)) + 1):
        taken = data.draw(st.sampled_from(range(len(born)))) if born and data.draw(st.booleans()) else None
        inputs, origins = {'x:0': GOOD}, frozenset((str(number),))
        if taken is not None:
            value, name, origins = born[taken]
            inputs = {data.draw(st.sampled_from((name, '', f'arg{number}:0'))): value}
            expected[str(number)] = origins
        masks = taken is not None and data.draw(st.booleans())
        kind = data.draw(st.sampled_from((np.nan, np.inf))) if taken is None else value[1]
        made = GOOD if masks else np.array([float(number), kind])
        name = f'node{data.draw(st.integers(1, 4))}:0'              # of a loop the same again
        calls.append(call(number, name[:-2], inputs, {name: made}))
        if not masks:
            born.append((made, name, origins))
            latest = {one[1]: one for one in born}
            born = [one if one is latest[one[1]] else (one[0], f'gone{i}:0', one[2]) for i, one in enumerate(born)]
    findings = judge(trace_of(calls, ())).by_call()
    assert {number: findings[number].origin for number in expected} == {
        number: next(iter(origins)) for number, origins in expected.items()}


def test_variables_carry_it_to_later_runs():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'w': NAN}, {'b:0': NAN}, run=2))['2'] == (
        'inherited', '1')


def test_masked_is_no_origin():
    assert verdicts(call(1, 'a', {'x': NAN}, {'a:0': GOOD}), call(2, 'b', {'y': NAN}, {'b:0': NAN})) == {
        '1': ('masked', ''), '2': ('entered', '')}


def test_a_call_that_raised_masks_nothing():
    assert verdicts(replace(call(1, 'a', {'x': NAN}, {}), error=sample().call(5).error)) == {'1': ('entered', '')}


def test_fed_values_are_no_ones_heirs():
    runs = (RunRecord(2, 1, 'run', 'tf', 0, 1, (tensor('x:0', NAN), tensor('k:0', GOOD)), (), None, ()),)
    assert verdicts(call(1, 'a', {'y': GOOD}, {'a:0': NAN}), call(2, 'b', {'x:0': NAN}, {'b:0': NAN}, run=2),
                    call(3, 'c', {'b:0': NAN}, {'c:0': NAN}, run=2), call(4, 'd', {'x:0': NAN}, {'d:0': NAN}, run=2),
                    runs=runs) == {'1': ('born', ''), '2': ('fed', ''), '3': ('inherited', '2'), '4': ('inherited', '2')}


def session(*feeds, id=2, label='Session.run', at=0):
    return RunRecord(id, 1, label, 'tf', at, 1, tuple(tensor(name, value) for name, value in feeds), (), None, ())


def test_calls_are_judged_in_the_order_of_their_values():
    calls = (call(1, 'f', {'h:0': NAN}, {'f:0': NAN}), call(2, 'y', {'a:0': GOOD}, {'y:0': NAN}, kind='op'),
             call(3, 'h', {'y:0': NAN}, {'h:0': NAN}, kind='op'), call(4, 'f', {'h:0': NAN}, {'f:0': NAN}, kind='op'))
    expected = {'2': ('born', ''), '3': ('inherited', '2'), '1': ('inherited', '2'), '4': ('inherited', '2')}
    assert verdicts(*calls) == expected
    assert verdicts(*(replace(one, started=float(at)) for one, at in zip(calls, (1, 3, 2, 4), strict=True))) == expected
    assert all(finding.certain for finding in judge(trace_of(calls, ())).findings)


def test_what_comes_again_in_a_loop_stays_in_order():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'a:0': NAN}, {'b:0': GOOD}),
                    call(3, 'a', {'x': GOOD}, {'a:0': NAN}), call(4, 'b', {'a:0': NAN}, {'b:0': NAN})) == {
        '1': ('born', ''), '2': ('masked', '1'), '3': ('born', ''), '4': ('inherited', '3')}


def test_a_circle_of_values_ends():
    assert len(verdicts(call(1, 'a', {'b:0': NAN}, {'a:0': NAN}), call(2, 'b', {'a:0': NAN}, {'b:0': NAN}))) == 2


def test_a_feed_that_no_recorded_call_took_is_an_origin():
    calls = call(1, 'f', {'h:0': NAN}, {'f:0': NAN}, run=2), call(2, 'g', {'x:0': GOOD}, {'g:0': GOOD}, run=2)
    runs = (session(('k:0', GOOD), ('x:0', NAN)),)
    assert verdicts(*calls, runs=runs) == {'-2': ('fed', ''), '1': ('inherited', '-2')}
    fed, inherited = judge(trace_of(calls, runs)).findings
    assert (fed.slot, fed.tensor.name, fed.certain, inherited.certain) == (1, 'x:0', True, False)
    assert verdicts(runs=runs) == {'-2': ('fed', '')}
    (outcome,) = outcomes(trace_of(calls, runs), judge(trace_of(calls, runs)))
    assert (outcome.heirs, outcome.likely) == (0, 1)


def test_the_arguments_of_a_function_are_no_origin_where_an_earlier_call_explains_them():
    calls = call(1, 'f', {'x': GOOD}, {'f:0': NAN}), call(3, 'g', {'h:0': NAN}, {'g:0': NAN}, run=2)
    function = session(('x:0', NAN), label='step', at=2)
    assert verdicts(*calls, runs=(function,)) == {'1': ('born', ''), '3': ('inherited', '1')}
    assert verdicts(calls[1], runs=(function,)) == {'-2': ('fed', ''), '3': ('inherited', '-2')}
    assert verdicts(*calls, runs=(replace(function, label='Session.run'),))['3'] == ('inherited', '-2')
    assert verdicts(calls[1], runs=(replace(function, label='__backward_step'),)) == {'3': ('entered', '')}


def test_a_reported_error_in_a_call_whose_outputs_are_lost_is_a_suspicion():
    said = (OutputRecord('fp', 'invalid', 'invalid', 'u.py', 4),)
    lost = replace(call(1, 'a', {'x': GOOD}, {}, output=said), outputs=(TensorRecord('a:0', 'float32', (2,), 8, 'none'),))
    assert verdicts(lost, call(2, 'b', {'y': NAN}, {'b:0': NAN})) == {'1': ('suspected', ''), '2': ('inherited', '1')}
    assert verdicts(replace(lost, output=())) == {}
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': GOOD}, output=said)) == {}


def test_processes_do_not_inherit_from_each_other():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'y': NAN}, {'b:0': NAN}, process=2))['2.2'] == (
        'entered', '')


def test_the_inner_call_is_the_origin():
    assert verdicts(call(1, 'outer', {'x': GOOD}, {'o:0': NAN}), call(2, 'inner', {'x': GOOD}, {'i:0': NAN}, parent='1'),
                    call(3, 'next', {'o:0': NAN}, {'n:0': NAN})) == {
        '1': ('inherited', '2'), '2': ('born', ''), '3': ('inherited', '2')}


def test_a_circle_of_calls_ends():
    assert len(verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}, parent='2'),
                        call(2, 'b', {'x': GOOD}, {'b:0': NAN}, parent='1'))) == 2


def test_graph_nodes_are_judged():
    assert verdicts(call(1, 'div', {'x': GOOD}, {'div:0': NAN}, kind='op'), call(2, 'f', {'div:0': NAN}, {'f:0': NAN})) == {
        '1': ('born', ''), '2': ('inherited', '1')}


def test_a_gradient_step_gives_birth_only_where_the_forward_pass_was_finite():
    forward = call(1, 'f', {'x': NAN}, {'f:0': NAN}), call(2, 'g', {'y': GOOD}, {'g:0': GOOD}, run=2)
    assert verdicts(*forward, call(3, 'df', {'one': GOOD}, {'dx': NAN}, run=3, kind='gradient', forward='1'),
                    call(4, 'dg', {'one': GOOD}, {'dy': NAN}, run=4, kind='gradient', forward='2'),
                    call(5, 'more', {'dy': NAN}, {'dz': NAN}, run=4, kind='gradient')) == {
        '1': ('entered', ''), '3': ('inherited', '1'), '4': ('born', ''), '5': ('inherited', '4')}


def test_a_step_back_through_a_function_inherits_from_the_steps_inside_it():
    f = call(1, 'f', {'x': GOOD}, {'f:0': GOOD})
    before = call(2, 'sqrt', {'': GOOD}, {'': NAN}, run=2, kind='gradient', forward='1')
    assert verdicts(f, before, call(3, 'df', {'dy': GOOD}, {'dx': NAN}, kind='gradient', forward='1')) == {
        '2': ('born', ''), '3': ('inherited', '2')}
    around = call(4, 'df', {'dy': GOOD}, {'dx': NAN}, run=2, at=4, kind='gradient', forward='1')
    inside = call(5, 'sqrt', {'': GOOD}, {'': NAN}, run=3, at=4.01, kind='gradient', forward='1')
    assert verdicts(f, around, replace(inside, duration=0.01)) == {'5': ('born', ''), '4': ('inherited', '5')}


def test_no_tensor_is_neither_lost_nor_a_doubt():
    none = TensorRecord('f:1', 'object', (), 0, 'none', note=ABSENT)
    said = (OutputRecord('fp', 'invalid', 'invalid', 'u.py', 4),)
    clean = replace(call(1, 'f', {'x': GOOD}, {}), output=said, outputs=(none,))
    assert verdicts(clean) == {}
    born = replace(call(2, 'g', {}, {'g:0': NAN}), inputs=(none,))
    (finding,) = judge(trace_of((born,), ())).findings
    assert finding.certain


def test_the_first_bad_run_is_searched_for_suspects():
    said = (OutputRecord('fp', 'invalid', 'invalid', 'u.py', 4),)
    lost = (TensorRecord('a:0', 'float32', (2,), 8, 'none'),)
    talk = [replace(call(n, 'a', {'x': GOOD}, {'a:0': GOOD}), output=(OutputRecord('out', 'x'),)) for n in range(1, 1003)]
    last = replace(call(2000, 'a', {'x': GOOD}, {}, run=7), output=said, outputs=lost)
    run = RunRecord(7, 1, 'run', 'tf', 0, 1, (), (tensor('loss:0', NAN),), None, ())
    assert verdicts(*talk, last) == {}
    assert verdicts(*talk, last, runs=(run,)) == {'2000': ('suspected', '')}


def test_slot_and_index_of_the_first_bad_tensor():
    birth = call(1, 'a', {'x': GOOD}, {'a:0': GOOD, 'a:1': np.array([[0.0, 1], [np.inf, 2]])})
    finding = judge(trace_of((birth,), ())).findings[0]
    assert (finding.slot, finding.tensor.name, finding.tensor.stats.first_bad) == (1, 'a:1', (1, 0))


def test_certainty_needs_every_input():
    birth = call(1, 'a', {'x': GOOD}, {'a:0': NAN})
    lost = replace(birth, inputs=(TensorRecord('x', 'float32', (2,), 8, 'none'),))
    assert judge(trace_of((birth,), ())).findings[0].certain
    assert not judge(trace_of((lost,), ())).findings[0].certain


def test_what_is_beyond_the_limit_is_counted():
    calls = [call(n, 'a', {'x': GOOD}, {'a:0': NAN}) for n in range(1, 8)]
    health = judge(trace_of(calls, ()), limit=5)
    assert [f.call.number for f in health.findings] == ['1', '2', '3', '4', '5']
    assert health.unjudged == 2


@pytest.mark.parametrize(('records', 'lines'), [
    ((OutputRecord('fp', 'invalid', 'invalid', 'u.py', 4), OutputRecord('fp', 'divide', 'divide', 'u.py', 3)), [4, 3]),
    ((OutputRecord('warning', 'w', 'RuntimeWarning', 'u.py', 9),), [9]),
    ((OutputRecord('warning', 'w', 'UserWarning', 'u.py', 9), OutputRecord('out', 'x', '', 'u.py', 1)), []),
    ((OutputRecord('fp', 'underflow', 'under', 'u.py', 4),), []),
    ((OutputRecord('warning', 'w', 'RuntimeWarning', 'u.py', 4), OutputRecord('fp', 'invalid', 'invalid', 'u.py', 4)), [4]),
])
def test_blamed_lines(records, lines):
    assert [place.line for place in reported_lines(call(1, 'a', {}, {}, output=records))] == lines


def test_the_floating_point_record_speaks_for_its_line():
    both = (OutputRecord('warning', 'w', 'RuntimeWarning', 'u.py', 4), OutputRecord('fp', 'f', 'invalid', 'u.py', 4))
    assert [place.category for place in reported_lines(call(1, 'a', {}, {}, output=both))] == ['invalid']


HANDLE = np.empty((), object)


def test_a_node_that_reads_a_variable_makes_nothing():
    assert verdicts(call(1, 'a', {'x': GOOD}, {'a:0': NAN}),
                    call(2, 'read', {'w:0': HANDLE}, {'read:0': NAN}, run=2, kind='op'),
                    call(3, 'mul', {'read:0': NAN}, {'mul:0': NAN}, run=2, kind='op')) == {
        '1': ('born', ''), '2': ('inherited', '1'), '3': ('inherited', '1')}
    assert verdicts(call(1, 'read', {'w:0': HANDLE}, {'read:0': NAN}, kind='op')) == {'1': ('entered', '')}
    assert verdicts(call(1, 'a', {}, {'a:0': NAN})) == {'1': ('born', '')}          # a function makes what it returns


def test_what_came_by_an_unrecorded_way_is_said_to_be_likely_only():
    found = judge(trace_of([call(1, 'a', {'x': GOOD}, {'a:0': NAN}), call(2, 'b', {'a:0': NAN}, {'b:0': NAN}),
                               call(3, 'c', {'mul:0': NAN}, {'c:0': NAN})], ())).findings
    assert [(f.verdict, f.origin, f.certain) for f in found] == [
        ('born', '', True), ('inherited', '1', True), ('inherited', '1', False)]
