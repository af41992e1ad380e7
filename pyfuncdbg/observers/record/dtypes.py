"""Names of element types as TensorFlow prints them, and back: how a trace writes down what its bytes mean.

The recorder's writer thread names; readers of traces parse. A name comes from a file, so parsing accepts a closed list of
forms and never a type that holds Python objects.
"""
from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

STRING = 'string'
"""Name for bytes and text of any length; such tensors are read as object arrays of bytes."""

OBJECT = 'object'
"""Name for arrays of arbitrary Python objects: only their shape is kept."""

_EXTENDED = {name: np.dtype(getattr(ml_dtypes, name)) for name in dir(ml_dtypes)
             if name.startswith(('bfloat', 'float', 'int', 'uint', 'bcomplex', 'complex'))
             and isinstance(getattr(ml_dtypes, name), type)}
_PLAIN = re.compile(r'bool|u?int(?:8|16|32|64)|float(?:16|32|64|96|128)|complex(?:64|128|192|256)|'
                    r'(?:datetime|timedelta)64(?:\[\d{0,9}[A-Za-z]{1,2}\])?')
_LONGEST_NAME = 4096
_FIRST_ADDED = 256
"""Type numbers from here on are of types that extensions such as ml_dtypes added."""


@lru_cache(maxsize=1024)
def dtype_name(dtype: np.dtype[Any]) -> str:
    """Name an element type as TensorFlow prints it.

    Args:
        dtype: Any type of NumPy or ml_dtypes.

    Returns:
        'float32', 'bfloat16', 'string', 'datetime64[ns]'; a structured type as the text of its field list.
    """
    if dtype.kind in 'SUT':
        return STRING
    if dtype.hasobject:
        return OBJECT
    if dtype.names is not None or (dtype.kind == 'V' and dtype.name not in _EXTENDED):
        return repr(np.lib.format.dtype_to_descr(dtype))
    return dtype.name


def is_dtype_name(name: str) -> bool:
    """Whether a name is that of a type of numbers.

    Args:
        name: Any text.

    Returns:
        True for 'float32', 'bfloat16', 'datetime64[ns]'.
    """
    return name in _EXTENDED or _PLAIN.fullmatch(name) is not None


@lru_cache(maxsize=1024)
def dtype_of(name: str) -> np.dtype[Any]:
    """The little-endian element type of a recorded tensor.

    Args:
        name: As from `dtype_name`; untrusted.

    Returns:
        The type.

    Raises:
        ValueError: The name is none that `dtype_name` gives, or this machine has no such type.
    """
    extended: np.dtype[Any] | None = _EXTENDED.get(name)
    if extended is not None:
        return extended
    try:
        if _PLAIN.fullmatch(name):
            plain: np.dtype[Any] = np.dtype(name)
            return plain
        if len(name) <= _LONGEST_NAME and name.startswith(('[', "'|V", "'V")):
            dtype = np.dtype(np.lib.format.descr_to_dtype(ast.literal_eval(name)))
            if not dtype.hasobject and dtype.itemsize:
                return dtype
    # A hostile name fails in many ways on its way through the parsers.
    except (TypeError, ValueError, SyntaxError, KeyError, IndexError, RecursionError, MemoryError, OverflowError) as error:
        raise ValueError(f'unknown element type {name[:80]!r}') from error
    raise ValueError(f'unknown element type {name[:80]!r}')


def as_numbers(array: np.ndarray) -> np.ndarray | None:
    """Convert an array to one of NumPy's own integer, float or complex types.

    bfloat16, float8, int4 and their like become float32 (complex64), which holds them exactly.

    Args:
        array: Of any type.

    Returns:
        The converted array, or `array` itself; None if it holds no numbers.
    """
    dtype = array.dtype
    if dtype.num < _FIRST_ADDED:                # reading the name of a dtype takes 1.5 µs
        return array if dtype.kind in 'iufc' else None
    if dtype.name in _EXTENDED:
        return array.astype(np.complex64 if 'complex' in dtype.name else np.float32)
    return array if dtype.kind in 'iufc' else None


def little_endian(array: np.ndarray) -> np.ndarray:
    """Convert an array to little-endian order.

    Args:
        array: Of any type.

    Returns:
        The converted array; `array` itself if it is so already, or if its type has no order.
    """
    dtype = array.dtype
    swapped = dtype.newbyteorder('<') if dtype.kind in 'iufcmMU' else dtype
    return array if swapped == dtype else array.astype(swapped)
