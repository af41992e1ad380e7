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
    native, no_grad, equal = parts.native, parts.torch.no_grad, parts.torch.equal

    def save(tensor: Any) -> Callable[[], None] | None:
        try:
            with native.DisableTorchFunction(), native._DisableTorchDispatch(), no_grad():
                copy = tensor.detach().clone()
        except RuntimeError:                    # without elements, or the device has no memory left
            return None

        def restore() -> None:
            # One that was resized meanwhile cannot take them. `_version` stays the same in a kernel of PyTorch 2.7, and each
            # write makes what was kept for backward invalid.
            with native.DisableTorchFunction(), native._DisableTorchDispatch(), no_grad(), suppress(RuntimeError):
                if not equal(tensor.detach(), copy):
                    tensor.detach().copy_(copy)
        return restore
    return save
