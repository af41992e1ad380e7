"""Breakpoints in files that are not loaded yet: each execution of the line stops, and the program notices nothing."""
from __future__ import annotations

import gc
import importlib
import inspect
import json.scanner
import pickle
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from debug_program import loaded

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import module_loading
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints
from pyfuncdbg.observers.debug.lines.patched_code import same_code

TEXT = '''"""A module of many shapes."""
from __future__ import annotations

import math as m

LIMIT: int = 3
total = 0
for i in range(LIMIT):
    if i == 1:
        continue
    total += i
else:
    total += 100
while total > 100:
    total -= 1

def plain(n, k=2):
    """Says what it does."""
    p = n * k
    return p

class Net:
    """A net."""
    size = plain(2)

    def forward(self, x: Undefined) -> int:
        y = x + self.size
        return y
    both = [forward,
            size]

with open(__file__) as file:
    first = file.readline()
try:
    plain(1) / 0
except ZeroDivisionError as error:
    said = str(error)
finally:
    ended = True
picked = [plain(v) for v in (1, 2)]; after = 1

add = lambda v: \\
    plain(v) + 1
made = [add(v) for v in (1, 2, 3)]
many = Net().forward(
    add(4))
'''
LINES = range(1, TEXT.count('\n') + 1)


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(TEXT.split('\n'), 1) if text in line)


HEADS = {line_of(head) for head in ('def plain', 'def forward', 'class Net')}
"""Those of functions mean the first line inside; Python comes to that of a class twice."""
SEVERAL = {line_of('both = ['), line_of('add = lambda'), line_of('many = Net'), line_of('with open'), line_of('picked = ['),
           line_of('made = [')}
WITHOUT_CODE = {1, 2, line_of('"""Says'), line_of('"""A net'), line_of('else:'), line_of('except Zero'),
                line_of('finally:'), line_of('    add(4))'), *(n for n in LINES if not TEXT.split('\n')[n - 1].strip())}


@pytest.fixture
def at_loading(lines: LineBreakpoints) -> LineBreakpoints:
    module_loading.watch(lines.module_code)
    return lines


@pytest.fixture(autouse=True)
def own_modules() -> Iterator[None]:
    before, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def traced_lines(folder: Path) -> Counter[int]:
    """How often Python comes to each line."""
    counts: Counter[int] = Counter()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.endswith('seen_plain.py'):
            return None
        if event == 'line' and not frame.f_code.co_name.endswith('comp>'):
            counts[frame.f_lineno] += 1
        return trace
    sys.settrace(trace)
    try:
        loaded('seen_plain', TEXT, folder)
    finally:
        sys.settrace(None)
    return counts


