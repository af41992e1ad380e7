"""Content of a large tensor, read in chunks from the program's memory because the queue has no room for it.

Used on the thread of its call. Another thread may be changing the memory meanwhile, so each chunk is a copy.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import xxhash

from pyfuncdbg.observers.record.dtypes import STRING, dtype_name, little_endian

_CHUNK = 1 << 20
_ELEMENTS = 1 << 12


class TensorContent:
    """The bytes of one array, or of a list of text, as a blob holds them.

    Attributes:
        value: An array of numbers or text, or the elements of one that holds text as objects.
        dtype: Name of the type, as records have it.
        shape: Of the array.
        nbytes: Of the elements.
    """

    __slots__ = ('dtype', 'nbytes', 'shape', 'value')

    def __init__(self, value: np.ndarray | list[Any], dtype: np.dtype[Any], shape: tuple[int, ...], nbytes: int) -> None:
        self.value = value
        self.dtype = dtype_name(dtype)
        self.shape = shape
        self.nbytes = nbytes

    @property
    def array(self) -> np.ndarray | None:
        """The array of numbers; None for text."""
        return None if self.dtype == STRING or isinstance(self.value, list) else self.value

    def chunks(self) -> Iterator[bytes]:
        """Read the bytes.

        Yields:
            About a megabyte at a time.
        """
        if (array := self.array) is None:
            yield from self._texts()
            return
        flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
        step = max(_CHUNK // array.itemsize, 1)
        for start in range(0, array.size, step):
            yield little_endian(flat[start:start + step]).tobytes()

    def _texts(self) -> Iterator[bytes]:
        """A msgpack list of bytes, text as UTF-8."""
        flat: Any = self.value if isinstance(self.value, list) else self.value.flat
        count = len(flat)
        packer = msgpack.Packer()
        yield packer.pack_array_header(count)
        for start in range(0, count, _ELEMENTS):
            yield b''.join([packer.pack(e if isinstance(e, bytes) else e.encode('utf-8', 'surrogatepass'))
                            for e in list(flat[start:start + _ELEMENTS])])

    def measure(self) -> tuple[bytes, int]:
        """Read the bytes for their hash.

        Returns:
            Content hash and length of what `chunks` yields.
        """
        check, length = xxhash.xxh3_128(), 0
        for chunk in self.chunks():
            check.update(chunk)
            length += len(chunk)
        return check.digest(), length
