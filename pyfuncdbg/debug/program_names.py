"""Names of the program: what a name that no call has is there, for breakpoints that stopped nothing.

Asked on the main thread when a program is over. Only dictionaries of modules and code objects are read: nothing of the
program's runs.
"""
from __future__ import annotations

import os.path
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyfuncdbg.hooks.machinery import is_users

_NOWHERE = '<frozen >'
"""File of a module that has none: no user's."""
_DEEP = 8
"""Functions within functions."""


def what_is(name: str) -> str:
    """'is a function, train.py:41', 'is a variable of train.py (dict)'; '' for a name that the program does not have."""
    first, _, rest = name.rpartition('.')
    for module in _modules():
        names = vars(module)
        value = names.get(name) if not first else _member(names.get(first), rest)
        if value is not None or (name in names and not first):
            return _described(value, _file(module))
    if first:
        return ''
    codes = [pair for module in _modules() for pair in _codes(module)]
    for code, within in codes:
        if code.co_name == name:
            return f'is a function{f" inside of {within}" if within else ""}, {_place(code)}'
    return next((f'is a variable of {code.co_name}, {_place(code)}' for code, _ in codes
                 if name in code.co_varnames or name in code.co_cellvars), '')


def functions() -> set[str]:
    """Names of the functions that the program's modules define."""
    return {code.co_name for module in _modules() for code, _ in _codes(module) if code.co_name.isidentifier()}


def _modules() -> Iterator[ModuleType]:
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and is_users(_file(module)):
            yield module


def _file(module: ModuleType) -> str:
    file = vars(module).get('__file__')
    if not isinstance(file, str):               # Python takes it away from `__main__` when the script is over
        file = getattr(vars(module).get('__loader__'), 'path', None)
    return file if isinstance(file, str) else _NOWHERE


def _member(owner: Any, name: str) -> Any:
    """What a class itself holds under a name: to ask for the attribute could run code."""
    return vars(owner).get(name) if isinstance(owner, type) else None


def _described(value: Any, file: str) -> str:
    value = getattr(value, '__func__', value) if isinstance(value, staticmethod | classmethod) else value
    if isinstance(value, FunctionType):
        return f'is a function, {_place(value.__code__)}'
    if isinstance(value, ModuleType):
        return f'is a module that {os.path.basename(file)} imports'
    if isinstance(value, type):
        return f'is a class of {os.path.basename(file)}'
    return f'is a variable of {os.path.basename(file)} ({type(value).__name__})'


def _place(code: CodeType) -> str:
    return f'{os.path.basename(code.co_filename)}:{code.co_firstlineno}'


def _codes(module: ModuleType) -> Iterator[tuple[CodeType, str]]:
    """Functions of a module and of its classes, those inside of others too, with the name of the one around."""
    values = list(vars(module).values())
    for owner in [value for value in values if isinstance(value, type) and value.__module__ == module.__name__]:
        values += vars(owner).values()
    for value in values:
        if isinstance(value, FunctionType) and value.__code__.co_filename == _file(module):
            yield from _within(value.__code__, '', _DEEP)


def _within(code: CodeType, around: str, depth: int) -> Iterator[tuple[CodeType, str]]:
    yield code, around
    for constant in code.co_consts if depth else ():
        if isinstance(constant, CodeType):
            yield from _within(constant, code.co_name, depth - 1)
