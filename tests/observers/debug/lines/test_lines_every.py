"""Breakpoints on every line of a program of many shapes: nothing changes, and arrivals are what `sys.settrace` sees."""
from __future__ import annotations

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.lines.line_breakpoints import LineBreakpoints
from pyfuncdbg.observers.debug.lines.live_functions import LiveFunctions

SHAPES = Path(__file__).with_name('shapes.py')
TREE = ast.parse(SHAPES.read_text())
LAST = next(node.lineno for node in TREE.body if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == 'CALLS') - 1
LINES = range(1, LAST)
CONDITIONS = [None, 'ALWAYS', 'all(ALWAYS for _ in (1,))']
Seen = tuple[int, dict[str, str]]


@pytest.fixture
def shapes() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location('shapes', SHAPES)
    module = importlib.util.module_from_spec(spec)
    sys.modules['shapes'] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules['shapes']


def outcome(module: ModuleType) -> list[Any]:
    """What all calls give: values, or errors with the lines that they went through; and what was logged meanwhile."""
    module.log.clear()
    clear_caches(module)
    results: list[Any] = []
    for function, *args in module.CALLS:
        try:
            results.append((function.__name__, repr(function(*[a.copy() if isinstance(a, list) else a for a in args]))))
        except Exception as error:
            places = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
            results.append((function.__name__, repr(error), places, repr(error.__context__)))
        results.append(sys.exc_info())
    return [*results, repr(module.log)]


def clear_caches(module: ModuleType) -> None:
    module.decorated.__wrapped__.cache_clear()


def functions_of(module: ModuleType) -> dict[int, tuple[FunctionType, Any]]:
    return {id(f): (f, f.__code__) for f in LiveFunctions().functions(str(SHAPES)) if f.__globals__ is module.__dict__}


def settable(lines: LineBreakpoints, line: int, condition: str | None, on_hit: Callable[..., None]) -> Any:
    try:
        return lines.set(line, str(SHAPES), line, condition, on_hit)
    except CommandError:
        return None


def facts(function: FunctionType) -> list[Any]:
    return [function.__defaults__, function.__kwdefaults__, function.__closure__, function.__qualname__,
            function.__code__.co_varnames, function.__code__.co_firstlineno, function.__doc__]


def test_a_condition_that_is_never_true_changes_nothing_on_any_line(lines: LineBreakpoints, shapes: ModuleType) -> None:
    plain = outcome(shapes)
    before = functions_of(shapes)
    known = {number: facts(function) for number, (function, _) in before.items()}
    placed = 0
    for line in LINES:
        found = settable(lines, line, 'NEVER', pytest.fail)
        if found is None:
            continue
        placed += 1
        assert found.how == 'compiled', (line, found)
        assert outcome(shapes) == plain, f'line {line}'
        for number, (function, _) in before.items():
            assert facts(function) == known[number], f'line {line}'
        lines.clear(line)
        for function, code in before.values():
            assert function.__code__ is code, f'line {line}'
    assert placed > 200


def test_all_lines_together(lines: LineBreakpoints, shapes: ModuleType) -> None:
    plain = outcome(shapes)
    before = functions_of(shapes)
    # Every other line: what a function costs to compile anew grows with the tests in it.
    placed = [line for line in LINES[::2] if settable(lines, line, 'NEVER or any(NEVER for _ in (1,))', pytest.fail)]
    assert outcome(shapes) == plain
    for line in placed[::2] + placed[1::2][::-1]:
        lines.clear(line)
    assert all(function.__code__ is code for function, code in before.values())


@pytest.mark.parametrize('condition', CONDITIONS)
def test_arrivals_are_those_that_a_tracer_sees(lines: LineBreakpoints, shapes: ModuleType, condition: str | None) -> None:
    expected = oracle(shapes)
    plain = outcome(shapes)
    wrong = []
    # Every line has a turn with one of the three: all lines with all of them take two minutes.
    for line in LINES[CONDITIONS.index(condition)::len(CONDITIONS)]:
        hits: list[Seen] = []

        def on_hit(frame: FrameType, error: Exception | None, hits: list[Seen] = hits) -> None:
            assert error is None and frame.f_lineno is None, (error, frame)
            hits.append((frame.f_code.co_firstlineno, shown(frame)))
        placed = settable(lines, line, condition, on_hit)
        if placed is None:
            continue
        result = outcome(shapes)
        lines.clear(line)
        if result != plain:
            wrong.append((line, 'other results'))
        if line == placed.line and line not in ON_ONE_LINE and hits != expected.get(line, []):
            wrong.append((line, hits, expected.get(line)))
    for entry in wrong:
        print(*entry, sep='\n   ')
    assert not wrong


def shown(frame: FrameType) -> dict[str, str]:
    return {name: repr(value) for name, value in frame.f_locals.items()
            if not callable(value) and ' at 0x' not in repr(value)}


def oracle(module: ModuleType) -> dict[int, list[Seen]]:
    """By line of a statement, the arrivals at it, as a trace function sees them."""
    owners = owning_statements()
    found: dict[int, list[Seen]] = {}
    last: dict[FrameType, ast.stmt | None] = {}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename != str(SHAPES):
            return None
        if event == 'line':
            now, before = owners.get(frame.f_lineno), last.get(frame)
            last[frame] = now
            if code.co_name.startswith('<') and code.co_name != '<lambda>':
                return trace                    # comprehensions belong to the statement that they are in
            if now is None or (code.co_name == now_name(now) and code.co_firstlineno == now.lineno):
                return trace                    # the head of a class, seen from inside
            if code.co_name == '<lambda>':
                found.setdefault(frame.f_lineno, []).append((code.co_firstlineno, shown(frame)))
            elif now is not before and not leaves(now, before):
                found.setdefault(now.lineno, []).append((code.co_firstlineno, shown(frame)))
        return trace
    sys.settrace(trace)
    try:
        outcome(module)
    finally:
        sys.settrace(None)
    return found


def now_name(statement: ast.stmt) -> str | None:
    return statement.name if isinstance(statement, ast.ClassDef) else None


def leaves(statement: ast.stmt, before: ast.stmt | None) -> bool:
    """Whether a `with` is come back to for its exit."""
    return isinstance(statement, ast.With | ast.AsyncWith) and any(node is before for node in ast.walk(statement))


def owning_statements() -> dict[int, ast.stmt]:
    """By line, the first statement that begins on it, or else the one whose head it is in."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(TREE):
        if isinstance(node, ast.stmt):
            body = getattr(node, 'body', None) or getattr(node, 'cases', None)
            end = node.end_lineno or 0
            if body:
                first = body[0]
                end = max(node.lineno, getattr(first, 'lineno', None) or first.pattern.lineno) - 1
            for line in range(node.lineno, max(end, node.lineno) + 1):
                found.setdefault(line, node)    # from the outside in, as `walk` goes
    return found


ON_ONE_LINE = {node.lineno for node in ast.walk(TREE) if isinstance(node, ast.For | ast.While)
               and node.body[0].lineno == node.lineno}
