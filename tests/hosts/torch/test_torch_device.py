"""Tensors in the memory of a device: what is copied from there, and what a recording has of them. The device is a fake."""
from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from torch_programs import PROGRAMS, Record, run_command

from pyfuncdbg.hooks.value_placeholders import LaterSummary, ValueSummary

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _python_device(torch: Any) -> None:
    from torch.utils import backend_registration
    if not hasattr(backend_registration, '_setup_privateuseone_for_python_backend'):
        pytest.skip('this PyTorch has no devices in Python')


def test_a_recording_has_counts_that_the_device_has_made(record: Record, tmp_path: Path) -> None:
    recorded = record('torch_device.py')
    assert recorded.out == 'five\nfar:0 waited 0\n'           # the program's thread has copied nothing
    assert (tmp_path / 'most_copied').read_text() == '6'        # the counts of one tensor, and no element
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
    assert re.findall(r'^[\[{]6.*', done.stderr, re.MULTILINE) == ['{6}', '[6, 1000]']
    assert '  [0]  float32[1000]  -1 .. 998' in done.stderr


class FakeDevice:
    """The parts of PyTorch that copy counts, as a GPU has them; `done` is what was asked of it, in order."""

    def __init__(self, torch: Any, capturing: bool = False) -> None:
        self.stack, self.no_grad = torch.stack, torch.no_grad
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
            def copy_(self, counts: Any, non_blocking: bool) -> None:
                self.counts = counts
                done.append(f'copy, waits={not non_blocking}')

            def tolist(self) -> list[int]:
                done.append('read')
                return self.counts.tolist()  # type: ignore[no-any-return]

        def empty(shape: Any, *, dtype: Any, pin_memory: bool) -> Pinned:
            assert pin_memory and tuple(shape) == (6,)
            return Pinned()
        self.Event, self.empty = Event, empty


def test_no_call_waits_for_counts(torch: Any) -> None:
    from pyfuncdbg.hosts.torch.device_counts import DeviceCounts
    device = FakeDevice(torch)
    read = DeviceCounts(SimpleNamespace(torch=device)).begin(torch.tensor([1.0, float('nan'), -2.0, 0.0]))
    assert device.done == ['event on cpu', 'copy, waits=False', 'record']
    assert read() == [1, 0, 1, 1, 1, 0]
    assert device.done[3:] == ['synchronize', 'read']


def test_nothing_is_added_to_a_graph_that_the_program_captures(torch: Any) -> None:
    from pyfuncdbg.hosts.torch.device_counts import DeviceCounts
    for capturing in (True, False):
        counts = DeviceCounts(SimpleNamespace(torch=FakeDevice(torch, capturing)))
        assert counts.is_capturing(torch.device('cpu')) is capturing
    assert not DeviceCounts(SimpleNamespace(torch=torch)).is_capturing(torch.device('meta'))


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
