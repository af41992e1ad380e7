"""Warnings of PyTorch's own functions name the program's line, and are shown as often, as without us."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from torch_programs import run_command

from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.torch

PROGRAM = '''
import os, sys, warnings
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
for action in sys.argv[1:]:
    if os.fork() == 0:
        if action: warnings._setoption(action)
        print(action)
        break
    os.wait()
else:
    sys.exit()
for case in (in_c, of_one_line_and_of_two, in_place, attribute, python_names_its_caller,
             python_names_the_caller_of_its_caller, python_calls_c, backward, deprecated, in_a_namespace_of_its_own, caught):
    try:
        print(case.__name__, case())
    except Warning as error:
        print(case.__name__, 'raises', error)
print(len(__warningregistry__) if '__warningregistry__' in globals() else None)
print(warnings.onceregistry and len(warnings.onceregistry))
'''
CALLED = '''
import logging, sys, warnings
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
logging.basicConfig(format='%(pathname)s:%(lineno)d: %(message)s')
def tell(who):
    for level in range(2, 7):
        warnings.warn(f'{who} {level}', stacklevel=level)
        logging.warning(f'{who} {level}', stacklevel=level)
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        tell('forward')
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        tell('backward')
        return g
@torch.library.custom_op('warning::same', mutates_args=(), schema='(Tensor x) -> Tensor')
def same(x):
    tell('kernel')
    return x.clone()
def backward(ctx, g):
    tell('backward of an op')
    return g
same.register_autograd(backward)
library = torch.library.Library('warning_too', 'DEF')
library.define('same(Tensor x) -> Tensor')
def kernel(x):
    tell('kernel of a library')
    return x.clone()
library.impl('same', kernel, 'CPU')
class Layer(nn.Module):
    def forward(self, x):
        tell('module')
        return x * 2
def module_hook(module, args, *more):
    tell('module hook')
def tensor_hook(gradient):
    tell('tensor hook')
class Rows(Dataset):
    def __len__(self): return 2
    def __getitem__(self, index):
        tell('item')
        return index
class Inner(Dataset):
    rows = Rows()
    def __len__(self): return 2
    def __getitem__(self, index):
        return self.rows[index]
def collate(rows):
    tell('collation')
    return rows
def begin(worker):
    tell('worker')
def functions(x):
    Same.apply(x).sum().backward()
    Same.apply(torch.ones(1))
def ops(x):
    same(x).sum().backward()
    torch.ops.warning.same(torch.ones(1))
    torch.ops.warning_too.same(torch.ones(1))
def modules(x):
    layer = Layer()
    layer.register_forward_pre_hook(module_hook)
    layer.register_forward_hook(module_hook)
    layer.register_full_backward_hook(module_hook)
    nn.Sequential(layer)(x).sum().backward()
def hooks(x):
    y = x * 2
    y.register_hook(tensor_hook)
    torch.autograd.grad(y.sum(), [x])
def loaders(x):
    for options in {}, dict(num_workers=1, worker_init_fn=begin, multiprocessing_context='fork'):
        for dataset in Rows(), torch.utils.data.Subset(Inner(), [1]):
            for _ in DataLoader(dataset, collate_fn=collate, **options): pass
def third(case):
    case(torch.ones(2, requires_grad=True))
def second(case):
    third(case)
def first(case):
    second(case)
for case in functions, ops, modules, hooks, loaders:
    first(case)
'''
NOT_SEEN = ('pyfuncdbg: ops of this version of PyTorch are not seen: to watch them would keep torch.compile from compiling'
            '\n')
NOT_HIT = 'pyfuncdbg: breakpoint '
FILTERS = ['', 'error', 'once', 'always', 'ignore::UserWarning:__main__', 'error::UserWarning:__main__:11',
           'error::FutureWarning', 'error::UserWarning:made', 'ignore::UserWarning:torch.nn.modules.module']


def plain_run(program: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(program), *args], capture_output=True, text=True, check=False)


def test_warnings_are_those_of_the_plain_program(tmp_path: Path) -> None:
    """Under each filter, in a process that is forked for it: to import PyTorch takes seconds."""
    program = tmp_path / 'program.py'
    program.write_text(PROGRAM)
    plain = plain_run(program, *FILTERS)
    assert plain.stdout.count('in_c') == len(FILTERS) and plain.stderr.count('std(): degrees of freedom') > 5
    assert plain.stdout.count('raises std(): degrees of freedom') > 2
    for options in (), ('--ops',):
        done = run_command('run', '-q', *options, str(program), *FILTERS, cwd=tmp_path)
        assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
        assert done.stderr.removeprefix(NOT_SEEN) == plain.stderr


def test_a_level_of_the_stack_is_the_frame_that_it_is_in_the_plain_program(tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text(CALLED)
    plain = plain_run(program)
    assert plain.returncode == 0 and f'{program}:' in plain.stderr
    never = '--break', 'tell', '--if', 'who is None', '--break', '*', '--if', 'inputs is None'
    for options in (), ('--ops',), ('--every', '2', *never):
        done = run_command('run', '-q', *options, str(program), cwd=tmp_path)
        lines = [line for line in done.stderr.removeprefix(NOT_SEEN).splitlines() if not line.startswith(NOT_HIT)]
        assert (lines, done.returncode) == (plain.stderr.splitlines(), 0)


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
