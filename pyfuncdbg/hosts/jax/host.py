"""The host of JAX: how observers read and make its values.

Asked on the thread of a call, which may be one of XLA's own. It never waits for a value: an array that is not computed yet
is not known.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.host import SUMMARIES
from pyfuncdbg.hooks.value_placeholders import LaterSummary, UnknownValue, ValueNotKnown, ValueSummary
from pyfuncdbg.hosts.interception.framework_host import FrameworkHost
from pyfuncdbg.hosts.jax.array_values import array_reader
from pyfuncdbg.hosts.jax.device_statistics import DeviceStatistics, is_far
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

TRACED = 'a tracer, which has no value'


class JaxHost(FrameworkHost):
    """The `Host` of JAX. It has no random state: random numbers come from keys, which are inputs.

    Args:
        parts: Modules of the imported JAX.
    """

    name = 'jax'
    variables: Sequence[str] = ('XLA_FLAGS', 'JAX_PLATFORMS', 'JAX_ENABLE_X64', 'JAX_DEFAULT_MATMUL_PRECISION')

    def __init__(self, parts: JaxParts) -> None:
        self._parts = parts
        self.version = parts.version
        self._array = parts.array.ArrayImpl
        self._tracer = parts.core.Tracer
        self._read = array_reader(parts, copies=True)
        self._register(self._array, array_reader(parts, copies=False))
        self._statistics = DeviceStatistics()
        SUMMARIES[self.name] = self.summary

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
        if type(getattr(value, '_base_array', None)) is self._array:    # random keys
            return self._read(value._base_array)
        if isinstance(value, self._tracer):
            dtype = value.aval.dtype if isinstance(getattr(value.aval, 'dtype', None), np.dtype) else np.dtype(object)
            raise ValueNotKnown(UnknownValue(dtype, tuple(getattr(value.aval, 'shape', ())), TRACED))
        return super().to_numpy(value)

    def summary(self, value: Any, counted: bool) -> ValueSummary | LaterSummary | None:
        """The summary of an array in the memory of a device, as `hooks.host.SUMMARIES`.

        Args:
            value: Any value.
            counted: Make statistics on the device, which are read later.

        Returns:
            None of any other value, and of one that is deleted.
        """
        if type(value) is not self._array or not is_far(value):
            return None
        try:
            return self._statistics.summary(value, counted)
        except RuntimeError:
            return None

    def _is_tensor(self, value: Any) -> bool:
        return type(value) is self._array

    def _type_of(self, tensor: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Also of an array that is not computed yet."""
        return (tensor.dtype, tuple(tensor.shape)) if self._is_tensor(tensor) else super()._type_of(tensor)

    def make_tensor(self, array: np.ndarray) -> Any:
        """Make a JAX array on the first device of the CPU.

        Args:
            array: Its elements, which are copied.
        """
        jax = sys.modules['jax']
        return jax.device_put(np.array(array), jax.local_devices(backend='cpu')[0])

    def call_again(self, site: CallSite, inputs: Sequence[Any]) -> Sequence[Any]:
        """Call a callback outside of any run, with JAX arrays; no hook sees it.

        Args:
            site: Of a callback.
            inputs: Values of JAX, or arrays.

        Returns:
            The outputs.

        Raises:
            ValueError: The site calls no Python function.
        """
        tensors = [self.make_tensor(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value
                   for value in inputs]
        return super().call_again(site, tensors)

    def _refusal(self, site: CallSite) -> str:
        return (f'{site.name!r} is part of a compiled program, whose function JAX does not replace; '
                'inject gives one output another value')
