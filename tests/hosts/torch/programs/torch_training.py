"""A training step in eager and compiled code, an op in a thread and an op that raises."""
import threading
import traceback

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.head = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        h = torch.relu(self.conv(x))
        return self.head(h.flatten(1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(5, 1, 6, 6), torch.tensor([0, 1, 2, 0, 1])


def step(model):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def in_thread():
    print((x * 2).sum().item())


for _ in range(3):
    print(step(net))
compiled = torch.compile(net, backend='aot_eager', fullgraph=True)
for _ in range(3):
    print(step(compiled))
print(torch._dynamo.utils.counters['stats'].get('unique_graphs'), dict(torch._dynamo.utils.counters['graph_break']))
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
try:
    torch.mm(x, x)
except RuntimeError:
    print(traceback.format_exc())
print(sum(parameter.double().sum().item() for parameter in net.parameters()), torch.rand(2))
