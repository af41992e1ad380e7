"""Line table (`co_linetable`) of code with tests. The instructions of inserted tests have no line: no tracer, debugger or
coverage tool sees them, and the first instruction of the statement behind them always begins a line.

Called where tests are compiled; any thread.
"""
from __future__ import annotations

from itertools import groupby
from types import CodeType

BEYOND = 1_000_000
"""Inserted trees are on this line, behind every file."""

_LONG, _NO_COLUMNS, _NONE = 14, 13, 15          # kinds of entries: Objects/locations.md of CPython


def without_lines(code: CodeType) -> bytes:
    """The table of positions of `code` with nothing for what is `BEYOND`."""
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
                table += _signed(line - before)
            else:
                table.append(0x80 | _LONG << 3 | length - 1)
                table += (_signed(line - before) + _unsigned(end_line - line) + _unsigned(column + 1)
                          + _unsigned(end_column + 1))
            before = line
    return bytes(table)


def _unsigned(number: int) -> bytes:
    digits = bytearray()
    while number >= 64:
        digits.append(0x40 | number & 63)
        number >>= 6
    digits.append(number)
    return bytes(digits)


def _signed(number: int) -> bytes:
    return _unsigned(-number << 1 | 1 if number < 0 else number << 1)
