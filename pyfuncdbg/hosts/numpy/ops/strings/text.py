"""Conversion of bytes and text: `tf.compat.as_bytes` and the like."""
from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = 'utf-8') -> bytes:
    """Text, encoded; bytes as they are.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f'Expected binary or unicode string, got {bytes_or_text!r}')


def as_text(bytes_or_text: Any, encoding: str = 'utf-8') -> str:
    """Bytes, decoded; text as it is.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f'Expected binary or unicode string, got {bytes_or_text!r}')


as_str = as_text


def as_str_any(value: Any, encoding: str = 'utf-8') -> str:
    """Bytes, decoded; anything else by `str`."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The text of a path object; anything else as it is."""
    return as_str_any(path.__fspath__()) if isinstance(path, os.PathLike) else path


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a forward compatibility window has passed by a date: always, there is one version."""
    return True
