"""Lowering of `return`, `break` and `continue` in control flow over tensors to flags and conditions.

Statements that may depend on a tensor become functions, which cannot jump out. Others keep their jumps.
"""
from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyfuncdbg.hosts.numpy.runtime.autograph.names import fresh
from pyfuncdbg.hosts.numpy.runtime.autograph.static_code import fixed_test, fixed_values

Loop = ast.For | ast.While


@dataclass(slots=True)
class StatementMarks:
    """Analysis results of statements, by identity.

    Attributes:
        dynamic: Those whose condition or values may be tensors.
        stops: For loops over values: flags that end them.
        created: New nodes, kept alive so that their ids stay unique.
    """

    dynamic: set[int] = field(default_factory=set)
    stops: dict[int, list[str]] = field(default_factory=dict)
    created: list[ast.AST] = field(default_factory=list)


def lower_jumps(body: list[ast.stmt], used_names: set[str], marks: StatementMarks) -> list[ast.stmt]:
    """The body of a function without jumps out of statements that may depend on tensors.

    Args:
        body: Changed in place.
        used_names: Names of the function, to which those of flags are added.
        marks: Completed in place.
    """
    body = _returns_last(body)
    _mark(body, False, marks)
    pass_ = _Lowering(used_names, marks)
    if _hidden_return(body, False, marks):
        pass_.returned = fresh('do_return', used_names), fresh('retval_', used_names)
    body, _ = pass_.block(body, False)
    if pass_.returned is not None:
        flag, value = pass_.returned
        first, last = body[0], body[-1]
        body = [*_parse_at(f'{flag} = False\n{value} = ag__.UndefinedReturnValue()', first), *body,
                *_parse_at(f'return ag__.returned({value}, {flag})', last)]
    return body


# ---------------------------------------------------------------- returns in both branches
def _returns_last(body: list[ast.stmt]) -> list[ast.stmt]:
    """Move the statements after a branch that returns into the other branch: then both branches have a result."""
    out: list[ast.stmt] = []
    for at, statement in enumerate(body):
        out.append(statement)
        for name in ('body', 'orelse', 'finalbody'):
            if getattr(statement, name, None) and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef,
                                                                              ast.ClassDef)):
                setattr(statement, name, _returns_last(getattr(statement, name)))
        for inner in (*getattr(statement, 'handlers', ()), *getattr(statement, 'cases', ())):
            inner.body = _returns_last(inner.body)
        rest = body[at + 1:]
        if isinstance(statement, ast.If) and rest and not fixed_test(statement.test):
            if returns(statement.body):
                statement.orelse = _returns_last([*statement.orelse, *rest])
                return out
            if returns(statement.orelse):
                statement.body = _returns_last([*statement.body, *rest])
                return out
    return out


