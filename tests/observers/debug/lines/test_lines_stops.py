"""A line breakpoint that stops: the stepper gets the line at once, and steps as if no test were there."""
from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from debug_program import loaded

from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints
from pyfuncdbg.observers.debug.stepping.python_stepper import Stepper
from pyfuncdbg.observers.debug.stops.stop import Decision

PROGRAM = '''
def looped(n):
    total = 0
    for i in range(n):
        total += i
    while total < 5:
        total += 1
    return total

def one_line_loop(n):
    total = 0
    for i in range(n): total += i
    return total

short = lambda x: x + 1
long = lambda x: (
    x
    + 2)

def handled(x):
    try:
        x / 0
    except ZeroDivisionError:
        x = x + 1
    else:
        x = 0
    finally:
        x = x * 2
    return x

def generated(n):
    for i in range(n):
        yield i

def late(xs):
    first = xs[0]
    return helper(first)

def helper(y):
    z = y
    return z

def asked(x):
    y = x + 1
    z = y + 1
    return z

class Counter:
    def __init__(self):
        self.__n = 0
    def add(self, k):
        self.__n += k
        return self.__n
'''
CALLS = {'looped': lambda m: m.looped(3), 'one_line_loop': lambda m: m.one_line_loop(3), 'short': lambda m: m.short(1),
         'long': lambda m: m.long(1), 'handled': lambda m: m.handled(1), 'generated': lambda m: list(m.generated(2)),
         'late': lambda m: m.late([1]), 'asked': lambda m: m.asked(1), 'Counter': lambda m: m.Counter().add(2)}


@pytest.fixture
def program(tmp_path: Path) -> ModuleType:
    return loaded('stopping', PROGRAM, tmp_path)


