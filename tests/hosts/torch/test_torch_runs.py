"""Runs of PyTorch programs: module calls and passes, with their names; commands on their traces."""
from __future__ import annotations

import json
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest
from torch_programs import PROGRAMS, Record, plain_output, run_command

import pyfuncdbg
from pyfuncdbg.observers.record.records import RunRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = pytest.mark.torch

TRAINING = '''
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.unused = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(2, 2)
    def forward(self, x, scale=1.0):
        return self.b(torch.relu(self.a(x)) * scale)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for _ in range(2):
    optimizer.zero_grad()
    loss = criterion(net(torch.randn(5, 4), scale=2.0), torch.tensor([0, 1, 2, 0, 1]))
    loss.backward()
    optimizer.step()
print(loss.item().hex())
'''


def test_a_training_step_is_two_module_calls_and_a_pass_and_the_same_bit_for_bit(record: Record, tmp_path: Path) -> None:
    (tmp_path / 'plain.py').write_text(TRAINING)
    plain = subprocess.run([sys.executable, str(tmp_path / 'plain.py')], capture_output=True, text=True, check=True)
    recorded = record(TRAINING)
    assert recorded.out == plain.stdout
    trace = recorded.trace
    runs = [(run.label, run.kind, [tensor.name for tensor in run.feeds]) for run in trace.runs()]
    assert runs == 2 * [('Net', 'function', ['x', 'scale']), ('CrossEntropyLoss', 'function', ['input', 'target']),
                        ('backward', 'backward', ['root'])]
    dead = {call.site.attrs['forward']: call.site.attrs['dead'] for call in trace.calls(kind='gradient')
            if 'dead' in call.site.attrs}
    assert dead == dict.fromkeys(('unused.weight', 'unused.bias'),
                                 'not used: no operation has taken it since the last backward pass')


def test_values_in_the_dict_that_a_module_returns_are_results_of_its_run(record: Record) -> None:
    recorded = record("""
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return {'out': x / 0, 'more': [x.sum(), (None, 'text')]}
print(list(Net()(torch.ones(2))))
""")
    assert recorded.out == "['out', 'more']\n"
    run, = [run for run in recorded.trace.runs() if run.label == 'Net']
    assert [(tensor.dtype, tensor.shape) for tensor in run.fetches][:2] == [('float32', (2,)), ('float32', ())]
    assert run.fetches[0].stats.pos_inf == 2


def test_errors_of_functions_look_as_without_us(torch: Any) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.nn.functional.softmax(x, dim=9)
    texts = []

    def fail() -> None:
        for function in (lambda: Net()(torch.ones(2, 2)), lambda: torch.ones(2, requires_grad=True).backward()):
            try:
                function()
            except (IndexError, RuntimeError):
                texts.append(traceback.format_exc())
    fail()
    with pyfuncdbg.attach('torch'), pyfuncdbg.record():
        fail()
    assert texts[:2] == texts[2:]


