"""Protocol buffer text format, as TensorFlow prints its messages: fields, strings and numbers.

`nodedef` builds the messages. No state: any thread may call it.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Message: TypeAlias = 'Sequence[tuple[str, str | Message]]'
"""Fields in order; a value is text that is ready, or a message."""

_ESCAPES = {ord('"'): r'\"', ord("'"): r'\'', ord('\\'): r'\\', ord('\n'): r'\n', ord('\r'): r'\r', ord('\t'): r'\t'}
_BYTE = [_ESCAPES.get(b, chr(b) if 32 <= b < 127 else f'\\{b:03o}') for b in range(256)]


def text(message: Message, indent: str = '') -> str:
    """The lines of a message, each ended by a newline."""
    lines = []
    for name, value in message:
        if isinstance(value, str):
            lines.append(f'{indent}{name}: {value}\n')
        else:
            lines.append(f'{indent}{name} {{\n{text(value, indent + "  ")}{indent}}}\n')
    return ''.join(lines)


def quoted(value: bytes | str) -> str:
    """A string in double quotes; what is not printable ASCII as octal."""
    data = value.encode() if isinstance(value, str) else value
    return '"' + ''.join([_BYTE[b] for b in data]) + '"'


def boolean(value: Any) -> str:
    """'true' or 'false'."""
    return 'true' if value else 'false'


def float32(value: Any) -> str:
    """Six digits if they read back as the same float32, else nine."""
    return _shortest(float(np.float32(value)), 6, 9, np.float32)


def float64(value: Any) -> str:
    """Fifteen digits if they read back as the same float64, else seventeen."""
    return _shortest(float(value), 15, 17, np.float64)


def _shortest(value: float, few: int, many: int, width: Any) -> str:
    if math.isnan(value):
        return 'nan'
    short = f'{value:.{few}g}'
    with np.errstate(over='ignore'):
        return short if width(short) == width(value) else f'{value:.{many}g}'