def test_every_execution_of_every_line_stops(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    expected = traced_lines(tmp_path)
    path = tmp_path / 'seen.py'
    path.write_text(TEXT)
    checked = 0
    hits: list[str] = []
    for line in LINES:
        hits.clear()
        try:
            placed = at_loading.set(1, str(path), line, None, lambda frame, error: hits.append(frame.f_code.co_name))
        except CommandError:
            assert line in WITHOUT_CODE
            continue
        assert placed.how == 'pending'
        module = loaded('seen', TEXT, tmp_path)
        if line not in HEADS | WITHOUT_CODE and not TEXT.split('\n')[line - 1].startswith('  ' * 5):
            # Python comes back to the first line of a statement over several, to the head of a `with` and, from 3.12, to a
            # list comprehension for each of its values.
            assert len(hits) == (1 if line in SEVERAL else expected[line]), (line, hits)
            assert at_loading.placement(1).how == 'compiled' and at_loading.placement(1).line == line
            checked += 1
        assert (module.total, module.made, module.many, module.Net.both[1]) == (100, [3, 5, 7], 13, 4)
        at_loading.clear(1)
        del module, sys.modules['seen']
        gc.collect()                            # a loaded module has no lines to come
        at_loading._live_functions = None
    assert checked > 25


@pytest.mark.parametrize(('asked', 'meant'), [
    (1, 'import math'), (2, 'import math'), (line_of('def plain'), 'p = n * k'), (line_of('"""A net'), 'size = plain'),
    (line_of('else:'), 'total += 100'), (line_of('            size]'), 'both = [')])
def test_lines_without_code_mean_the_next_statement(asked: int, meant: str, at_loading: LineBreakpoints,
                                                    tmp_path: Path) -> None:
    (tmp_path / 'seen.py').write_text(TEXT)
    placed = at_loading.set(1, str(tmp_path / 'seen.py'), asked, None, lambda frame, error: None)
    assert (placed.how, placed.line) == ('pending', line_of(meant))


def test_lines_between_definitions_are_refused_with_the_nearest_line(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    (tmp_path / 'seen.py').write_text(TEXT)
    with pytest.raises(CommandError, match=r'line 16 of seen\.py has no code\. The nearest line with code is 15\.'):
        at_loading.set(1, str(tmp_path / 'seen.py'), line_of('def plain') - 1, None, lambda frame, error: None)


def test_conditions_of_module_level_and_of_functions(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    path = tmp_path / 'seen.py'
    text = TEXT.replace('import math as m', 'from math import *')
    path.write_text(text)
    hits: list[tuple[int, Any]] = []

    def note(number: int) -> Any:
        return lambda frame, error: hits.append((number, {**frame.f_globals, **frame.f_locals}['n' if number == 2 else 'i']))
    at_loading.set(1, str(path), line_of('total += i'), 'i > 1 and __name__ == "seen" and cos(0)', note(1))
    at_loading.set(2, str(path), line_of('p = n'), 'n == 4 and floor(n)', note(2))
    text = text.replace('total = 0', 'total = 0.').replace('"A net."', '"A net of another text."')
    loaded('seen', text, tmp_path)
    assert hits == [(1, 2), (2, 4)]


def test_a_name_that_is_none_is_refused_before_the_file_is_loaded(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    (tmp_path / 'seen.py').write_text(TEXT)
    with pytest.raises(CommandError, match=r"nothing is called 'totl' at line 11 in the module.*Did you mean 'total'"):
        at_loading.set(1, str(tmp_path / 'seen.py'), line_of('total += i'), 'totl > 3', lambda frame, error: None)


def test_what_a_program_can_ask_of_its_module_is_as_in_plain_python(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    plain = loaded('seen_plain', TEXT, tmp_path)
    (tmp_path / 'seen.py').write_text(TEXT)
    for number, text in enumerate(('LIMIT: int', 'total += i', 'p = n * k', 'size = plain', 'y = x', 'plain(v) + 1'), 1):
        at_loading.set(number, str(tmp_path / 'seen.py'), line_of(text), None, lambda frame, error: None)
    module = loaded('seen', TEXT, tmp_path)
    assert (module.__doc__, module.Net.__doc__, module.plain.__doc__) == ('A module of many shapes.', 'A net.',
                                                                         'Says what it does.')
    assert module.Net.forward.__annotations__ == {'x': 'Undefined', 'return': 'int'}
    assert inspect.getsource(module.Net) == inspect.getsource(plain.Net)
    assert inspect.getsource(module.add) == inspect.getsource(plain.add)
    assert pickle.loads(pickle.dumps(module.plain)) is module.plain
    for mine, its in ((module.plain, plain.plain), (module.Net.forward, plain.Net.forward), (module.add, plain.add)):
        assert same_code(original_code(mine.__code__), its.__code__) and not same_code(mine.__code__, its.__code__)
        assert {line for *_, line in mine.__code__.co_lines() if line} == {
            line for *_, line in its.__code__.co_lines() if line}
    assert set(vars(module)) == set(vars(plain))
    for number in range(1, 7):
        at_loading.clear(number)
    assert all(original_code(mine.__code__) is mine.__code__ for mine in (module.plain, module.Net.forward, module.add))


@pytest.mark.parametrize('text', [TEXT + 'def fails():\n    total.nothing(\n        1)\nfails()\n',
                                  TEXT + 'total = (total.nothing\n         + 1)\n', TEXT + 'total = = 1\n'])
def test_tracebacks_are_those_of_plain_python(text: str, at_loading: LineBreakpoints, tmp_path: Path) -> None:
    sys.path.insert(0, str(tmp_path))
    (tmp_path / 'failing.py').write_text(text)

    def said() -> str:
        sys.modules.pop('failing', None)
        try:
            importlib.import_module('failing')
        except Exception as error:
            return ''.join(traceback.format_exception(error))
        return ''
    plain = said()
    gc.collect()
    try:
        for number, line in enumerate(('total += i', 'p = n * k', 'many = '), 1):
            at_loading.set(number, str(tmp_path / 'failing.py'), line_of(line), None, lambda frame, error: None)
    except CommandError:
        assert '= = 1' in text                  # no line of such a file can be meant
        at_loading.set(4, 'seen_elsewhere.py', 1, None, lambda frame, error: None)
    assert 'Error' in plain and said() == plain


def test_functions_made_in_a_call_have_their_tests_from_birth(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    text = 'def outer(n):\n    def inner(v):\n        return v + n\n    return inner(1)\nouter(1)\nouter(2)\n'
    (tmp_path / 'closes.py').write_text(text)
    hits: list[int] = []
    at_loading.set(1, str(tmp_path / 'closes.py'), 3, 'n == 2', lambda frame, error: hits.append(frame.f_locals['n']))
    module = loaded('closes', text, tmp_path)
    assert hits == [2] and module.outer(2) == 3 and hits == [2, 2]
    at_loading.clear(1)
    assert module.outer(2) == 3 and hits == [2, 2]
    assert original_code(module.outer.__code__) is module.outer.__code__


def test_cleared_while_the_module_runs(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    text = 'n = 0\nfor i in range(4):\n    n += i\n'
    (tmp_path / 'runs_on.py').write_text(text)
    hits: list[int] = []

    def on_hit(frame: FrameType, error: Exception | None) -> None:
        hits.append(frame.f_locals['i'])
        if frame.f_locals['i'] == 1:
            at_loading.clear(1)
    at_loading.set(1, str(tmp_path / 'runs_on.py'), 3, None, on_hit)
    assert loaded('runs_on', text, tmp_path).n == 6 and hits == [0, 1]


def test_a_module_that_is_loaded_again_stops_again(at_loading: LineBreakpoints, tmp_path: Path) -> None:
    sys.path.insert(0, str(tmp_path))
    (tmp_path / 'seen.py').write_text(TEXT)
    hits: list[int] = []
    at_loading.set(1, str(tmp_path / 'seen.py'), line_of('LIMIT: int'), None, lambda frame, error: hits.append(1))
    module: ModuleType = importlib.import_module('seen')
    importlib.reload(module)
    assert hits == [1, 1]


def test_a_library_of_that_name_is_not_meant(at_loading: LineBreakpoints, tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / 'lib' / 'site-packages' / 'other'
    library.mkdir(parents=True)
    (library / 'shapes_of_mine.py').write_text('a = 1\nb = 2\n')
    sys.path.insert(0, str(library))
    monkeypatch.chdir(tmp_path)
    hits: list[str] = []
    at_loading.set(1, 'later/shapes_of_mine.py', 2, None, lambda frame, error: hits.append(frame.f_code.co_filename))
    importlib.import_module('shapes_of_mine')
    assert hits == []
    (tmp_path / 'scanner.py').write_text('a = 1\nb = 2\n')
    assert json.scanner.__file__ is not None
    placed = at_loading.set(2, 'scanner.py', 2, None, lambda frame, error: hits.append(frame.f_code.co_filename))
    assert placed.how == 'pending'
    loaded('scanner', 'a = 1\nb = 2\n', tmp_path)
    assert hits == [str(tmp_path / 'scanner.py')]
