"""DebugSession and debug(): stops around runs, and a program that gets what it would get without them."""
from __future__ import annotations

import gc
import io
import json
import pickle
import random
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest
from rich.console import Console
from scripted_user import ScriptedUser, context_of

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError, InvalidArgumentError, PyfuncdbgError, RunAborted
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.commands.engine.to_json import to_json
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.run import at_run, draw_at_run
from pyfuncdbg.ui.commands.table import TABLE

v1 = tf.compat.v1


class Program:
    """A graph: a -> b (Python, raises above 100) -> c -> d (log, NaN below -1), and a variable that counts runs of e."""

    def __init__(self) -> None:
        self.op_hooks: list[int] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.a = v1.placeholder(tf.float32, [2], name='a')
            self.b = tf.numpy_function(self.double, [self.a], tf.float32, name='b')
            self.c = tf.add(self.b, 1.0, name='c')
            self.d = tf.math.log(self.c, name='d')
            self.count = v1.Variable(0.0, name='count')
            self.e = tf.identity(v1.assign_add(self.count, 1.0), name='e')

    def double(self, x):
        self.op_hooks.append(bool(hooks.op))
        if x[0] > 100:
            raise ValueError('too big')
        return x * 2

    def feed(self, value):
        return {self.a: np.array([value, value + 1], np.float32)}

    def session(self):
        session = tf.Session(graph=self.graph)
        session.run(self.count.initializer)
        return session


@pytest.fixture
def program():
    return Program()


def plain_text(drawn) -> str:
    console = Console(width=120, color_system=None, file=io.StringIO())
    console.print(drawn)
    return console.file.getvalue()


def looks(shown):
    """At a stop around a run: keep what it shows, which can be drawn and written."""
    def look(stop):
        found = at_run(context_of(stop))
        draw_at_run(found)
        assert json.loads(to_json(found))
        shown.append(found)
    return look


def test_a_constant_that_a_branch_captures_is_an_input_of_the_node():
    shown = []
    with tf.Graph().as_default():
        x, p = tf.constant(1.0, name='x'), tf.placeholder(tf.bool, [], name='p')
        chosen = tf.cond(p, lambda: x * 2.0, lambda: x * 3.0)
        (gradient,) = tf.gradients(chosen, x)
        with ScriptedUser([lambda stop: shown.append(execute('li cond', context_of(stop)).text()), 'run -n']):
            assert pyfuncdbg.DebugSession(tf.Session()).run([chosen, gradient], {p: False}) == [3.0, 3.0]
    assert [line.split()[1:3] for line in shown[0].splitlines()[2:]] == [['p:0', 'from'], ['x:0', 'constant']]


def test_values_at_the_ends_of_a_run_are_those_of_the_record(program):
    said = []

    def look(stop):
        for line in ('eval b', 'eval `b:0` + 1', 'eval b:0 + b + d * 0', 'health', 'lp'):
            try:
                said.append(execute(line, context_of(stop)).text(200))
            except CommandError as error:
                said.append(str(error))
    with ScriptedUser([look, 'run', look, 'run -n']):
        session = pyfuncdbg.DebugSession(program.session())
        session.run([program.d, program.b], program.feed(1))
    before, after = said[:5], said[5:]
    assert "'b:0' has no value yet: no node of this run has been executed" in before[0]
    assert 'nodes of the graph were not recorded: --ops does that' in before[3]
    assert [text.split()[-2:] for text in after[:3]] == [['2', '4'], ['3', '5'], ['4', '8']]
    remark = 'nodes of the graph were recorded only where they were stepped through: --ops records all'
    assert remark in after[3] and remark in after[4]


def test_calls_of_runs_that_an_order_covers_go_past_the_debugger_and_are_recorded(program, monkeypatch):
    seen, text = [], []
    around = type(debugger)._around_call
    monkeypatch.setattr(type(debugger), '_around_call', lambda self, call, proceed: (
        seen.append(call.site.name), around(self, call, proceed))[1])
    with ScriptedUser(['run -t 4', lambda stop: text.append(execute('calls', context_of(stop)).text()), 'run -n']):
        session = pyfuncdbg.DebugSession(program.session())
        for number in range(3):
            session.run(program.d, program.feed(number))
        assert 'b' not in seen
        session.run(program.d, program.feed(3))        # the last stops at its end, and is watched
    assert 'b' in seen
    assert [f'b[{number}]' in text[0] for number in range(4)] == [True] * 4


