"""A small CNN on handwritten digits with one fault: 'nan', 'gradient', 'worker' or none, as the argument says."""
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import pyfuncdbg

FAULT = sys.argv[1] if len(sys.argv) > 1 else 'none'


class Digits(Dataset):
    def __init__(self, count):
        path = Path(pyfuncdbg.__file__).parent / 'demo' / 'digits.csv.gz'
        self.rows = np.loadtxt(path, delimiter=',', dtype=np.float32, max_rows=count)
        self.names = {digit: str(digit) for digit in range(10) if digit != 7 or FAULT != 'worker'}
        if FAULT == 'nan':
            self.rows[77, :-1] = 5              # a picture that was erased

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        name = self.names[int(row[-1])]
        return torch.tensor(row[:-1]).reshape(1, 8, 8), int(name)


class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        y, = ctx.saved_tensors
        return gradient * (1 - y if FAULT == 'gradient' else 1 - y * y)


class Contrast(nn.Module):
    def forward(self, x):
        centred = x - x.mean((2, 3), keepdim=True)
        return centred / centred.std((2, 3), keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.contrast = Contrast()
        self.conv = nn.Conv2d(1, 8, 3)
        self.head = nn.Linear(72, 10)

    def forward(self, images):
        h = Squash.apply(self.conv(self.contrast(images)))
        return self.head(nn.functional.max_pool2d(h, 2).flatten(1))


def train():
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Digits(160), batch_size=32, num_workers=2 if FAULT == 'worker' else 0)
    for step, (images, digits) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), digits)
        loss.backward()
        optimizer.step()
        print(f'step {step}  loss {loss.item():.4f}')
    return net


if __name__ == '__main__':
    train()
