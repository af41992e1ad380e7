"""`retry` of a function that writes to its inputs, in a program at its prompt."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch_programs import run_command

pytestmark = pytest.mark.torch

PROGRAM = '''
import torch
@torch.library.custom_op('ours::bump', mutates_args=('x',))
def bump(x: torch.Tensor, by: float) -> torch.Tensor:
    x.add_(by)
    y = x * 2
    if y.sum() > 100:
        raise ValueError('too large')
    return y
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        slope = 3 * x ** 2
        return g * slope
a = torch.tensor([1.0, 2.0])
print(bump(a, 1.0).tolist(), a.tolist())
w = torch.tensor([2.0], requires_grad=True)
Cube.apply(w).sum().backward()
print(w.grad.tolist())
'''


def debugged(folder: Path, *options: str, typed: str) -> tuple[str, str]:
    """Run the program, with what a user types; what it printed, and the prompt."""
    (folder / 'program.py').write_text(PROGRAM)
    done = run_command('run', '--ui', 'prompt', '--record', 'program.pfd', *options, 'program.py', cwd=folder, typed=typed)
    return done.stdout, done.stderr


def test_in_the_call_and_in_a_backward_function(tmp_path: Path) -> None:
    """A tensor is as it was before the call."""
    printed, shown = debugged(tmp_path, '--break', 'program.py:6', '--break', 'program.py:18',
                              typed='p x.tolist()\nretry\np x.tolist()\nc\np slope\nretry\nc\nc\n')
    assert printed == '[4.0, 6.0] [2.0, 3.0]\n[12.0]\n', shown
    assert re.findall(r'^\[.*\]$', shown, re.MULTILINE) == ['[2.0, 3.0]', '[2.0, 3.0]'], shown
    assert "'Cube.backward' once more" in shown and '5 calls (2 retries)' in shown


def test_after_the_call(tmp_path: Path) -> None:
    printed, shown = debugged(tmp_path, '--break', 'ours::bump', typed='n\nretry\nc\nc\n')
    assert "STOPPED after call 1 of node 'bump'" in shown, shown
    assert printed == '[4.0, 6.0] [2.0, 3.0]\n[12.0]\n'
    assert "'bump' once more" in shown


def test_a_step_goes_into_the_function_and_not_into_what_pytorch_imports(tmp_path: Path) -> None:
    _, shown = debugged(tmp_path, '--break', 'ours::bump', typed='s\np by\nc\nc\n')
    assert 'STOPPED entering bump at program.py:3' in shown or 'STOPPED in bump at program.py:5' in shown, shown
    assert '\n1.0\n' in shown
