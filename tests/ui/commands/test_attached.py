"""`commands`: set in every way, carried out once at each stop of its breakpoint, ended by what lets the thread go on."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scripted_stops import Typist, typing

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.breakpoints import file
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.breakpoint_commands import carry_out_commands, is_silent
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


def norm(x):
    a = x * 2
    return a / 2


def call(times: int = 1) -> None:
    for _ in range(times):
        tf.numpy_function(norm, [np.arange(3.0)], tf.float64, name='norm')


@pytest.fixture(autouse=True)
def left():
    yield
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


def commands(number: int) -> tuple[str, ...]:
    return debugger.breakpoints.entry(number).commands


class Follower(Typist):
    """Carries out commands of breakpoints first, as front ends do, twice, for a prompt may come back to a stop."""

    def interact(self, stop: Stop, broker: Broker) -> None:
        self.silent = is_silent(stop, debugger.breakpoints)
        context = Context(self.trace, stop, 80, debugger)  # type: ignore[arg-type]
        for _ in range(2):
            carry_out_commands(stop, debugger.breakpoints,
                               lambda line: self.said.append((line, execute(line, context).text(80))))
        if stop.decision is None:
            super().interact(stop, broker)


@pytest.mark.parametrize(('line', 'expected'), [
    ('commands {}\np x\nc\nend', ('p x', 'c')), ('commands\np x\nend', ('p x',)), ('commands {} p x ;; c', ('p x', 'c')),
    ('commands {}\nend', ()), ('commands {}\nsilent\nend\nignored', ('silent',)), ('commands {}', ('before',))])
def test_they_are_set_taken_away_and_shown(line, expected):
    number = debugger.breakpoints.set('norm').number
    debugger.breakpoints.entry(number).commands = ('before',)
    answer = execute(line.format(number), Context(None, debugger=debugger))  # type: ignore[arg-type]
    assert commands(number) == expected
    assert [text.strip() for text in answer.text().splitlines()[1:]] == list(expected)
    state = answer.result.breakpoints[0]
    assert state.commands == expected


def test_they_are_carried_out_once_at_each_stop_and_end_with_cont():
    number = debugger.breakpoints.set('norm').number
    debugger.breakpoints.entry(number).commands = ('silent', 'p x.sum()', 'c', 'p never')
    with typing(at_next_call=False, typist=Follower) as typist:
        call(3)
    assert [line for line, _ in typist.said] == ['p x.sum()', 'c'] * 3
    assert typist.said[0][1].strip() == 'float64 3.0'
    assert typist.silent and typist.stops == []


def test_those_of_a_line_and_of_two_breakpoints_at_one_place():
    line = norm.__code__.co_firstlineno + 1
    first, second = (debugger.breakpoints.set(f'{__file__}:{line + by}').number for by in (0, 1))
    debugger.breakpoints.entry(first).commands = ('p x.max()',)
    debugger.breakpoints.entry(second).commands = ('p a.max()',)
    with typing(at_next_call=False, typist=Follower) as typist:
        call()
    assert [(line, text.strip()) for line, text in typist.said if line.startswith('p ')] == [
        ('p x.max()', 'float64 2.0'), ('p a.max()', 'float64 4.0')]


def test_a_condition_that_raises_is_seen_before_they_run():
    number = debugger.breakpoints.set('norm', 'x.nothing > 1').number
    debugger.breakpoints.entry(number).commands = ('c',)
    with typing('c', at_next_call=False, typist=Follower) as typist:
        call()
    assert len(typist.stops) == 1


def test_without_a_breakpoint_there_is_nothing_to_give_them_to():
    with pytest.raises(Exception, match='no breakpoint is set'):
        execute('commands\nc\nend', Context(None, debugger=debugger))  # type: ignore[arg-type]
    debugger.breakpoints.set('norm')
    with pytest.raises(Exception, match='99'):
        execute('commands 99\nc\nend', Context(None, debugger=debugger))  # type: ignore[arg-type]


def test_a_file_of_breakpoints_keeps_them(tmp_path: Path):
    number = debugger.breakpoints.set('norm').number
    debugger.breakpoints.entry(number).commands = ('silent', 'p "a"', 'c')
    file.save(debugger.breakpoints, tmp_path / 'b.toml')
    debugger.breakpoints.clear(number)
    loaded = file.load(debugger.breakpoints, tmp_path / 'b.toml').numbers
    assert commands(loaded[0]) == ('silent', 'p "a"', 'c')
    (tmp_path / 'b.toml').write_text('[[breakpoint]]\nspec = "other"\ncommands = [1]\n')
    with pytest.raises(Exception, match=r"'commands' is .1., expected a list of str"):
        file.load(debugger.breakpoints, tmp_path / 'b.toml')
