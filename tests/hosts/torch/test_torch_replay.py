"""Replay and exported tests of PyTorch's calls: nested arguments, numbers and contexts are as the function got them."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from torch_programs import Record, run_command

pytestmark = pytest.mark.torch

PROGRAM = '''
import numpy as np
import torch
from torch.utils.data import DataLoader


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
        assert type(power) is int and isinstance(x, torch.Tensor)
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(x)
        return x ** power

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2, None


class Wave:
    def __len__(self):
        return 5

    def __getitem__(self, index):
        assert type(index) is int
        return torch.full((2,), float(index)), {'label': index, 'noise': np.full(3, index / 2)}


def joined(samples):
    assert all(type(each) is tuple and type(each[1]['label']) is int for each in samples)
    noise = np.stack([each[1]['noise'] for each in samples])
    return torch.stack([each[0] for each in samples]), torch.from_numpy(noise)


@torch.library.custom_op('test_replay::scaled', mutates_args=())
def scaled(x: torch.Tensor, *, by: int = 2) -> torch.Tensor:
    assert type(by) is int
    return x * by


if __name__ == '__main__':
    x = torch.tensor([1., 2.], requires_grad=True)
    Cube.apply(x, 3).sum().backward()
    Cube.apply(torch.ones(2), 2)
    print(scaled(x.detach(), by=5))
    for batch in DataLoader(Wave(), batch_size=2, collate_fn=joined):
        print(batch)
'''


CALLS = [('Cube[0]', 0), ('Cube[0]', 1), ('scaled[0]', 0), ('joined[0]', 0), ('joined[2]', 0), ('Wave.__getitem__[3]', 0)]


@pytest.mark.timeout(200)
def test_every_kind_of_argument_is_made_again(record: Record, tmp_path: Path) -> None:
    """Replayed one by one, as a user does it; the exported tests run as one suite."""
    trace = record(PROGRAM, '-q')
    calls = sorted(trace.trace.calls(kind='python', limit=100), key=lambda call: int(call.number))
    assert len(calls) == 12, [call.label for call in calls]
    for index, (label, which) in enumerate(CALLS):
        number = [call.number for call in calls if call.label == label][which]
        replayed = run_command('show', str(trace.folder), 'replay', number, '--json', cwd=tmp_path)
        answer = json.loads(replayed.stdout)
        assert answer['verdict'] == 'same', replayed.stdout + replayed.stderr
        words = 'export', 'pytest', number, '-o', f'test_{index}.py'
        exported = run_command('show', str(trace.folder), *words, cwd=tmp_path)
        assert exported.returncode == 0, exported.stderr
    tested = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '.'], cwd=tmp_path,
                            capture_output=True, text=True, timeout=100, check=False)
    assert f'{len(CALLS)} passed' in tested.stdout, tested.stdout


def test_a_nested_argument_is_changed_by_its_name(record: Record, tmp_path: Path) -> None:
    trace = record(PROGRAM, '-q')
    number = next(call.number for call in trace.trace.calls(kind='python', limit=100) if call.label == 'joined[0]')
    changed = run_command('show', str(trace.folder), 'replay', number, '--change', 'samples[1][0][:] = 7', cwd=tmp_path)
    assert 'float32[2,2] = 0 0 7 7' in changed.stdout, changed.stdout
    refused = run_command('show', str(trace.folder), 'replay', number, '--change', 'samples = samples[:1]', cwd=tmp_path)
    assert refused.stderr.endswith(
        "--change 'samples = samples[:1]': samples was a list of 2, and is now list of 1: the values may change, not how "
        'they are nested\n'), refused.stderr


def test_audit_finds_what_a_function_does_to_a_nested_argument(record: Record, tmp_path: Path) -> None:
    program = PROGRAM.replace("    noise = np", "    samples[0][1]['noise'][0] = 9\n    noise = np")
    trace = record(program, '-q')
    audited = run_command('show', str(trace.folder), 'audit', 'joined', cwd=tmp_path)
    assert "samples[0][1]['noise']" in audited.stdout, audited.stdout
