"""Puts tests into the syntax tree of a top-level statement and compiles it.

Called under the lock of `LineBreakpoints`. Objects come into the code as constants, first as marks, so that no name of the
program's is used for them; inserted trees are on the line `table.BEYOND`.
"""
from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import CodeType
from typing import Any, TypeVar

from pyfuncdbg.observers.debug.lines.inserted_test import FrameTest, LineBreakpoint
from pyfuncdbg.observers.debug.lines.insertion_point import Function, InsertionPoint
from pyfuncdbg.observers.debug.lines.patched_code import BEYOND

_Loop = ast.For | ast.AsyncFor | ast.While
_numbers = count(1)
_Node = TypeVar('_Node', bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Insertion:
    """One test to insert.

    Attributes:
        spot: Where.
        line_breakpoint: What it tells.
        vocabulary: The values of those names in the condition that are none of the program's.
        variables: The local variables of the function, in its order, which a condition must not change; it may read one
            before the function does.
        reads_frame: Whether the condition is evaluated with the names of the frame: slower, and changes no variables.
    """

    spot: InsertionPoint
    line_breakpoint: LineBreakpoint
    vocabulary: dict[str, Any]
    variables: tuple[str, ...] = ()
    reads_frame: bool = False


def compile_statements(statements: list[ast.stmt], filename: str, flags: int) -> CodeType:
    """Statements of a module as code; nothing is warned about, for the program's own import has done so."""
    name = f'<lines {next(_numbers)} of {filename}>'
    with _without_warnings(name):
        code: CodeType = compile(ast.Module(statements, []), name, 'exec', flags, dont_inherit=True)
        return code


def insert_tests(statements: list[ast.stmt], filename: str, flags: int,
                 insertions: Sequence[Insertion]) -> tuple[CodeType, dict[str, Any]]:
    """Statements with tests, and the objects of the marks among the constants. The tree is restored.

    Raises:
        SyntaxError: A condition is none at its place.
    """
    marks: dict[str, Any] = {}
    lists: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    lambdas: list[tuple[ast.Lambda, ast.expr]] = []
    try:
        for node, tested in _by_lambda(insertions).items():
            lambdas.append((node, node.body))
            node.body = _before_expression(node.body, tested, marks)
        for insertion in insertions:
            if isinstance(insertion.spot.node, ast.Lambda):
                continue
            for body, following in _places(insertion.spot):
                lists.append((body, body[:]))
                place = len(body) if following is None else body.index(following)
                body.insert(place, _test(insertion, marks))
            if insertion.variables and isinstance(insertion.spot.function, Function):
                body = insertion.spot.function.body
                lists.append((body, body[:]))
                body.insert(int(ast.get_docstring(insertion.spot.function, clean=False) is not None),
                            _variable_order(insertion.variables))
        return compile_statements(statements, filename, flags), marks
    finally:
        for body, before in reversed(lists):
            body[:] = before
        for changed, expression in reversed(lambdas):
            changed.body = expression


def _places(spot: InsertionPoint) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    """(list, before which of its statements): of a loop's head also the ways back to it. None: at the end."""
    node = spot.node
    assert isinstance(node, ast.stmt)
    yield spot.body, node
    if isinstance(node, _Loop) and not spot.begins:
        yield from list(_continues(node.body))
        yield node.body, None


def _continues(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    for node in body:
        if isinstance(node, ast.Continue):
            yield body, node
        elif isinstance(node, _Loop):
            yield from _continues(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in (node, *getattr(node, 'handlers', ()), *getattr(node, 'cases', ())):
                for name in ('body', 'orelse', 'finalbody'):
                    yield from _continues(getattr(part, name, []))


# ---------------------------------------------------------------------- the inserted trees
def _variable_order(variables: Sequence[str]) -> ast.stmt:
    """Unreachable: numbers the variables as the program's own text does, whichever the condition reads first."""
    mentions: list[ast.stmt] = [ast.Expr(ast.Name(name, ast.Load())) for name in variables]
    return _move_beyond(ast.If(ast.Constant(0), mentions, []))


def _test(insertion: Insertion, marks: dict[str, Any]) -> ast.stmt:
    line_breakpoint = insertion.line_breakpoint
    if insertion.reads_frame:
        return _move_beyond(ast.Expr(_frame_test((line_breakpoint,), insertion.spot.owner, marks)))
    hit: ast.stmt = ast.Expr(ast.Call(_mark('hit', line_breakpoint.number, line_breakpoint.hit, marks), [], []))
    if line_breakpoint.condition is not None:
        raised = ast.Expr(ast.Call(_mark('raised', line_breakpoint.number, line_breakpoint.raised, marks), [], []))
        handler = ast.ExceptHandler(_mark('class', 0, Exception, marks), None, [raised])
        mark = _mark('line_breakpoint', line_breakpoint.number, line_breakpoint, marks)
        # An assignment, for a call would take longer.
        reached = ast.Assign([ast.Attribute(mark, 'was_reached', ast.Store())], ast.Constant(True))
        hit = ast.Try([reached, ast.If(_condition(insertion, marks), [hit], [])], [handler], [], [])
    return _move_beyond(hit)


def _condition(insertion: Insertion, marks: dict[str, Any]) -> ast.expr:
    """The condition for this place: inline, or as a call with the values of its names if it has scopes of its own."""
    condition, vocabulary = insertion.line_breakpoint.condition, insertion.vocabulary
    assert condition is not None
    if not condition.nested:
        tree = ast.Expression(condition.expression())
        return _Vocabulary(vocabulary, marks).visit(tree).body    # type: ignore[no-any-return]
    names = tuple(sorted(condition.names - set(vocabulary)))
    function = condition.function(names, vocabulary, insertion.spot.owner)
    mark = _mark('condition', insertion.line_breakpoint.number, function, marks)
    spaces = [ast.Call(ast.Name(name, ast.Load()), [], []) for name in condition.spaces]
    return ast.Call(mark, [*(ast.Name(name, ast.Load()) for name in names), *spaces], [])


def _by_lambda(insertions: Sequence[Insertion]) -> dict[ast.Lambda, list[Insertion]]:
    by_lambda: dict[ast.Lambda, list[Insertion]] = {}
    for insertion in insertions:
        if isinstance(insertion.spot.node, ast.Lambda):
            by_lambda.setdefault(insertion.spot.node, []).append(insertion)
    return by_lambda


def _before_expression(body: ast.expr, insertions: list[Insertion], marks: dict[str, Any]) -> ast.expr:
    """`test() or body`, where the test gives None; at the body's position, so that its jump belongs to the body.

    One test for all breakpoints: a tracer would see the jump of each.
    """
    call = _frame_test(tuple(insertion.line_breakpoint for insertion in insertions), insertions[0].spot.owner, marks)
    return ast.copy_location(ast.BoolOp(ast.Or(), [call, body]), body)


def _frame_test(line_breakpoints: tuple[LineBreakpoint, ...], owner: str, marks: dict[str, Any]) -> ast.expr:
    test = FrameTest(line_breakpoints, owner)
    numbers = '+'.join(str(line_breakpoint.number) for line_breakpoint in line_breakpoints)
    return _move_beyond(ast.Call(_mark('test', numbers, test, marks), [], []))


class _Vocabulary(ast.NodeTransformer):
    """Names of the vocabulary become constants."""

    def __init__(self, vocabulary: dict[str, Any], marks: dict[str, Any]) -> None:
        self._vocabulary = vocabulary
        self._marks = marks

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._vocabulary:
            return _mark('name', node.id, self._vocabulary[node.id], self._marks)
        return node


def _mark(kind: str, key: object, value: Any, marks: dict[str, Any]) -> ast.Constant:
    text = f'\0pyfuncdbg {kind} {key}'
    if marks.setdefault(text, value) is not value and kind in ('condition', 'test', 'name'):
        text += f' {len(marks)}'
        marks[text] = value
    return ast.Constant(text)


def _move_beyond(tree: _Node) -> _Node:
    for node in ast.walk(tree):
        if 'lineno' in node._attributes:
            node.lineno = node.end_lineno = BEYOND                          # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0                       # type: ignore[attr-defined]
    return tree


@contextmanager
def _without_warnings(filename: str) -> Iterator[None]:
    """Nothing is warned about in one file. Not `catch_warnings`: it makes the program's once-only warnings come again."""
    filters = warnings.filters
    rule: Any = 'ignore', None, Warning, re.compile(re.escape(filename.removesuffix('.py')) + '$'), 0
    filters.insert(0, rule)                                                 # type: ignore[attr-defined]
    try:
        yield
    finally:
        filters.remove(rule)                                                # type: ignore[attr-defined]
