"""Setting line breakpoints: which functions get them, what is refused, what comes later, and that nothing else changes."""
from __future__ import annotations

import datetime
import gc
import inspect
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import pytest
from debug_program import loaded

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.lines import line_breakpoints
from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints
from pyfuncdbg.observers.debug.lines.live_functions import LiveFunctions

PROGRAM = '''
import functools
LIMIT = 2

def named(x, k=2, *, deep=True):
    """Says what it does."""

    y = x * k
    # and this
    return y

alias = named
kept = [named]

def outer(a, unused=1):
    b = a
    def inner(c):
        d = b + c
        return d
    return inner

live = [outer(1), outer(2)]

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

@logged
def hidden(x):
    return x + LIMIT

class Net:
    def __init__(self):
        self.__w = 3
    def forward(self, x):
        return x * self.__w

def failing(flag):
    if flag:
        value = 1
    try:
        raise KeyError('own')
    except KeyError:
        flag = flag
    return flag

text = """
def never_a_function():
    pass
"""
'''


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)
LATER = '''
def walk(rows):
    "Rows."
    for row in rows:
        step = row + 1
        squares = [k * step for k in rows]
        last = row
        yield squares, dict(locals())
'''


@pytest.fixture
def program(tmp_path: Path) -> ModuleType:
    return loaded('program_of_lines', PROGRAM, tmp_path)


class Hits(list[Any]):
    """Remembers locals and errors."""

    def __call__(self, frame: FrameType, error: Exception | None) -> None:
        self.append({**frame.f_locals, **({'error': error} if error else {})})


def refused(lines: LineBreakpoints, *args: Any) -> str:
    with pytest.raises(CommandError) as caught:
        lines.set(99, *args, pytest.fail)
    assert 99 not in lines._points
    return str(caught.value)


# ---------------------------------------------------------------------- which functions
def test_aliases_closures_and_hidden_functions(lines: LineBreakpoints, program: ModuleType) -> None:
    file, hits = program.__file__, Hits()
    codes = {f: f.__code__ for f in (program.named, program.outer, *program.live, program.hidden.__wrapped__,
                                     program.Net.forward)}
    assert lines.set(1, file, line_of('y = x * k'), None, hits).function == 'named'
    assert (program.alias(1), program.kept[0](2)) == (2, 4)
    assert [hit['x'] for hit in hits] == [1, 2]

    hits.clear()
    assert lines.set(2, file, line_of('d = b + c'), 'b + c > 3', hits).function == 'outer.<locals>.inner'
    assert [inner(2) for inner in program.live] + [program.outer(7)(1)] == [3, 4, 8]
    assert [(hit['b'], hit['c']) for hit in hits] == [(2, 2), (7, 1)]

    hits.clear()
    lines.set(3, file, line_of('return x + LIMIT'), 'x > LIMIT', hits)
    assert (program.hidden(2), program.hidden(3)) == (4, 5)
    assert [hit['x'] for hit in hits] == [3]

    hits.clear()
    lines.set(4, file, line_of('return x * self.__w'), 'x > self.__w', hits)
    assert (program.Net().forward(3), program.Net().forward(4)) == (9, 12)
    assert [hit['x'] for hit in hits] == [4]

    born_now = program.outer(5)
    for number in (2, 4, 1, 3):
        lines.clear(number)
    assert all(function.__code__ is code for function, code in codes.items())
    assert born_now.__code__ is program.live[0].__code__ and born_now(1) == 6


def test_two_on_one_line_and_clearing_in_any_order(lines: LineBreakpoints, program: ModuleType) -> None:
    line, code = line_of('y = x * k'), program.named.__code__
    for order in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        hits = {number: Hits() for number in order}
        for number in (1, 2, 3):
            lines.set(number, program.__file__, line + (number == 3), f'x == {number}', hits[number])
        for x in range(5):
            assert program.named(x) == 2 * x
        assert {number: [hit['x'] for hit in found] for number, found in hits.items()} == {1: [1], 2: [2], 3: [3]}
        for number in order:
            lines.clear(number)
        assert program.named.__code__ is code


