"""A captured graph of CUDA, replayed; and a compiled function."""
import hashlib
import os
os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'
import torch
torch.manual_seed(0)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


weights = torch.randn(16, 16, device='cuda')
x = torch.randn(8, 16, device='cuda')


def step(x):
    return Twice.apply(x @ weights).relu()


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step(x)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = step(x)
for scale in (1., 2.):
    x.copy_(torch.arange(128.).reshape(8, 16) * scale)
    graph.replay()
    print(hashlib.sha256(y.cpu().numpy().tobytes()).hexdigest()[:16])
compiled = torch.compile(step, fullgraph=True)
print(hashlib.sha256(compiled(x).cpu().numpy().tobytes()).hexdigest()[:16])
