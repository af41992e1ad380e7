"""Results that PyTorch gives to a program, for `pyfuncdbg verify`."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import ResultSource


def _module_name(args: tuple[Any, ...]) -> tuple[str, Sequence[str]]:
    module = getattr(args[0], '_orig_mod', args[0])
    return type(module).__name__, ()


def _source(module: str, path: str, label: str) -> ResultSource:
    return ResultSource(module, path, lambda args: (label, ()))


RESULT_SOURCES = (
    ResultSource('torch.nn.modules.module', 'Module.__call__', _module_name),
    _source('torch.autograd', 'grad', 'autograd.grad'),
    _source('torch', 'Tensor.item', 'Tensor.item'),
    _source('torch', 'Tensor.tolist', 'Tensor.tolist'),
)


def leaves(value: Any) -> Iterable[Any] | None:
    """The array in a tensor; None for any other value."""
    if hasattr(value, 'detach') and hasattr(value, 'requires_grad'):
        plain = value.detach().cpu()
        return (np.asarray(plain.float().numpy() if str(plain.dtype) == 'torch.bfloat16' else plain.numpy()),)
    return None