def test_what_a_function_shows_of_itself_is_unchanged(lines: LineBreakpoints, program: ModuleType) -> None:
    def shown() -> list[Any]:
        f = program.named
        return [f.__defaults__, f.__kwdefaults__, f.__closure__, f.__globals__ is vars(program), f.__qualname__, f.__doc__,
                inspect.getsource(f), inspect.signature(f), inspect.getdoc(f), f.__code__.co_varnames,
                f.__code__.co_filename, f.__code__.co_firstlineno, pickle.loads(pickle.dumps(f)) is f,
                program.live[0].__closure__[0].cell_contents]
    before, spaces = shown(), dict(vars(program))
    lines.set(1, program.__file__, line_of('y = x * k'), 'norm(x) > 5 and any(x for _ in [1])', pytest.fail)
    lines.set(2, program.__file__, line_of('d = b + c'), None, pytest.fail)
    assert shown() == before
    assert vars(program) == spaces


def test_an_eager_call_keeps_its_site(lines: LineBreakpoints, program: ModuleType) -> None:
    class Watch:
        kinds = frozenset(('python',))
        seen: list[int] = []                    # noqa: RUF012  one test, one class

        def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
            self.seen.append(call.site.id)
            return proceed()
    watch, hits = Watch(), Hits()
    hooks.add(watch)
    try:
        for step in range(2):
            assert tf.numpy_function(program.named, [np.float64(2)], tf.float64) == 4
            if not step:
                lines.set(1, program.__file__, line_of('y = x * k'), 'x > 1', hits)
    finally:
        hooks.remove(watch)
    assert len(watch.seen) == 2 and watch.seen[0] == watch.seen[1]
    assert len(hits) == 1


# ---------------------------------------------------------------------- what a line means
def test_lines_without_code_move_or_are_refused(lines: LineBreakpoints, program: ModuleType) -> None:
    file = program.__file__
    places = {'Says what': 'y = x * k', '# and this': 'return y', 'def named': 'y = x * k', '@logged': 'return x + LIMIT'}
    for asked, meant in places.items():
        placed = lines.set(1, file, line_of(asked), None, Hits())
        assert (placed.how, placed.line) == ('compiled', line_of(meant))
        lines.clear(1)
    assert 'is at module level, which has run already. The nearest line with code of a function is 8.' in refused(
        lines, file, line_of('LIMIT = 2'), None)
    assert 'line 999 of program_of_lines.py has no code of a function' in refused(lines, file, 999, None)
    unknown = lines.set(1, 'program_of_lins.py', 3, None, Hits())
    assert (unknown.how, unknown.line) == ('pending', 3)
    assert unknown.note.startswith("no file 'program_of_lins.py' is loaded")
    assert "Did you mean 'program_of_lines.py'" in unknown.note


# ---------------------------------------------------------------------- conditions
@pytest.mark.parametrize(('condition', 'message'), [
    ('x > ', 'the condition is not valid Python: invalid syntax\n  x >\n     ^'),
    ('x >> > 3', 'the condition is not valid Python: invalid syntax\n  x >> > 3\n       ^'),
    ('', 'the condition is empty'),
    ('(z := x)', ':= would set a variable'),
    ('await x', 'await would change the order'),
    ('(yield)', 'yield would make the function a generator'),
    ('[v async for v in x]', 'await would change'),
    ('xx > 3', "nothing is called 'xx' at line 8 in named, of the condition 'xx > 3'"),
    ('LIMITS > 3', "Did you mean 'LIMIT'"),
    ('[q for _ in (1,)]', "nothing is called 'q'"),
])
def test_conditions_that_are_refused(lines: LineBreakpoints, program: ModuleType, condition: str, message: str) -> None:
    code = program.named.__code__
    assert message in refused(lines, program.__file__, line_of('y = x * k'), condition)
    assert program.named.__code__ is code and program.named(1) == 2


