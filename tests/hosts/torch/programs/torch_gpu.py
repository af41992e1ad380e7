"""Trains a small CNN on a GPU, and says what came out, bit for bit. A wait of this thread for the GPU is an error.

`torch_gpu.py none|nan|raise|waits`
"""
import hashlib
import os
import sys
import threading

os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'
import torch
from torch import nn

FAULT = sys.argv[1]
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False


class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        y, = ctx.saved_tensors
        threads.add(threading.get_native_id())
        if FAULT == 'raise':
            raise ValueError('of backward')
        return gradient * (1 - y * y)


class Contrast(nn.Module):
    def forward(self, x):
        centred = x - x.mean((2, 3), keepdim=True)
        return centred / centred.std((2, 3), keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.contrast = Contrast()
        self.conv = nn.Conv2d(1, 8, 3)
        self.head = nn.Linear(288, 10)

    def forward(self, images):
        return self.head(Squash.apply(self.conv(self.contrast(images))).flatten(1))


threads = set()
torch.manual_seed(0)
images = torch.randn(5, 32, 1, 8, 8)
if FAULT == 'nan':
    images[2, 13] = 5
images, digits = images.cuda(), torch.randint(0, 10, (5, 32)).cuda()
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
losses = []
net(images[0]).sum().backward()                     # loads the libraries
optimizer.zero_grad(set_to_none=True)
torch.cuda.synchronize()
torch.cuda.set_sync_debug_mode('error' if FAULT != 'waits' else 'default')
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images[step]), digits[step])
    loss.backward()
    optimizer.step()
    losses.append(loss)
    if FAULT == 'waits':
        loss.item()
torch.cuda.set_sync_debug_mode('default')
print([loss.item() for loss in losses])
for name, parameter in net.named_parameters():
    print(name, hashlib.sha256(parameter.detach().cpu().numpy().tobytes()).hexdigest()[:16])
print('backward on the main thread', threads == {threading.get_native_id()})
