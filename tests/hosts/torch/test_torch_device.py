"""Tensors in the memory of a device: what is copied from there, and what a recording has of them. The device is a fake."""
from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from torch_programs import PROGRAMS, Record, Recorded, run_command

from pyfuncdbg.hooks.value_placeholders import LaterSummary, ValueSummary
from pyfuncdbg.hosts.torch import device_summaries
from pyfuncdbg.hosts.torch.device_summaries import DeviceSummaries
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _python_device(torch: Any) -> None:
    from torch.utils import backend_registration
    if not hasattr(backend_registration, '_setup_privateuseone_for_python_backend'):
        pytest.skip('this PyTorch has no devices in Python')


def test_a_recording_has_counts_that_the_device_has_made(record: Record, tmp_path: Path) -> None:
    recorded = record('torch_device.py')
    assert recorded.out == 'five\nfar:0 waited 0\n'           # the program's thread has copied nothing
    assert (tmp_path / 'most_copied').read_text() == '5'        # the counts of one tensor, and no element
    calls = recorded.trace.calls()
    values = [value for call in calls for value in (*call.inputs, *call.outputs)]
    assert [(value.dtype, value.shape, value.note) for value in values[:3]] == [
        ('float32', (7,), 'on far:0'), ('float32', (7,), 'on far:0'), ('int64', (3,), 'on far:0')]
    counts = [(value.stats.nan, value.stats.neg_inf, value.stats.neg, value.stats.zero, value.stats.pos, value.stats.pos_inf)
              for value in values if value.stats is not None]
    assert counts == [(1, 1, 1, 1, 2, 1)] * 2 + [(0, 0, 1, 1, 1, 0)] * 2 + [(0, 0, 0, 0, 300, 0)] * 2 + [(0, 0, 0, 0, 5, 0)]
    assert calls[3].error is not None and calls[3].error.message == 'five'


def test_nothing_is_copied_where_no_value_is_recorded(record: Record, tmp_path: Path) -> None:
    recorded = record('torch_device.py', '--level', 'none')
    assert recorded.out == 'five\nfar:0 waited 0\n'
    assert not (tmp_path / 'most_copied').exists()
    value, = recorded.trace.calls()[0].inputs
    assert (value.dtype, value.shape, value.stats) == ('float32', (7,), None)


def test_whole_values_are_copied_where_the_user_asks_for_them(record: Record, tmp_path: Path) -> None:
    recorded = record('torch_device.py', '--level', 'full')
    assert recorded.out == 'five\nfar:0 waited 7\n'
    assert (tmp_path / 'most_copied').read_text() == '300'
    assert recorded.trace.calls()[1].outputs[0].to_numpy().tolist() == [-6.0, 0.0, 8.0]


def test_a_stop_counts_on_the_device_and_copies_what_is_asked_for(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / 'far_device.py', tmp_path)
    (tmp_path / 'program.py').write_text((PROGRAMS / 'torch_device.py').read_text() + """
def looked_at(one, some):
    return one
big = Far(torch.arange(1000.) - 1)
looked_at(big, [big])
""")
    done = run_command('run', '--break', 'looked_at', '--break', 'Doubled.forward', 'program.py', cwd=tmp_path,
                       typed='c\nargs\nlocals\nlt\nc\nc\nc\nlocals\np {*waited}\np some\np sorted({*waited})\nc\n')
    assert '  one   float32[1000]  stats only: on far:0\n' in done.stderr, done.stderr
    assert '  some  [float32[1000]  on far:0]\n' in done.stderr
    assert re.findall(r'^[\[{]2.*', done.stderr, re.MULTILINE) == ['{2, 5}', '[2, 5, 1000]']
    assert '  [0]  float32[1000]  -1 .. 998' in done.stderr


