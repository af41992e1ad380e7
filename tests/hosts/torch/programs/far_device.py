"""A device of a program's own, whose tensors are in memory that NumPy cannot read."""
import weakref

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend('far')
copied = []


class Far(torch.Tensor):
    @staticmethod
    def __new__(cls, near):
        made = torch._C._acc.create_empty_tensor(near.shape, near.dtype)
        made.__class__ = Far
        made.near = near
        return made


def near(value):
    return value.near if isinstance(value, Far) else torch.device('cpu') if isinstance(value, torch.device) else value


def on_device(op, *args, **kwargs):
    if op is torch.ops.aten._copy_from.default:
        source, target = args[:2]
        if isinstance(source, Far) and not isinstance(target, Far):
            copied.append(source.numel())
        near(target).copy_(near(source))
        return target
    if op is torch.ops.aten._local_scalar_dense.default:
        copied.append(1)
    result = op(*tree_map(near, args), **tree_map(near, kwargs))
    if op is torch.ops.aten._to_copy.default and kwargs.get('device') == torch.device('cpu'):
        copied.append(result.numel())
        return result
    return tree_map(lambda value: Far(value) if isinstance(value, torch.Tensor) else value, result)


library = torch.library.Library('_', 'IMPL')
library.fallback(on_device, 'PrivateUse1')
for finalizer in weakref.finalize._registry:
    if finalizer.peek()[0] is library:
        finalizer.atexit = False                # real devices work until the recorder has read the last counts, too
