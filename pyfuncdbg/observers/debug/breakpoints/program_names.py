"""Names of the program: what a name that no call has is there, for breakpoints that stopped nothing.

Asked on the main thread when a program is over. Only dictionaries of modules and classes and code objects are read, by their
real types: a proxy would answer `isinstance` with code of the program's, a module that is loaded lazily `vars`.
"""
from __future__ import annotations

import os.path
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyfuncdbg.hooks.own_files import is_program_file

_NOWHERE = '<frozen >'
"""File of a module that has none: no user's."""
_DEEP = 8
"""Functions within functions."""


def describe_name(name: str) -> str:
    """'is a function, train.py:41', 'is a variable of train.py (dict)'; '' for a name that the program does not have."""
    first, _, rest = name.rpartition('.')
    for module in _modules():
        names = _names(module)
        value = names.get(name) if not first else _member(names.get(first), rest)
        if value is not None or (name in names and not first):
            return _describe(value, _file(module))
    if first:
        return ''
    codes = [pair for module in _modules() for pair in _codes(module)]
    for code, within in codes:
        if code.co_name == name:
            return f'is a function{f" inside of {within}" if within else ""}, {_place(code)}'
    return next((f'is a variable of {code.co_name}, {_place(code)}' for code, _ in codes
                 if name in code.co_varnames or name in code.co_cellvars), '')


def program_functions() -> set[str]:
    """Names of the functions that the program's modules define."""
    return {code.co_name for module in _modules() for code, _ in _codes(module) if code.co_name.isidentifier()}


def _modules() -> Iterator[ModuleType]:
    for module in list(sys.modules.values()):
        if _is(module, ModuleType) and is_program_file(_file(module)):
            yield module


def _file(module: ModuleType) -> str:
    names = _names(module)
    file = names.get('__file__')
    if not _is(file, str) and type(names.get('__loader__')) is SourceFileLoader:    # Python takes `__file__` away from
        file = names['__loader__'].path         # `__main__` when the script is over
    return file if type(file) is str else _NOWHERE


def _member(owner: Any, name: str) -> Any:
    """The entry of a class's own namespace under a name: to ask for the attribute could run code."""
    return _names(owner).get(name) if _is(owner, type) else None


def _describe(value: Any, file: str) -> str:
    value = value.__func__ if type(value) in (staticmethod, classmethod) else value
    if type(value) is FunctionType:
        return f'is a function, {_place(value.__code__)}'
    if _is(value, ModuleType):
        return f'is a module that {os.path.basename(file)} imports'
    if _is(value, type):
        return f'is a class of {os.path.basename(file)}'
    return f'is a variable of {os.path.basename(file)} ({type(value).__name__})'


def _place(code: CodeType) -> str:
    return f'{os.path.basename(code.co_filename)}:{code.co_firstlineno}'


def _codes(module: ModuleType) -> Iterator[tuple[CodeType, str]]:
    """Functions of a module and its classes, nested ones included, each with the name of the enclosing one."""
    values = list(_names(module).values())
    for owner in [value for value in values if _is(value, type)]:
        names = _names(owner)
        if names.get('__module__') == _names(module).get('__name__'):
            values += names.values()
    for value in values:
        if type(value) is FunctionType and value.__code__.co_filename == _file(module):
            yield from _within(value.__code__, '', _DEEP)


def _names(owner: Any) -> Any:
    """The names of a module or class."""
    return (type if _is(owner, type) else object).__getattribute__(owner, '__dict__')


def _is(value: Any, kind: type) -> bool:
    return issubclass(type(value), kind)


def _within(code: CodeType, around: str, depth: int) -> Iterator[tuple[CodeType, str]]:
    yield code, around
    for constant in code.co_consts if depth else ():
        if isinstance(constant, CodeType):
            yield from _within(constant, code.co_name, depth - 1)