def returns(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in a return on every path."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and returns(statement.body) and returns(statement.orelse):
            return True
        if isinstance(statement, ast.With) and returns(statement.body):
            return True
    return False


# ---------------------------------------------------------------- which statements may depend on tensors
def _mark(body: Sequence[ast.stmt], inside: bool, marks: StatementMarks) -> None:
    for statement in body:
        if isinstance(statement, ast.If):
            dynamic = not fixed_test(statement.test)
        elif isinstance(statement, (ast.For, ast.While)):
            fixed = fixed_values(statement.iter) if isinstance(statement, ast.For) else fixed_test(statement.test)
            dynamic = not fixed
            if fixed:
                for block in blocks(statement):
                    _mark(block, inside, marks)
                dynamic = _jumps_out(statement, inside, marks)
        else:
            dynamic = False
        if dynamic:
            marks.dynamic.add(id(statement))
        for block in blocks(statement):
            _mark(block, inside or dynamic, marks)


def blocks(statement: ast.AST) -> list[list[Any]]:
    """The blocks of a statement that belong to the same function."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    bodies = [getattr(statement, name) for name in ('body', 'orelse', 'finalbody') if getattr(statement, name, None)]
    for inner in (*getattr(statement, 'handlers', ()), *getattr(statement, 'cases', ())):
        bodies.append(inner.body)
    return bodies


def _jumps_out(loop: Loop, inside: bool, marks: StatementMarks) -> bool:
    """Whether a jump of a Python loop leaves a statement that will be a function."""
    def looks(body: Sequence[ast.stmt], hidden: bool, own_loop: bool) -> bool:
        for statement in body:
            if isinstance(statement, ast.Return) and (hidden or inside):
                return True
            if isinstance(statement, (ast.Break, ast.Continue)) and hidden and own_loop:
                return True
            within = hidden or id(statement) in marks.dynamic
            still = own_loop and not isinstance(statement, (ast.For, ast.While))
            if any(looks(block, within, still) for block in blocks(statement)):
                return True
        return False
    return looks(loop.body, False, True)


def _hidden_return(body: Sequence[ast.stmt], inside: bool, marks: StatementMarks) -> bool:
    return any((isinstance(statement, ast.Return) and inside) or any(
        _hidden_return(block, inside or id(statement) in marks.dynamic, marks) for block in blocks(statement))
        for statement in body)


# ---------------------------------------------------------------- flags
class _Lowering:
    """Lowering of one function.

    Attributes:
        returned: Names of the flag and of the value if returns become flags.
    """

    def __init__(self, used_names: set[str], marks: StatementMarks) -> None:
        self.returned: tuple[str, str] | None = None
        self._used_names = used_names
        self._marks = marks
        self._loops: list[list[str] | None] = []        # flags for break and continue; None: the loop keeps its jumps

    def block(self, body: Sequence[ast.stmt], inside: bool) -> tuple[list[ast.stmt], set[str]]:
        """A block, and the flags that may be set after it."""
        out: list[ast.stmt] = []
        for at, statement in enumerate(body):
            statements, flags = self._statement(statement, inside)
            out += statements
            rest = body[at + 1:]
            if flags and rest:
                guarded, more = self.block(rest, True)
                return [*out, self._guard(flags, guarded, rest[0])], flags | more
            if flags:
                return out, flags
        return out, set()

    def _guard(self, flags: set[str], body: list[ast.stmt], place: ast.AST) -> ast.stmt:
        (guard,) = _parse_at(f'if {" and ".join(f"not {flag}" for flag in sorted(flags))}:\n    pass', place)
        assert isinstance(guard, ast.If)
        guard.body = body
        self._marks.dynamic.add(id(guard))
        self._marks.created.append(guard)
        return guard

    def _statement(self, statement: ast.stmt, inside: bool) -> tuple[list[ast.stmt], set[str]]:
        if isinstance(statement, ast.Return) and inside and self.returned is not None:
            flag, value = self.returned
            statements = _parse_at(f'{flag} = True\n{value} = None', statement)
            if statement.value is not None:
                statements[1].value = statement.value     # type: ignore[attr-defined]
            return statements, {flag}
        loop = self._loops[-1] if self._loops else None
        if loop is not None and isinstance(statement, (ast.Break, ast.Continue)):
            ends = isinstance(statement, ast.Break)
            loop[0] = loop[0] or (fresh('break_', self._used_names) if ends else '')
            loop[1] = loop[1] or fresh('continue_', self._used_names)
            names = loop if ends else loop[1:]
            return _parse_at('\n'.join(f'{name} = True' for name in names), statement), {loop[1]}
        if isinstance(statement, (ast.For, ast.While)):
            return self._loop(statement, inside)
        return [statement], self._parts(statement, inside or id(statement) in self._marks.dynamic)

    def _parts(self, statement: Any, inside: bool) -> set[str]:
        flags: set[str] = set()
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return flags
        for name in ('body', 'orelse', 'finalbody'):
            block = getattr(statement, name, None)
            if block:
                statements, block_flags = self.block(block, inside)
                if name == 'orelse' and isinstance(statement, ast.Try) and flags:
                    statements = [self._guard(flags, statements, block[0])]
                setattr(statement, name, statements)
                flags |= block_flags
        for inner in (*getattr(statement, 'handlers', ()), *getattr(statement, 'cases', ())):
            inner.body, block_flags = self.block(inner.body, inside)
            flags |= block_flags
        return flags

    def _loop(self, loop: Loop, inside: bool) -> tuple[list[ast.stmt], set[str]]:
        dynamic = id(loop) in self._marks.dynamic
        jumps = ['', ''] if dynamic else None
        self._loops.append(jumps)
        loop.body, body_flags = self.block(loop.body, inside or dynamic)
        self._loops.pop()
        flags = body_flags - set(jumps or ())
        stops = sorted(flags)
        before: list[ast.stmt] = []
        if jumps and jumps[0]:
            before = _parse_at(f'{jumps[0]} = False', loop)
            stops.append(jumps[0])
        if jumps and jumps[1]:
            loop.body = [*_parse_at(f'{jumps[1]} = False', loop.body[0]), *loop.body]
        after: list[ast.stmt] = []
        if dynamic and loop.orelse:                     # a function cannot tell that a loop ended: conditions do
            after, more = self.block(loop.orelse, True)
            flags = flags | more
            after, loop.orelse = ([self._guard(set(stops), after, after[0])] if stops else after), []
        elif loop.orelse:
            loop.orelse, more = self.block(loop.orelse, inside)
            flags = flags | more
        if stops and isinstance(loop, ast.While):
            (test,) = _parse_at(' and '.join([*(f'not {name}' for name in stops), 'None']), loop)
            assert isinstance(test, ast.Expr) and isinstance(test.value, ast.BoolOp)
            test.value.values[-1] = loop.test
            loop.test = test.value
        elif stops:
            self._marks.stops[id(loop)] = stops
        return [*before, loop, *after], flags


def _parse_at(text: str, place: ast.AST) -> list[ast.stmt]:
    """Parsed statements, at the location of another node."""
    return place_at(ast.parse(text).body, place)


def place_at(statements: list[ast.stmt], place: Any) -> list[ast.stmt]:
    """Give new nodes the location of one of the user's."""
    for statement in statements:
        for node in ast.walk(statement):
            if 'lineno' in node._attributes:
                ast.copy_location(node, place)
                node.end_lineno = getattr(place, 'lineno', None)  # type: ignore[attr-defined]
                node.end_col_offset = getattr(place, 'col_offset', None)  # type: ignore[attr-defined]
    return statements