def test_modules_of_two_threads_are_runs_of_their_own(torch: Any) -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * x

    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Square.apply(x)
    with pyfuncdbg.attach('torch'), pyfuncdbg.record() as recording:
        threads = [threading.Thread(target=lambda: Net()(torch.ones(2))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with recording.trace() as trace:
        calls = trace.calls(kind='python')
        assert len({call.run for call in calls}) == 2
        assert all(trace.run(call.run).label == 'Net' for call in calls)


def test_a_result_that_is_no_tensor_stays_what_it_is(torch: Any) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: Any, **options: Any) -> Any:
            return {'x': x, **options}
    x = torch.ones(1)
    with pyfuncdbg.attach('torch'), pyfuncdbg.record():
        assert Net()([x], flag=True) == {'x': [x], 'flag': True}


COMMANDS = [
    ('ni Square', ['autograd.Function', 'Square.forward']),
    ('lp', ['Square_grad', 'Mul_grad']),
    ('pt a_grad:0', ['min 4  max 4']),
    ('call 5', ['in 0 g  float32']),
    ('calls --kind run', ['3 calls', 'run 2', 'backward[0]', 'autograd.grad[0]']),
    ('lt', ['Square:0', 'root ', 'x_grad:0']),
    ('li Square', ['0 nodes go into Square', 'an eager call is in no graph']),
    ('lo Square', ['0 nodes come of Square', 'an eager call is in no graph']),
    (f'ps {PROGRAMS / "torch_tape.py"}', ['called by Square autograd.Function', 'g, = torch.autograd.grad(square(x)']),
    ('health', ['0 findings']),
    ('replay 1', ['SAME  bit for bit']),
    ('replay 5', ['what forward had kept for backward is not in a trace'])]


def test_commands_on_a_trace(recorded_program: Record, tmp_path: Any) -> None:
    recorded = recorded_program('torch_tape.py')
    assert recorded.out == plain_output('torch_tape.py')
    for command, words in COMMANDS:
        done = run_command('show', str(recorded.folder), *command.split(), cwd=tmp_path)
        missing = [word for word in words if word not in done.stdout + done.stderr]
        assert not missing, (command, missing, done.stdout + done.stderr)


def test_a_call_that_checkpoint_repeats_is_marked(recorded_program: Record) -> None:
    recorded = recorded_program('torch_tape.py')
    shown = {}
    for command in 'calls', 'call 6', 'call 1':
        with Trace.open(recorded.folder) as trace:
            shown[command] = execute(command, Context(trace, width=80)).text(80)
    marked = [line.split()[0] for line in shown['calls'].split('\n') if 'recomputed' in line]
    assert marked == ['#6'] and 'torch_tape.py:17' in shown['calls'] and 'of 2' not in shown['calls']
    assert 'recomputed  a forward call once more' in shown['call 6'] and 'recomputed' not in shown['call 1']


UNNAMED = '''
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
class Items(Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, i):
        x = torch.ones(3)
        return x / (i - 1)
class Net(nn.Module):
    def forward(self, sample):
        return Root.apply(sample)
for sample in DataLoader(Items()):
    first, second = Net()(sample.nan_to_num(1., 1.).requires_grad_()), torch.ones(2, requires_grad=True) * 3
    torch.autograd.backward([first, second], [torch.ones(1, 3), torch.ones(2)])
'''


def test_what_has_no_name_of_the_frameworks_is_found_by_that_of_its_parameter(record: Record) -> None:
    recorded = record(UNNAMED)
    net = [run.id for run in recorded.trace.runs() if run.label == 'Net'][-1]
    for command, words in (
            ('graph', [f'graph of run #{net} Net   feeds: sample', '1 module ']),
            ('graph --run 1', ['0 nodes']),
            ('ni Root', ['  0  value  ', 'float32[1,3]']),
            ('ni Root.backward', ['  0  gradient  ']),
            ('pt sample', [f'feed of run #{net}', 'sample  float32 [1, 3]']),
            ('pt root1', ['feed of run #', 'root1  float32 [2]', 'min 3  max 3']),
            ('lt', ['root0 ', 'root1 ']),
            ('health', ['def program.py:15']),
            ('report', ['Inf born in call #8 Items.__getitem__[1], Items.__getitem__ defined at program.py:15',
                        'named no line']),
            ('pt #8', ['born in this call of the function at program.py:15'])):
        with Trace.open(recorded.folder) as trace:
            text = execute(command, Context(trace, width=120)).text(120)
        missing = [word for word in words if word not in text]
        assert not missing, (command, missing, text)


MODULES = '''
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.LazyLinear(2)
        self.norm.bias.requires_grad_(False)
    def forward(self, x):
        return self.head(self.norm(x))
with torch.no_grad():
    for width in 3, 4, 3:
        net = Net(width)
        for _ in range(2):
            net(torch.ones(5, width))
nn.Sequential(*[nn.Identity() for _ in range(1200)])(torch.ones(1))
'''


def test_a_finished_trace_has_the_modules_of_each_run_with_parameters_and_buffers(record: Record) -> None:
    folder = record(MODULES).folder

    def modules(run: int) -> list[str]:
        done = run_command('show', str(folder), 'graph', '--run', str(run), '--json', cwd=folder.parent)
        return [' '.join([one['path'], one['kind'], *(f"{member['name']}:{member['dtype']}{member['shape']}{member['kind']}"
                                                      for member in one['members'])])
                for one in json.loads(done.stdout)['modules']]
    runs = [run.id for run in record_runs(folder) if run.label == 'Net']
    first, second = modules(runs[0]), modules(runs[1])
    norm = ('norm BatchNorm1d weight:float32[3]parameter bias:float32[3]frozen running_mean:float32[3]buffer '
            'running_var:float32[3]buffer num_batches_tracked:int64[]buffer')
    assert first == [' Net', norm, 'head LazyLinear weight:float32Noneparameter bias:float32Noneparameter']
    assert second == [' Net', norm, 'head Linear weight:float32[2, 3]parameter bias:float32[2]parameter']
    assert 'weight:float32[4]parameter' in modules(runs[2])[1] and modules(runs[5]) == second
    filtered = 'graph', '--run', str(runs[1]), '--site', 'BatchNorm*'
    shown = run_command('show', str(folder), *filtered, cwd=folder.parent).stdout
    assert '1 module ' in shown and '6 parameters, 3 frozen' in shown and 'bias float32[3] (frozen)' in shown
    many = run_command('show', str(folder), 'graph', '--run', str(runs[5] + 1), cwd=folder.parent).stdout
    assert '201 more not recorded' in many and '1,000 modules, 60 shown' in many


def record_runs(folder: Path) -> list[RunRecord]:
    with Trace.open(folder) as trace:
        return list(trace.runs())