def test_the_nodes_of_a_run_can_be_looked_at_on_its_card(program):
    shown = {}

    def look(stop):
        for line in ('ni b', 'li d', 'graph'):
            shown[line] = execute(line, context_of(stop)).text()
    with ScriptedUser([look, 'run -n', look, 'run -n']):
        session = pyfuncdbg.DebugSession(program.session())
        session.run(program.d, program.feed(1))
        assert 'double' in shown['ni b'] and 'tf.numpy_function' in shown['ni b']
        assert 'b:0 Program.double' in shown['li d'] and '3 nodes' in shown['graph']
        first = shown['graph'].splitlines()[0]
        session.run(program.c, program.feed(1))
        assert '2 nodes' in shown['graph'] and shown['graph'].splitlines()[0] != first


# ------------------------------------------------------------------ being a session
def test_it_is_accepted_wherever_a_session_is(program) -> None:
    with ScriptedUser() as user:
        plain = program.session()
        session = pyfuncdbg.DebugSession(plain)
        assert isinstance(session, tf.Session)
        assert session.graph is program.graph and session.sess_str == b'' and session.graph_def == plain.graph_def
        assert str(session.list_devices()) == str(plain.list_devices()) and set(dir(plain)) <= set(dir(session))
        np.testing.assert_array_equal(program.c.eval(program.feed(1), session=session), [3, 5])
        program.e.op.run(session=session)
        with session.as_default():
            assert tf.get_default_session() is session
            assert program.count.eval() == 1
        with session as inner:
            assert inner is session and tf.get_default_graph() is program.graph
            assert program.e.eval() == 2
        assert user.phases == ['run'] * 4
        with pytest.raises(RuntimeError, match='Attempted to use a closed Session'):
            plain.run(program.count)
        with pytest.raises(RuntimeError, match='Attempted to use a closed Session'):
            session.run(program.count)


@pytest.mark.filterwarnings("ignore:Pickle, copy:DeprecationWarning")
def test_weak_references_pickles_and_attributes_are_those_of_a_session(program) -> None:
    with ScriptedUser():
        plain = program.session()
        session = pyfuncdbg.DebugSession(plain)
        with pytest.raises((TypeError, AttributeError)) as of_plain:
            pickle.dumps(plain)
        with pytest.raises(type(of_plain.value)) as of_debugged:
            pickle.dumps(session)
        assert str(of_plain.value) == str(of_debugged.value)
        session.note = 3
        assert plain.note == 3
        del session.note
        assert not hasattr(plain, 'note')
        with pytest.raises(AttributeError, match='nonsense'):
            _ = session.nonsense
        reference, of_wrapped = weakref.ref(session), weakref.ref(plain)
        session.run(program.count)
        del session, plain
        gc.collect()
        assert reference() is None and of_wrapped() is None


def test_an_interactive_session_stays_the_default_one(program) -> None:
    with ScriptedUser() as user:
        before = tf.get_default_session()
        session = pyfuncdbg.DebugSession(tf.InteractiveSession(graph=program.graph))
        np.testing.assert_array_equal(program.c.eval(program.feed(1)), [3, 5])
        assert user.phases == ['run'] and isinstance(session, tf.InteractiveSession)
        session.close()
        assert tf.get_default_session() is before


def test_what_cannot_be_wrapped_is_refused() -> None:
    for what in ([], tf.Session, None):
        with pytest.raises(CommandError, match='DebugSession wraps a Session'):
            pyfuncdbg.DebugSession(what)
    with pytest.raises(CommandError, match=r"'promt'.*Did you mean 'prompt'"):
        pyfuncdbg.DebugSession(tf.Session(), ui='promt')
    with pytest.raises(CommandError, match='a function or a Session; this is a int'):
        pyfuncdbg.debug(3)


