"""Strings and numbers as TensorFlow prints them in one line of a message: `attributes.summary` uses it. No state."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

_ESCAPES = {ord('"'): r'\"', ord("'"): r'\'', ord('\\'): r'\\', ord('\n'): r'\n', ord('\r'): r'\r', ord('\t'): r'\t'}
_BYTE = [_ESCAPES.get(b, chr(b) if 32 <= b < 127 else f'\\{b:03o}') for b in range(256)]


def quoted(value: bytes | str) -> str:
    """A string in double quotes; what is not printable ASCII as octal."""
    data = value.encode() if isinstance(value, str) else value
    return '"' + ''.join([_BYTE[b] for b in data]) + '"'


def boolean(value: Any) -> str:
    """'true' or 'false'."""
    return 'true' if value else 'false'


def float32(value: Any) -> str:
    """Six digits if they read back as the same float32, else nine."""
    value = float(np.float32(value))
    if math.isnan(value):
        return 'nan'
    short = f'{value:.6g}'
    with np.errstate(over='ignore'):
        return short if np.float32(short) == np.float32(value) else f'{value:.9g}'
