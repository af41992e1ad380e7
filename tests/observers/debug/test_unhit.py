"""What is said of breakpoints that stopped nothing: what was never met, and which condition was never true."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
import pytest
from scripted_user import ScriptedUser

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.breakpoints.never_hit import unhit_warnings
from pyfuncdbg.observers.debug.breakpoints.program_names import describe_name, program_functions
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.processes import shared_memory


def picked(x: Any) -> Any:
    if x[0] == 1:
        raise ValueError('no')
    return x * 2


BODY = picked.__code__.co_firstlineno + 2


def unwatched_function(*values: int) -> None:
    for value in values:
        try:
            tf.numpy_function(picked, [np.array([value])], tf.int64)
        except ValueError:
            continue


@pytest.mark.parametrize(('place', 'timing', 'condition', 'values', 'sentence'), [
    ('picked', 'error', 'x[0] == 5', (0, 2), 'there was no error at PyFunc.'),
    ('picked', 'error', None, (0, 2), 'there was no error at PyFunc.'),
    ('picked', 'error', 'x[0] == 5', (0, 1), "there was no error for which 'x[0] == 5' is true at PyFunc."),
    ('picked[7000]', 'before', 'x[0] == 5', (2,), 'there was no such call at PyFunc.'),
    ('picked[7000]', 'after-call', 'x[0] == 5', (2,), 'no such call at PyFunc returned.'),
    ('picked', 'gradient', 'x[0] == 5', (0,), 'there was no gradient step at PyFunc.'),
    ('picked', 'after-call', 'out[0] == 5', (1,), 'no call at PyFunc returned.'),
    ('picked', 'after-call', 'out[0] == 5', (1, 2), "'out[0] == 5' was never true at PyFunc."),
    ('PyFunc[7000]', 'error', 'x[0] == 5', (0, 1), 'there was no such error at PyFunc.'),
    (f'{Path(__file__).name}:{BODY}', None, 'x[0] == 5', (0, 2), f'the program never came to {__file__}:{BODY} picked.'),
    (f'{Path(__file__).name}:{BODY}', None, 'x[0] == 5', (1,), f"'x[0] == 5' was never true at {__file__}:{BODY} picked.")])
def test_a_condition_that_was_never_evaluated_is_not_called_false(
        place: str, timing: Literal['before', 'error', 'gradient', 'after-call'] | None, condition: str | None,
        values: tuple[int, ...], sentence: str) -> None:
    with ScriptedUser([]):
        debugger.start()
        entry = debugger.breakpoints.set(place, condition, timing=timing)
        try:
            unwatched_function(*values)
            said = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert len(said) == 1 and said[0].endswith(f' stopped nothing: {sentence}'), said


class Tallies:
    """A class of the program."""

    def tally_up(self) -> int:
        def inner_sum(summand: int) -> int:
            return summand
        return inner_sum(1)


SCRATCH = np.zeros(3)
LINE = {name: code.co_firstlineno for name, code in (('picked', picked.__code__), ('tally_up', Tallies.tally_up.__code__))}


@pytest.mark.parametrize(('place', 'said'), [
    ('Tallies', 'nothing of that name ran. \'Tallies\' is a class of test_unhit.py.'),
    ('Tallies.tally_up', f'{__file__}:{LINE["tally_up"]} Tallies.tally_up was never called.'),
    ('inner_sum', f'{__file__}:{LINE["tally_up"] + 1} Tallies.tally_up.<locals>.inner_sum was never called.'),
    ('summand', f'nothing of that name ran. \'summand\' is a variable of inner_sum, test_unhit.py:{LINE["tally_up"] + 1}.'),
    ('SCRATCH', "nothing of that name ran. 'SCRATCH' is a variable of test_unhit.py (ndarray)."),
    ('function:SCRATCH', "no wrapped function of that name was called. 'SCRATCH' is a variable of test_unhit.py (ndarray)."),
    ('tally_op', "nothing of that name ran. Did you mean 'tally_up'?"),
    ('PyFunk', "nothing of that name ran. Did you mean 'PyFunc'?"),
    ('qqqq', 'nothing of that name ran.')])
def test_a_name_that_no_call_has_is_told_what_it_is(place: str, said: str) -> None:
    """Its place; else names of one kind that are near: a function's for a function, an op type's for an op type."""
    with ScriptedUser([]):
        debugger.start()
        entry = debugger.breakpoints.set(place)
        try:
            unwatched_function(0)
            sentences = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert [sentence.partition(' stopped nothing: ')[2] for sentence in sentences] == [said]


def test_near_names_are_of_one_kind() -> None:
    def quorre(x: Any) -> Any:
        return x

    def quorrs(x: Any) -> Any:
        return x
    with ScriptedUser([]):
        debugger.start()
        entry = debugger.breakpoints.set('quorrx')
        try:
            tf.numpy_function(quorre, [np.array([0])], tf.int64, name='quorry')
            tf.numpy_function(quorrs, [np.array([0])], tf.int64, name='quorrz')
            (sentence,) = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert sentence.endswith(" Did you mean 'quorrs' or 'quorre'?"), sentence


def test_looking_for_a_name_runs_no_code_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of a proxy, nor of a module that is loaded when it is first used, nor of a metaclass."""
    class Proxy:
        @property
        def __class__(self) -> Any:
            raise RuntimeError('asked')

    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError('loaded')

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError('looked at')

    class Member(metaclass=Meta):
        """A class of the program."""
    module = ModuleType('proxies')
    vars(module).update(__file__=__file__, unasked=Proxy(), Unmet=Member)
    monkeypatch.setitem(sys.modules, 'proxies', module)
    monkeypatch.setitem(sys.modules, 'lazily', Lazy('lazily'))
    assert describe_name('unasked') == 'is a variable of test_unhit.py (Proxy)'
    assert describe_name('Unmet') == 'is a class of test_unhit.py'
    assert describe_name('Unmet.nothing') == ''
    assert 'unwatched_function' in program_functions()


