"""The host of JAX: how observers read and make its values.

Asked on the thread of a call, which may be one of XLA's own. It never waits for a value: an array that is not computed yet
is not known.
"""
from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.host import EAGER_TENSORS, READERS, ListChanges, ReplaySite
from pyfuncdbg.hooks.value_placeholders import UnknownValue, ValueNotKnown
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

NOT_COMPUTED, TRACED = 'not computed yet', 'a tracer, which has no value'
_PLAIN = (np.ndarray, np.generic, bytes, int, float, complex, str)


class JaxHost:
    """The `Host` of JAX.

    Args:
        parts: Modules of the imported JAX.
    """

    name = 'jax'
    pauses_within = False
    variables: Sequence[str] = ('XLA_FLAGS', 'JAX_PLATFORMS', 'JAX_ENABLE_X64', 'JAX_DEFAULT_MATMUL_PRECISION')
    replay_site: ReplaySite                     # by the attachment
    op_draws: Any = None                        # random numbers come from keys, which are inputs

    def __init__(self, parts: JaxParts) -> None:
        self._parts = parts
        self.version = parts.version
        self._array = parts.array.ArrayImpl
        self._tracer = parts.core.Tracer
        if self._array not in EAGER_TENSORS:
            EAGER_TENSORS.append(self._array)
        READERS[self._array] = self._read

    def _read(self, array: Any) -> np.ndarray:
        """The elements of an array that is computed, in the same memory on the CPU.

        JAX's own conversion would wait, and keep a copy with the array. A buffer costs half of what its array without a
        copy does, but those of several devices, of a GPU and of bfloat16 have none.

        Raises:
            ValueNotKnown: It is not computed yet, or deleted.
        """
        try:
            if not array.is_ready():
                raise ValueNotKnown(UnknownValue(array.dtype, array.shape, NOT_COMPUTED))
        except RuntimeError:
            raise ValueNotKnown(UnknownValue(array.dtype, array.shape, 'deleted, as what a donated argument got')) from None
        try:
            try:
                return np.asarray(memoryview(array))
            except BufferError:
                pass
            if array.is_fully_replicated:
                return array._single_device_array_to_np_array_did_copy()[0]  # type: ignore[no-any-return]
            return self._gathered(array)
        except self._parts.errors.JaxRuntimeError as error:     # the program that was to compute it has failed
            raise ValueNotKnown(UnknownValue(array.dtype, array.shape, f'{type(error).__name__}: not computed')) from None

    def _gathered(self, array: Any) -> np.ndarray:
        """The elements of an array that several devices hold."""
        if not array.is_fully_addressable:
            raise ValueNotKnown(UnknownValue(array.dtype, array.shape, 'held by another process, too'))
        gathered = np.empty(array.shape, array.dtype)
        for shard in array.addressable_shards:
            gathered[shard.index] = shard.data._single_device_array_to_np_array_did_copy()[0]
        return gathered

    def to_numpy(self, value: Any) -> np.ndarray:
        """The array behind a value.

        Args:
            value: A JAX array, an array of random keys, a NumPy array or a scalar.

        Returns:
            Its array, which shares the memory of an array on the CPU; a 0-d object array for anything else.

        Raises:
            ValueNotKnown: It is not computed yet, or a tracer.
        """
        if type(value) is self._array:
            return self._read(value)
        if isinstance(value, _PLAIN):
            return _boxed(value) if isinstance(value, bytes) else np.asarray(value)
        if type(getattr(value, '_base_array', None)) is self._array:    # random keys
            return self._read(value._base_array)
        if isinstance(value, self._tracer):
            dtype = value.aval.dtype if isinstance(getattr(value.aval, 'dtype', None), np.dtype) else np.dtype(object)
            raise ValueNotKnown(UnknownValue(dtype, tuple(getattr(value.aval, 'shape', ())), TRACED))
        return _boxed(value)

    def tensor_name(self, value: Any) -> str:
        """'' of any value: nothing in a program of JAX has a name.

        Args:
            value: Any value.
        """
        return ''

    def from_numpy(self, array: np.ndarray, like: Any) -> Any:
        """Make a value of the kind of another one.

        Args:
            array: Its elements, which are copied.
            like: A JAX array, NumPy array or scalar of the same dtype and shape.

        Returns:
            The new value.

        Raises:
            ValueError: The dtype or shape differs, or `like` has none.
        """
        is_tensor = type(like) is self._array
        if not is_tensor and not isinstance(like, _PLAIN):
            raise ValueError(f'got {type(like).__name__} to be replaced, expected an array')
        dtype, shape = (like.dtype, like.shape) if is_tensor else (old := np.asarray(like)).dtype and (old.dtype, old.shape)
        if array.dtype != dtype or array.shape != tuple(shape):
            raise ValueError(f'got {array.dtype}{list(array.shape)}, expected {dtype}{list(shape)} as the value it replaces')
        if is_tensor:
            return self.make_tensor(array)
        if isinstance(like, np.ndarray):
            return array.copy()
        return type(like)(array[()])

    def make_tensor(self, array: np.ndarray) -> Any:
        """Make a JAX array on the first device of the CPU.

        Args:
            array: Its elements, which are copied.
        """
        jax = sys.modules['jax']
        return jax.device_put(np.array(array), jax.local_devices(backend='cpu')[0])

    def new_context(self, inputs: int) -> Any:
        """No function of it takes one."""
        return None

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call a site's function outside of any run; no hook sees it.

        Args:
            site: Of a callback.
            inputs: Values of JAX, or arrays.

        Returns:
            The outputs.

        Raises:
            ValueError: The site calls no Python function.
        """
        again = site.attrs.get('_call')
        if again is None:
            raise ValueError(f'{site.name!r} cannot be called again: it is no Python call')
        tensors = [self.make_tensor(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value
                   for value in inputs]
        return again(tensors)  # type: ignore[no-any-return]

    @contextmanager
    def restored_state(self) -> Iterator[ListChanges]:
        """A block that restores the random states of NumPy and Python at its end; JAX has no state of its own.

        Yields:
            A function that tells which variables have changed: none.
        """
        state = self.rng_state()
        try:
            yield tuple
        finally:
            self.set_rng_state(state)

    def replace(self, site: CallSite, function: Callable[..., Any], count: int) -> None:
        """Refuse: the function of a callback is part of a compiled program.

        Args:
            site, function, count: As for other hosts.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f'{site.name!r} is part of a compiled program, whose function JAX does not replace; '
                         'inject gives one output another value')

    def rng_state(self) -> Any:
        """The random states of NumPy and of `random`."""
        return np.random.get_state(), random.getstate()

    def set_rng_state(self, state: Any) -> None:
        """Restore random states.

        Args:
            state: A result of `rng_state`.
        """
        numpy_state, python_state = state
        np.random.set_state(numpy_state)
        random.setstate(python_state)

    def op_generators(self) -> Sequence[tuple[str, Any]]:
        """(): ops get their random keys as inputs."""
        return ()

    def restore_op_generators(self, states: Sequence[tuple[str, Any]]) -> None:
        """Do nothing: there are none.

        Args:
            states: As in a trace.
        """


def _boxed(value: Any) -> np.ndarray:
    boxed = np.empty((), object)
    boxed[()] = value
    return boxed
