"""`break` and its kin as typed: what they set, what they answer, and mistakes that change nothing."""
from __future__ import annotations

import json
import os

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.ui.commands.break_commands import breakpoint_of
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.sample_trace import sample


def function(x, k=2):
    y = x * np.float32(k)
    return y.copy()


LINE = function.__code__.co_firstlineno + 2


class Typing:
    """Types lines at each stop and keeps the answers."""

    name, priority = 'test', 1

    def __init__(self, debugger):
        self.debugger = debugger
        self.lines = []
        self.answers = []
        self.stops = []

    def usable(self):
        return True

    def interact(self, stop, broker):
        self.stops.append((stop.phase, stop.reason))
        lines, self.lines = self.lines, []
        for line in lines:
            try:
                self.answers.append(execute(line, Context(sample(), stop, 120, self.debugger)).text(120))
            except CommandError as error:
                self.answers.append(f'! {error}')
        stop.decide('cont')


@pytest.fixture
def debugger():
    made = Debugger()
    yield made
    for number in list(made.breakpoints.entries):
        made.breakpoints.clear(number)
    made.leave()


@pytest.fixture
def typed(debugger):
    """`typed(line)`: the answer of a command outside of any stop."""
    return lambda line: execute(line, Context(sample(), None, 120, debugger))


@pytest.fixture
def at_stop(debugger):
    """`at_stop(*lines)`: the answers typed at a stop before a call of `function` as node 'norm'; what stopped after it."""
    front_end = Typing(debugger)
    debugger.broker.add(front_end)

    def run(*lines, at='norm[0]', count=3):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
            tf.multiply(tf.numpy_function(function, [x], tf.float32, name='norm'), 2., name='out')
        if at:
            execute(f'break {at}', Context(sample(), None, 120, debugger))
        front_end.lines, front_end.answers, front_end.stops = list(lines), [], []
        with tf.compat.v1.Session(graph=graph) as session:
            for i in range(count):
                session.run('out:0', {'x:0': np.full(2, i, np.float32)})
        return front_end.answers, front_end.stops
    return run


def only(debugger):
    (entry,) = debugger.breakpoints.entries.values()
    return entry.breakpoint


@pytest.mark.parametrize(('line', 'facts'), [
    ('break norm', ('norm', None, 'before', 'stop', False, 1, 0)),
    ('b norm if x > 3', ('norm', 'x > 3', 'before', 'stop', False, 1, 0)),
    ('tbreak norm', ('norm', None, 'before', 'stop', True, 1, 0)),
    ('break norm --every 3 --after=2 --once if out > 3', ('norm', 'out > 3', 'after-call', 'stop', True, 3, 2)),
    ('break --error --do log norm', ('norm', None, 'error', 'log', False, 1, 0)),
    ('break norm if out > 3 --once --every 2', ('norm', 'out > 3', 'after-call', 'stop', True, 2, 0)),
    ('break norm if x - -1 > 3  --do snap', ('norm', 'x - -1 > 3', 'before', 'snap', False, 1, 0)),
    ("break norm if call == '--once' or 'if' in \"it's >> x\"",
     ('norm', "call == '--once' or 'if' in \"it's >> x\"", 'before', 'stop', False, 1, 0)),
    ('break lay[0-9]*/norm --gradient', ('lay[0-9]*/norm', None, 'gradient', 'stop', False, 1, 0)),
    ('break norm[3] if(x) > 1', ('norm[3]', '(x) > 1', 'before', 'stop', False, 1, 0)),
])
def test_a_line_sets(debugger, typed, line, facts):
    typed(line)
    assert facts_of(only(debugger)) == facts
    assert debugger.on


def facts_of(one):
    condition = one.when.text if one.when is not None else None
    return one.spec.text, condition, one.timing, one.do, one.once, one.every, one.after


