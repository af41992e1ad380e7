"""The source of a file: its text, its top-level statements, and what each of them compiles to.

Compiled by the statement, not by the file: a breakpoint then costs the time of its function or class. Used under the lock of
`LineBreakpoints`.
"""
from __future__ import annotations

import ast
import linecache
import tokenize
from bisect import bisect_right
from functools import cached_property
from types import CodeType
from typing import Any

from pyfuncdbg.observers.debug.lines.ast_rewrite import compile_statements
from pyfuncdbg.observers.debug.lines.insertion_point import (
    Function,
    InsertionPoint,
    find,
    function_beginnings,
    has_code,
    insertion_points,
)


class ModuleSource:
    """One text of one file.

    Attributes:
        filename: As in its code objects.
        text: All of it.
        statements: Of the module.
        imported: An import of all names that the module imports: calls of their attributes are compiled in another way.
    """

    def __init__(self, filename: str, text: str) -> None:
        """Read it.

        Raises:
            SyntaxError: It is no Python, or not the Python that runs.
        """
        self.filename = filename
        self.text = text
        self.statements = ast.parse(text, filename).body
        self.imported = _imports(self.statements)
        self._starts = [_first_line(statement) for statement in self.statements]
        self._found: dict[int, list[InsertionPoint]] = {}
        self._spots: dict[int, list[InsertionPoint]] = {}
        self._bases: dict[tuple[int, int], CodeType] = {}
        self._module: CodeType | None = None

    @cached_property
    def assigned_names(self) -> set[str]:
        """The names that the module's own code makes global, as far as its text shows."""
        return _assigned_names(self.statements)

    def top(self, line: int) -> int | None:
        """Index of the top-level statement that a line is in, None between them."""
        index = bisect_right(self._starts, line) - 1
        if index < 0 or line > (self.statements[index].end_lineno or 0):
            return None
        return index

    def spots(self, index: int) -> list[InsertionPoint]:
        """The insertion points within a top-level statement."""
        points = self._spots.get(index)
        if points is None:
            points = self._spots[index] = insertion_points(self.statements[index], self.statements)
        return points

    def find(self, place: int | str) -> list[InsertionPoint]:
        """The insertion points for a line, in functions or at module level; for a name, the beginnings of its functions.
        Empty where no code is."""
        if isinstance(place, int):
            return self._at(place)
        return [spot for index in range(len(self.statements)) for spot in function_beginnings(self.spots(index), place)]

    def _at(self, line: int) -> list[InsertionPoint]:
        points = self._found.get(line)
        if points is None:
            index = self.top(line)
            points = find(self.spots(index), line) if index is not None else []
            points = self._found[line] = points or self._after(line, index)
        return points

    def _after(self, line: int, index: int | None) -> list[InsertionPoint]:
        """The next statement of the module, of a line with nothing on it; nothing if that is a definition."""
        if index is not None and not isinstance(self.statements[index], ast.Expr | ast.ImportFrom):
            return []
        following = bisect_right(self._starts, line)
        following = next((n for n in range(following, len(self.statements)) if has_code(self.spots(n)[0])), -1)
        if following < 0 or isinstance(self.statements[following], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return []
        return self.spots(following)[:1]

    def nearest(self, line: int, everywhere: bool = False) -> int | None:
        """The nearest line with code: inside of a function, or `everywhere`."""
        lines = [spot.line for index in range(len(self.statements)) for spot in self.spots(index)
                 if (everywhere or spot.function is not None) and has_code(spot)]
        return min(lines, key=lambda known: (abs(known - line), known), default=None)

    def module(self) -> CodeType:
        """The whole module as the program compiled it."""
        if self._module is None:
            self._module = compile_statements(self.statements, self.filename, 0)
        return self._module

    def base(self, index: int, flags: int) -> CodeType:
        """A top-level statement as the program compiled it."""
        key = index, flags
        statement = self._bases.get(key)
        if statement is None:
            statement = self._bases[key] = compile_statements([*self.imported, self.statements[index]], self.filename, flags)
        return statement


def read_texts(filename: str, space: dict[str, Any] | None = None) -> list[ModuleSource]:
    """The texts that the file may have been loaded from: what the program knows of it, and what is on disk now."""
    texts = [''.join(linecache.getlines(filename, space))]
    try:
        with tokenize.open(filename) as file:
            texts.append(file.read())
    except (OSError, SyntaxError, UnicodeDecodeError):
        pass
    found = []
    for text in dict.fromkeys(text.removesuffix('\n') + '\n' for text in texts if text):
        try:
            found.append(ModuleSource(filename, text))
        except (SyntaxError, ValueError, RecursionError):
            continue
    return found


def _imports(statements: list[ast.stmt]) -> list[ast.stmt]:
    names: dict[str, None] = {}
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.alias) and node.name != '*':
            names[node.asname or node.name.partition('.')[0]] = None
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    if not names:
        return []
    return [ast.fix_missing_locations(ast.Import([ast.alias('sys', name) for name in names], lineno=1, col_offset=0))]


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, 'decorator_list', [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _assigned_names(statements: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
            names.update(name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split('.')[0])
        pending.extend(ast.iter_child_nodes(node))
    return names
