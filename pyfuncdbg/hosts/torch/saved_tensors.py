"""Copies of tensors that a call has got: it can be executed once more on what they held. On the thread of the call."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pyfuncdbg.hosts.torch.torch_parts import TorchParts


def tensor_saver(parts: TorchParts) -> Callable[[Any], Callable[[], None] | None]:
    """A function that copies a tensor where it is, and gives a function that writes the elements back.

    Args:
        parts: Modules of the imported PyTorch.
    """
    native, no_grad = parts.native, parts.torch.no_grad

    def save(tensor: Any) -> Callable[[], None] | None:
        try:
            with native.DisableTorchFunction(), native._DisableTorchDispatch(), no_grad():
                copy, version = tensor.detach().clone(), tensor._version
        except RuntimeError:                    # made in inference mode, without elements, or the device has no memory left
            return None

        def restore() -> None:
            # One that was resized meanwhile cannot take them.
            with native.DisableTorchFunction(), native._DisableTorchDispatch(), no_grad(), suppress(RuntimeError):
                if tensor._version != version:
                    tensor.detach().copy_(copy)
        return restore
    return save
