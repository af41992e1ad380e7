"""Line breakpoints whose condition is a Python value, not text; and what `log` and `snap` keep at a line."""
from __future__ import annotations

import re

import numpy as np
import pytest
from stopping import debugging, wrapped

import pyfuncdbg
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.breakpoints import file
from pyfuncdbg.observers.debug.breakpoints.listing import state_of
from pyfuncdbg.observers.debug.conditions.predicate import condition
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

LIMIT = 3


def summed(x):
    total = 0
    seen = []
    for i in range(5):
        total += x * i
        seen.append(total)
    return total


LINE = f'{__file__}:{summed.__code__.co_firstlineno + 4}'


class Layer:
    def scale(self, x):
        self.__k = 2
        total = (lambda n: n * x)(self.__k)
        __own = total
        half = [n / 2 for n in (total, x)]
        return total + half[0]


def above(i, *, total):
    return i > 1 and total < 6


def stops(when, **options):
    """`i` and `total` at each stop of one call."""
    found = []
    with debugging() as (debugger, front_end):
        front_end.look = lambda stop: found.append((stop.frame.f_locals['i'], stop.frame.f_locals['total'], stop.reason))
        debugger.breakpoints.set(LINE, when, **options)
        assert wrapped(summed)(2) == 20
    return found


@pytest.mark.parametrize(('when', 'expected'), [
    (lambda i: i == 3, [3]), (lambda total, i: total > i + 4, [4]), (above, [2]), (lambda i, limit=LIMIT: i > limit, [4]),
    (condition('i > 1') & ~condition('total > 5'), [2]),
    (condition(lambda i: i == 0) | (condition(lambda total: total > 11) & condition('i != 9')), [0, 4]),
    (~condition(lambda i: i != 2), [2]),
])
def test_conditions_as_values(when, expected):
    assert [i for i, _, _ in stops(when)] == expected
    assert [i for i, _, _ in stops(when, after=1)] == expected[1:]


def test_a_function_that_raises_stops_and_tells():
    found = stops(lambda i: 1 / (i - 2) > 5)
    assert [(i, bool(re.search(r'ZeroDivisionError: .*, in its condition condition\(.*<lambda>\)', reason)))
            for i, _, reason in found] == [(2, True)]


def test_private_names_and_lambdas():
    found = []
    first = Layer.scale.__code__.co_firstlineno
    with debugging() as (debugger, front_end):
        front_end.look = lambda stop: found.append((stop.frame.f_code.co_name, stop.hits, dict(stop.frame.f_locals)))
        debugger.breakpoints.set(f'{__file__}:{first + 2}', lambda n: n == 2)          # in the lambda on the line
        debugger.breakpoints.set(f'{__file__}:{first + 3}', lambda self, total: self._Layer__k == 2 and total == 10)
        debugger.breakpoints.set(f'{__file__}:{first + 4}', '__own == 10 and self.__k == 2')
        assert wrapped(Layer().scale)(5) == 15
    # `n` is a name of the lambda alone, so at the statement on the same line the condition has no value.
    assert [name for name, _, _ in found] == ['<lambda>', 'scale', 'scale']


def test_it_is_listed_changed_and_saved_as_what_it_is(tmp_path):
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        table.set(LINE, above)
        table.set(LINE, condition('i > 2') & condition('i < 4'))
        assert [state_of(entry, table).condition for entry in table.entries.values()] == [
            'condition(above)', '(i > 2) and (i < 4)']
        filed = file.save(table, tmp_path / file.NAME)
        assert (filed.numbers, filed.left_out) == ((2,), ('1: its condition is a Python function',))
        with pytest.raises(CommandError, match="nothing is called 'nowhere'"):
            table.change(1, lambda nowhere: True)
        assert wrapped(summed)(2) == 20
        assert len(front_end.stops) == 2    # the old condition stands
        table.change(1, lambda i: i == 4)
        wrapped(summed)(2)
        assert len(front_end.stops) == 4


