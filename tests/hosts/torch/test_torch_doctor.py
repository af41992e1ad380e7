"""`pyfuncdbg doctor` on a PyTorch program with a fault of each kind: the finding, its line, the code that mends it."""
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch_programs import PROGRAMS, diagnosed

from pyfuncdbg.hooks.diagnosis import Place, RecordedFact
from pyfuncdbg.hosts.torch.doctor.judges import find_device_waits, find_missing_gradients

pytestmark = pytest.mark.torch

HEALTHY = '''
import torch
@torch.library.custom_op('healthy::same', mutates_args=(), schema='(Tensor x) -> Tensor')
def same(x): return x.clone()
same.register_fake(lambda x: torch.empty_like(x))
library = torch.library.Library('healthy_too', 'DEF')
library.define('view(Tensor(a) x) -> Tensor(a)')
library.impl('view', lambda x: x[1:], 'CPU')
library.impl('view', lambda x: x[1:], 'Meta')
for name, key in ('explicit', 'CompositeExplicitAutograd'), ('faked', 'CPU'):
    library.define(f'{name}(Tensor x) -> Tensor')
    library.impl(name, lambda x: x.clone(), key)
torch.library.register_fake('healthy_too::faked')(lambda x: torch.empty_like(x))
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
torch.ops.healthy_too.view(torch.ones(2)), torch.ops.healthy_too.explicit(torch.ones(2))
torch.ops.healthy_too.faked(torch.ones(2))
body, heads = torch.nn.Linear(2, 2), torch.nn.ModuleList([torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)])
optimizer = torch.optim.SGD([*body.parameters(), *heads.parameters()], .1)
for step in range(6):                               # each head in every second step
    optimizer.zero_grad()
    heads[step % 2](body(torch.ones(2))).sum().backward()
    optimizer.step()
'''


def test_each_fault_is_found_at_its_line(tmp_path: Path) -> None:
    findings = diagnosed(tmp_path, PROGRAMS / 'faulty.py')
    found = {finding.kind: finding for finding in reversed(findings)}
    lines = (PROGRAMS / 'faulty.py').read_text().splitlines()
    assert {kind: lines[finding.place.line - 1].strip() for kind, finding in found.items()} == {
        'no fake': "@torch.library.custom_op('faulty::same', mutates_args=(), schema='(Tensor x) -> Tensor')",
        'alias': 'def view(x):', 'kept': '@staticmethod', 'gradient': 'net(torch.ones(2)).sum().backward()'}
    assert found['kept'].figures == {'calls': 3}
    assert found['gradient'].what == 'No gradient for cut: detach() (faulty.py:39) cuts it off'
    assert found['gradient'].figures == {'parameters': 1, 'passes': 3}
    assert [(finding.site, finding.fix.partition('\n')[0]) for finding in findings if finding.kind == 'no fake'] == [
        ('faulty::same', '@same.register_fake'), ('faulty_too::view', "@torch.library.register_fake('faulty_too::view')")]


def test_a_healthy_program_has_no_findings(tmp_path: Path) -> None:
    program = tmp_path / 'healthy.py'
    program.write_text(HEALTHY)
    assert diagnosed(tmp_path, program) == []


def test_lines_that_wait_for_a_device_are_found_and_those_that_read_from_the_cpu_are_not(tmp_path: Path) -> None:
    from torch.utils import backend_registration
    if not hasattr(backend_registration, '_setup_privateuseone_for_python_backend'):
        pytest.skip('this PyTorch has no devices in Python')
    program = PROGRAMS / 'torch_device_waits.py'
    lines = program.read_text().splitlines()
    found = diagnosed(tmp_path, program)
    assert {finding.kind for finding in found} == {'waits'}
    assert {(lines[finding.place.line - 1].strip(), finding.site, finding.figures['calls']) for finding in found} == {
        ('total.item()', 'item', 12), ('tensor.tolist()', 'tolist', 12), ('if total:', 'bool', 12),
        ('float(total)', 'float', 12), ('tensor.cpu()', 'cpu', 12), ("tensor.to('cpu')", 'to', 12)}
    assert all(finding.what.startswith(f'{finding.site}() has read elements of a tensor on far 12 times, and took ')
               for finding in found)


def waits(count: int, seconds: float) -> RecordedFact:
    return RecordedFact('torch waits', 1, 0, Place('train.py', 7), {
        'function': '__index__', 'device': 'cuda', 'count': count, 'waited': round(seconds * 1e9)})


@pytest.mark.parametrize(('count', 'seconds', 'passes', 'is_fault'), [
    (10, .01, 0, True), (9, 5., 0, False), (1000, .009, 0, False),
    (100, 1., 1999, True), (100, 1., 2000, False)])             # one in twenty steps is what the advice is
def test_which_waits_for_a_device_are_faults(count: int, seconds: float, passes: int, is_fault: bool) -> None:
    evidence: Any = SimpleNamespace(facts_of_kind=lambda kind: [waits(count, seconds)],
                                    passes=passes)
    found = list(find_device_waits(evidence))
    assert [(finding.site, finding.place, finding.figures) for finding in found] == (
        [('an index', Place('train.py', 7), {'calls': count, 'seconds': seconds})] if is_fault else [])


@pytest.mark.parametrize(('trained', 'untrained', 'passes', 'is_fault'), [
    (0, 10, 10, True), (5, 5, 10, False),
    (10, 10, 10, True)])                                # two parameters of one name
def test_which_missing_gradients_are_faults(trained: int, untrained: int, passes: int, is_fault: bool) -> None:
    sites = [(SimpleNamespace(host='torch', process=1, attrs={'forward': 'weight', 'source': True, **more}), calls)
             for more, calls in (({}, trained), ({'dead': 'detach()', 'asked': ['train.py', 3]}, untrained)) if calls]
    evidence: Any = SimpleNamespace(backward_sites=lambda: sites, passes=passes)
    found = list(find_missing_gradients(evidence))
    assert [(finding.site, finding.place) for finding in found] == ([('weight', Place('train.py', 3))] if is_fault else [])