def made(recorded: Recorded) -> list[tuple[Any, ...]]:
    """The calls of a recording, sorted, without what tells one device from another."""
    runs = {run.id: (run.label, run.kind) for run in recorded.trace.runs()}
    return sorted((call.site.kind, call.site.name, call.site.op_type, call.ordinal, runs[call.run],
                   call.site.stack[-1].line if call.site.stack else None, [value.shape for value in call.outputs],
                   call.error.message if call.error is not None else '')
                  for call in recorded.trace.calls() if call.site.op_type not in ('aten._to_copy', 'aten._copy_from'))


def test_a_pass_on_a_thread_of_the_engine_is_recorded_as_one_on_the_threads_of_the_program(record: Record) -> None:
    """No frame of Python is on the stack of that thread, and what it is part of is known to PyTorch alone."""
    faults = 'none,nan,raise'
    plain = subprocess.run([sys.executable, PROGRAMS / 'torch_device_pass.py', faults, 'far'], capture_output=True,
                           text=True, timeout=100, check=True)
    assert 'on this thread False threads 1' in plain.stdout and plain.stdout.count('raised of backward') == 2
    assert plain.stdout.count('[nan, nan, nan]') == 2
    for options in (), ('--ops',):
        far = record('torch_device_pass.py', *options, args=(faults, 'far'))
        assert far.out == plain.stdout
        calls = made(far)
        shutil.rmtree(far.folder)
        near = record('torch_device_pass.py', *options, args=(faults, 'cpu'))
        assert calls == made(near) and {call[4][1] for call in calls if call[1] == 'Scaled.backward'} == {'backward'}
        assert len(calls) >= 30
        shutil.rmtree(near.folder)


def test_a_breakpoint_stops_on_a_thread_of_the_engine(tmp_path: Path) -> None:
    done = run_command('run', '--break', 'Scaled.backward', '--ui', 'prompt', str(PROGRAMS / 'torch_device_pass.py'), 'none',
                       'far', cwd=tmp_path, typed='args\np g.cpu().tolist()\ninject 0 0\nc\nq\n')
    assert done.returncode == 0 and 'native thread' in done.stderr and '[12.0, 24.0, 48.0]' in done.stderr, done.stderr
    assert 'on this thread False threads 1' in done.stdout        # `threading` does not list what we have seen


class FakeDevice:
    """PyTorch, with the parts that copy as they do from a GPU; `done` is what was asked of them, in order."""

    def __init__(self, torch: Any, capturing: bool = False) -> None:
        self._torch = torch
        done: list[str] = []
        self.done = done
        self.cpu = SimpleNamespace(is_current_stream_capturing=lambda: capturing)

        class Event:
            def __init__(self, device: Any) -> None:
                done.append(f'event on {device}')

            def record(self) -> None:
                done.append('record')

            def synchronize(self) -> None:
                done.append('synchronize')

        class Pinned:
            def copy_(self, tensor: Any, non_blocking: bool) -> None:
                self.tensor = tensor.clone()
                done.append(f'copy of {tensor.numel()}, waits={not non_blocking}')

            def tolist(self) -> list[Any]:
                done.append('read')
                return self.tensor.tolist()  # type: ignore[no-any-return]

        def empty(shape: Any, *, dtype: Any, pin_memory: bool) -> Pinned:
            assert pin_memory
            return Pinned()
        self.Event, self.empty = Event, empty

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)


def expected_counts(tensor: Any) -> tuple[int, ...]:
    """Those that NumPy finds."""
    if str(tensor.dtype) == 'torch.bool':
        tensor = tensor.byte()
    stats = stats_of((tensor.float() if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4 else tensor).numpy())
    assert stats is not None
    return stats.nan, stats.neg_inf, stats.neg, stats.zero, stats.pos, stats.pos_inf