class Session:
    """Stops of a stepper that carries out a script; then `cont`."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.hits = 0
        self.stops: list[tuple[str, str, int, dict[str, Any]]] = []
        self.stepper = Stepper(self.stopped)

    def hit(self, frame: FrameType, error: Exception | None) -> None:
        self.hits += 1
        self.stepper.here(frame, 'breakpoint' if error is None else f'condition raised {type(error).__name__}')

    def stopped(self, phase: str, frame: FrameType, reason: str, value: Any) -> None:
        self.stops.append((phase, reason, frame.f_lineno, dict(frame.f_locals)))
        action = self.script.pop(0) if self.script else 'cont'
        if callable(action):
            action = action(frame) or 'cont'
        self.stepper.follow(Decision(action), frame)

    @property
    def places(self) -> list[tuple[str, str, int]]:
        return [stop[:3] for stop in self.stops]


@pytest.mark.parametrize('line', [i + 1 for i, text in enumerate(PROGRAM.splitlines())
                                  if text.startswith('    ') and text.strip() not in ('else:', 'x = 0')])
def test_every_stop_is_a_line_event_of_the_line_itself(lines: LineBreakpoints, program: ModuleType, line: int) -> None:
    hits: list[FrameType] = []
    session = Session()

    def on_hit(frame: FrameType, error: Exception | None) -> None:
        hits.append(frame)
        session.hit(frame, error)
    placed = lines.set(1, program.__file__, line, None, on_hit)
    for call in CALLS.values():
        call(program)
    assert hits
    assert [stop[:3] for stop in session.stops] == [('line', 'breakpoint', placed.line)] * len(hits)
    assert sys.gettrace() is None


def test_stepping_sees_no_test(lines: LineBreakpoints, program: ModuleType) -> None:
    def walk(name: str) -> list[tuple[str, int, dict[str, Any]]]:
        seen = []

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename != program.__file__:
                return None
            seen.append((event, frame.f_lineno, dict(frame.f_locals)))
            return trace
        sys.settrace(trace)
        try:
            CALLS[name](program)
        finally:
            sys.settrace(None)
        return [(event, line, {k: v for k, v in values.items() if k != 'self'}) for event, line, values in seen]

    names = [name for name in CALLS if name != 'one_line_loop']
    plain = {name: walk(name) for name in names}
    number = 0
    for line in range(1, PROGRAM.count('\n') + 1):
        try:
            lines.set(number, program.__file__, line, '__name__ == ""', pytest.fail)
        except Exception:                       # the lines between functions
            continue
        number += 1
    assert number > 30
    assert {name: walk(name) for name in names} == plain


@pytest.mark.parametrize('condition', ['helper(y) == 0', 'any(helper(y) == n for n in (0,))', '(lambda n: helper(n))(y) < 0',
                                       'sorted([y], key=helper) == 0'])
def test_a_step_does_not_go_into_what_a_condition_calls(lines: LineBreakpoints, program: ModuleType, condition: str) -> None:
    first = program.asked.__code__.co_firstlineno
    session = Session('step', 'step', 'step')
    lines.set(1, program.__file__, first + 1, None, session.hit)
    lines.set(2, program.__file__, first + 2, condition, session.hit)
    assert program.asked(1) == 3
    assert [line for _, _, line in session.places[:3]] == [first + 1, first + 2, first + 3]


def test_next_over_lines_with_breakpoints_stops_once_on_each(lines: LineBreakpoints, program: ModuleType) -> None:
    session = Session('next', 'next', 'next', 'next', 'cont', 'cont', 'cont', 'cont', 'cont')
    lines.set(1, program.__file__, 3, None, session.hit)
    lines.set(2, program.__file__, 5, 'i < 2', session.hit)
    assert program.looped(3) == 5
    assert session.places == [('line', 'breakpoint', 3), ('line', 'next', 4), ('line', 'breakpoint', 5), ('line', 'next', 4),
                              ('line', 'breakpoint', 5)]


def test_jump_at_a_stop(lines: LineBreakpoints, program: ModuleType) -> None:
    def jump(frame: FrameType) -> str:
        frame.f_lineno = 7
        return 'cont'
    session = Session(jump)
    lines.set(1, program.__file__, 5, 'i == 1', session.hit)
    assert program.looped(3) == 5
    assert session.places == [('line', 'breakpoint', 5)]


def test_a_condition_that_raises_stops_and_is_not_the_programs_error(lines: LineBreakpoints, program: ModuleType) -> None:
    session = Session()
    lines.set(1, program.__file__, 5, '1 / i > 5', session.hit)
    assert program.looped(3) == 5
    assert session.places == [('line', 'condition raised ZeroDivisionError', 5)]


def test_all_breakpoints_of_a_line_are_told_at_its_one_stop(lines: LineBreakpoints, program: ModuleType) -> None:
    session = Session('next', 'cont')
    lines.set(1, program.__file__, 5, 'i > 0', session.hit)
    lines.set(2, program.__file__, 5, '1 // i', session.hit)
    assert program.looped(3) == 5
    assert session.places == [('line', 'condition raised ZeroDivisionError', 5), ('line', 'next', 4),
                              ('line', 'breakpoint, breakpoint', 5), ('line', 'breakpoint', 5)]


def test_a_breakpoint_set_at_a_stop_counts_in_the_call_that_runs(lines: LineBreakpoints, program: ModuleType) -> None:
    session = Session()

    def set_another(frame: FrameType) -> str:
        placed = lines.set(2, program.__file__, 7, 'total == 4', session.hit)
        assert placed.how == 'compiled'
        assert placed.note.startswith('calls that have begun are ')
        return 'cont'
    session.script = [set_another]
    lines.set(1, program.__file__, 3, None, session.hit)
    assert program.looped(3) == 5
    assert [(reason, line, values.get('total')) for _, reason, line, values in session.stops] == [
        ('breakpoint', 3, None), ('breakpoint', 7, 4)]
    assert session.hits == 2
    session.stops.clear()
    assert program.looped(3) == 5               # the next call has both compiled in
    assert [(line, values.get('total')) for _, _, line, values in session.stops] == [(3, None), (7, 4)]
    lines.clear(1)
    lines.clear(2)
    assert sys.gettrace() is None
    if hasattr(sys, 'monitoring'):
        assert all(sys.monitoring.get_tool(tool) != 'pyfuncdbg lines' for tool in range(6))


def test_stepping_meets_a_breakpoint_set_meanwhile_in_a_caller_that_runs(lines: LineBreakpoints,
                                                                         program: ModuleType) -> None:
    def set_in_caller(frame: FrameType) -> str:
        lines.set(2, program.__file__, 37, 'first == 1', session.hit)
        lines.set(3, program.__file__, 41, 'z == 1', session.hit)
        return 'next'
    session = Session(set_in_caller, 'next')
    lines.set(1, program.__file__, 36, None, session.hit)
    assert program.late([1]) == 1
    assert session.places == [('line', 'breakpoint', 36), ('line', 'breakpoint', 37), ('line', 'breakpoint', 41)]


def test_a_suspended_generator(lines: LineBreakpoints, program: ModuleType) -> None:
    session = Session()
    waiting = program.generated(3)
    assert next(waiting) == 0
    lines.set(1, program.__file__, 32, 'i > 1', session.hit)
    assert list(waiting) == [1, 2]
    assert [(line, values['i']) for _, _, line, values in session.stops] == [(32, 2)]
    assert list(program.generated(3)) == [0, 1, 2]
    assert [(line, values['i']) for _, _, line, values in session.stops] == [(32, 2), (32, 2)]
    lines.clear(1)
    assert sys.gettrace() is None


@pytest.mark.parametrize('place', ['total += i', '+ 2)', 'return self.__n'])
@pytest.mark.parametrize(('form', 'when'), [
    ('{0}', True), ('any({0} for _ in (1,))', True), ('(lambda: {0})()', True), ('[_ for _ in (1,) if {0}]', True),
    ('all(not {0} for _ in (1,))', False)])
@pytest.mark.parametrize('asked', ["'{0}' in locals()", "'{0}' in vars()", "'{0}' in dir()", "'{1}' in globals()"])
def test_what_asks_for_the_variables_of_a_line_gets_the_functions(
        lines: LineBreakpoints, program: ModuleType, place: str, form: str, when: bool, asked: str) -> None:
    line = 1 + next(number for number, text in enumerate(PROGRAM.splitlines()) if place in text)
    name = {'total += i': 'total', '+ 2)': 'x', 'return self.__n': 'k'}[place]
    call = {'total': lambda: program.looped(1), 'x': lambda: program.long(1), 'k': lambda: program.Counter().add(2)}[name]
    session = Session()
    lines.set(1, program.__file__, line, form.format(asked.format(name, 'helper')), session.hit)
    call()
    assert (session.hits, [reason for _, reason, _, _ in session.stops]) == (int(when), ['breakpoint'] * when)
