"""`pyfuncdbg doctor` on a PyTorch program with a fault of each kind: the finding, its line, the code that mends it."""
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch_programs import PROGRAMS, diagnosed

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.torch.doctor.examination import TorchExamination
from pyfuncdbg.hosts.torch.torch_parts import parts

pytestmark = pytest.mark.torch

HEALTHY = '''
import torch
@torch.library.custom_op('healthy::same', mutates_args=(), schema='(Tensor x) -> Tensor')
def same(x): return x.clone()
same.register_fake(lambda x: torch.empty_like(x))
library = torch.library.Library('healthy_too', 'DEF')
library.define('view(Tensor(a) x) -> Tensor(a)')
library.impl('view', lambda x: x[1:], 'CPU')
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); ctx.scale = 2; return x * x
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return ctx.scale * x * g
model = torch.nn.Linear(2, 1)
model.bias.requires_grad_(False)
for _ in range(20):
    loss = Square.apply(model(same(torch.ones(2)))).sum()
    loss.backward()
    loss.item()
torch.ops.healthy_too.view(torch.ones(2))
'''


def test_each_fault_is_found_at_its_line(tmp_path: Path) -> None:
    found = {finding.kind: finding for finding in diagnosed(tmp_path, PROGRAMS / 'faulty.py')}
    lines = (PROGRAMS / 'faulty.py').read_text().splitlines()
    assert {kind: lines[finding.place.line - 1].strip() for kind, finding in found.items()} == {
        'no fake': "@torch.library.custom_op('faulty::same', mutates_args=(), schema='(Tensor x) -> Tensor')",
        'alias': 'def view(x):', 'kept': '@staticmethod', 'gradient': 'net(torch.ones(2)).sum().backward()'}
    assert found['kept'].figures == {'calls': 3}
    assert found['gradient'].what == 'No gradient for cut: detach() (faulty.py:39) cuts it off'
    assert found['gradient'].figures == {'parameters': 1, 'passes': 3}
    assert found['no fake'].fix.startswith('@same.register_fake\n')


def test_a_healthy_program_has_no_findings(tmp_path: Path) -> None:
    program = tmp_path / 'healthy.py'
    program.write_text(HEALTHY)
    assert diagnosed(tmp_path, program) == []


def test_elements_that_are_read_from_a_device_are_counted_by_line(torch: Any) -> None:
    examination = TorchExamination(parts())
    for kind in ('cuda', 'cpu', 'cuda'):
        examination.on_taken_out(SimpleNamespace(device=SimpleNamespace(type=kind)), 'item', Frame('train.py', 7, 'train'))
    assert [(fact.filename, fact.line, fact.data) for fact in examination.facts() if fact.kind == 'torch waits'] == [
        ('train.py', 7, {'function': 'item', 'count': 2})]