def test_conditions_of_lines_are_values():
    with debugging() as (debugger, _):
        made = [debugger.breakpoints.set(LINE, when).when for when in (above, above, lambda i: True, 'i > 1', ' i > 1',
                                                                       condition('i > 1'), 'i > 2')]
    assert [[one == other for other in made] for one in made] == [
        [a == b for b in (1, 1, 2, 3, 3, 3, 4)] for a in (1, 1, 2, 3, 3, 3, 4)]
    assert len(set(made)) == 4
    assert made[3] != condition('i > 1')        # which is one of calls


def test_break_at_takes_a_function():
    try:
        pyfuncdbg.break_at(LINE, when=lambda i: i == 2, do='log', once=True)
        from pyfuncdbg.observers.debug.debugger import debugger
        assert wrapped(summed)(2) == 20
        entry = next(iter(debugger.breakpoints.entries.values()))
        assert (entry.hits, entry.breakpoint.enabled) == (1, False)
    finally:
        for number in list(debugger.breakpoints.entries):
            debugger.breakpoints.clear(number)
        debugger.leave()


# --- log and snap -----------------------------------------------------------------------------------------------------

def closed_over(x):
    kept, step = x + 1, 2
    def inner():
        return kept
    return inner() + step


def test_log_shows_what_the_condition_names_or_all_variables(capfd):
    last = closed_over.__code__.co_firstlineno + 4
    with debugging() as (debugger, _):
        debugger.breakpoints.set(f'{__file__}:{last}', do='log')
        debugger.breakpoints.set(f'{__file__}:{last}', 'step > 1', do='log')       # not `s`, `t`, `e` and `p`
        assert wrapped(closed_over)(5) == 8
    lines = [re.sub(r'inner=\S+ \S+ at \S+', 'inner=...', line.split(' breakpoint ')[1])
             for line in capfd.readouterr().err.splitlines() if ' breakpoint ' in line]
    assert sorted(lines) == ['1: x=5 step=2 inner=... kept=6', '2: step=2']


def scaled(x, scale):
    y = x * scale
    for i in range(2):
        y[i] = -1
        if i:
            z = y.sum(keepdims=True)
    return (y, z)[0]


@pytest.mark.parametrize('level', ['none', 'stats'])
def test_a_snap_keeps_the_arrays_of_the_line_as_they_are_then(tmp_path, level):
    first = scaled.__code__.co_firstlineno
    with debugging() as (debugger, front_end), Recorder(tmp_path / 'a.pfd', level=level, full_limit=8) as recorder:
        debugger.breakpoints.set(f'{__file__}:{first + 3}', do='snap')
        debugger.breakpoints.set(f'{__file__}:{first + 6}', lambda y: y[0] == -1, do='snap')
        out = wrapped(scaled)(np.arange(100.0), np.float32(2))
        assert out[2] == 4
        assert not front_end.stops
    with Trace.open(recorder.path) as trace:
        calls = list(trace.calls())
        around = next(call for call in calls if call.site.name == 'norm')
        snaps = [call for call in calls if call.site.name != 'norm']
        assert [call.site.name for call in snaps] == [f'test_lines_by_value.py:{first + n}' for n in (3, 3, 6)]
        assert [[tensor.name for tensor in call.inputs] for call in snaps] == [
            ['x', 'scale', 'y'], ['x', 'scale', 'y'], ['x', 'scale', 'y', 'z']]
        assert [call.inputs[2].to_numpy()[:3].tolist() for call in snaps] == [[0, 2, 4], [-1, 2, 4], [-1, -1, 4]]
        assert snaps[2].inputs[3].to_numpy().tolist() == [9898 - 2]
        assert {call.parent for call in snaps} == {around.number}
        assert {call.run for call in snaps} == {around.run}


def test_a_snap_outside_of_any_call_starts_a_recording_of_its_own():
    with debugging() as (debugger, _):
        debugger.breakpoints.set(f'{__file__}:{scaled.__code__.co_firstlineno + 6}', do='snap')
        scaled(np.arange(3.0), 2)
        recorder = debugger.recorder()
        with recorder.trace() as trace:
            found = [call for call in trace.calls() if call.site.op_type == 'Line']
            assert [call.inputs[0].to_numpy().tolist() for call in found] == [[0, 1, 2]]
            assert (found[0].parent, trace.run(found[0].run).label) == ('', 'lines')
