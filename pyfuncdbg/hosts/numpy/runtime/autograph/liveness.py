"""Liveness analysis: live symbols before and after each statement, in reverse order over the tree.

A statement that becomes a node of a graph passes the live symbols that it changes; others are local to it.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from pyfuncdbg.hosts.numpy.runtime.autograph.jumps import StatementMarks
from pyfuncdbg.hosts.numpy.runtime.autograph.names import UsedNames


class Liveness:
    """Liveness in one function, whose jumps are lowered.

    Attributes:
        at: By id of an `if` or loop: live variables before and after it.
    """

    def __init__(self, body: Sequence[ast.stmt], always: set[str], marks: StatementMarks) -> None:
        self.at: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._marks = marks
        self._functions: dict[str, set[str]] = {}
        for statement in body:
            for inner in ast.walk(statement):
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._functions[inner.name] = UsedNames([inner]).read
        self._ends: list[tuple[set[str], set[str]]] = []        # after each enclosing loop, and at its next iteration
        self._always = always
        self._block(body, set(always))

    def _read(self, names: UsedNames) -> set[str]:
        """Symbols that are read, also by nested functions that are read: they may be called."""
        symbols, todo = set(), set(names.read)
        while todo:
            name = todo.pop()
            symbols.add(name)
            todo |= self._functions.get(name, set()) - symbols
        return symbols

    def _block(self, body: Sequence[ast.stmt], after: set[str]) -> set[str]:
        for statement in reversed(body):
            before = self._statement(statement, after)
            self.at[id(statement)] = frozenset(before), frozenset(after)
            after = before
        return after

    def _through(self, nodes: Iterable[ast.AST], after: set[str]) -> set[str]:
        names = UsedNames(nodes)
        return (after - names.bound - set(names.written)) | self._read(names)

    def _statement(self, statement: ast.stmt, after: set[str]) -> set[str]:
        if isinstance(statement, ast.If):
            return self._block(statement.body, after) | self._block(statement.orelse, after) | self._through(
                [statement.test], set())
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(statement, after)
        if isinstance(statement, (ast.Try, getattr(ast, 'TryStar', ast.Try))):
            return self._try(statement, after)  # type: ignore[arg-type]  # mypy does not narrow with a getattr
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            inner = self._block(statement.body, after)
            return self._through(statement.items, inner)
        if isinstance(statement, ast.Match):
            live = set(after)
            for case in statement.cases:
                parts: list[ast.AST] = [case.pattern, *([case.guard] if case.guard is not None else [])]
                live |= self._through(parts, self._block(case.body, after))
            return live | self._through([statement.subject], set())
        if isinstance(statement, ast.Return):
            return self._through([statement], set(self._always))
        if isinstance(statement, (ast.Break, ast.Continue)) and self._ends:
            return set(self._ends[-1][isinstance(statement, ast.Continue)])
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = UsedNames([statement])                          # its variables are read by its calls
            around = UsedNames([*statement.decorator_list, *statement.args.defaults,
                                *(one for one in statement.args.kw_defaults if one is not None)])
            return (after - names.bound) | self._read(around)
        return self._through([statement], after)

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While, after: set[str]) -> set[str]:
        end = self._block(loop.orelse, after)
        test = loop.test if isinstance(loop, ast.While) else loop.iter
        tested = self._through([test], set()) | set(self._marks.stops.get(id(loop), ()))
        before = end | tested
        while True:
            self._ends.append((after, before))
            inner = self._block(loop.body, before)
            self._ends.pop()
            if not isinstance(loop, ast.While):
                inner = self._through([loop.target], inner)
            grown = before | inner
            if grown == before:
                return before
            before = grown

    def _try(self, statement: ast.Try, after: set[str]) -> set[str]:
        """Any statement of the body may be the last before a handler."""
        last = self._block(statement.finalbody, after)
        caught = set(last)
        for handler in statement.handlers:
            inner = self._block(handler.body, last)
            caught |= inner - {handler.name}
            if handler.type is not None:
                caught |= self._through([handler.type], set())
        rest = self._block(statement.orelse, last)
        inside = self._block(statement.body, rest | caught)
        return inside | caught | self._read(UsedNames(statement.body))