@pytest.mark.parametrize(('place', 'condition', 'facts'), [
    ('norm', None, ('norm', None, 'before', 'stop', False, 1, 0)),
    ('norm --error', None, ('norm', None, 'error', 'stop', False, 1, 0)),
    ('norm --every 3 --once', 'x > 3', ('norm', 'x > 3', 'before', 'stop', True, 3, 0)),
    ('norm --after=2', 'out > 3 --do log', ('norm', 'out > 3', 'after-call', 'log', False, 1, 2)),
    ('norm', "call == '--once'", ('norm', "call == '--once'", 'before', 'stop', False, 1, 0)),
    ('some folder/model.py:3 --every 2', None, ('some folder/model.py:3', None, 'before', 'stop', False, 2, 0)),
])
def test_an_option_of_the_command_line_has_those_of_break(debugger, place, condition, facts):
    spec, when, settings = breakpoint_of(place, condition)
    debugger.breakpoints.check(spec, when, **settings)
    assert not debugger.breakpoints.entries
    assert facts_of(debugger.breakpoints.set(spec, when, **settings)) == facts


@pytest.mark.parametrize(('text', 'facts'), [
    ('norm if x > 3', ('norm', 'x > 3', 'before', 'stop', False, 1, 0)),
    ('norm if(x) > 3 --once', ('norm', '(x) > 3', 'before', 'stop', True, 1, 0)),
    ('norm --every 3 if x if y else z', ('norm', 'x if y else z', 'before', 'stop', False, 3, 0)),
    ('model.py:3, x > 3', ('model.py:3', 'x > 3', 'before', 'stop', False, 1, 0)),
    ('model.py:3,x > 3 --do log', ('model.py:3', 'x > 3', 'before', 'log', False, 1, 0)),
])
def test_the_command_and_the_option_have_one_grammar(debugger, typed, text, facts):
    spec, when, settings = breakpoint_of(text)
    made = debugger.breakpoints.set(spec, when, **settings)
    assert facts_of(made) == facts
    debugger.breakpoints.clear(made.number)
    typed(f'break {text}')
    assert facts_of(only(debugger)) == facts
    typed(f'condition {only(debugger).number} if(x) == 1')
    assert only(debugger).when.text == '(x) == 1'


@pytest.mark.parametrize(('place', 'message'), [
    ('norm --eror', "unrecognized arguments: --eror. Did you mean '--error'"), ('norm --every x', "'x' is not an integer"),
    ('norm --once other', "expected 'if CONDITION' or nothing after the options of break, not 'other'"),
    ('norm --error --before', 'not allowed with'),
    ('model.py:3 --error', '--error is for calls'), ('norm --every 0', "'0' is not an integer")])
