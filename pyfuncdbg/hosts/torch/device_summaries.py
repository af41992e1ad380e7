"""Summaries of tensors in the memory of a device.

Begun on the thread of a call, which waits for nothing, and read later by the recorder's writer, or where a user asks. The
elements of a small tensor are copied behind the work that the program has queued on the device: that is cheaper than to
count them there. Of a large one up to six numbers are counted there, and copied.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_SMALL = 16 << 10
"""Bytes of a tensor whose elements are copied."""
_MOST_COPIED = 32 << 20
"""Bytes of such copies at a time: they are in memory that the system cannot swap."""
_AT_ONCE = 1 << 25
"""Elements that are compared with all bounds at once: five bytes for each, on a device that may be nearly full."""

Counts = tuple[int, int, int, int, int, int]
"""Numbers of NaN, negative infinite, negative, zero, positive and infinite elements."""


class DeviceSummaries:
    """Starter of summaries.

    Args:
        parts: Modules of the imported PyTorch.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._torch = parts.torch
        self._without_events: set[str] = set()
        self._bounds: dict[tuple[Any, Any], Any] = {}
        self._room = _Room()

    def is_capturing(self, device: Any) -> bool:
        """Whether the program records its work on a device as a graph, which would be part of each later replay."""
        capturing = getattr(getattr(self._torch, device.type, None), 'is_current_stream_capturing', None)
        return bool(capturing is not None and capturing())

    def begin(self, tensor: Any) -> Callable[[], Any]:
        """Begin to copy or to count the elements of a tensor.

        Returns:
            Gives a tensor on the CPU with the elements, or the `Counts`. Waits for the device.

        Raises:
            RuntimeError, TypeError: The device cannot: of a sparse tensor, say.
        """
        plain, kind = tensor.detach(), tensor.device.type
        nbytes = plain.numel() * plain.element_size()
        if kind not in self._without_events:
            try:
                if nbytes <= _SMALL and self._room.take(nbytes):
                    return _Copy(self._torch, plain, self._room, nbytes).read
                counts, meaning = self._count(plain)
                copy = _Copy(self._torch, counts)
                return lambda: meaning(copy.read().tolist())
            except (RuntimeError, TypeError, AttributeError):      # no events, or no memory that it can write to
                if kind != 'cuda':
                    self._without_events.add(kind)
        counts, meaning = self._count(plain)
        return lambda: meaning(counts.tolist())

    def _count(self, tensor: Any) -> tuple[Any, Callable[[list[int]], Counts]]:
        """How many elements are at most each bound of their type, on the device, and what these numbers mean."""
        if tensor.is_complex():
            tensor = tensor.abs()
        flat, size, dtype = tensor.reshape(1, -1), tensor.numel(), tensor.dtype
        bounds = self._bounds_of(dtype, tensor.device)
        counts = ((flat <= bounds).sum(1) if size <= _AT_ONCE else
                  self._torch.cat([(flat <= bound).sum(1) for bound in bounds]))
        if dtype.is_floating_point:
            return counts, lambda at_most: (size - at_most[4], at_most[0], at_most[1] - at_most[0], at_most[2] - at_most[1],
                                            at_most[3] - at_most[2], at_most[4] - at_most[3])
        return counts, lambda at_most: (0, 0, sum(at_most[:-1]), at_most[-1] - sum(at_most[:-1]), size - at_most[-1], 0)

    def _bounds_of(self, dtype: Any, device: Any) -> Any:
        """The bounds between the kinds of elements of a type: a column on the device."""
        bounds = self._bounds.get((dtype, device))
        if bounds is None:
            torch = self._torch
            if dtype.is_floating_point:
                limits = torch.finfo(dtype)
                values = [-math.inf, -limits.smallest_normal * limits.eps, 0., limits.max, math.inf]
            else:
                values = [-1, 0] if dtype.is_signed else [0]
            near = torch.tensor(values, dtype=dtype).reshape(-1, 1)
            if device.type not in self._without_events:
                near = near.pin_memory()        # else the copy waits for the device
            bounds = self._bounds[dtype, device] = near.to(device, non_blocking=True)
        return bounds


class _Room:
    """Bytes of the copies that are held."""

    def __init__(self) -> None:
        self._lock, self._left = new_lock(), _MOST_COPIED

    def take(self, nbytes: int) -> bool:
        """Whether there is room for a copy, which is taken then."""
        with self._lock:
            if nbytes > self._left:
                return False
            self._left -= nbytes
            return True

    def give_back(self, nbytes: int) -> None:
        """A copy is gone."""
        with self._lock:
            self._left += nbytes


class _Copy:
    """Copy of a tensor to memory of the CPU, which the device makes when its earlier work is done.

    Args:
        torch: PyTorch.
        tensor: On a device.
        room: Is given back what was taken of it; None if nothing was.
        nbytes: That much.
    """

    __slots__ = ('_event', '_nbytes', '_near', '_room')

    def __init__(self, torch: Any, tensor: Any, room: _Room | None = None, nbytes: int = 0) -> None:
        self._room, self._nbytes = room, nbytes
        self._event = torch.Event(tensor.device)
        self._near = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        self._near.copy_(tensor, non_blocking=True)
        self._event.record()

    def read(self) -> Any:
        """The copy. Waits for the device."""
        self._event.synchronize()
        return self._near

    def __del__(self) -> None:
        if self._room is not None:
            self._room.give_back(self._nbytes)
