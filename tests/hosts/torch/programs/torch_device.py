"""Functions on a device of the program's own; prints what is copied from there."""
import torch
from far_device import Far, copied


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        kept = x * SCALE
        if kept.shape[0] == 5:
            raise ValueError('five')
        return kept

    @staticmethod
    def backward(ctx, g):
        return g * 2


SCALE = Far(torch.tensor([2.0]))
x = Far(torch.tensor([1.0, -1.0, float('nan'), float('-inf'), float('inf'), 0.0, 3.0]))
Doubled.apply(x)
Doubled.apply(Far(torch.tensor([-3, 0, 4])))
Doubled.apply(Far(torch.ones(300, dtype=torch.complex64)))
try:
    Doubled.apply(Far(torch.ones(5)))
except ValueError as error:
    print(error)
print(x.device, 'copied', max(copied, default=0))
