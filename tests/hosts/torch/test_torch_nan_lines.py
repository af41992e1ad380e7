"""`health --line` on PyTorch's functions: the line at which a tensor of the function becomes NaN or infinite."""
from __future__ import annotations

from pathlib import Path

import pytest
from torch_programs import run_command

from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = pytest.mark.torch

PROGRAM = '''
import torch
from torch.utils.data import DataLoader, Dataset
class Ratio(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        mean = x / x.sum()
        ctx.save_for_backward(x)
        return mean.nan_to_num() + mean * scale
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g / x, None
@torch.library.custom_op('own::power', mutates_args=())
def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    powered = x ** exponent
    return powered + 1
class Items(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        x = torch.arange(3.) + i
        quotient = x / (x - 4)
        return x, {'quotient': quotient}
Ratio.apply(torch.zeros(3, requires_grad=True), 2.0).sum().backward()
power(torch.zeros(2), -1.0)
for item in DataLoader(Items()):
    pass
'''
EXPECTED = {'Ratio': ('mean at program.py:7, forward', 'mean = x / x.sum()'),
            'power': ('powered at program.py:16, power', 'powered = x ** exponent'),
            'Items.__getitem__': ('quotient at program.py:23, __getitem__', 'quotient = x / (x - 4)')}


def test_the_line_in_forward_in_a_custom_op_and_in_a_dataset(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    names = [*EXPECTED, 'Ratio.backward']
    options = [word for name in names for word in ('--break', name, '--if', 'has_inf_or_nan(out)')]
    typed = [f'health --line {name}\nc\n' for name in ('Ratio', 'Ratio.backward', 'power', 'Items.__getitem__')]
    done = run_command('run', '--record', 'it.pfd', *options, '--ui', 'prompt', 'program.py', cwd=tmp_path,
                       typed=''.join(typed))
    assert done.returncode == 0, done.stderr
    ratio, backward, power, item = done.stderr.split('(pfd) health --line')[1:]
    for text, (where, line) in zip((ratio, power, item), EXPECTED.values(), strict=True):
        assert f'first appeared in {where}' in text and f'| {line}' in text.replace('    ', ''), text
        assert 'gave other outputs' not in text and 'raised' not in text.split('(pfd)')[0], text
    assert 'cannot be made again: what its forward call kept for it is gone. A recording with --ops' in backward
    assert 'was made again' not in backward


def test_the_report_on_a_backward_function_names_what_finds_the_line(tmp_path: Path) -> None:
    program = PROGRAM.partition('@torch.library')[0] + 'x = torch.tensor([0., 1.], requires_grad=True)\n' \
        'Ratio.apply(x, 2.0).sum().backward()\n'
    (tmp_path / 'program.py').write_text(program)
    told = run_command('run', '--record', 'it.pfd', 'program.py', cwd=tmp_path).stderr
    assert 'Which line: pyfuncdbg run --ops program.py records the ops in it' in ' '.join(told.split())
    with Trace.open(tmp_path / 'it.pfd') as trace:
        assert 'a recording with --ops names the op and its line' in execute('health', Context(trace, width=160)).text(160)
    ops = run_command('run', '--ops', '--record', 'ops.pfd', 'program.py', cwd=tmp_path).stderr
    assert 'aten.div created at program.py:13' in ops
