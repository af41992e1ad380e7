"""Results that PyTorch gives to a program, for `pyfuncdbg verify`.

What it reads of tensors, and gradients that it asks for; not the results of modules: `torch.compile` traces their calls, and
would see who notes them.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import ResultSource

_READERS = 'item', 'tolist', '__float__'


def _source(module: str, path: str, label: str) -> ResultSource:
    return ResultSource(module, path, lambda args: (label, ()))


RESULT_SOURCES = (*[_source('torch', f'Tensor.{name}', f'Tensor.{name}') for name in _READERS],
                  _source('torch.autograd', 'grad', 'autograd.grad'))


def leaves(value: Any) -> Iterable[Any] | None:
    """The array behind a tensor; None for any other value."""
    if not hasattr(value, 'requires_grad') or not hasattr(value, 'detach'):
        return None
    plain = value.detach().cpu().clone()        # what `numpy` has shared can be resized no more
    return (np.asarray(plain.float().numpy() if str(plain.dtype) == 'torch.bfloat16' else plain.numpy()),)