def test_a_variable_of_an_enclosing_function_that_is_not_captured(lines: LineBreakpoints, program: ModuleType) -> None:
    text = refused(lines, program.__file__, line_of('d = b + c'), 'unused == 1')
    assert text == ("'unused' is a variable of a function around line 18, and outer.<locals>.inner does not use it, so it "
                    'is out of reach there. Within reach are: b, c, d.')


def test_the_vocabulary_stands_behind_the_programs_own_names(lines: LineBreakpoints, program: ModuleType) -> None:
    hits, line = Hits(), line_of('y = x * k')
    lines.set(1, program.__file__, line, 'absmax(x) > 3', hits)
    program.named(np.array([1., -4.]))
    program.named(np.array([1., -2.]))
    assert len(hits) == 1
    lines.clear(1)
    program.absmax = lambda x: 0
    lines.set(1, program.__file__, line, 'absmax(x) > 3 or max([absmax(v) for v in x]) > 3', hits)
    program.named(np.array([1., -4.]))
    assert len(hits) == 1


def test_an_unset_local_is_false_and_said_once(lines: LineBreakpoints, program: ModuleType, capfd: Any) -> None:
    for condition in ('value == 1', 'any(value == 1 for _ in [1])'):
        hits = Hits()
        lines.set(1, program.__file__, line_of('flag = flag'), condition, hits)
        assert [program.failing(flag) for flag in (False, True, False)] == [False, True, False]
        assert len(hits) == 1 and hits[0]['value'] == 1
        lines.clear(1)
        said = capfd.readouterr().err
        assert said.count('breakpoint 1 at program_of_lines.py:') == 1 and 'counts as false' in said


@pytest.mark.parametrize('condition', ['last == 4', 'last == 4 and row == 5', 'squares and last == 4',
                                       'any(last == 4 for _ in [1])'])
def test_a_condition_reads_what_the_function_sets_later(lines: LineBreakpoints, tmp_path: Path, capfd: Any,
                                                        condition: str) -> None:
    """The next time around its variable has a value; the order of the variables, which `locals()` shows, stays."""
    program = loaded('program_of_later_names', LATER, tmp_path)
    names, hits = program.walk.__code__.co_varnames, Hits()
    before = list(program.walk([3, 4, 5, 6]))
    lines.set(1, program.__file__, 5, condition, hits)
    assert list(program.walk([3, 4, 5, 6])) == before
    assert [(hit['row'], hit['last']) for hit in hits] == [(5, 4)]
    assert program.walk.__code__.co_varnames == names and program.walk.__doc__ == 'Rows.'
    assert capfd.readouterr().err.count('counts as false') == 1


def test_a_condition_that_raises_is_told_and_leaves_the_handled_error_alone(lines: LineBreakpoints,
                                                                            program: ModuleType) -> None:
    handled: list[Any] = []

    def on_hit(frame: FrameType, error: Exception | None) -> None:
        handled.append((type(error), type(error.__context__)))
    lines.set(1, program.__file__, line_of('flag = flag'), '[][flag]', on_hit)
    assert program.failing(1) == 1
    assert handled == [(IndexError, KeyError)]
    assert sys.exc_info() == (None, None, None)


def test_a_mistake_of_the_one_who_is_told_is_not_the_programs(lines: LineBreakpoints, program: ModuleType,
                                                              capfd: Any) -> None:
    def broken(frame: FrameType, error: Exception | None) -> None:
        raise RuntimeError('ours')
    lines.set(1, program.__file__, line_of('y = x * k'), None, broken)
    assert program.named(4) == 8
    assert 'breakpoint 1 at program_of_lines.py:8 failed: RuntimeError: ours' in capfd.readouterr().err


