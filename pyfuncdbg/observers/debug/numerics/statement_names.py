"""Statements by line, with the variables that each writes, reads or may change, from source or bytecode.

Asked by the line tracer, once for each function; any thread.
"""
from __future__ import annotations

import ast
import dis
import functools
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType

_NEWLINE = re.compile(r'\r\n|\r|\n')
"""As Python's parser counts lines; `str.splitlines` knows more ends of lines."""

Path = tuple[str, ...]
"""A variable, or an attribute of one: ('x',) or ('self', 'buffer')."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One simple statement, or the head of a compound one.

    Attributes:
        text: On one line; '' where there is no source.
        writes: What it binds.
        reads: What it uses, in order of mention.
        mutates: It may change what it only mentions: it calls something, or assigns to an element or attribute.
        line: Where it begins.
    """

    text: str
    writes: tuple[Path, ...]
    reads: tuple[Path, ...]
    mutates: bool
    line: int

    @property
    def touched(self) -> tuple[Path, ...]:
        """The variables that may have another value after it, or be the same object with other contents."""
        return tuple(dict.fromkeys((*self.writes, *self.reads))) if self.mutates else self.writes


def statements_of(code: CodeType) -> Mapping[int, Statement]:
    """The statements of a function by line."""
    first = code.co_firstlineno
    known = _of_file(code.co_filename)
    lines = {line for _, _, line in code.co_lines() if line is not None and line > 0}
    statements = {line: known[line] for line in lines if line in known}
    if len(statements) * 2 < len(lines):                 # no source, or one that is not what runs
        return _of_bytecode(code, first)
    return statements


@functools.lru_cache(64)
def _parse(text: str) -> dict[int, Statement]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = _NEWLINE.split(text)
    statements: dict[int, Statement] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            last = _last_line(node)
            statement = _statement(node, lines)
            for line in range(node.lineno, last + 1):
                statements[line] = statement if line not in statements else _merge(statements[line], statement)
        elif isinstance(node, ast.Lambda):
            statement = _statement(ast.Expr(node.body, lineno=node.body.lineno, col_offset=node.body.col_offset,
                                            end_lineno=node.body.end_lineno, end_col_offset=node.body.end_col_offset), lines)
            for line in range(node.body.lineno, (node.body.end_lineno or node.body.lineno) + 1):
                statements[line] = _merge(statements[line], statement) if line in statements else statement
    return statements


def _of_file(filename: str) -> dict[int, Statement]:
    return _parse(''.join(linecache.getlines(filename)))


def _last_line(node: ast.stmt) -> int:
    body = getattr(node, 'body', None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        return max(node.lineno, body[0].lineno - 1)
    if isinstance(node, ast.Match):
        return max(node.lineno, node.cases[0].pattern.lineno - 1)
    return node.end_lineno or node.lineno


def _head(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run on its own lines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name, value in ast.iter_fields(node):
        if name in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part


def _statement(node: ast.stmt, lines: Sequence[str]) -> Statement:
    writes: dict[Path, None] = {}
    reads: dict[Path, None] = {}
    mutates = isinstance(node, ast.AugAssign)
    for part in _head(node):
        inner: set[int] = set()
        for child in ast.walk(part):
            mutates = mutates or isinstance(child, ast.Call | ast.Await | ast.Yield | ast.YieldFrom)
            path = _path(child)
            if path is not None and id(child) not in inner:
                inner.update(id(below) for below in ast.walk(child))
                stores = isinstance(child, ast.Name | ast.Attribute) and not isinstance(child.ctx, ast.Load)
                if stores:
                    writes[path] = None
                reads.update({path[:n]: None for n in range(1, len(path) + 1 - stores)})
            elif isinstance(child, ast.Subscript) and not isinstance(child.ctx, ast.Load):
                mutates = True
    if isinstance(node, ast.AugAssign):
        reads = {**dict.fromkeys(writes), **reads}
    return Statement(_text(node, lines), tuple(writes), tuple(reads), mutates, node.lineno)


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    """Its own lines, joined; cut at its columns, which are of UTF-8, where it is no block."""
    last = _last_line(node)
    own = list(lines[node.lineno - 1:last])
    if own and node.end_lineno == last and node.end_col_offset is not None:
        own[-1] = own[-1].encode()[:node.end_col_offset].decode(errors='replace')
        own[0] = own[0].encode()[node.col_offset:].decode(errors='replace')
    return ' '.join(line.strip() for line in own)


def _path(node: ast.AST) -> Path | None:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        outer = _path(node.value)
        return (*outer, node.attr) if outer is not None else None
    return None


def _merge(one: Statement, other: Statement) -> Statement:
    """Two on one line: `if a: b = c`, or a statement and the lambda in it."""
    longer = one if len(one.text) >= len(other.text) else other
    return Statement(longer.text, tuple(dict.fromkeys((*one.writes, *other.writes))),
                     tuple(dict.fromkeys((*one.reads, *other.reads))), one.mutates or other.mutates, one.line)


def _of_bytecode(code: CodeType, first: int) -> dict[int, Statement]:
    writes: dict[int, dict[Path, None]] = {}
    reads: dict[int, dict[Path, None]] = {}
    line = first
    for instruction in dis.get_instructions(code):
        line = (instruction.positions.lineno if instruction.positions is not None else None) or line
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        name = instruction.opname
        kind = writes if name.startswith('STORE_') else reads if name.startswith('LOAD_') else None
        if kind is not None and 'ATTR' not in name and 'CONST' not in name:
            kind.setdefault(line, {}).update({(name,): None for name in names if isinstance(name, str)})
    return {line: Statement('', tuple(writes.get(line, ())), tuple(reads.get(line, ())), True, line)
            for line in {*writes, *reads}}
