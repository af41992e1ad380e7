"""Name resolution for line conditions: the function's own names, the module's, or those of the vocabulary.

Asked by `Lines.set`, so that a mistyped name is refused there and not silently false.
"""
from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.private_names import mangle
from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition
from pyfuncdbg.observers.debug.lines.insertion_point import InsertionPoint, qualified_name

_OF_CALLS = ('out', 'inputs', 'call', 'history', 'error', 'changed')
_OF_MODULES = ('__file__', '__path__', '__annotations__')
_OPTIMIZED = 0x1        # classes and modules lack it: their names are looked up in a dict


def vocabulary_for(condition: InlineCondition, spot: InsertionPoint, base: CodeType, spaces: Iterable[Mapping[str, Any]],
                   assigned: Collection[str], vocabulary: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """The names that only the vocabulary knows, with their values.

    Args:
        condition: Whose names.
        spot: Where it is tested.
        base: The top-level statement around, compiled.
        spaces: The globals of the functions that live.
        assigned: Names that the module makes global: they may get a value later.
        vocabulary: Names for conditions.

    Raises:
        CommandError: A name is nothing there, or a variable of an enclosing function that is out of reach.
    """
    chain = [code for node in spot.scope if (code := code_of(node, base)) is not None]
    own = _locals(chain[-1]) if chain else set()
    enclosing = {name for code in chain[:-1] if not _is_class(code) for name in _locals(code)}
    names = set(dir(builtins)).union(*spaces)
    where = ', '.join(sorted(own if chain else assigned)) or 'none'
    values: dict[str, Any] = dict(condition.functions)
    for name in sorted(condition.names):
        spelled = mangle(name, spot.owner)
        if spelled in own:
            continue
        if spelled in enclosing:
            raise CommandError(f'{name!r} is a variable of a function around line {spot.line}, and {_title(spot)} does not '
                               f'use it, so it is out of reach there. Within reach are: {where}.')
        if spelled in names or spelled in assigned or spelled in _OF_MODULES:
            continue
        if name not in vocabulary:
            if '*' in assigned:                 # `from shapes import *`: what that brings is not known before it runs
                continue
            if name in _OF_CALLS:
                raise CommandError(f'{name!r} is known in conditions of calls, and {condition.text!r} is tested at a line: '
                                   'set the breakpoint on the function or node.')
            close = nearest(name, [*own, *sorted(assigned), *sorted(names), *vocabulary])
            raise CommandError(f'nothing is called {name!r} at line {spot.line} in {_title(spot)}, of the condition '
                               f'{condition.text!r}.{close or f" Its variables are: {where}."}')
        if name in condition.bare:
            raise condition.needs_value(name)
        values[name] = vocabulary[name]
    return values


def code_of(node: ast.AST, base: CodeType) -> CodeType | None:
    """The code that a function, lambda or class in the tree was compiled to."""
    name = '<lambda>' if isinstance(node, ast.Lambda) else node.name        # type: ignore[attr-defined]
    decorators = [decorator.lineno for decorator in getattr(node, 'decorator_list', [])]
    line = min([node.lineno, *decorators])                                  # type: ignore[attr-defined]
    return next((code for code in nested_codes(base) if code.co_name == name and code.co_firstlineno == line), None)


def local_variables(code: CodeType) -> tuple[str, ...]:
    """The variables of a function, in the order in which its text names them."""
    return tuple(name for name in code.co_varnames if not name.startswith('.'))


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """All code within, from the outside in."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from nested_codes(const)


def is_named(code: CodeType, name: str) -> bool:
    """Whether code is that of a function of a name, or of a qualified name."""
    return name in (code.co_name, code.co_qualname) and bool(code.co_flags & _OPTIMIZED)


def function_names(code: CodeType) -> Iterator[str]:
    """The names and qualified names of a function and of those inside of it."""
    for one in (code, *nested_codes(code)):
        if one.co_flags & _OPTIMIZED:
            yield one.co_name
            yield one.co_qualname


def class_around(code: CodeType) -> str:
    """The class around it, by its name alone; '' if none."""
    parts = code.co_qualname.split('.')
    return parts[-2] if len(parts) > 1 and parts[-2] != '<locals>' else ''


def _title(spot: InsertionPoint) -> str:
    return qualified_name(spot.scope) or 'the module'


def _is_class(code: CodeType) -> bool:
    return not code.co_flags & _OPTIMIZED


def _locals(code: CodeType) -> set[str]:
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    if _is_class(code):
        names |= set(code.co_names)
    return {name for name in names if not name.startswith('.')}
