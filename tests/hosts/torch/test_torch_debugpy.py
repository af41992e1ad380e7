"""Breakpoints of a Debug Adapter Protocol client in functions that PyTorch calls, with the real debugpy."""
from __future__ import annotations

from pathlib import Path

import pytest
from debug_adapter import program, stopped

pytestmark = pytest.mark.torch

PROGRAM = '''
import debugpy
import torch
import pyfuncdbg
pyfuncdbg.attach('torch')

class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x / 2
        return y                # in forward

    @staticmethod
    def backward(ctx, g):
        h = g / 2
        return h                # in backward

print(debugpy.listen(('127.0.0.1', 0))[1], flush=True)
debugpy.wait_for_client()
x = torch.tensor([2., 4.], requires_grad=True)
Half.apply(x).sum().backward()
print(x.grad.tolist(), flush=True)
'''


def test_breakpoints_stop_in_forward_and_backward(tmp_path: Path) -> None:
    script = tmp_path / 'train.py'
    script.write_text(PROGRAM)
    lines = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if '# in ' in line]
    with program(script) as (process, client):
        client.attach({script: lines})
        for line, name, variable in zip(lines, ('forward', 'backward'), ('y', 'h'), strict=True):
            stop = stopped(client)
            assert (stop.line, stop.name) == (line, name)
            assert stop.variables[variable] == {'y': 'tensor([1., 2.])', 'h': 'tensor([0.5000, 0.5000])'}[variable]
            client.ask('continue', threadId=stop.thread)
        assert process.stdout is not None
        assert process.stdout.readline() == '[0.5, 0.5]\n'
