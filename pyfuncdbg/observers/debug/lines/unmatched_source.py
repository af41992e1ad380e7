"""Line lookup and name checks in code whose source is missing or is another one.

Asked by `file`, under the lock of `LineBreakpoints`.
"""
from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
from pyfuncdbg.observers.debug.lines.name_resolution import nested_codes


def lines_in(code: CodeType, line: int) -> list[tuple[CodeType, int]]:
    """The innermost code that begins a line there, and the lambdas on it; else the innermost around, with its next line."""
    trees = [code, *nested_codes(code)]
    exact = [inner for inner in trees if line in lines_of(inner)]
    if exact:
        statements = [inner for inner in exact if inner.co_name == '<module>' or not inner.co_name.startswith('<')]
        found = [*statements[-1:], *(inner for inner in exact if inner.co_name == '<lambda>')]
        return [(inner, line) for inner in found or exact[-1:]]
    enclosing = [inner for inner in trees if inner.co_firstlineno <= line <= last_line(inner)]
    if not enclosing:
        return []
    return [(enclosing[-1], min(known for known in lines_of(enclosing[-1]) if known > line))]


def lines_of(code: CodeType) -> set[int]:
    """The lines that begin in it, without its head: a function does not come to its own `def`."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines - {code.co_firstlineno} if code.co_name != '<lambda>' and len(lines) > 1 else lines


def last_line(code: CodeType) -> int:
    """The last line of it and of what is nested."""
    return max([code.co_firstlineno, *(line or 0 for one in (code, *nested_codes(code)) for _, _, line in one.co_lines())])


def check_names(condition: InlineCondition, code: CodeType, spaces: Iterable[Mapping[str, Any]],
                vocabulary: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse a condition with names that are nothing in the code.

    Raises:
        CommandError: With the nearest names.
    """
    spaces = list(spaces)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
    names = own.union(dir(builtins), vocabulary, *spaces)
    for name in sorted(condition.names):
        if name in condition.bare and name not in own and not any(name in space for space in spaces):
            raise condition.needs_value(name)
        if name not in names and not name.startswith('__'):
            raise CommandError(f'nothing is called {name!r} in {code.co_qualname}, of the condition {condition.text!r}.'
                               f'{nearest(name, sorted(names))}')
