"""Attributes of modules that a function's code reads, by chains of names such as `np.random.normal`.

Read off the bytecode for `held_state`. Nothing of the program's is called: modules are looked up in their dictionaries.
"""
from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Mapping
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_GLOBAL = frozenset(('LOAD_GLOBAL', 'LOAD_NAME', 'LOAD_FROM_DICT_OR_GLOBALS'))
_CELL = frozenset(('LOAD_DEREF', 'LOAD_CLASSDEREF', 'LOAD_FROM_DICT_OR_DEREF'))
_ATTRIBUTE = frozenset(('LOAD_ATTR', 'LOAD_METHOD'))
_NONE: Any = object()


def module_reads(function: FunctionType) -> Iterator[tuple[ModuleType | None, str, Any]]:
    """Module, dotted name and value of what a function's code reads of modules, and that of functions written in it.

    Of a method that was imported by name the module is None.
    """
    cells: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            cells[name] = cell.cell_contents
        except ValueError:                      # not set yet
            continue
    yield from _of_code(function.__code__, function.__globals__, cells)


def _of_code(code: CodeType, names: Mapping[str, Any],
             cells: Mapping[str, Any]) -> Iterator[tuple[ModuleType | None, str, Any]]:
    local: dict[str, Any] = {}                  # modules that it imports, by the variable
    source: Any = _NONE                         # of `from`
    base: ModuleType | None = None
    text, value = '', _NONE
    for instruction in dis.get_instructions(code):
        kind, name = instruction.opname, str(instruction.argval)
        if kind in _ATTRIBUTE and isinstance(value, ModuleType):
            base, text, value = value, f'{text}.{name}', vars(value).get(name, _NONE)
            continue
        if value is not _NONE and not isinstance(value, ModuleType):
            yield base, text, value
        if kind.startswith('STORE_') and isinstance(value, ModuleType):
            local[name] = sys.modules.get(name, value) if text.partition('.')[0] == name else value     # import a.b
        if kind == 'IMPORT_NAME':
            base, text, value = None, name, sys.modules.get(name, _NONE)
            source = value
        elif kind == 'IMPORT_FROM' and isinstance(source, ModuleType):
            base, text, value = source, f'{source.__name__}.{name}', vars(source).get(name, _NONE)
        else:
            base, text, value = None, name, _named(kind, name, names, {**cells, **local})
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant, names, {**cells, **local})


def _named(kind: str, name: str, names: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
    """The value that an instruction loads by name, if it is a module, or was taken from one: a method of an object."""
    value = names.get(name, _NONE) if kind in _GLOBAL else (
        cells.get(name, _NONE) if kind in _CELL or kind.startswith('LOAD_FAST') else _NONE)
    return value if isinstance(value, ModuleType | BuiltinMethodType | MethodType) else _NONE
