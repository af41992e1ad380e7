# cython: annotation_typing=False, auto_pickle=False
"""Reading of tensors as arrays. On any thread; no mode of PyTorch's sees it, and nothing is recorded for gradients.

Compiled by `tensor_values.pxd`.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from pyfuncdbg.hooks.value_placeholders import LaterSummary, UnknownValue, ValueSummary
from pyfuncdbg.hosts.torch.device_summaries import DeviceSummaries
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

try:
    from pyfuncdbg.hosts.torch.tensor_memory import TensorMemory  # type: ignore[import-not-found,unused-ignore]
except ImportError:                             # no C compiler
    TensorMemory = None

_UNLIKE_NUMPY = {'bfloat16': ('int16', ml_dtypes.bfloat16), 'float8_e4m3fn': ('uint8', ml_dtypes.float8_e4m3fn),
                 'float8_e5m2': ('uint8', ml_dtypes.float8_e5m2), 'float8_e4m3fnuz': ('uint8', ml_dtypes.float8_e4m3fnuz),
                 'float8_e5m2fnuz': ('uint8', ml_dtypes.float8_e5m2fnuz)}
"""Element types that NumPy lacks: by name, the type of PyTorch with their bits, and the type of `ml_dtypes`."""

_PLAIN = frozenset((int, float, bool, str, type(None)))
"""Classes of the usual arguments of ops that are no tensors."""
_NEAR = frozenset(('cpu', 'meta'))
"""Devices whose tensors are read at no cost, or have no elements."""


class _Exported:
    """Memory of a tensor on the CPU, for NumPy.

    Args:
        capsule: Of DLPack.
    """

    __slots__ = ('_capsule',)

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class TensorReader:
    """Reader of tensors.

    Args:
        parts: Modules of the imported PyTorch.

    Attributes:
        copier: As `hooks.host.COPIERS`; None before PyTorch 2.10, and where it was not compiled.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._tensor: type = parts.torch.Tensor
        native, torch = parts.native, parts.torch
        self._no_functions, self._no_dispatch = native.DisableTorchFunction, native._DisableTorchDispatch
        self._function_modes: Callable[[], int] = native._len_torch_function_stack
        self._dispatch_modes: Callable[[], int] = native._len_torch_dispatch_stack
        self._strided = torch.strided
        self._summaries = DeviceSummaries(parts)
        self._to_dlpack: Callable[[Any], Any] = native._to_dlpack
        exchange = getattr(parts.torch.Tensor, '__dlpack_c_exchange_api__', None)
        self.copier: Callable[[Any, int], Any] | None = None
        if TensorMemory is not None and exchange is not None:
            self.copier = TensorMemory(exchange, native._len_torch_function_stack).copy
        self._views = {getattr(torch, name): (getattr(torch, bits), dtype) for name, (bits, dtype) in _UNLIKE_NUMPY.items()
                       if hasattr(torch, name)}

    def read(self, tensor: Any) -> np.ndarray:
        """The array that shares the memory of a tensor on the CPU; fast. To be left before the program goes on.

        Raises:
            Exception: PyTorch's or NumPy's, of a tensor that NumPy cannot share: `array` reads it.
        """
        if self._dispatch_modes():
            with self._no_functions(), self._no_dispatch():
                return self._share(tensor)
        if self._function_modes():
            with self._no_functions():
                return self._share(tensor)
        return self._share(tensor)

    def _share(self, tensor: Any) -> np.ndarray:
        """The array over the memory of a tensor. `Tensor.numpy` would forbid the program to resize it ever after."""
        plain = tensor.detach() if tensor.requires_grad else tensor
        if plain.is_neg() or plain.is_conj() or (not plain.data_ptr() and plain.numel()):
            raise TypeError('a tensor whose elements are not those in memory')
        return np.from_dlpack(_Exported(self._to_dlpack(plain)))

    def array(self, tensor: Any) -> np.ndarray | UnknownValue:
        """The array behind any tensor, to be left as that of `read`.

        Returns:
            A copy where the memory cannot be shared; an `UnknownValue` of a tensor without elements to read.
        """
        with self._no_functions(), self._no_dispatch():
            dtype = tensor.dtype
            kind = str(dtype).removeprefix('torch.')
            if tensor.device.type == 'meta' or hasattr(tensor, 'fake_mode'):
                return UnknownValue(_numpy_type(kind), tuple(map(_length, tensor.shape)), 'a tensor without elements')
            plain = tensor.detach() if tensor.requires_grad else tensor
            if plain.layout is not self._strided:
                plain = plain.to_dense()
            if plain.device.type != 'cpu':
                plain = plain.cpu()
            if plain.is_quantized:
                plain = plain.dequantize()
            elif plain._is_zerotensor():        # without memory
                plain = plain.clone()
            view = self._views.get(dtype)
            if view is not None:
                return self._share(plain.contiguous().view(view[0])).view(view[1])  # type: ignore[no-any-return]
            return self._share(plain.resolve_conj().resolve_neg())

    def may_resize(self, tensor: Any) -> bool:
        """Whether the program may give the memory of a tensor back while an array shares it."""
        with self._no_functions(), self._no_dispatch():
            try:
                return bool(tensor.untyped_storage().resizable())
            except (NotImplementedError, RuntimeError):     # it has no memory that could be shared
                return False

    def summary(self, tensor: Any, counted: bool) -> ValueSummary | LaterSummary | None:
        """The summary of a tensor in the memory of a device; None of any other value.

        Args:
            tensor: Any value.
            counted: Begin to count its elements, on the device.
        """
        if not self.is_tensor(tensor):
            return None
        with self._no_functions(), self._no_dispatch():
            device = tensor.device
            if device.type in _NEAR or hasattr(tensor, 'fake_mode'):
                return None
            summary = ValueSummary(_numpy_type(str(tensor.dtype).removeprefix('torch.')), tuple(map(_length, tensor.shape)),
                                   note=f'on {device}')
            if counted and not self._summaries.is_capturing(device):
                with contextlib.suppress(RuntimeError, TypeError):     # sparse
                    return LaterSummary(summary, partial(self._counted, summary, self._summaries.begin(tensor)))
            return summary

    def _counted(self, summary: ValueSummary, read: Callable[[], Any]) -> ValueSummary | np.ndarray:
        """A summary with its counts, or the elements. Waits for the device; on any thread."""
        with self._no_functions(), self._no_dispatch():
            found = read()
            if self.is_tensor(found):
                elements = self.array(found)
                if isinstance(elements, UnknownValue):
                    raise TypeError(elements.reason)
                return elements
        nan, neg_inf, neg, zero, pos, pos_inf = found
        return replace(summary, nan=nan, neg_inf=neg_inf, neg=neg, zero=zero, pos=pos, pos_inf=pos_inf)

    def bits_of(self, dtype: np.dtype[Any]) -> tuple[str, Any] | None:
        """For an element type that NumPy lacks: NumPy's type with its bits, and PyTorch's dtype; None for others."""
        for torch_type, (_, numpy_type) in self._views.items():
            if dtype == numpy_type:
                return f'u{dtype.itemsize}' if dtype.itemsize == 1 else 'i2', torch_type
        return None

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of any class."""
        return issubclass(type(value), self._tensor)


def _numpy_type(name: str) -> np.dtype[Any]:
    """NumPy's element type of this name; `object` where it has none."""
    if name in _UNLIKE_NUMPY:
        return np.dtype(_UNLIKE_NUMPY[name][1])  # type: ignore[no-any-return]
    try:
        return np.dtype(name)
    except TypeError:
        return np.dtype(object)


def _length(size: Any) -> int:
    """A length of a shape, -1 for a symbolic one."""
    return size if type(size) is int else -1


def tensors_in(values: Sequence[Any], kind: type) -> list[Any]:
    """The tensors among the arguments of an op, and in lists there.

    Args:
        values: The arguments.
        kind: PyTorch's class of tensors.
    """
    found = []
    for value in values:
        cls = type(value)
        if cls is kind:
            found.append(value)
        elif cls is list or cls is tuple:
            found += [part for part in value if isinstance(part, kind)]
        elif cls not in _PLAIN and isinstance(value, kind):     # PyTorch's own check takes 0.1 us
            found.append(value)
    return found
