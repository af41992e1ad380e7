"""`check --module`: gradients of modules against differences, by input and parameter, on a copy of the program's module."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from torch_programs import run_command

pytestmark = pytest.mark.torch

PROGRAM = '''
import torch
from torch import nn
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x * x * x
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return 2 * x * x * g
class Gate(nn.Module):
    def __init__(self): super().__init__(); self.scale = nn.Parameter(torch.ones(3)); self.cut = nn.Parameter(torch.ones(3))
    def forward(self, x): return Cube.apply(x * self.scale) + self.cut.detach()
class Single(nn.Module):
    def forward(self, x): return x @ torch.eye(3)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.gate = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), Gate()
        self.drop, self.out = nn.Dropout(.5), nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.LayerNorm(4))
    def forward(self, images, *, flag=True):
        h = torch.relu(self.norm(self.conv(images))).mean((2, 3))
        return {'y': self.out(self.drop(self.gate(h)))}
torch.manual_seed(0)
net, single = Net(), Single()
single(torch.randn(2, 3))
net(torch.randn(2, 1, 4, 4), flag=True)['y'].sum().backward()
print('done', net.norm.num_batches_tracked.item(), net.gate.scale.grad.tolist(), torch.rand(1).item())
'''
LAST = f'program.py:{PROGRAM.count(chr(10))}'


REFUSED = {
    'check --module nosuch': "no module 'nosuch' was called in run #2; there were Net, conv, norm, gate, drop, out",
    'check --module --run 99': 'no run 99',
    'check --module --call 1': '--module checks the modules of a run, and takes no --call'}


class Asked(NamedTuple):
    """A stop at the last line of the program, at which checks were asked for.

    Attributes:
        folder: Of the program and its trace.
        out: What the program printed.
        answers: By command.
    """

    folder: Path
    out: str
    answers: dict[str, str]


@pytest.fixture(scope='module')
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """One session for all tests: each would import PyTorch and its compiler."""
    folder = tmp_path_factory.mktemp('asked')
    (folder / 'program.py').write_text(PROGRAM)
    commands = 'check --module --json', 'check --run 1', *REFUSED, 'c'
    done = run_command('run', '-q', '--break', LAST, '--ui', 'prompt', '--record', 'program.pfd', 'program.py', cwd=folder,
                       typed='\n'.join((*commands, '')))
    _, *answers = done.stderr.split('(pfd) ')
    assert len(answers) == len(commands), done.stderr
    return Asked(folder, done.stdout, dict(zip(commands, answers, strict=True)))


def test_the_innermost_wrong_module_is_found_by_input_and_parameter(asked: Asked) -> None:
    told = asked.answers['check --module --json']
    answer, _ = json.JSONDecoder().raw_decode(told, told.index('{'))
    verdicts = {(edge['name'], edge['tensor']): edge['outcome']['verdict'] for edge in answer['edges']}
    assert {name for (name, leaf), verdict in verdicts.items() if verdict == 'BAD' and name != 'Net'} == {'gate'}
    assert {leaf: verdicts['gate', leaf] for leaf in ('x', 'scale', 'cut')} == {
        'x': 'BAD', 'scale': 'BAD', 'cut': 'unchecked'}
    assert verdicts['Net', 'images'] == verdicts['Net', 'conv.weight'] == 'BAD'
    assert all(verdicts[edge] == 'OK' for edge in (
        ('conv', 'weight'), ('conv', 'input'), ('norm', 'bias'), ('drop', 'input'), ('out.2', 'weight'),
        ('Net', 'out.2.weight')))
    wrong = next(edge for edge in answer['edges'] if (edge['name'], edge['tensor']) == ('gate', 'scale'))['outcome']
    assert wrong['actual'] / wrong['expected'] == pytest.approx(2 / 3, rel=1e-6)


def test_the_program_goes_on_as_without_it(asked: Asked) -> None:
    plain = subprocess.run([sys.executable, 'program.py'], cwd=asked.folder, capture_output=True, text=True, check=True)
    assert asked.out == plain.stdout and asked.out.startswith('done 1 ')
    calls = run_command('show', 'program.pfd', 'calls', '--json', cwd=asked.folder)
    assert len(json.loads(calls.stdout)['calls']) == 2          # Cube forward and backward, nothing of the check


def test_a_module_that_takes_no_float64_is_checked_as_it_is(asked: Asked) -> None:
    assert '1 module   filter: run 1   gradients: 1 OK' in asked.answers['check --run 1']


@pytest.mark.parametrize(('command', 'answer'), REFUSED.items())
def test_what_cannot_be_checked(asked: Asked, command: str, answer: str) -> None:
    assert answer in ' '.join(asked.answers[command].split())


def test_a_finished_trace_says_what_to_do(asked: Asked) -> None:
    done = run_command('show', 'program.pfd', 'check', '--module', cwd=asked.folder)
    assert ("a finished trace holds no modules: 'pyfuncdbg show program.pfd graph --run 2' lists what they were. "
            'Run the program, stop after the call') in done.stderr
