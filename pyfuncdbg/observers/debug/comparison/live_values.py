"""Tensors of a running call in the form in which a comparison takes recorded ones. On the thread of the call."""
from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.value_placeholders import UnknownValue, ValueSummary
from pyfuncdbg.observers.debug.comparison.record_comparison import ComparedTensor
from pyfuncdbg.observers.record.array_bytes import digest, packed_text
from pyfuncdbg.observers.record.dtypes import STRING, dtype_name, little_endian
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots.statistics import stats_of


class CallTensor:
    """A value of a running call, as a `ComparedTensor`. It is read while it is compared, and not kept.

    Args:
        name: Of the tensor, '' if unknown.
        value: The host's own.
        host: Reads it.
    """

    key = None

    def __init__(self, name: str, value: object, host: Host) -> None:
        self.name = name
        self.absent = value is None
        self._array: np.ndarray | None = None
        if isinstance(value, UnknownValue | ValueSummary):
            self.dtype, self.shape = dtype_name(value.dtype), tuple(value.shape)
            return
        try:
            array = np.empty((), object) if value is None else host.to_numpy(value)
        except Exception:                       # a deleted buffer, or no tensor: recorded as unreadable, too
            array = np.empty((), object)
        if array.dtype.kind in 'SU' or (array.dtype == object and set(map(type, array.flat)) <= {bytes, str} and array.size):
            array = _as_bytes(array)
            self.dtype = STRING
        else:
            self.dtype = dtype_name(array.dtype)
        self.shape = array.shape
        self._array = array

    def to_numpy(self) -> np.ndarray:
        """The array; the caller must not write to it."""
        return self._array if self._array is not None else np.empty(self.shape, object)

    @cached_property
    def stats(self) -> Stats | None:
        """Its statistics."""
        return stats_of(self._array) if self._array is not None else None


def call_tensors(names: Sequence[str], values: Sequence[object], host: Host) -> list[CallTensor]:
    """The values of one side of a call, with the names of its site."""
    return [CallTensor(names[place] if place < len(names) else '', value, host) for place, value in enumerate(values)]


def values_key(tensors: Sequence[ComparedTensor]) -> tuple[object, ...]:
    """A key that is equal for equal values.

    Raises:
        DroppedError: A value was not kept.
    """
    return tuple([(tensor.dtype, tensor.shape, _digest_of(tensor.to_numpy(), tensor.dtype)) for tensor in tensors])


def _digest_of(array: np.ndarray, dtype: str) -> bytes:
    if dtype == STRING:
        return digest(packed_text(array.ravel().tolist()))
    return b'' if array.dtype.hasobject else digest(little_endian(array).tobytes())


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Text as a trace holds it: objects of bytes, UTF-8."""
    elements = np.empty(array.size, object)
    elements[:] = [one.encode('utf-8', 'surrogatepass') if isinstance(one, str) else one for one in array.ravel().tolist()]
    return elements.reshape(array.shape)