@pytest.mark.parametrize(('name', 'timing'), [('made_by_exec', None), ('unwatched_function', 'after-call')])
def test_a_function_that_ran_unwatched_is_not_said_to_have_not_run(name: str, timing: Literal['after-call'] | None,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """One that `exec` made, and one of whose own calls only the beginning could be watched."""
    names: dict[str, Any] = {}
    with ScriptedUser([]):
        debugger.start()
        entry = debugger.breakpoints.set(name, timing=timing)
        try:
            exec('def made_by_exec():\n    return 1\n', names)
            monkeypatch.setitem(globals(), 'made_by_exec', names['made_by_exec'])
            names['made_by_exec']()
            unwatched_function(0)
            (sentence,) = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert 'nothing of that name ran' not in sentence
    assert '; calls that the program makes itself were not watched.' in sentence and name in sentence
    line = unwatched_function.__code__.co_firstlineno
    assert sentence.endswith(f'. A breakpoint on test_unhit.py:{line} stops in it.') == (name == 'unwatched_function')


def test_a_node_in_a_scope_is_proposed_by_its_whole_name() -> None:
    """By its letters alone it is not near."""
    with ScriptedUser([]), tf.Graph().as_default():
        debugger.start()
        entry = debugger.breakpoints.set('pkd')
        try:
            with tf.name_scope('a_scope_of_it'):
                node = tf.numpy_function(picked, [np.array([2])], tf.int64, name='pkd')
            with tf.compat.v1.Session() as session:
                session.run(node)
            said = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert said[0].endswith("nothing of that name ran. Did you mean 'a_scope_of_it/pkd'?"), said


@pytest.mark.parametrize(('calls', 'sentences'), [
    (True, []), (False, ['was never called in this process, and none that it started stopped there.'])])
def test_what_a_forked_process_has_hit_is_not_called_unhit(calls: bool, sentences: list[str]) -> None:
    shared_memory.share()
    with ScriptedUser(['c']):
        debugger.start()
        entry = debugger.breakpoints.set('function:picked')
        try:
            child = os.fork()
            if not child:
                if calls:
                    tf.numpy_function(picked, [np.array([3])], tf.int64)
                os._exit(0)
            os.waitpid(child, 0)
            said = unhit_warnings(debugger.breakpoints, [entry.number])
        finally:
            debugger.breakpoints.clear(entry.number)
    assert [text[text.index('was never'):] for text in said] == sentences


def test_nothing_is_said_of_breakpoints_of_a_program_that_did_not_run(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text('print(1)\n')
    command = [sys.executable, '-m', 'pyfuncdbg', 'run', '--ui', 'none', '--record', 'it.pfd', '--break', 'absent',
               'program.py']
    first, again = (subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
                    for _ in range(2))
    assert (first.returncode, first.stdout) == (0, '1\n') and 'breakpoint 1 (absent) stopped nothing' in first.stderr
    assert (again.returncode, again.stdout) == (2, '') and again.stderr.count('\n') == 1, again.stderr
    assert again.stderr.startswith('pyfuncdbg: it.pfd: already holds a trace')
