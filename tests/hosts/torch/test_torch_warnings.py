"""Warnings of PyTorch's own functions name the program's line, and are shown as often, as without us."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch_programs import run_command

from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.torch

PROGRAM = '''
import sys, warnings
import torch, torch.nn.functional as F
from torch import nn
w = torch.ones(3, requires_grad=True)
def in_c():
    return torch.empty(0).std()
def of_one_line_and_of_two():
    for _ in range(3):
        torch.ones(1).std()
    torch.ones(1).std()
def in_place():
    out = torch.empty(3)
    torch.add(torch.ones(2), 1, out=out)
    return out.shape
def attribute():
    return (w * 2).grad, torch.ones(2, 3, 4).T
def python_names_its_caller():
    return F.mse_loss(w, torch.ones(1)) + F.softmax(w).sum()
def python_names_the_caller_of_its_caller():
    return nn.Softmax()(w)
def python_calls_c():
    return torch.meshgrid(torch.ones(2), torch.ones(3))
def backward():
    w[:1].std().backward()
def deprecated():
    return torch.autograd.grad((w * w).sum(), [w], only_inputs=False)
def in_a_namespace_of_its_own():
    exec(compile("import torch\\ntorch.ones(1).std()\\n", "<made>", "exec"), {"__name__": "made"})
def caught():
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter('always')
        F.mse_loss(w, torch.ones(1)); torch.ones(1).std()
    return [(message.filename, message.lineno, message.category) for message in messages]
for case in (in_c, of_one_line_and_of_two, in_place, attribute, python_names_its_caller,
             python_names_the_caller_of_its_caller, python_calls_c, backward, deprecated, in_a_namespace_of_its_own, caught):
    try:
        print(case.__name__, case())
    except Warning as error:
        print(case.__name__, 'raises', error)
print(len(__warningregistry__) if '__warningregistry__' in globals() else None)
print(warnings.onceregistry and len(warnings.onceregistry))
'''
NOT_SEEN = ('pyfuncdbg: ops of this version of PyTorch are not seen: to watch them would keep torch.compile from compiling'
            '\n')
FILTERS = ['', 'error', 'once', 'always', 'ignore::UserWarning:__main__', 'error::UserWarning:__main__:11',
           'error::FutureWarning', 'error::UserWarning:made', 'ignore::UserWarning:torch.nn.modules.module']


def plain_run(program: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize('action', FILTERS)
def test_warnings_are_those_of_the_plain_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    monkeypatch.setitem(os.environ, 'PYTHONWARNINGS', action)
    program = tmp_path / 'program.py'
    program.write_text(PROGRAM)
    plain = plain_run(program)
    assert ('std(): degrees of freedom' in plain.stdout + plain.stderr) or action.startswith('ignore')
    for options in (), ('--ops',):
        done = run_command('run', '-q', *options, str(program), cwd=tmp_path)
        assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
        assert done.stderr.removeprefix(NOT_SEEN) == plain.stderr


def test_warning_in_a_call_is_recorded_at_its_line(tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text('''
import torch
class Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:1].std()
    @staticmethod
    def backward(ctx, g):
        return g * torch.nn.functional.mse_loss(torch.ones(2), torch.ones(1))
x = torch.ones(1, requires_grad=True)
Spread.apply(x).backward()
''')
    plain = plain_run(program)
    done = run_command('run', '-q', '--record', 'it.pfd', str(program), cwd=tmp_path)
    assert done.stderr == plain.stderr
    assert f'{program}:6: UserWarning: std()' in plain.stderr
    with Trace.open(tmp_path / 'it.pfd') as trace:
        places = {(line.filename, line.line) for call in trace.calls() for line in call.output if line.kind == 'warning'}
    assert places == {(str(program), 6), (str(program), 9)}
