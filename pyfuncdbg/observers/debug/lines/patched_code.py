"""Code objects with inserted tests, built by comparison with the code that runs. What is untouched stays the very same
object.

Pure functions, called under the lock of `LineBreakpoints`.
"""
from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from itertools import groupby
from types import CodeType
from typing import Any

from pyfuncdbg.observers.debug.lines.name_resolution import nested_codes

_PLAIN = ('co_name', 'co_qualname', 'co_firstlineno', 'co_argcount', 'co_posonlyargcount', 'co_kwonlyargcount', 'co_flags',
          'co_names', 'co_varnames', 'co_freevars', 'co_cellvars', 'co_code', 'co_exceptiontable')
_INTERFACE = ('co_name', 'co_qualname', 'co_firstlineno', 'co_argcount', 'co_posonlyargcount', 'co_kwonlyargcount',
              'co_flags', 'co_varnames', 'co_freevars', 'co_cellvars')
BEYOND = 1_000_000
"""Inserted trees are on this line, behind every file."""


@dataclass(frozen=True, slots=True)
class PatchedCode:
    """A code object that replaces another one.

    Attributes:
        code: With tests in itself or in what it holds.
        original: The program's.
        numbers: The breakpoints that are tested in it itself.
    """

    code: CodeType
    original: CodeType
    numbers: frozenset[int]


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects were compiled from the same text. (`==` is wrong for code that is being monitored.)"""
    if any(getattr(one, name) != getattr(other, name) for name in _PLAIN):
        return False
    if list(one.co_lines()) != list(other.co_lines()) or len(one.co_consts) != len(other.co_consts):
        return False
    for const, other_const in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(const, CodeType):
            if not isinstance(other_const, CodeType) or not same_code(const, other_const):
                return False
        elif isinstance(other_const, CodeType) or _key(const) != _key(other_const):
            return False
    return _columns(one) == _columns(other)


def same_interface(base: CodeType, changed: CodeType) -> bool:
    """Whether the tests have left names, cells and arguments alone, here and in all that is nested."""
    mine, its = [base, *nested_codes(base)], [changed, *nested_codes(changed)]
    return len(mine) == len(its) and all(getattr(a, name) == getattr(b, name)
                                         for a, b in zip(mine, its, strict=True) for name in _INTERFACE)


def has_tests(code: CodeType, marks: Mapping[str, Any]) -> bool:
    """Whether a test is in it or in what is nested in it."""
    return any(const in marks for const in _strings(code)) or any(has_tests(inner, marks) for inner in _inner(code))


def merge_code(original: CodeType, changed: CodeType, marks: Mapping[str, Any], patched: dict[int, PatchedCode]) -> CodeType:
    """The original with the tests of `changed`.

    Args:
        original: The program's.
        changed: The same with tests, marks for their objects.
        marks: Their objects.
        patched: By id of the original, what was made of it before; gets what is made now.
    """
    known = patched.get(id(original))
    if known is not None:
        return known.code
    if not has_tests(changed, marks):
        return original
    originals = {_key(const): const for const in original.co_consts if not isinstance(const, CodeType)}
    sources = _inner(original)
    consts = [merge_code(next(sources), const, marks, patched) if isinstance(const, CodeType)
              else _resolve(const, marks, originals) for const in changed.co_consts]
    code = changed.replace(co_consts=tuple(consts), co_filename=original.co_filename, co_linetable=without_lines(changed))
    patched[id(original)] = PatchedCode(code, original, _tested_numbers(changed, marks))
    return code


def merge_module_code(original: CodeType, changed: CodeType, marks: Mapping[str, Any], patched: list[PatchedCode],
                      version: Callable[[CodeType], CodeType]) -> CodeType:
    """A module's code, or that of a class in it, with the tests of `changed`.

    Args:
        original: The program's.
        changed: The same with tests, marks for their objects; itself where there are none.
        marks: Their objects.
        patched: Gets what is made.
        version: The code that a function in it shall have.
    """
    inner = [merge_module_code(mine, its, marks, patched, version) if not mine.co_flags & CO_OPTIMIZED else version(mine)
             for mine, its in zip(_inner(original), _inner(changed), strict=True)]
    numbers = _tested_numbers(changed, marks)
    codes = iter(inner)
    if not numbers:
        if all(one is other for one, other in zip(inner, _inner(original), strict=True)):
            return original
        code = original.replace(co_consts=tuple(next(codes) if isinstance(const, CodeType) else const
                                                for const in original.co_consts))
    else:
        kept = {_key(const): const for const in original.co_consts if not isinstance(const, CodeType)}
        consts = tuple(next(codes) if isinstance(const, CodeType) else _resolve(const, marks, kept)
                       for const in changed.co_consts)
        code = changed.replace(co_consts=consts, co_filename=original.co_filename, co_linetable=without_lines(changed))
    patched.append(PatchedCode(code, original, numbers))
    return code


def _tested_numbers(changed: CodeType, marks: Mapping[str, Any]) -> frozenset[int]:
    """The breakpoints that are tested in code itself."""
    return frozenset(int(number) for const in _strings(changed) if const in marks and const.split()[1] in ('hit', 'test')
                     for number in const.split()[2].split('+'))


def _resolve(const: Any, marks: Mapping[str, Any], originals: Mapping[Any, Any]) -> Any:
    if type(const) is str and const in marks:
        return marks[const]
    if type(const) is tuple and any(type(one) is str and one in marks for one in const):
        return tuple(_resolve(one, marks, originals) for one in const)       # `x in (norm, absmax)` was folded
    return originals.get(_key(const), const)


def _key(const: Any) -> Any:
    return marshal.dumps(const, 2)              # tells 0 from False and 0.0 from -0.0; later formats depend on references


def _strings(code: CodeType) -> Iterator[str]:
    return (const for const in code.co_consts if type(const) is str)


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (const for const in code.co_consts if isinstance(const, CodeType))


def _columns(code: CodeType) -> list[Any] | None:
    """Columns of all instructions, None if it was compiled without."""
    positions = list(code.co_positions())
    return positions if any(position[2] is not None for position in positions) else None


_LONG, _NO_COLUMNS, _NONE = 14, 13, 15          # kinds of entries: Objects/locations.md of CPython


def without_lines(code: CodeType) -> bytes:
    """The table of positions of `code` with nothing for what is `BEYOND`.

    No tracer, debugger or coverage tool sees the instructions of inserted tests, and the first instruction of the statement
    behind them always begins a line.
    """
    table = bytearray()
    before = code.co_firstlineno
    for (line, end_line, column, end_column), group in groupby(code.co_positions()):
        units = sum(1 for _ in group)
        while units:
            length = min(units, 8)
            units -= length
            if line is None or line >= BEYOND:
                table.append(0x80 | _NONE << 3 | length - 1)
                continue
            if column is None or end_column is None or end_line is None:
                table.append(0x80 | _NO_COLUMNS << 3 | length - 1)
                table += _encode_signed(line - before)
            else:
                table.append(0x80 | _LONG << 3 | length - 1)
                table += (_encode_signed(line - before) + _encode_unsigned(end_line - line) + _encode_unsigned(column + 1)
                          + _encode_unsigned(end_column + 1))
            before = line
    return bytes(table)


def _encode_unsigned(number: int) -> bytes:
    digits = bytearray()
    while number >= 64:
        digits.append(0x40 | number & 63)
        number >>= 6
    digits.append(number)
    return bytes(digits)


def _encode_signed(number: int) -> bytes:
    return _encode_unsigned(-number << 1 | 1 if number < 0 else number << 1)
