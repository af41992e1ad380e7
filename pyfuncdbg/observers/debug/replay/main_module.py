"""The module that a program's script was, without running the script: its imports, functions and classes, by need.

A script may train as soon as it runs. Of its top level only statements that define what a function reads are executed:
imports, functions, classes, and assignments of literals and lambdas. On the thread of the command.
"""
from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType

from pyfuncdbg.hooks.code_names import names_in

NAME = '__mp_main__'
"""As `multiprocessing` calls the main module of another process: `if __name__ == '__main__'` is not true in it."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)


class MainModule:
    """A script as a module that defines names when they are needed.

    Args:
        path: The script.
        source: Its text.

    Attributes:
        module: Its namespace.

    Raises:
        SyntaxError: The text is no Python.
    """

    def __init__(self, path: Path, source: bytes) -> None:
        self.module = ModuleType(NAME)
        self.module.__file__ = str(path)
        self._path = str(path)
        tree = ast.parse(source, self._path)
        self._statements: dict[str, list[ast.stmt]] = {}
        self._stars: list[ast.stmt] = []
        self._lines: dict[str, int] = {}
        self._running: set[int] = set()
        self._done: set[int] = set()
        nested: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            for name, line in _bound_names(statement):
                self._lines[name] = line
            if _is_definition(statement):
                if isinstance(statement, ast.ImportFrom) and any(alias.name == '*' for alias in statement.names):
                    self._stars.append(statement)
                self._note(statement, self._statements)
            else:
                for inner in _nested_definitions(statement):
                    self._note(inner, nested)
        # In a block that is not run as a whole: which of two would count cannot be told.
        self._statements |= {name: found for name, found in nested.items()
                             if len(found) == 1 and name not in self._statements}
        sys.modules[NAME] = self.module

    def _note(self, statement: ast.stmt, statements: dict[str, list[ast.stmt]]) -> None:
        for name, _ in _bound_names(statement):
            statements.setdefault(name, []).append(statement)

    def define(self, code: CodeType, known: frozenset[str] = frozenset()) -> None:
        """Define the names that code reads, and those that they need.

        Args:
            code: Of a function or of a statement.
            known: Names that have values from elsewhere.

        Raises:
            Exception: What an import or a definition of the program raises.
        """
        for kind, name in dict.fromkeys(names_in(code)):
            if kind == 'global' and name not in known:
                self.define_name(name)

    def define_name(self, name: str) -> bool:
        """Define one name.

        Args:
            name: A variable of the script's top level.

        Returns:
            False if only the run of the script gives it a value.
        """
        space = vars(self.module)
        if name in space:
            return True
        for statement in self._statements.get(name, ()):
            self._execute(statement)
        if name not in space and name not in self._lines:
            for statement in self._stars:
                self._execute(statement)
        return name in space

    def define_at(self, name: str, line: int) -> None:
        """Define a name by the one of its statements that begins at a line, if there is one, else by all.

        Args:
            name: A variable of the script's top level.
            line: Of the statement or its first decorator.
        """
        for statement in self._statements.get(name, ()):
            decorators = getattr(statement, 'decorator_list', [])
            if line in (statement.lineno, *[decorator.lineno for decorator in decorators]):
                self._done.discard(id(statement))
                self._execute(statement)
                return
        self.define_name(name)

    def line_of(self, name: str) -> int:
        """The line that gives a name its value.

        Args:
            name: A variable of the script's top level.

        Returns:
            Of its last assignment; 0 if there is none.
        """
        return self._lines.get(name, 0)

    def _execute(self, statement: ast.stmt) -> None:
        if id(statement) in self._done or id(statement) in self._running:
            return
        self._running.add(id(statement))
        try:
            code = compile(ast.Module([statement], []), self._path, 'exec', dont_inherit=True)
            self._define_needed(statement, code)
            exec(code, vars(self.module))
            self._done.add(id(statement))
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for inner in code.co_consts:    # what it reads when it is called
                    if isinstance(inner, CodeType):
                        self.define(inner)
        finally:
            self._running.discard(id(statement))

    def _define_needed(self, statement: ast.stmt, code: CodeType) -> None:
        """Define what a statement reads when it is executed: decorators, defaults, bases, the body of a class."""
        for name in {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & {
                name for kind, name in names_in(code) if kind == 'global'}:
            self.define_name(name)


def _is_definition(statement: ast.stmt) -> bool:
    """Whether executing a statement only defines names."""
    if isinstance(statement, _DEFINITIONS):
        return True
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or _is_literal(statement.value)
    if isinstance(statement, ast.Try):
        return all(map(_is_definition, [*statement.body, *statement.orelse, *statement.finalbody,
                                        *[inner for handler in statement.handlers for inner in handler.body]]))
    if isinstance(statement, ast.If):
        return not _asks_for_main(statement.test) and all(map(_is_definition, [*statement.body, *statement.orelse]))
    return False


def _nested_definitions(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The definitions in the blocks of a statement of the top level, such as those of `if __name__ == '__main__'`."""
    for block in ('body', 'orelse', 'finalbody'):
        for inner in getattr(statement, block, ()):
            if _is_definition(inner):
                yield inner
            else:
                yield from _nested_definitions(inner)


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == '__name__' for node in ast.walk(test)) or any(
        isinstance(node, ast.Call) for node in ast.walk(test))


def _is_literal(value: ast.expr) -> bool:
    return isinstance(value, ast.Lambda) or all(
        isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp | ast.BinOp | ast.operator |
                   ast.unaryop | ast.expr_context) for node in ast.walk(value))


def _bound_names(statement: ast.stmt) -> Iterator[tuple[str, int]]:
    """The names that a statement of the top level binds, with their lines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name, statement.lineno
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name.partition('.')[0]), statement.lineno
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif node is not statement and isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            yield from _bound_names(node)
