"""Saved inputs of a call, as they were before its function could write to them. `retry` executes the call on them.

Saved on the thread of the call, where something may stop in it or after it. Only arrays are copied, and tensors of a host
that functions can write to: all else is immutable. The function gets the arrays themselves, never a copy.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.host import SAVERS
from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference, difference
from pyfuncdbg.observers.record.snapshots.snapshot_memory import BufferPool

_LARGE = 32 << 10
"""Bytes from which on a copy goes into a buffer that is used again: fresh pages take 30 times as long as the copy itself."""

_pool = BufferPool(64 << 20)
_ndarray = np.ndarray


class _Lease:
    """A buffer of the pool, until the copy in it is not needed any more."""

    __slots__ = ('buffer',)

    def __init__(self, buffer: np.ndarray) -> None:
        self.buffer = buffer

    def __del__(self) -> None:
        _pool.give(self.buffer)


Saved = Sequence[tuple[np.ndarray, np.ndarray, _Lease | None] | Callable[[], None] | None]
"""By input: the array, a copy of it, and what holds the copy's memory; of a tensor what restores it; else None."""


def save(values: Sequence[object]) -> Saved | None:
    """Save the inputs of a call that begins; None where there is no memory to do so. Asked at every call: it is short."""
    try:
        # A small array is as quickly copied as asked whether it is writable.
        return [_saved_tensor(value) if not isinstance(value, _ndarray) else
                (value, value.copy(), None) if value.nbytes < _LARGE else _copy(value) for value in values]
    except MemoryError:
        return None


def _saved_tensor(value: object) -> Callable[[], None] | None:
    saver = SAVERS.get(type(value))
    return saver(value) if saver is not None else None


def _copy(value: np.ndarray) -> tuple[np.ndarray, np.ndarray, _Lease | None] | None:
    if not value.flags.writeable:
        return None
    if value.dtype.hasobject:
        return value, value.copy(), None
    lease = _Lease(_pool.take(value.nbytes))
    copy = lease.buffer[:value.nbytes].view(value.dtype)
    copy = copy.reshape(value.shape, order='F' if value.flags.f_contiguous else 'C')
    np.copyto(copy, value)
    return value, copy, lease


def restore(call: Call) -> None:
    """Give a call its inputs back as they were: the same objects with the same elements, where that is possible."""
    for place, array, copy in _arrays(call):
        call.inputs[place] = array if _put_back(array, copy) else copy.copy()
    for saved in call.saved_inputs or ():
        if callable(saved):
            saved()


def changed_inputs(call: Call) -> tuple[Difference, ...]:
    """The inputs that hold something else now, by the name of their tensor ('in0' of one without a name)."""
    names = call.site.inputs
    return tuple([difference((names[place] if place < len(names) else '') or f'in{place}', copy, array)
                  for place, array, copy in _arrays(call) if not _same(array, copy)])


def _arrays(call: Call) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    for place, pair in enumerate(call.saved_inputs or ()):
        if type(pair) is tuple:
            yield place, pair[0], pair[1]


def _put_back(array: np.ndarray, copy: np.ndarray) -> bool:
    """Write the elements back; False where the function has made of the array one that cannot hold them."""
    if _same(array, copy):
        return True
    try:
        if not array.flags.writeable:           # the function has closed it
            array.setflags(write=True)
        if array.dtype != copy.dtype or array.shape != copy.shape:
            return False
        np.copyto(array, copy)
    except ValueError:
        return False
    return True


def _same(array: np.ndarray, copy: np.ndarray) -> bool:
    """Whether an array holds what it did, bit for bit: NaN is the same as itself, -0.0 is not 0.0."""
    if array.dtype != copy.dtype or array.shape != copy.shape:
        return False
    if array.dtype.hasobject:
        return all(one is other or one == other for one, other in zip(array.flat, copy.flat, strict=True))
    return np.array_equal(_bytes(array), _bytes(copy))


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