# ------------------------------------------------------------------ stops around runs
def test_the_card_says_what_will_run_and_the_end_what_came_out(program) -> None:
    cards = []
    with ScriptedUser([looks(cards), 'run', looks(cards), 'run']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        session.run([program.d, program.e.op], program.feed(1))
    assert user.phases == ['run', 'end']
    before, after = cards
    assert (before.number, before.fetches) == (1, ('d:0',)) and before.title.startswith('session ')
    assert [(one.name, one.dtype, one.shape) for one in before.feeds] == [('a:0', 'float32', (2,))]
    assert before.functions == 1 and before.nodes >= 4 and before.thread == threading.get_native_id()
    assert after.end.run == before.run and after.end.fetches[0].name == 'd:0' and not after.end.error
    made = {tensor.name: tensor.to_numpy() for _, tensor in after.tensors.rows if tensor.level == 'full'}
    np.testing.assert_array_equal(made['c:0'], [3, 5])
    np.testing.assert_array_equal(made['a:0'], [1, 2])
    names = set(TABLE.names)
    assert before.suggestions and {one.command.split()[0] for one in (*before.suggestions, *after.end.suggestions)} <= names


def test_the_card_of_a_run_that_fetches_no_tensor_says_up_to_where_it_runs() -> None:
    cards: list = []
    with tf.Graph().as_default():
        tf.compat.v1.get_variable('w', initializer=np.float32([1, 2]))
        with ScriptedUser([looks(cards), 'run']), tf.compat.v1.Session() as plain:
            pyfuncdbg.DebugSession(plain).run(tf.compat.v1.global_variables_initializer())
    (card,) = cards
    assert (card.fetches, card.last) == ((), 'init')
    output = io.StringIO()
    Console(file=output, width=100).print(draw_at_run(card))
    assert "no tensor: it runs up to 'init'" in output.getvalue()


def test_a_failing_run_shows_the_node_and_raises_what_it_would_have_raised(program) -> None:
    shown = []
    with ScriptedUser(['cont', looks(shown), 'cont']) as user:
        plain = program.session()
        with pytest.raises(InvalidArgumentError) as expected:
            plain.run(program.d, program.feed(200))
        session = pyfuncdbg.DebugSession(plain)
        with pytest.raises(InvalidArgumentError) as raised:
            session.run(program.d, program.feed(200))
    assert user.phases == ['run', 'end']
    (end,) = (result.end for result in shown)
    assert (end.error_type, end.error) == ('InvalidArgumentError', 'ValueError: too big')
    assert (end.failure.node, end.failure.op_type) == ('b', 'PyFunc')
    assert end.failure.created.filename == __file__ and end.failure.inputs[0].to_numpy().tolist() == [200, 201]
    assert str(raised.value) == str(expected.value) and raised.value.op is expected.value.op
    assert type(raised.value.__cause__) is ValueError
    last = [traceback.extract_tb(error.__traceback__)[-1] for error in (raised.value.__cause__, expected.value.__cause__)]
    assert (last[0].name, last[0].lineno) == (last[1].name, last[1].lineno) == ('double', last[0].lineno)


def test_a_failing_kernel_is_named_too(program) -> None:
    shown = []
    with program.graph.as_default():
        loose = v1.placeholder(tf.float32, name='loose')
        wrong = tf.matmul(loose, tf.ones([3, 1]), name='wrong')
    with ScriptedUser(['run', looks(shown)]):
        session = pyfuncdbg.DebugSession(program.session())
        with pytest.raises(InvalidArgumentError):
            session.run(wrong, {loose: [[1, 2]]})
    assert shown[0].end.failure.node == 'wrong' and 'Graph execution error' not in shown[0].end.error


def test_errors_before_a_run_begins_pass(program) -> None:
    with ScriptedUser() as user:
        session = pyfuncdbg.DebugSession(program.session())
        with pytest.raises(ValueError, match='Cannot feed value of shape'):
            session.run(program.d, {program.a: [1, 2, 3]})
    assert user.stops == []


def test_nodes_are_watched_in_debugged_runs_only(program) -> None:
    with ScriptedUser(['run', 'run', 'run -n', 'run -t 2', 'quit']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        for _ in range(6):
            session.run(program.d, program.feed(1))
    assert user.phases == ['run', 'end', 'run', 'run', 'end']
    assert program.op_hooks == [1, 0, 0, 1, 0, 0]


def test_a_run_without_debugging_is_not_recorded(program) -> None:
    found = []

    def values(stop):
        found.append([tensor.to_numpy().tolist() for call, tensor in debugger.live.trace().tensors(site='b')
                      if call.site.kind == 'python'])

    with ScriptedUser(['run -n', 'run', values, 'cont']):
        session = pyfuncdbg.DebugSession(program.session())
        for value in (1, 2):
            session.run(program.b, program.feed(value))
    assert found == [[[4, 6]]]


def test_after_n_runs_it_stops_at_the_end_of_the_last(program) -> None:
    with ScriptedUser(['run -t 3', 'run -t 2', 'cont']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        for _ in range(6):
            session.run(program.e)
    assert [(phase, reason.rpartition(' of ')[0]) for phase, reason in user.stops] == [
        ('run', '1st run'), ('end', 'end of 3rd run'), ('end', 'end of 5th run'), ('run', '6th run')]


def test_run_until_a_tensor_passes_lists_all_that_do(program) -> None:
    shown = []
    with ScriptedUser(['run -f has_inf_or_nan', looks(shown), 'cont']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        for value in (1, 2, -5, 3):
            session.run(tf.identity(program.d) if value == 2 else program.d, program.feed(value))
    assert [reason.rpartition(' of ')[0] for _, reason in user.stops] == ['1st run', 'end of 3rd run', '4th run']
    assert [one.name for one in shown[0].end.passed] == ['d:0'] and shown[0].end.test == 'has_inf_or_nan'


def test_each_tensor_that_passed_has_its_call_and_what_is_suggested_shows_that_one() -> None:
    shown, values = [], []

    def follow(stop):
        (line,) = [one.command for one in shown[0].end.suggestions if one.command.startswith('pt ')]
        values.append((line, float(execute(line, context_of(stop)).result.values)))

    with tf.Graph().as_default(), ScriptedUser(['run -f out.ndim == 0 and 3.5 < out < 7.5', looks(shown), follow, 'cont']):
        x = tf.compat.v1.placeholder(tf.float64, [], name='x')
        _, total = tf.while_loop(
            lambda i, s: i < 4, lambda i, s: (i + 1, tf.numpy_function(lambda v: v + 2.0, [s], tf.float64, name='up')),
            [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])
        session = pyfuncdbg.DebugSession(tf.compat.v1.Session())
        assert session.run(total, {x: 1.0}) == 9.0
    passed = [one for one in shown[0].end.passed if one.name.endswith('up:0')]
    assert len({one.call for one in passed}) == 2 and all(one.call for one in passed), passed   # 5 and 7 of 3, 5, 7, 9
    first = shown[0].end.passed[0]
    assert values == [(f"pt '{first.call}:{first.slot}'", 5.0)]
    assert f'{first.name}  {first.call}  float64' in plain_text(draw_at_run(shown[0]))


def test_a_test_sees_feeds_and_may_raise(program) -> None:
    shown = []
    script = ['run -f absmax(out) > 90', looks(shown),
              'run -f out[7] > 0', looks(shown)]
    with ScriptedUser(script):
        session = pyfuncdbg.DebugSession(program.session())
        session.run(program.d, program.feed(95))
        session.run(program.d, program.feed(1))
    assert [one.name for one in shown[0].end.passed] == ['a:0', 'b:0', 'c:0']
    assert all('IndexError' in one.error for one in shown[1].end.passed) and len(shown[1].end.passed) == 4


@pytest.mark.parametrize(('line', 'told'), [
    ('run -t 0', "'0' is not an integer from 1"), ('run -t 2 -n', '-n and -t exclude each other'),
    ('run fast', "'fast' is not an option"), ('run -f', '-f needs a predicate'), ('run -f has_non', 'has_nan'),
    ('run -f history[-1]', "'history'"), ('run -f 1 +', 'bad condition'), ('run -f 1 < 2', "call it 'out'"),
])
def test_mistakes_are_told_and_change_nothing(program, line, told) -> None:
    with ScriptedUser([line, 'run']) as user:
        pyfuncdbg.DebugSession(program.session()).run(program.e)
    assert told in user.answers[0] and user.phases == ['run', 'end']


def test_node_by_node_from_the_first(program) -> None:
    at = []

    def place(stop):
        at.append((stop.phase, stop.control.position if stop.control is not None else None))

    with ScriptedUser(['node', place, 'node', place, 'node', place, 'cont', place, 'cont']):
        session = pyfuncdbg.DebugSession(program.session())
        np.testing.assert_array_equal(session.run(program.c, program.feed(1)), [3, 5])
    assert at == [('node', 0), ('node', 1), ('node', 2), ('end', None)]


def test_into_stops_at_the_first_line_of_the_first_python_function(program) -> None:
    lines = []

    def place(stop):
        lines.append((stop.phase, stop.frames[-1].frame.f_code.co_name))

    with ScriptedUser(['into', place, 'cont']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        session.run(program.d, program.feed(1))
    assert lines == [('line', 'double')] and user.phases[-1] == 'end'


def test_next_at_a_card_stops_at_the_programs_next_line(program) -> None:
    lines = []

    def place(stop):
        lines.append((stop.phase, stop.frames[-1].frame.f_code.co_name))

    with ScriptedUser([lambda stop: stop.decide('next'), place, 'cont']):
        session = pyfuncdbg.DebugSession(program.session())
        session.run(program.e)
        assert True
    assert lines == [('line', 'test_next_at_a_card_stops_at_the_programs_next_line')]


def test_run_again_after_a_failure_when_the_user_retries(program) -> None:
    wrong = [True]

    def once(x):
        if wrong:
            raise ValueError('not yet')
        return x

    with program.graph.as_default():
        late = tf.numpy_function(once, [program.a], tf.float32, name='late')
    with ScriptedUser(['run', lambda stop: (wrong.clear(), stop.decide('retry')), 'cont']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        np.testing.assert_array_equal(session.run(late, program.feed(1)), [1, 2])
    assert user.phases == ['run', 'end', 'end']


def test_abort_ends_the_run_and_the_next_one_is_debugged_again(program) -> None:
    with ScriptedUser(['abort', 'run', 'abort']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        for _ in range(2):
            with pytest.raises(RunAborted):
                session.run(program.e)
        session.debugging = False
        assert session.run(program.count) == 1           # the first was aborted before it began, the second after it
    assert user.phases == ['run', 'run', 'end']


def test_ctrl_c_at_a_card_reaches_the_program(program) -> None:
    def interrupt(stop):
        raise KeyboardInterrupt

    with ScriptedUser([interrupt]) as user:
        session = pyfuncdbg.DebugSession(program.session())
        with pytest.raises(KeyboardInterrupt):
            session.run(program.e)
        assert session.run(program.e) == 1 and user.phases == ['run', 'run']


def test_breakpoints_stop_in_the_middle_wherever_they_are_set(program) -> None:
    def set_at(place):
        return lambda stop: numbers.append(debugger.breakpoints.set(place).number)

    numbers: list[int] = []
    cards: list = []
    script = [set_at('c'), 'run', set_at('d'), 'cont', 'cont', looks(cards), 'run',
              looks(cards), 'cont', 'cont', 'cont', 'run -n']
    try:
        with ScriptedUser(script) as user:
            session = pyfuncdbg.DebugSession(program.session())
            for _ in range(3):
                session.run(program.d, program.feed(1))
            assert [(phase, reason.rpartition(' of ')[0] or reason) for phase, reason in user.stops] == [
                ('run', '1st run'), ('before', f'breakpoint {numbers[0]}'), ('before', f'breakpoint {numbers[1]}'),
                ('end', 'end of 1st run'),
                ('run', '2nd run'), ('before', f'breakpoint {numbers[0]}'), ('before', f'breakpoint {numbers[1]}'),
                ('run', '3rd run')]
    finally:
        for number in numbers:
            debugger.breakpoints.clear(number)
    assert cards[0].end.run and cards[1].breakpoints == (f'{numbers[0]} c', f'{numbers[1]} d')
    assert hooks.op == ()


# ------------------------------------------------------------------ on and off
def test_quit_leaves_debugging_for_all_and_each_can_come_back(program) -> None:
    with ScriptedUser(['quit', 'cont']) as user:
        one, two = (pyfuncdbg.DebugSession(program.session()) for _ in range(2))
        one.run(program.e)
        assert not one.debugging and not two.debugging and not debugger.on
        one.run(program.e)
        two.run(program.e)
        assert user.phases == ['run']
        two.debugging = True
        one.run(program.e)
        two.run(program.e)
        assert user.phases == ['run', 'run'] and two.debugging and not one.debugging
        two.debugging = False
        assert two.run(program.e) == 3 and user.phases == ['run', 'run']


def test_nothing_is_recorded_while_nobody_debugs(program) -> None:
    found = []

    def values(stop):
        found.append([tensor.to_numpy().tolist() for call, tensor in debugger.live.trace().tensors(site='b')
                      if call.site.kind == 'python'])

    with ScriptedUser(['run', 'quit', values, 'cont', values, 'cont']):
        session = pyfuncdbg.DebugSession(program.session())
        session.run(program.b, program.feed(1))
        assert hooks.run == hooks.python == ()
        session.run(program.b, program.feed(2))
        session.debugging = True
        session.run(program.b, program.feed(3))
        session.debugging = False
        session.run(program.b, program.feed(4))
        session.debugging = True
        session.run(program.b, program.feed(5))
    assert found == [[[2, 4]], [[2, 4], [6, 8]]]


def test_quit_in_the_middle_of_a_run(program) -> None:
    with ScriptedUser(['node', 'node', 'quit']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        np.testing.assert_array_equal(session.run(program.c, program.feed(1)), [3, 5])
        session.run(program.c, program.feed(1))
    assert user.phases == ['run', 'node', 'node'] and program.op_hooks == [1, 0]


def test_nobody_is_asked_without_a_ui(program) -> None:
    logged = []
    before, debugger.broker.on_log = debugger.broker.on_log, lambda stop: logged.append((stop.phase, stop.reason))
    try:
        with ScriptedUser() as user:
            session = pyfuncdbg.DebugSession(program.session(), ui='none')
            session.run(program.e)
            with pytest.raises(InvalidArgumentError):
                session.run(program.d, program.feed(200))
            for _ in range(20):
                session.run(program.e)
    finally:
        debugger.broker.on_log = before
    reasons = [reason.rpartition(' of ')[0] or reason for _, reason in logged]
    assert user.stops == [] and reasons[::2] == ['1st run', '10th run']
    assert [phase for phase, _ in logged] == ['run', 'end', 'run'] and program.op_hooks == [0]
    assert 'raised InvalidArgumentError' in logged[1][1]


# ------------------------------------------------------------------ other ways to run
def test_each_call_of_a_callable_and_each_step_is_a_run(program) -> None:
    with ScriptedUser(['run', 'run'] * 4) as user:
        session = pyfuncdbg.DebugSession(program.session())
        call = session.make_callable(program.c, [program.a])
        np.testing.assert_array_equal(call([1, 2]), [3, 5])
        np.testing.assert_array_equal(call([2, 3]), [5, 7])
        handle = session.partial_run_setup([program.b, program.d], [program.a])     # nothing can run yet
        np.testing.assert_array_equal(session.partial_run(handle, program.b, program.feed(1)), [2, 4])
        np.testing.assert_array_equal(session.partial_run(handle, program.d), np.log(np.array([3, 5], np.float32)))
    assert user.phases == ['run', 'end'] * 4


def test_a_run_inside_of_a_run_has_a_card_only_if_it_is_debugged_itself(program) -> None:
    inner = program.session()
    with program.graph.as_default():
        plain = tf.numpy_function(lambda: inner.run(program.e), [], tf.float32, name='plain')
        debugged = tf.numpy_function(lambda: wrapped.run(program.e), [], tf.float32, name='debugged')
    with ScriptedUser(['run'] * 20) as user:
        wrapped = pyfuncdbg.DebugSession(inner)
        session = pyfuncdbg.DebugSession(program.session())
        assert session.run(plain) == 1 and user.phases == ['run', 'end']
        user.stops.clear()
        assert session.run(debugged) == 2 and user.phases == ['run', 'run', 'end', 'end']


def test_what_runs_at_the_prompt_is_not_debugged(program) -> None:
    found = []
    with ScriptedUser([lambda stop: found.append(session.run(program.e)), 'run', 'run']) as user:
        session = pyfuncdbg.DebugSession(program.session())
        assert session.run(program.e) == 2 and found == [1]
    assert user.phases == ['run', 'end']


# ------------------------------------------------------------------ debug()
def test_debug_makes_a_session_of_a_session(program) -> None:
    with ScriptedUser() as user:
        session = pyfuncdbg.debug(program.session())
        assert isinstance(session, tf.Session) and session.run(program.e) == 1
    assert user.phases == ['run']


def triple(x):
    return x * 3


@tf.function
def traced(x):
    return tf.numpy_function(triple, [x], tf.float32) + 1.0


def test_a_traced_function_has_a_card_at_each_call() -> None:
    debugged = pyfuncdbg.debug(traced)
    x = tf.constant([1.0, 2.0])
    with ScriptedUser(['run', 'cont', 'run']) as user:
        expected = traced(x).numpy()
        assert user.stops == []
        for _ in range(2):
            np.testing.assert_array_equal(debugged(x).numpy(), expected)
        assert user.phases == ['run', 'end', 'run', 'end'] and user.stops[0][1].endswith('of traced')
        assert not debugger.on
        traced(x)
    assert len(user.stops) == 4
    assert debugged.__name__ == 'traced' and debugged.get_concrete_function(x) is traced.get_concrete_function(x)


def test_a_function_goes_on_from_call_to_call_as_run_says() -> None:
    debugged = pyfuncdbg.debug(traced)
    with ScriptedUser(['run -t 3', 'run -f absmax(out) > 20', 'quit']) as user:
        for value in range(9):
            assert debugged(tf.constant([value, 2.0])).numpy().tolist() == [3 * value + 1, 7]
    assert user.phases == ['run', 'end', 'end']
    assert [reason for _, reason, *_ in user.stops] == [
        '1st run of traced', 'end of 3rd run of traced', 'end of 8th run of traced']


def test_a_block_stops_at_the_first_wrapped_call_and_ends_where_it_ends() -> None:
    x = tf.constant([1.0])
    with ScriptedUser(['cont', 'node', 'cont']) as user:
        with pyfuncdbg.debug():
            tf.numpy_function(triple, [x], tf.float32)
            tf.numpy_function(triple, [x], tf.float32)
            traced(x)
        assert user.phases == ['before'] and not debugger.on
        with pyfuncdbg.debug():
            tf.numpy_function(triple, [x], tf.float32)
            traced(x)
            traced(x)
        assert user.phases == ['before', 'before', 'run']
        tf.numpy_function(triple, [x], tf.float32)
    assert len(user.stops) == 3


def test_after_quit_no_function_and_no_block_stops(monkeypatch) -> None:
    x = tf.constant([1.0])
    debugged = pyfuncdbg.debug(traced)
    with ScriptedUser(['quit']) as user:
        for _ in range(2):
            debugged(x)
            with pyfuncdbg.debug():
                traced(x)
        assert user.phases == ['run'] and not debugger.on
        monkeypatch.setattr(sys, 'ps1', '>>> ', raising=False)
        with pyfuncdbg.debug():
            traced(x)
        assert user.phases == ['run', 'run']


def test_debug_decorates_functions_and_methods() -> None:
    class Model:
        scale = 2.0

        @pyfuncdbg.debug
        def call(self, x):
            return tf.numpy_function(lambda v: v * self.scale, [x], tf.float64)

        @pyfuncdbg.debug(ui='none')
        def quiet(self, x):
            return self.scale * x

    with ScriptedUser() as user:
        assert Model().call(3.0).numpy() == 6 and Model().quiet(4) == 8
        assert user.phases == ['before']
        with pytest.raises(ValueError, match='mine'):
            pyfuncdbg.debug(lambda: (_ for _ in ()).throw(ValueError('mine')))()
        assert not debugger.on and debugger.plans == {}


def test_a_session_begun_in_a_block_is_debugged_after_it(program) -> None:
    with ScriptedUser() as user:
        with pyfuncdbg.debug():
            session = pyfuncdbg.DebugSession(program.session())         # the variable is initialized in the block
        session.run(program.e)
    assert user.stops[-1][1].startswith('1st run of session') and len(user.stops) == 2


# ------------------------------------------------------------------ many threads
class RandomUser(ScriptedUser):
    """Types anything that `run` offers, in random order, at stops of many threads."""

    LINES = ('run', 'run -n', 'run -t 3', 'run -f has_nan', 'node', 'node', 'cont', 'into', 'quit')

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)

    def next_line(self, stop):
        line = self.random.choice(self.LINES)
        return 'cont' if line == 'run -n' and stop.phase not in ('run', 'end') else line


@pytest.mark.parametrize('seed', range(6))
def test_any_orders_on_many_threads_leave_the_results_alone(seed) -> None:
    values = [1.0, 2.0, -5.0, 200.0, 3.0, -7.0, 4.0]

    def results(program, session, thread, out):
        for value in values:
            try:
                found = session.run([program.d, program.c], program.feed(value + thread))
                out.append([array.tobytes() for array in found])
            except InvalidArgumentError as error:
                out.append(str(error))
            session.debugging = True

    program = Program()
    expected, found = [], []
    for out in (expected, found):
        with RandomUser(seed) as user:
            sessions = [program.session() for _ in range(2)]
            for session in sessions:
                session.debugging = False                     # a plain attribute of the undebugged ones
            if out is found:
                sessions = [pyfuncdbg.DebugSession(session) for session in sessions]
            outs = [[] for _ in range(4)]
            threads = [threading.Thread(target=results, args=(program, sessions[i % 2], i, outs[i])) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert not any(thread.is_alive() for thread in threads)
            out.extend(outs)
            if out is found:
                assert {'run', 'end'} <= set(user.phases)
        assert debugger.broker.stops == () and hooks.op == () and debugger.runs.on_thread(0) is None
    assert found == expected


# ------------------------------------------------------------------ the real TensorFlow
@pytest.mark.tensorflow
def test_a_session_of_tensorflow_can_be_wrapped() -> None:
    """Its runs have no cards yet; the wrapper is accepted wherever the session is."""
    import tensorflow
    real = tensorflow.compat.v1
    with tensorflow.Graph().as_default() as graph:
        a = real.placeholder(tensorflow.float32, [], name='a')
        b = a + 1.0
        session = pyfuncdbg.DebugSession(real.Session(), ui='none')
        assert isinstance(session, real.Session) and session.graph is graph
        assert b.eval({a: 1.0}, session=session) == session.make_callable(b, [a])(1.0) == 2
        assert session.partial_run(session.partial_run_setup([b], [a]), b, {a: 1.0}) == 2
        with session as inner:
            assert inner is session and real.get_default_session() is session and b.eval({a: 2.0}) == 3
        with pytest.raises(RuntimeError, match='closed Session'):
            session.run(b, {a: 1.0})
    debugger.leave()
    debugger.left = False


def test_the_card_of_a_function_that_takes_a_variable_calls_it_no_array() -> None:
    @tf.function
    def read(variable):
        return variable + 1.0

    texts = []
    with ScriptedUser([lambda stop: texts.append(at_run(context_of(stop))), 'run', 'run']) as user:
        assert pyfuncdbg.debug(read)(tf.Variable(1.0)).numpy() == 2.0
    assert user.phases == ['run', 'end']
    text = plain_text(draw_at_run(texts[0]))
    assert 'variable:0  a variable or another object, no array' in text and 'object ()' not in text


@pytest.fixture
def user():
    with ScriptedUser() as user:
        yield user


class End(v1.train.SessionRunHook):
    """Counts the ends of a MonitoredSession."""

    def __init__(self) -> None:
        self.ends = 0

    def end(self, session):
        self.ends += 1


@pytest.mark.usefixtures('user')
def test_a_block_inside_of_the_sessions_own_block_ends_nothing():
    program = Program()
    with program.graph.as_default():
        one = v1.constant(1.0)
        hook = End()
        with v1.train.MonitoredSession(hooks=[hook]) as monitored:
            for _ in range(2):
                with pyfuncdbg.DebugSession(monitored, ui='none') as session:
                    assert session.run(program.c, program.feed(1))[0] == 3
                assert hook.ends == 0 and not monitored.should_stop()
            assert monitored.run(one) == 1
        assert hook.ends == 1 and monitored.should_stop()


@pytest.mark.usefixtures('user')
def test_what_a_monitored_session_takes_as_an_end_and_what_not_are_the_same_with_a_block_inside():
    program = Program()
    with program.graph.as_default():
        with v1.train.MonitoredSession() as monitored, pyfuncdbg.DebugSession(monitored, ui='none'):
            raise StopIteration
        with (pytest.raises(ValueError, match="the program's own"), v1.train.MonitoredSession() as monitored,
              pyfuncdbg.DebugSession(monitored, ui='none')):
            raise ValueError("the program's own")
        hook = End()
        with pyfuncdbg.DebugSession(v1.train.MonitoredSession(hooks=[hook]), ui='none') as session:
            assert session.run(program.c, program.feed(1))[0] == 3
        assert hook.ends == 1                   # there is no other block that could


@pytest.mark.usefixtures('user')
def test_blocks_of_a_session_and_of_what_debugs_it_nest_in_any_way():
    program = Program()
    with program.session() as plain:
        with pyfuncdbg.DebugSession(plain, ui='none') as session:
            assert v1.get_default_session() is session and v1.get_default_graph() is program.graph
        assert v1.get_default_session() is plain
        assert plain.run(program.c, program.feed(1))[0] == 3
    twice = pyfuncdbg.DebugSession(program.session(), ui='none')
    with twice, pyfuncdbg.DebugSession(twice, ui='none') as inner:
        assert v1.get_default_session() is inner
        assert inner.run(program.c, program.feed(1))[0] == 3
    with pytest.raises(RuntimeError, match='closed'):
        twice.run(program.c, program.feed(1))


@pytest.mark.parametrize('way', ['run', 'make_callable', 'partial_run', 'debug', 'unwrapped make_callable'])
def test_errors_show_the_programs_frames_only(way: str) -> None:
    def lose(x):
        raise KeyError('lost')
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name='x')
        y = tf.numpy_function(lose, [x], tf.float32, name='bad')
        plain = tf.Session()
        session = pyfuncdbg.DebugSession(plain, ui='none')
        calls = {'run': lambda: session.run(y, {x: [1.0, 2.0]}),
                 'make_callable': lambda: session.make_callable(y, [x])([1.0, 2.0]),
                 'partial_run': lambda: session.partial_run(session.partial_run_setup(y, [x]), y, {x: [1.0, 2.0]}),
                 'debug': lambda: pyfuncdbg.debug(plain.run, ui='none')(y, {x: [1.0, 2.0]}),
                 'unwrapped make_callable': lambda: plain.make_callable(y, [x])([1.0, 2.0])}
        try:
            with pytest.raises(tf.errors.OpError) as caught:
                calls[way]()
        finally:
            debugger.leave()
    assert [entry.name for entry in caught.traceback] == ['test_errors_show_the_programs_frames_only', '<lambda>']
    assert [frame.name for frame in traceback.extract_tb(caught.value.__cause__.__traceback__)] == ['lose']


def test_what_cannot_be_debugged_is_said_in_the_programs_line() -> None:
    for refused in (lambda: pyfuncdbg.DebugSession(5), lambda: pyfuncdbg.debug(5), lambda: pyfuncdbg.break_at(''),
                    lambda: pyfuncdbg.load('absent.pfd'), lambda: pyfuncdbg.record(budget=-1)):
        with pytest.raises(PyfuncdbgError) as caught:
            refused()
        assert [entry.name for entry in caught.traceback][1:] == ['<lambda>']