def test_a_wrong_option_of_the_command_line(debugger, place, message):
    with pytest.raises(CommandError) as caught:
        spec, when, settings = breakpoint_of(place, None)
        debugger.breakpoints.check(spec, when, **settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(('line', 'why'), [
    ('break norm x > 3', "expected 'if' and a condition after SPEC, not 'x > 3'"), ('break norm if', "missing after 'if'"),
    ('break norm --befor', "Did you mean '--before'"), ('break norm --every 0', '0'), ('break norm --do jump', 'jump'),
    ('break norm --before --error', 'not allowed with'), ('break norm if x >> > 3', 'bad condition: invalid syntax\n'),
    ('break if x > 1', 'no line of Python is selected here'),
    ('break 12', 'line 12: no source file is selected here; type FILE:12'),
    ('enable', "expected numbers of breakpoints, or 'all'"),
    ('disable 3', 'no breakpoint 3; none is set'), ('clear norm', "no breakpoint 'norm'"),
    ('condition 1 x', 'no breakpoint 1'),
    ('ignore 1 -3', "'-3' is not a number of hits"), ('catch maybe', 'maybe'), ('break #0', 'not a call number'),
    ('breaks --load /none.toml', 'cannot read'),
])
def test_a_mistake_sets_nothing(debugger, typed, line, why):
    with pytest.raises(CommandError) as raised:
        typed(line)
    assert why in str(raised.value)
    assert not debugger.breakpoints.entries
    assert not debugger.on


def test_a_name_that_nothing_has_yet_waits(debugger, typed):
    text = typed('break norn').text(120)
    first, second = text.splitlines()
    assert first == 'breakpoint 1 set at norn   before'
    assert second.startswith("nothing of that name is known yet: it waits for one. Did you mean 'norm'")
    assert 'nothing of that name' not in typed('break norm').text(120)
    assert 'nothing of that name' not in typed('break no*').text(120)


def test_at_a_stop_the_function_is_known(at_stop, debugger):
    answers, stops = at_stop('break norm if q > 1', 'break function if x.sum() > 2 and k == 2',
                             'break out if inputs[0].max() > 3', 'break #1', f'break {__file__}:{LINE} if y.sum() > 100')
    assert answers[0].startswith("! bad condition: unknown name 'q'; the function has x, k.")
    assert answers[1] == 'breakpoint 2 set at function if x.sum() > 2 and k == 2   inside   norm\n'
    assert 'call #1 is over: this is #' in answers[3]
    assert stops == [('before', 'breakpoint 1'), ('call', 'breakpoint 2'), ('before', 'breakpoint 3')]


def test_break_alone_lists_and_a_condition_alone_is_at_the_line_that_is_looked_at(at_stop, debugger):
    answers, _ = at_stop('break', 'break if y.sum() > 2', f'break {LINE} --once', 'b', at=f'{__file__}:{LINE}')
    assert answers[0].startswith('1 breakpoint\n') and answers[3].startswith('3 breakpoints\n')
    assert [answer.split('   ')[0] for answer in answers[1:3]] == [
        f'breakpoint 2 set at {os.path.relpath(__file__)}:{LINE} if y.sum() > 2',
        f'breakpoint 3 set at {os.path.relpath(__file__)}:{LINE}']


def test_a_condition_alone_at_a_node_is_at_the_node_and_a_number_is_a_line_of_its_function(at_stop, debugger):
    answers, stops = at_stop('break if x[0] == 2', f'break {LINE}', 'up', 'break if True', 'clear 1 3 4', at='norm[1]')
    assert answers[0] == 'breakpoint 2 set at norm if x[0] == 2   before\n'
    assert answers[1].startswith(f'breakpoint 3 set at {os.path.relpath(__file__)}:{LINE}   before')
    assert answers[3] == 'breakpoint 4 set at out if True   before\n'
    assert stops == [('before', 'breakpoint 1'), ('before', 'breakpoint 2')]


@pytest.mark.parametrize(('words', 'condition'), [
    ('{at}, y.sum() > 2', 'y.sum() > 2'), ('{at},y.sum() > 2', 'y.sum() > 2'), ('{at} , y.sum() > 2', 'y.sum() > 2'),
    ('{at},True', 'True'), ('{line}, y.sum() > 2 --once', 'y.sum() > 2'), ('norm, x[0] == 2', 'x[0] == 2')])
def test_pdbs_comma_before_a_condition(at_stop, debugger, words, condition):
    answers, _ = at_stop('break ' + words.format(at=f'{__file__}:{LINE}', line=LINE), at='norm[1]')
    place = 'norm' if words.startswith('norm') else f'{__file__ if "at" in words else os.path.relpath(__file__)}:{LINE}'
    assert answers[0].startswith(f'breakpoint 2 set at {place} if {condition}   before')


def test_the_same_breakpoint_is_said_and_not_made_again(typed, debugger):
    def said(line):
        return typed(line).text(120)
    typed('break norm')
    typed(f'break {__file__}:{LINE}, y > 1')
    for words in ('norm', ' norm'):
        assert said(f'break {words}').startswith('breakpoint 1 is there already at norm')
    assert said(f'break {__file__}:{LINE} if y > 1').startswith('breakpoint 2 is there already at ')
    relative = os.path.relpath(__file__)
    for name in (relative, os.path.join(os.curdir, relative), os.path.realpath(__file__)):
        assert said(f'break {name}:{LINE} if y > 1').startswith('breakpoint 2 is there already at ')
    typed('disable 1')
    assert said('break norm').rstrip().endswith('off')
    for number, words in enumerate(('norm --before', 'norm --once', 'norm if x > 1', 'norm[1]', 'norm --after-call',
                                    'norm --do log'), 3):
        assert said(f'break {words}').startswith(f'breakpoint {number} set at norm')
    assert len(debugger.breakpoints.entries) == 8


def test_the_table(typed, debugger):
    typed('break norm if has_nan(out) --every 2')
    typed('tbreak absent_op')
    typed('disable 2')
    typed('catch')
    lines = typed('breaks').text(120).splitlines()
    assert lines[0] == '2 breakpoints   catch: on'
    assert lines[3].split() == ['1', 'norm', 'has_nan(out)', 'after', 'call', '0', 'stop,', 'every', '2']
    assert lines[4].split() == ['2', 'absent_op', 'before', '0', 'stop,', 'once,', 'off']
    answer = json.loads(typed('breaks --json').json)
    assert answer['catching'] is True
    assert [(one['number'], one['condition'], one['enabled']) for one in answer['breakpoints']] == [
        (1, 'has_nan(out)', True), (2, '', False)]


def test_changing(typed, debugger):
    typed('break norm if x > 1')
    typed('break absent_op')
    typed('condition 1 out.max() > 3 -- 4')
    assert debugger.breakpoints.entry(1).breakpoint.when.text == 'out.max() > 3 -- 4'
    assert debugger.breakpoints.entry(1).breakpoint.timing == 'after-call'
    typed('condition 1')
    assert debugger.breakpoints.entry(1).breakpoint.when is None
    typed('ignore 2 5')
    assert debugger.breakpoints.entry(2).breakpoint.after == 5
    typed('disable all')
    assert [entry.breakpoint.enabled for entry in debugger.breakpoints.entries.values()] == [False, False]
    typed('enable 2')
    with pytest.raises(CommandError, match='no breakpoint 9; there are 1, 2'):
        typed('clear 1 9')
    assert list(debugger.breakpoints.entries) == [1, 2]
    assert typed('clear absent_op 1').text(120).splitlines() == [
        'breakpoint 2 cleared at absent_op   before, stop, ignores 5 more',
        'breakpoint 1 cleared at norm   after call, stop, off']
    assert typed('clear all').text(120) == 'no breakpoint is set\n'
    typed('catch on')
    assert debugger.catching
    typed('catch off')
    assert not debugger.catching


@pytest.mark.parametrize('at', ['norm[0]', 'out[0]'])
def test_a_bare_line_is_one_of_the_file_that_is_looked_at(at_stop, debugger, at):
    """Before a function its own; at a node without one where the program made it."""
    answers, stops = at_stop(f'b {LINE}', f'b {LINE}', 'b 0', at=at, count=1)
    place = f'{os.path.relpath(__file__)}:{LINE}'
    assert answers[0].startswith(f'breakpoint 2 set at {place}   before')
    assert answers[1].startswith(f'breakpoint 2 is there already at {place}')
    assert answers[2] == "! '0': line numbers start at 1"
    assert [reason for _, reason in stops] == ['breakpoint 1', *['breakpoint 2'] * (at == 'norm[0]')]


def test_save_and_load(typed, debugger, tmp_path):
    path = tmp_path / 'mine.toml'
    typed('break norm if has_nan(out) --once')
    assert typed(f'breaks --save "{path}"').text(200) == f'1 breakpoint saved to {path}\n'
    typed('clear all')
    assert typed(f'breaks --load "{path}"').text(200) == f'1 breakpoint loaded from {path}\n'
    assert (only(debugger).number, str(only(debugger)), only(debugger).once) == (2, 'norm if has_nan(out)', True)


def test_what_a_program_calls_itself_is_shown_escaped(typed):
    text = typed('break "evil\x1b[31m"').text(120)
    assert '\x1b' not in text
    assert 'evil\\x1b[31m' in text
    assert '\x1b' not in typed('breaks').text(120)
