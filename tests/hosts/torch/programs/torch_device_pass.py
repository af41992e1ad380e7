"""Backward passes on a device, which PyTorch's engine executes on a thread of its own; says what came out.

`torch_device_pass.py FAULT,... far|cpu`, with faults of none, nan, raise
"""
import atexit
import os
import sys
import threading

import far_device
import torch
from far_device import Far


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        threads.add(threading.get_ident())
        scaled = g * 2
        if fault == 'nan':
            scaled = (scaled - scaled) / (g - g)
        if fault == 'raise':
            raise ValueError('of backward')
        return scaled


FAULTS, DEVICE = sys.argv[1:]
if DEVICE == 'cpu':
    def Far(near):
        return near
threads = set()
for fault in FAULTS.split(','):
    x = Far(torch.tensor([1., 2., 4.])).requires_grad_()
    for step in range(2):
        y = Scaled.apply(x * 2)
        try:
            (y * y).sum().backward()
        except ValueError as error:
            print('raised', error)
        else:
            print(step, x.grad.cpu().tolist())
print('on this thread', threading.get_ident() in threads, 'threads', threading.active_count())


def end():
    """After all others that end something: PyTorch ends its thread by abort() where Python has ended."""
    atexit.unregister(end)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)


atexit.register(end)
