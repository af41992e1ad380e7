"""Structures of the program's modules, as a recording keeps them. On the thread of a run."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.module_structure import ModuleMember, ModuleStructure


def structure(module: Any) -> tuple[ModuleStructure, ...]:
    """A module and those within it, in PyTorch's order; one that is used at two places stands at the first."""
    return tuple([ModuleStructure(path, type(inner).__name__, (
        *[_member(name, tensor, 'parameter' if tensor.requires_grad else 'frozen')
          for name, tensor in inner.named_parameters(recurse=False)],
        *[_member(name, tensor, 'buffer') for name, tensor in inner.named_buffers(recurse=False)]))
        for path, inner in module.named_modules()])


def _member(name: str, tensor: Any, kind: str) -> ModuleMember:
    try:
        shape = tuple(tensor.shape)
    except RuntimeError:                        # of a lazy module, which has no shape before its first call
        shape = None
    return ModuleMember(name, str(tensor.dtype).removeprefix('torch.'), shape, kind)