@pytest.mark.parametrize('name', 'float32 float64 float16 bfloat16 int64 int8 uint8 bool complex64'.split())
@pytest.mark.parametrize('at_once', [1 << 25, 0])
def test_counts_are_those_of_the_elements(torch: Any, monkeypatch: pytest.MonkeyPatch, name: str, at_once: int) -> None:
    monkeypatch.setattr(torch.Tensor, 'pin_memory', lambda tensor: tensor)
    monkeypatch.setattr(device_summaries, '_AT_ONCE', at_once)
    dtype = getattr(torch, name)
    elements = torch.tensor([0, 1, 3, 5, 0, 7] * 4000)
    if dtype.is_signed:
        elements[::5] *= -1
    tensor = elements.to(dtype).reshape(60, 400)
    if dtype.is_floating_point:
        limits = torch.finfo(dtype)
        tensor[0, :12] = torch.tensor([math.nan, math.inf, -math.inf, -0., limits.max, limits.min, limits.tiny * limits.eps,
                                       -limits.tiny * limits.eps, limits.tiny, math.nan, math.inf, 0.])
    device = FakeDevice(torch)
    read = DeviceSummaries(SimpleNamespace(torch=device)).begin(tensor)
    size = 1 if name == 'bool' or name == 'uint8' else 5 if dtype.is_floating_point or name == 'complex64' else 2
    assert device.done == ['event on cpu', f'copy of {size}, waits=False', 'record']
    counts = expected_counts(tensor)
    assert read() == counts and sum(counts) == tensor.numel()
    assert device.done[3:] == ['synchronize', 'read']


def test_elements_of_small_tensors_are_copied_as_long_as_there_is_room(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, 'pin_memory', lambda tensor: tensor)
    monkeypatch.setattr(device_summaries, '_MOST_COPIED', 40)
    device = FakeDevice(torch)
    summaries = DeviceSummaries(SimpleNamespace(torch=device))
    tensor = torch.tensor([1.0, float('nan'), -2.0, 0.0, 5.0], requires_grad=True)
    held = [summaries.begin(tensor), summaries.begin(tensor)]
    assert device.done == ['event on cpu', 'copy of 5, waits=False', 'record'] * 2
    assert held[0]().tolist()[2:] == [-2, 0, 5] and device.done[6:] == ['synchronize', 'read']
    assert summaries.begin(tensor)() == (1, 0, 1, 1, 2, 0)          # no room: counted on the device
    held.clear()
    assert summaries.begin(tensor)().tolist()[2:] == [-2, 0, 5]


def test_nothing_is_added_to_a_graph_that_the_program_captures(torch: Any) -> None:
    for capturing in (True, False):
        summaries = DeviceSummaries(SimpleNamespace(torch=FakeDevice(torch, capturing)))
        assert summaries.is_capturing(torch.device('cpu')) is capturing
    assert not DeviceSummaries(SimpleNamespace(torch=torch)).is_capturing(torch.device('meta'))


def test_counts_that_the_device_fails_to_make_are_left_out(tmp_path: Path) -> None:
    def failed() -> ValueSummary:
        raise RuntimeError('device-side assert')
    summary = ValueSummary(np.dtype('float32'), (3,), note='on cuda:0')
    assert LaterSummary(summary, failed).counted() is None


def test_a_build_for_gpus_where_none_is(record: Record, tmp_path: Path) -> None:
    recorded = record("""
import torch
asked = []
def _lazy_init():
    asked.append(1)
    raise RuntimeError('Found no NVIDIA driver on your system.')
torch.version.cuda, torch.cuda.is_available, torch.cuda._lazy_init = '12.8', lambda: False, _lazy_init
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout())
Doubled.apply(net(torch.ones(1, 3))).sum().backward()
try:
    torch.cuda.get_device_name()
except (RuntimeError, AssertionError) as error:
    print('no driver' if 'NVIDIA driver' in str(error) else error, len(asked))
""", '--ops')
    assert recorded.out == 'no driver 1\n'              # asked by the program alone
    call, = [call for call in recorded.trace.calls(kind='python') if call.site.function.endswith('forward')]
    assert (call.outputs[0].to_numpy() == 2 * call.inputs[0].to_numpy()).all()
    assert 'runs unwatched' not in recorded.err
