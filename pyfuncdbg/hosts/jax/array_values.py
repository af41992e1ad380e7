# cython: annotation_typing=False, auto_pickle=False
"""Reader of JAX's arrays: their elements, in the same memory where it is the CPU's.

Compiled where there is a compiler: a recorder reads each input and output. It never waits: an array that is not computed yet
is not known. On the thread of a call, which may be one of XLA's own.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.hooks.value_placeholders import NOT_COMPUTED, UnknownValue, ValueNotKnown
from pyfuncdbg.hosts.jax.device_statistics import is_far

if TYPE_CHECKING:
    from pyfuncdbg.hosts.jax.jax_parts import JaxParts

DELETED = 'deleted, as what a donated argument got'
_asarray, _view = np.asarray, memoryview        # looked up once


def array_reader(parts: JaxParts, copies: bool) -> Callable[[Any], np.ndarray]:
    """Make a reader.

    Args:
        parts: Modules of JAX.
        copies: Copy what is in the memory of a device other than the CPU.

    Returns:
        A function that gives the elements of an array, and raises `ValueNotKnown` where it is not computed yet, or deleted,
        or would have to be copied. JAX's own conversion would wait, and keep a copy with the array.
    """
    failed: Any = parts.errors.JaxRuntimeError

    def read(array: Any) -> np.ndarray:
        try:
            if not array.is_ready():
                raise ValueNotKnown(UnknownValue(array.dtype, array.shape, NOT_COMPUTED))
        except RuntimeError:
            raise ValueNotKnown(UnknownValue(array.dtype, array.shape, DELETED)) from None
        try:
            # Half of what an array without a copy costs; those of several devices, of a GPU and of bfloat16 have no buffer.
            return _asarray(_view(array))
        except BufferError:
            if not copies and is_far(array):
                raise ValueNotKnown(UnknownValue(array.dtype, array.shape, 'in the memory of a device')) from None
            return _read_without_buffer(array, failed)
        except failed as error:                 # the program that was to compute it has failed
            raise ValueNotKnown(UnknownValue(array.dtype, array.shape, f'{type(error).__name__}: not computed')) from None
    return read


def _read_without_buffer(array: Any, failed: Any) -> np.ndarray:
    try:
        if array.is_fully_replicated:
            return array._single_device_array_to_np_array_did_copy()[0]  # type: ignore[no-any-return]
        return _gathered(array)
    except failed as error:
        raise ValueNotKnown(UnknownValue(array.dtype, array.shape, f'{type(error).__name__}: not computed')) from None


def _gathered(array: Any) -> np.ndarray:
    """The elements of an array that several devices hold."""
    if not array.is_fully_addressable:
        raise ValueNotKnown(UnknownValue(array.dtype, array.shape, 'held by another process, too'))
    gathered = np.empty(array.shape, array.dtype)
    for shard in array.addressable_shards:
        gathered[shard.index] = shard.data._single_device_array_to_np_array_did_copy()[0]
    return gathered
