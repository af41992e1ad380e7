"""A fault of each kind that the doctor finds without a device."""
import torch
from torch import nn


@torch.library.custom_op('faulty::same', mutates_args=(), schema='(Tensor x) -> Tensor')
def same(x):
    return x.clone()


library = torch.library.Library('faulty_too', 'DEF')
library.define('view(Tensor x) -> Tensor')


def view(x):
    return x[1:]


library.impl('view', view, 'CPU')


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.x * g


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.cut = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))

    def forward(self, x):
        return Keeps.apply(self.used * x) + self.cut.detach()


net = Net()
for _ in range(3):
    net(torch.ones(2)).sum().backward()
print(same(torch.ones(2)).tolist(), torch.ops.faulty_too.view(torch.ones(2)).tolist())
