"""The parameters and buffers that all modules of the program have at one moment. On the thread of a command."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class SavedModules:
    """Copies of parameters and buffers. A tensor that several modules share is copied once.

    Args:
        parts: Modules of the imported PyTorch.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self._saved: dict[int, tuple[str, Any, Any, int]] = {}
        with parts.native.DisableTorchFunction(), parts.torch.no_grad():
            for module in find_objects(*class_and_subclasses(parts.modules.Module)):
                self._save(module)

    def _save(self, module: Any) -> None:
        for name, tensor in [*_members(module, '_parameters'), *_members(module, '_buffers')]:
            if id(tensor) not in self._saved and not hasattr(tensor, 'fake_mode') and tensor.device.type != 'meta':
                self._saved[id(tensor)] = (f'{type(module).__name__}.{name}', tensor, tensor.detach().clone(),
                                           tensor._version)

    def changed(self) -> Sequence[str]:
        """The parameters and buffers that were written to.

        Returns:
            Their names.
        """
        return [name for name, tensor, _, version in self._saved.values() if tensor._version != version]

    def restore(self) -> None:
        """Write the values back to those that were written to."""
        with self._parts.native.DisableTorchFunction(), self._parts.torch.no_grad():
            for _, tensor, copy, version in self._saved.values():
                if tensor._version != version:
                    tensor.detach().copy_(copy)


def _members(module: Any, kind: str) -> list[tuple[str, Any]]:
    """The tensors of one kind that a module itself has, by name."""
    members = vars(module).get(kind)
    return [(name, tensor) for name, tensor in members.items() if tensor is not None] if isinstance(members, dict) else []
