"""A device of a program's own, whose tensors are in memory that NumPy cannot read.

As for a GPU, PyTorch's engine executes the backward passes of such tensors on a thread of its own.
"""
import weakref

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend('far')
copied = []
near_by_memory = {}         # PyTorch makes tensors without a class of ours over the same memory


class Far(torch.Tensor):
    @staticmethod
    def __new__(cls, near):
        made = torch._C._acc.create_empty_tensor(near.shape, near.dtype)
        near_by_memory[made.untyped_storage()._cdata] = near.detach()
        return made


def near(value):
    if isinstance(value, torch.Tensor) and value.device.type == 'far':
        return near_by_memory[value.untyped_storage()._cdata]
    return torch.device('cpu') if isinstance(value, torch.device) else value


def on_device(op, *args, **kwargs):
    if op is torch.ops.aten._copy_from.default:
        source, target = args[:2]
        if source.device.type == 'far' != target.device.type:
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
