"""The bytes of an array as a trace stores them, their content hash, and the array that they were.

The recorder's writer thread packs text; readers of traces make arrays. Stored bytes may be damaged or hostile: nothing runs.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgpack
import numpy as np
import xxhash

from pyfuncdbg.observers.record.dtypes import STRING, dtype_of

digest: Callable[[Any], bytes] = xxhash.xxh3_128_digest
"""The content hash of bytes; arrays and files of equal content are stored once."""

UNREADABLE = (ValueError, msgpack.UnpackException)
"""Exceptions of `array_from` for bytes that are no array of the type and shape."""


def packed_text(elements: Sequence[bytes | str]) -> bytes:
    """Pack text elements as a trace stores them.

    Args:
        elements: Bytes or text, in C order.

    Returns:
        A msgpack list of bytes; text as UTF-8.
    """
    packed: bytes = msgpack.packb([e if isinstance(e, bytes) else e.encode('utf-8', 'surrogatepass') for e in elements])
    return packed


def array_from(data: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Decode the stored bytes of an array.

    Args:
        data: The bytes, in C order and little-endian; of text a msgpack list.
        dtype: Name of the element type, as from `dtype_name`.
        shape: Of the array.

    Returns:
        The array; it may share the memory of `data` and is read-only then.

    Raises:
        ValueError: The bytes do not fit the type and shape, or the type cannot be made here.
    """
    count = 1
    for size in shape:
        count *= size
    if dtype == STRING:
        elements = msgpack.unpackb(data, raw=True, max_array_len=max(len(data), 1))
        if not isinstance(elements, list) or len(elements) != count or not all(isinstance(e, bytes) for e in elements):
            raise ValueError('not a list of text')
        text = np.empty(count, object)
        text[:] = elements
        return text.reshape(shape)
    element = dtype_of(dtype)
    if count * element.itemsize != len(data):
        raise ValueError(f'{len(data)} bytes do not fill {shape} of {dtype}')
    return np.frombuffer(data, element).reshape(shape) if count else np.empty(shape, element)
