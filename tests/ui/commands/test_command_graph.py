"""to, rewind, inject, retry, swap, differences, lt, pt and pf at stops in mid-run."""
from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import Line, ScriptedUser, context_of

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.to_rewind_retry import RunPlace


class Typist(ScriptedUser):
    """Also keeps what each line showed."""

    def __init__(self, *lines: Line) -> None:
        super().__init__(lines)
        self.texts: list[str] = []

    def next_line(self, stop: Stop) -> Line:
        line = super().next_line(stop)
        if callable(line):
            return line

        def typed(stop: Stop) -> Any:
            answer = execute(line, context_of(stop))
            assert answer.json                      # every answer is plain data
            self.texts.append(answer.text())
            return answer.result
        return typed

    def refusal(self, number: int) -> str:
        """What the n-th line was refused with."""
        assert isinstance(self.answers[number], str), self.answers[number]
        return self.answers[number]


@contextmanager
def typing(*lines: Line, nodes: bool = True) -> Iterator[Typist]:
    with Typist(*lines) as typist:
        debugger.start()
        debugger.live.trace()
        if nodes:
            debugger.stop_at_next_call(threading.get_native_id())
        else:
            debugger.plan(threading.get_native_id()).next_call = True
        yield typist


class Program:
    """x -> half -> py (prints) -> count += py -> scaled (py) -> out."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        with tf.Graph().as_default() as graph:
            self.x = tf.placeholder(tf.float32, [2], name='x')
            self.count = tf.get_variable('count', initializer=np.float32([0, 0]))
            half = tf.multiply(self.x, 0.5, name='half')
            py = tf.numpy_function(self.add_one, [half], tf.float32, name='py')
            py.set_shape([2])
            with tf.control_dependencies([self.count.assign_add(py, read_value=False, name='up')]):
                scaled = tf.numpy_function(self.scale, [py], tf.float32, name='scaled')
            self.out = tf.add(scaled, 0.25, name='out')
        self.session = tf.Session(graph=graph)
        self.session.run(self.count.initializer)

    def add_one(self, a: np.ndarray) -> np.ndarray:
        self.calls.append('py')
        print('in py')
        return a + np.float32(1)

    def scale(self, values: np.ndarray) -> np.ndarray:
        self.calls.append('scaled')
        return values * np.float32(10)

    def run(self) -> list[float]:
        return self.session.run(self.out, {self.x: [2.0, 4.0]}).tolist()


PLAIN = [20.25, 30.25]


@pytest.fixture
def program() -> Program:
    return Program()


def replacement(a: np.ndarray) -> np.ndarray:
    return a + np.float32(100)


def wrong_shape(a: np.ndarray) -> np.ndarray:
    return np.zeros(3, np.float32)


# ---------------------------------------------------------------- to and rewind
def test_refused_moves_leave_everything_as_it_was(program: Program):
    with typing('to haf', 'to half[3]', 'to x', 'node', 'node', 'to half', 'to nowhere', 'rewind 99', 'rewind 0',
                'rewind out', 'cont') as typist:
        assert program.run() == PLAIN
    assert "no node 'haf' in this run. Did you mean 'half'?" in typist.refusal(0)
    assert 'there are no loops' in typist.refusal(1) and "'half'" in typist.refusal(1)
    assert "'x' is fed" in typist.refusal(2)
    assert typist.refusal(5) == "'half' has run already: 'rewind half' goes back to before it"
    assert "no node 'nowhere'" in typist.refusal(6)
    assert "cannot go back 99 nodes: 2 of" in typist.refusal(7) and "'rewind 2' goes to the start" in typist.refusal(7)
    assert 'expected a number of nodes to go back' in typist.refusal(8)
    assert "'out' has not run yet: 'to out' goes there" in typist.refusal(9)
    assert len(typist.stops) == 3 and program.calls == ['py', 'scaled']


def test_rewind_lists_what_stays(program: Program):
    with typing('to out', 'rewind half', 'to out', 'cont') as typist:
        assert program.run() == PLAIN
    rewound = typist.answers[1]
    assert rewound.python_calls == ('py', 'scaled') and [call.site.name for call in rewound.calls] == ['py', 'scaled']
    assert 'in py' in typist.texts[1] and 'their results stand' in typist.texts[1]
    assert program.calls == ['py', 'scaled']
    assert program.session.run(program.count).tolist() == [2.0, 3.0]        # added once


def test_rewind_from_inside_of_a_function_runs_it_to_its_end_first(program: Program):
    with typing('step', 'rewind half', 'cont', nodes=False) as typist:
        assert program.run() == PLAIN
    assert typist.answers[1].after_function
    assert typist.phases == ['before', 'line', 'node'] and program.calls == ['py', 'scaled']


def test_rewind_over_the_call_that_the_run_was_stopped_before():
    """Its plan ran at full speed: the stop has kept how things were."""
    taken, seen = tf.Variable(1.0, trainable=False), []

    def draws(a: Any) -> Any:
        taken.assign_add(a)
        seen.append('draws')
        return a + np.random.rand()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name='x')
        drawn = tf.py_function(draws, [x], tf.float32, name='py')
        out = tf.add(drawn, 1.0, name='out')
    values: list[Any] = []

    def look(stop: Stop) -> None:
        values.append((float(taken._storage.value), np.random.get_state()[1].tobytes(), np.random.get_state()[2]))
    np.random.seed(5)
    expected = np.float32(2 + np.float64(np.random.rand())) + np.float32(1)
    np.random.seed(5)
    with typing(look, 'node', look, 'rewind py', look, 'node', look, 'rewind py', 'inject x:0 3', 'node', look,
                'rewind py', 'inject x:0 2', 'cont', nodes=False) as typist, tf.Session(graph=graph) as session:
        assert session.run(out, {x: 2.0}) == expected
    assert not any(isinstance(answer, str) for answer in typist.answers)
    before, after, back, again, other = values
    assert before == back != after == again and (before[0], after[0], other[0]) == (1.0, 3.0, 4.0)
    assert seen == ['draws', 'draws', 'draws'] and taken.numpy() == 3.0


def test_what_ran_before_the_stop_stands(program: Program):
    debugger.breakpoints.set('scaled')
    try:
        with typing('cont', nodes=False) as typist:
            typist.lines = iter(['cont', 'node', 'rewind scaled', 'p count', 'rewind up', 'cont'])
            assert program.run() == PLAIN
    finally:
        clear()
    assert 'up' in typist.refusal(4) and 'ran before the run was paused' in typist.refusal(4)
    assert program.calls == ['py', 'scaled'] and program.session.run(program.count).tolist() == [2.0, 3.0]


# ---------------------------------------------------------------- inject
def test_inject_takes_numbers_and_refuses_another_shape_or_dtype(program: Program):
    with typing('inject x:0 [1, 2, 3]', 'inject x:0 np.zeros(2)', 'inject x:0 "a"', 'inject x:0 [1, ]',
                'inject out:0 [1, 2]', 'inject nope:0 [1, 2]', 'inject x:0 1/', 'inject x:0 1/0',
                'inject count:0 3', 'inject x:0 [4, 6.5]', 'cont') as typist:
        assert program.run() == [30.25, 42.75]
    for number, words in enumerate(('float32[2], and this is float32[3]', 'float32[2], and this is float64[2]',
                                    'expected numbers or an array', 'this is float32[1]', 'not computed yet', 'nope:0',
                                    'SyntaxError', 'ZeroDivisionError')):
        assert words in typist.refusal(number), number
    assert 'count:0' in typist.refusal(8)
    assert 'x:0 replaced, in the run' in typist.texts[0]


def test_inject_into_computed_and_constant_tensors(program: Program):
    with typing('to scaled', 'inject py:0 py * 2', 'inject out/y:0 1', 'cont') as typist:
        assert program.run() == [41.0, 61.0]
    assert typist.answers[1].scope == typist.answers[2].scope == 'the run'
    assert program.session.run(program.count).tolist() == [2.0, 3.0]


def test_an_integer_takes_no_fraction():
    with tf.Graph().as_default() as graph:
        n = tf.placeholder(tf.int32, [], name='n')
        out = tf.add(n, 1, name='out')
    with typing('inject n:0 1.5', 'inject n:0 300', 'cont') as typist, tf.Session(graph=graph) as session:
        assert session.run(out, {n: 1}) == 301
    assert 'int32[], which does not hold 1.5' in typist.refusal(0)


@pytest.mark.parametrize('name', ['in0', 'values', 'py:0'])
def test_inject_before_a_call_replaces_its_input(program: Program, name: str):
    with typing('cont', nodes=False) as typist:
        typist.lines = iter(['cont', f'inject {name} [1, 2]', f'inject {name} [1]', 'cont'])
        debugger.breakpoints.set('scaled')
        try:
            assert program.run() == [10.25, 20.25]
        finally:
            clear()
    assert typist.phases == ['before', 'before'] and typist.answers[1].scope == 'this call'
    assert 'float32[1]' in typist.refusal(2)


def test_inject_after_a_call_replaces_its_output(program: Program):
    with typing('next', 'inject out0 [0, 0]', 'inject py:0 [1, 1]', 'inject values [1, 1]', 'cont', nodes=False) as typist:
        assert program.run() == [10.25, 10.25]
    assert typist.phases == ['before', 'after'] and 'can be replaced here' in typist.refusal(3)


def clear() -> None:
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


# ---------------------------------------------------------------- swap
def test_swap_at_a_node_makes_again_what_depends_on_it_and_shows_the_difference(program: Program):
    with typing('to out', 'swap py replacement', 'differences', 'cont') as typist:
        assert program.run() == [1010.25, 1020.25]
        assert program.calls == ['py', 'scaled', 'scaled']
        assert program.session.run(program.count).tolist() == [101.0, 102.0]    # the write was taken back and made again
        assert program.run() == [1010.25, 1020.25]                              # later runs too
    found = {one.tensor: one for one in typist.answers[2].tensors}
    assert found['py:0'].greatest == 99.0 and found['scaled:0'].greatest == 990.0 and found['py:0'].elements == 2
    assert typist.stops[2][0] == 'node' and 'scaled:0' in typist.texts[-2]


def test_swap_refuses_what_cannot_be_called(program: Program):
    with typing('to out', 'swap py lambda: 0', 'swap py 3', 'swap py missing', 'swap half replacement',
                'swap p replacement', 'swap replacement', 'cont') as typist:
        assert program.run() == PLAIN
    assert "'out' has no Python function: 'swap NODE FUNC' names a node. Those of this run: 'py', 'scal" in typist.refusal(6)
    assert 'cannot be called with 1 argument' in typist.refusal(1) and 'expected a function, got int' in typist.refusal(2)
    assert "name 'missing' is not defined" in typist.refusal(3)
    assert "'half' is a Mul" in typist.refusal(4) and "Those of this run: 'py', 'scaled'" in typist.refusal(4)
    assert "no node 'p'" in typist.refusal(5)
    assert program.calls == ['py', 'scaled'] and len(typist.stops) == 2


def test_swap_for_a_function_of_another_shape_is_the_hosts_error_and_goes_on(program: Program):
    with typing('to scaled', 'swap py wrong_shape', 'swap py replacement', 'to out', 'cont') as typist:
        assert program.run() == [1010.25, 1020.25]
    assert typist.phases == ['node', 'node', 'error', 'node', 'node'] and 'raised' in typist.stops[2][1]


@pytest.mark.parametrize('where', ['before', 'after', 'error'])
def test_swap_at_a_call(where: str):
    def wrapped(a: np.ndarray) -> np.ndarray:
        if where == 'error':
            raise ValueError('no')
        return a
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        out = tf.numpy_function(wrapped, [x], tf.float32, name='py')
    lines = ['swap replacement'] if where == 'before' else ['next', 'swap replacement', 'cont']
    with typing(*lines, 'cont', nodes=False) as typist, tf.Session(graph=graph) as session:
        assert session.run(out, {x: [1.0, 2.0]}).tolist() == [101.0, 102.0]
    assert typist.phases == {'before': ['before'], 'after': ['before', 'after', 'after'],
                             'error': ['before', 'error', 'after']}[where]


def test_swap_in_eager_code():
    calls: list[float] = []

    def first(a: Any) -> Any:
        calls.append(1)
        return a

    def second(a: Any) -> Any:
        calls.append(2)
        return a + 5.0
    with typing('next', 'swap second', 'swap lambda a, b: a', 'cont', nodes=False) as typist:
        found = tf.py_function(first, [1.0], tf.float32)
    assert found.numpy() == 6.0 and calls == [1, 2] and typist.phases == ['before', 'after', 'after']
    assert 'missing' in typist.refusal(2)


@pytest.mark.parametrize('lines', [('to out', 'swap py replacement'), ('to py', 'swap replacement'),
                                   ('to py', 'swap py (lambda a: a + np.float32(100))')])
def test_a_swapped_function_stays_until_quit(program: Program, lines: tuple[str, ...]):
    with typing(*lines, 'cont') as typist:
        assert program.run() == [1010.25, 1020.25]
        assert not any(isinstance(answer, str) for answer in typist.answers)
        assert program.run() == [1010.25, 1020.25]
        debugger.leave()
        assert program.run() == PLAIN
    with typing('swap replacement', 'cont', nodes=False):       # and again, by a call
        assert program.run() == [1010.25, 1020.25]
    with typing('quit', nodes=False):
        assert program.run() == PLAIN


def test_at_a_stop_health_says_what_is_so_so_far():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        made = tf.numpy_function(lambda a: a * np.float32('nan'), [x], tf.float32, name='made')
        out = tf.add(made, 1.0, name='out')
    lines = ['node', 'node', 'health', 'rewind 1', 'rewind 1', 'rewind 1', 'cont']
    with typing(*lines) as typist, tf.Session(graph=graph) as session:
        session.run(out, {x: [1.0, 2.0]})
    assert 'BORN' in typist.texts[2] and 'not seen again so far' in ' '.join(typist.texts[2].split())
    assert 'cannot go back 1 node: none of 2 have run' in typist.refusal(5)


# ---------------------------------------------------------------- retry
def test_retry_where_nothing_was_made(program: Program):
    with typing('retry', 'cont') as typist:
        program.run()
    assert 'no node has run yet' in typist.refusal(0)
    with typing('retry', 'cont', nodes=False) as typist:
        program.run()
    assert "has not started yet: 'cont' makes it" in typist.refusal(0)


def test_retry_makes_the_same_call_again(program: Program):
    with typing('to up', 'retry', 'cont') as typist:
        assert program.run() == PLAIN
    assert program.calls == ['py', 'py', 'scaled'] and 'happen again' in typist.texts[1]
    assert program.session.run(program.count).tolist() == [2.0, 3.0]


def test_retry_goes_into_the_function(program: Program):
    with typing('to up', 'retry --into', 'cont') as typist:
        assert program.run() == PLAIN
    assert program.calls == ['py', 'py', 'scaled']
    assert [place[0] for place in typist.stops][:3] == ['node', 'node', 'line']


def test_retry_cannot_go_into_an_op(program: Program):
    with typing('to py', 'retry --into', 'cont') as typist:
        assert program.run() == PLAIN
    assert 'calls no Python function' in typist.refusal(1)


MODULE = '''
def made(scale):
    def function(a):
        return a * scale
    return function
'''


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[tuple[Path, Any]]:
    path = tmp_path / 'edited_program.py'
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location('edited_program', path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules['edited_program'] = module
    spec.loader.exec_module(module)
    yield path, module.made(np.float32(2))
    del sys.modules['edited_program']


def of_one(function: Any) -> tuple[Any, Any, tf.Session]:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        py = tf.numpy_function(function, [x], tf.float32, name='py')
        out = tf.add(py, 0.5, name='out')
    return x, out, tf.Session(graph=graph)


@pytest.mark.parametrize('nodes', [True, False])
def test_retry_reads_an_edited_function_again(edited: tuple[Path, Any], nodes: bool):
    path, function = edited
    x, out, session = of_one(function)

    def edit(stop: Stop) -> None:
        path.write_text('# moved down\n' + MODULE.replace('a * scale', 'a * scale + 1'))
    with typing('node' if nodes else 'next', edit, 'retry', 'cont', nodes=nodes) as typist:
        assert session.run(out, {x: [1.0, 2.0]}).tolist() == [3.5, 5.5]
    assert 'made.<locals>.function was edited: reloaded from' in typist.texts[1]
    assert typist.answers[2].reloaded.line == 4 and function(1) == 3            # its closure is what it was


@pytest.mark.parametrize(('text', 'words'), [
    (MODULE.replace('return a', 'return (a'), 'is not valid Python'),
    (MODULE.replace('def made(scale):', 'def made(scale):\n    other = 1').replace('a * scale', 'a * scale + other'),
     'uses other variables of the functions around it (other, scale, before: scale)'),
])
def test_retry_refuses_an_edit_that_does_not_fit(edited: tuple[Path, Any], text: str, words: str):
    path, function = edited
    x, out, session = of_one(function)
    before = function.__code__
    with typing('next', lambda stop: path.write_text(text), 'retry', 'cont', nodes=False) as typist:
        assert session.run(out, {x: [1.0, 2.0]}).tolist() == [2.5, 4.5]
    assert words in typist.refusal(2) and function.__code__ is before


# ---------------------------------------------------------------- lt, pt, pf
def rows(answer: Any) -> dict[str, str]:
    return {row.name: row.state for row in answer.rows}


def test_lt_pt_and_pf_show_this_run(program: Program):
    program.run()
    with typing('to up', 'lt', 'pt py:0', 'pt py:0[1]', 'pt out:0', 'pf', 'lt --site py', 'cont') as typist:
        program.run()
    assert {name: standing for name, standing in rows(typist.answers[1]).items() if name != 'count:0'} == {
        'x:0': 'fed', 'half:0': 'here', 'py:0': 'here', 'scaled:0': 'later', 'out:0': 'later'}
    assert typist.answers[2].values.tolist() == [2.0, 3.0] and typist.answers[3].values.tolist() == 3.0
    assert 'not computed yet' in typist.refusal(4)
    assert [(row.name, row.stats.max) for row in typist.answers[5].rows] == [('x:0', 4.0)] and typist.answers[5].live
    assert list(rows(typist.answers[6])) == ['py:0'] and 'not computed yet' in typist.texts[1]


def test_lt_and_pt_at_full_speed(program: Program):
    """The plan itself keeps no books: its frame is looked into."""
    with typing('lt', 'pt half:0', 'pt x:0', 'next', 'pt py:0', 'lt', 'cont', nodes=False) as typist:
        assert program.run() == PLAIN
    assert rows(typist.answers[0])['half:0'] == 'here' and rows(typist.answers[0])['py:0'] == 'next'
    assert typist.answers[1].values.tolist() == [1.0, 2.0] and typist.answers[2].values.tolist() == [2.0, 4.0]
    assert typist.answers[4].values.tolist() == [2.0, 3.0] and rows(typist.answers[5])['py:0'] == 'here'


def test_what_the_plan_has_dropped_is_computed_again_if_it_can(program: Program):
    with typing('cont', nodes=False) as typist:
        typist.lines = iter(['cont', 'lt', 'pt half:0', 'cont'])
        debugger.breakpoints.set('scaled')
        try:
            assert program.run() == PLAIN
        finally:
            clear()
    assert rows(typist.answers[1])['half:0'] == 'dropped' and typist.answers[2].values.tolist() == [1.0, 2.0]
    assert "'pt' computes it again" in typist.texts[1]


def test_pf_in_eager_code_is_of_the_newest_run(program: Program):
    with typing('cont', nodes=False) as typist:
        program.run()
        debugger.plan(threading.get_native_id()).next_call = True
        typist.lines = iter(['pf --run 999', 'pf', 'lt --run 999', 'cont'])
        tf.numpy_function(replacement, [np.float32([1.0])], tf.float32)
    assert 'no feeds of run 999 are recorded' in typist.refusal(1)
    assert [row.name for row in typist.answers[2].rows] == ['x:0'] and not typist.answers[2].live


@pytest.mark.parametrize(('value', 'shown'), [
    (np.float32([1.5, -2, np.pi]), "<variable 'w' float32[3], -2 .. 3.14159>"),
    (np.int64(123456789), "<variable 'w' int64[] = 123456789>"),
    (np.zeros((0, 2), bool), "<variable 'w' bool[0, 2]>"),
])
def test_the_handle_of_a_variable_is_shown_by_name_and_value(value, shown):
    from scripted_stops import debugger, typing
    with tf.Graph().as_default() as graph:
        w = tf.get_variable('w', initializer=value)
        read = w.read_value()
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        with typing('node', 'p w', at_next_call=False) as typist:
            debugger.stop_at_next_call(threading.get_native_id())
            session.run(read)
    assert shown in typist.cards[1]
    assert typist.shown('p w').strip() == shown


@pytest.mark.parametrize(('nodes', 'why'), [(2, 'cannot stop between nodes'),
                                            (0, 'no graph runs here')])
def test_to_says_why_a_run_without_control_cannot_go_to_a_node(nodes, why):
    sites = [CallSite(f'n{index}', 'Add', 'op', None) for index in range(nodes)]
    run = Run('Session.run', None, 0, sites=lambda: sites)
    with pytest.raises(CommandError, match=why):
        RunPlace(Stop('before', run=run))