# ---------------------------------------------------------------------- later
def test_a_file_that_is_imported_later(lines: LineBreakpoints, tmp_path: Path) -> None:
    path, hits = tmp_path / 'comes_late.py', Hits()
    path.write_text(PROGRAM)
    placed = lines.set(1, str(path), line_of('y = x * k'), 'x == 3', hits)
    assert (placed.how, placed.line, placed.function, lines.waiting) == ('pending', 8, 'named', True)
    module = loaded('comes_late', PROGRAM, tmp_path)
    assert lines.look_for_new_code(module.named.__code__)
    assert lines.placement(1).how == 'compiled'
    assert module.named(3) == 6 and len(hits) == 1


def test_a_file_that_is_another_one_when_it_is_loaded(lines: LineBreakpoints, tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / 'not_as_thought.py'
    path.write_text(PROGRAM)
    lines.set(1, str(path), line_of('y = x * k'), 'x == k', pytest.fail)
    module = loaded('not_as_thought', PROGRAM.replace('k=2', 'q=2').replace('x * k', 'x * q'), tmp_path)
    lines.look_for_new_code(module.named.__code__)
    assert "cannot be set: nothing is called 'k' at line 8 in named" in lines.placement(1).note
    assert "breakpoint 1 at not_as_thought.py:8 cannot be set" in capfd.readouterr().err
    assert module.named(1) == 2
    lines.clear(1)


def test_a_function_that_is_made_later(lines: LineBreakpoints, tmp_path: Path) -> None:
    module = loaded('makes_later', PROGRAM, tmp_path)
    hits, made = Hits(), module.named
    del module.named, module.alias, module.kept
    code = made.__code__
    del made
    gc.collect()
    assert lines.set(1, module.__file__, line_of('y = x * k'), None, hits).how == 'pending'
    module.named = type(module.outer)(code, vars(module), 'named', (2,))
    module.named.__kwdefaults__ = {'deep': True}
    assert lines.look_for_new_code(code)
    assert module.named(1) == 2 and len(hits) == 1


LOOPING = '''
def run(make):
    found = []
    for i in range(3):
        def helper(x):
            y = x + 1
            return y
        found.append(helper)
        make(i, found)
    return [function(10) for function in found]
'''


def test_functions_made_by_a_call_that_runs_already(lines: LineBreakpoints, tmp_path: Path) -> None:
    module, hits = loaded('loops_on', LOOPING, tmp_path), Hits()

    def make(i: int, found: list[Any]) -> None:
        if i == 0:
            lines.set(1, module.__file__, 6, 'x > 0', hits)
        lines.look_for_new_code(make.__code__)         # as at the call of a wrapped function
    assert module.run(make) == [11, 11, 11]
    assert [hit['x'] for hit in hits] == [10, 10, 10]


def test_a_module_loaded_again(lines: LineBreakpoints, tmp_path: Path) -> None:
    module, hits = loaded('again', PROGRAM, tmp_path), Hits()
    lines.set(1, module.__file__, line_of('y = x * k'), None, hits)
    module = loaded('again', PROGRAM, tmp_path)
    gc.collect()
    lines.look_for_new_code(module.named.__code__)
    assert module.named(1) == 2 and len(hits) == 1


# ---------------------------------------------------------------------- no source, or another one
def test_an_edited_file_is_watched_as_it_was_loaded(lines: LineBreakpoints, tmp_path: Path) -> None:
    module, hits = loaded('edited', PROGRAM, tmp_path), Hits()
    Path(module.__file__).write_text('# two new\n# lines\n' + PROGRAM.replace('x * k', 'x * k * 10'))
    os.utime(module.__file__, (1, 1))
    placed = lines.set(1, module.__file__, line_of('y = x * k'), 'k == 2', hits)
    assert placed.how == ('monitored' if hasattr(sys, 'monitoring') else 'traced')
    assert 'its source is missing or was changed after it was loaded' in placed.note
    assert (placed.function, placed.line) == ('named', 8)
    assert (module.named(1), module.named(1, 3), module.named(2)) == (2, 3, 4)
    assert [hit['x'] for hit in hits] == [1, 2]
    assert "nothing is called 'kk'" in refused(lines, module.__file__, line_of('return y'), 'kk == 2')
    assert 'needs a value, as in has_inf(x)' in refused(lines, module.__file__, line_of('return y'), 'y > 1 or has_inf')
    lines.clear(1)
    assert sys.gettrace() is None and module.named(1) == 2 and len(hits) == 2


def test_code_without_a_file(lines: LineBreakpoints) -> None:
    space: dict[str, Any] = {}
    exec(compile('def made(x):\n    y = x + 1\n    return y\n', '<made by hand>', 'exec'), space)
    hits = Hits()
    placed = lines.set(1, '<made by hand>', 3, 'y > 2', hits)
    assert placed.how != 'compiled' and placed.line == 3
    assert (space['made'](1), space['made'](5)) == (2, 6)
    assert [hit['y'] for hit in hits] == [6]
    assert 'has no source, and no code of it is known that has a line 9' in refused(lines, '<made by hand>', 9, None)


# ---------------------------------------------------------------------- threads
def test_set_and_cleared_while_threads_run_the_function(lines: LineBreakpoints, program: ModuleType) -> None:
    wrong: list[int] = []
    seen: set[int] = set()
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            wrong.extend(x for x in range(50) if program.named(x) != 2 * x)
    threads = [threading.Thread(target=run) for _ in range(4)]
    code = program.named.__code__
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            lines.set(1, program.__file__, line_of('y = x * k'), 'x == 7', lambda frame, _: seen.add(frame.f_locals['x']))
            lines.set(2, program.__file__, line_of('return y'), 'y == 14', lambda frame, _: seen.add(frame.f_locals['y']))
            end = time.monotonic() + 20         # the threads have their turns when they do
            while time.monotonic() < end and not {7, 14} <= seen:
                time.sleep(0.001)
            assert seen == {7, 14}
            lines.clear(1)
            lines.clear(2)
            seen.clear()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong
    assert program.named.__code__ is code


def test_what_a_condition_calls_may_import() -> None:
    """As C code of NumPy and of the standard library does, by the built-ins of the Python code around it."""
    def frame() -> FrameType:
        moment = datetime.datetime.now()        # noqa: F841  # the condition reads it
        return sys._getframe()
    assert InlineCondition('moment.strptime("7 2020", "%d %Y").day == 7').value(frame(), {}, '')


def test_a_function_of_several_files_is_let_go_in_all_of_them_by_one_look(
        lines: LineBreakpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the heap takes a tenth of a second for a million objects, and many files may have functions of a name."""
    text = 'def stride(n):\n    return n + 1\n\ndef make():\n    def stride(n):\n        return n + 2\n    return stride\n'
    names = ('first_of_three', 'second_of_three', 'third_of_three')
    modules = [loaded(name, text, tmp_path) for name in names]
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    plain = [(module.stride.__code__, module.make().__code__) for module in modules]
    hits: list[tuple[str, int]] = []

    def note(frame: FrameType, error: BaseException | None) -> None:
        hits.append((Path(frame.f_code.co_filename).stem, frame.f_locals['n']))
    lines.set_function(1, 'stride', note)
    functions = [function for module in modules for function in (module.stride, module.make())]     # some are made later
    assert [function(7) for function in functions] == [8, 9] * 3
    assert hits == [(name, 7) for name in names for _ in range(2)]
    looks = []

    def look() -> LiveFunctions:
        looks.append(LiveFunctions())
        return looks[-1]
    monkeypatch.setattr(line_breakpoints, 'LiveFunctions', look)
    lines.clear(1)
    assert len(looks) == 1
    assert [function(7) for function in functions] == [8, 9] * 3 and len(hits) == 6
    assert [function.__code__ for function in functions] == [code for codes in plain for code in codes]
    assert all(function.__code__ is codes[0] for function, codes in zip(functions[::2], plain, strict=True))
