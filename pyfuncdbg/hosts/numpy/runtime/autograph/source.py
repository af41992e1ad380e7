"""The syntax tree of a running function, found in its file by position and name.

The text is that of `linecache`: files as first read, and cells of a notebook. Called while tracing.
"""
from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.private_names import mangle

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NoSourceError(Exception):
    """The text of a function cannot be found, or has changed."""


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """Syntax tree of a function, and its class ('' if none). The tree is shared and must not be changed."""

    node: Definition
    owner: str


class _Definitions(ast.NodeVisitor):
    """All functions of a file, by first line and name."""

    def __init__(self) -> None:
        self.by_place: dict[tuple[int, str], list[FunctionSource]] = {}
        self._owner = ''

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        before, self._owner = self._owner, node.name
        for statement in node.body:
            self.visit(statement)
        self._owner = before

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self.by_place.setdefault((first, node.name), []).append(FunctionSource(node, self._owner))
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.by_place.setdefault((node.lineno, '<lambda>'), []).append(FunctionSource(node, self._owner))
        self.generic_visit(node)


_files: dict[str, tuple[list[str], dict[tuple[int, str], list[FunctionSource]]]] = {}
_lock = new_lock()


def definition(code: CodeType) -> FunctionSource:
    """The tree of the function that a code object was compiled from.

    Raises:
        NoSourceError: There is no source, or it has changed.
    """
    candidates = _functions(code.co_filename).get((code.co_firstlineno, code.co_name), [])
    if len(candidates) > 1:
        candidates = [one for one in candidates if _spans(one.node, code)][-1:]   # of nested lambdas the innermost
    if len(candidates) != 1:
        raise NoSourceError('could not get source code' if not candidates else 'two functions stand at the same place')
    if not _same_parameters(candidates[0], code):
        raise NoSourceError('the file was changed since it was loaded')
    return candidates[0]


def _functions(filename: str) -> dict[tuple[int, str], list[FunctionSource]]:
    lines = linecache.getlines(filename)
    with _lock:
        entry = _files.get(filename)
        if entry is None or entry[0] is not lines:
            definitions = _Definitions()
            try:
                definitions.visit(ast.parse(''.join(lines)))
            except (SyntaxError, ValueError) as error:
                raise NoSourceError(f'its file cannot be read: {error}') from None
            entry = _files[filename] = lines, definitions.by_place
    return entry[1]


def _spans(node: Definition, code: CodeType) -> bool:
    """Whether all instructions of a code object are within a function, by column."""
    start, end = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
    inside = False
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None or end_column == 0:
            continue
        if (line, column) < start or (end_line, end_column) > end:
            return False
        inside = True
    return inside


def _same_parameters(source: FunctionSource, code: CodeType) -> bool:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    names = {mangle(argument.arg, source.owner) for argument in parameters(source.node.args)}
    return set(code.co_varnames[:count]) == names


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    """All parameters of a signature."""
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    if arguments.vararg is not None:
        yield arguments.vararg
    if arguments.kwarg is not None:
        yield arguments.kwarg
