"""Counts of the elements of tensors in the memory of a device: computed there, and read later.

Begun on the thread of a call, which waits for nothing: six numbers are copied behind the work that the program has queued on
the device. Read by the recorder's writer, or where a user asks.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.torch.torch_parts import TorchParts

Read = Callable[[], list[int]]
"""Gives the numbers of NaN, negative infinite, negative, zero, positive and infinite elements; negative ones with the
infinite. Waits for the device."""


class DeviceCounts:
    """Starter of counts.

    Args:
        parts: Modules of the imported PyTorch.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._torch = parts.torch
        self._without_events: set[str] = set()

    def is_capturing(self, device: Any) -> bool:
        """Whether the program records its work on a device as a graph, which would be part of each later replay."""
        capturing = getattr(getattr(self._torch, device.type, None), 'is_current_stream_capturing', None)
        return bool(capturing is not None and capturing())

    def begin(self, tensor: Any) -> Read:
        """Begin to count the elements of a tensor.

        Raises:
            RuntimeError, TypeError: The device cannot: of a sparse tensor, say.
        """
        counts = self._count(tensor)
        if tensor.device.type not in self._without_events:
            try:
                return self._copy(counts, tensor.device)
            except (RuntimeError, TypeError, AttributeError):      # no events, or no memory that it can write to
                self._without_events.add(tensor.device.type)
        return counts.tolist  # type: ignore[no-any-return]

    def _count(self, tensor: Any) -> Any:
        if tensor.is_complex():
            with self._torch.no_grad():
                tensor = tensor.abs()
        # One mask at a time: each is as large as the tensor, on a device that may be nearly full.
        return self._torch.stack([tensor.isnan().sum(), (tensor == -math.inf).sum(), (tensor < 0).sum(), (tensor == 0).sum(),
                                  (tensor > 0).sum(), (tensor == math.inf).sum()])

    def _copy(self, counts: Any, device: Any) -> Read:
        """Copy counts to memory of the CPU, without waiting for it."""
        event = self._torch.Event(device)
        near = self._torch.empty(counts.shape, dtype=counts.dtype, pin_memory=True)
        near.copy_(counts, non_blocking=True)
        event.record()

        def read() -> list[int]:
            event.synchronize()
            return near.tolist()  # type: ignore[no-any-return]
        return read
