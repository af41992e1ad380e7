"""Tensors in the memory of a real GPU: `pytest -m gpu`, where there is one. The same as without us, and no wait for it."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from torch_programs import PROGRAMS, Record, run_command

from pyfuncdbg.observers.record.records import CallRecord, Stats
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


def plain_output(program: str, *args: str) -> str:
    return subprocess.run([sys.executable, PROGRAMS / program, *args], capture_output=True, text=True, timeout=200,
                          check=True).stdout


def counts_of(stats: Stats) -> tuple[int, ...]:
    return stats.nan, stats.neg_inf, stats.neg, stats.zero, stats.pos, stats.pos_inf


def calls_of(calls: list[CallRecord], function: str) -> list[CallRecord]:
    return [call for call in calls if call.site.function.endswith(function)]


@pytest.mark.parametrize('options', [[], ['--ops'], ['--level', 'none']], ids=['calls', 'ops', 'nothing'])
def test_training_is_the_same_and_waits_for_nothing(record: Record, options: list[str]) -> None:
    plain = plain_output('torch_gpu.py', 'none')
    assert 'backward on the main thread False' in plain
    recorded = record('torch_gpu.py', *options, args=('none',))
    assert recorded.out == plain
    runs = {run.id: run.kind for run in recorded.trace.runs()}
    backward = calls_of(recorded.trace.calls(kind='python'), 'Squash.backward')
    assert [runs[call.run] for call in backward] == ['backward'] * 6
    assert {call.site.stack[-1].line for call in backward} <= {61, 68} and all(call.site.stack for call in backward)


def test_statistics_are_those_of_the_elements(record: Record) -> None:
    """Of small tensors, whose elements are copied, and of large ones, which the GPU counts."""
    recorded = record("""
import torch
from torch.autograd import Function
class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return g
torch.manual_seed(0)
for size in (7, 3000, 100_000, 40_000_000):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.bool, torch.complex64):
        x = (torch.randn(size) * 3).to(dtype).cuda()
        if dtype.is_floating_point:
            x[1], x[2], x[3], x[4] = float('nan'), float('inf'), -float('inf'), 0
        x = x.as_strided((size // 2, 2), (1, size // 2)) if size < 50_000 and size % 2 == 0 else x
        torch.save(x.cpu(), f'{size}-{str(dtype)[6:]}.pt')
        torch.cuda.set_sync_debug_mode('error')
        Same.apply(x)
        x.zero_()                               # after the call: what is counted is what it got
        torch.cuda.set_sync_debug_mode('default')
""")
    import torch
    calls = calls_of(recorded.trace.calls(kind='python'), 'Same.forward')
    assert len(calls) == 24
    for call in calls:
        given, = call.inputs
        name = given.dtype
        path = recorded.folder.parent / f'{int(np.prod(given.shape))}-{name}.pt'
        tensor = torch.load(path)
        elements = tensor.float().numpy() if name in ('float16', 'bfloat16') else tensor.numpy()
        expected = stats_of(elements.astype(np.uint8) if name == 'bool' and elements.size > 16384 else elements)
        assert given.stats is not None and expected is not None
        assert counts_of(given.stats) == counts_of(expected), path
        if tensor.nbytes <= 16384:
            assert (given.stats.min, given.stats.max) == (expected.min, expected.max) and given.note == 'on cuda:0'


def test_whole_values_are_the_same_on_request(record: Record) -> None:
    plain = plain_output('torch_gpu.py', 'waits')
    recorded = record('torch_gpu.py', '--level', 'full', args=('waits',))
    assert recorded.out == plain
    squashed = calls_of(recorded.trace.calls(kind='python'), 'Squash.forward')
    assert squashed[-1].outputs[0].to_numpy() == pytest.approx(np.tanh(squashed[-1].inputs[0].to_numpy()), abs=1e-6)


def test_a_nan_is_found_where_it_is_born(tmp_path: Path) -> None:
    done = run_command('run', '--ops', str(PROGRAMS / 'torch_gpu.py'), 'nan', cwd=tmp_path, timeout=200)
    told = ' '.join(done.stderr.split())
    lines = (PROGRAMS / 'torch_gpu.py').read_text().splitlines()
    line = 1 + lines.index('        return centred / centred.std((2, 3), keepdim=True)')
    assert re.search(rf'NaN born in call #\d+ contrast/div\[3\], aten.div created at torch_gpu.py:{line}', told), told


def test_an_exception_on_the_thread_of_the_engine_is_the_same(tmp_path: Path) -> None:
    program = str(PROGRAMS / 'torch_gpu.py')
    plain = subprocess.run([sys.executable, program, 'raise'], capture_output=True, text=True, timeout=200, check=False)
    done = run_command('run', '--ops', program, 'raise', cwd=tmp_path, timeout=200)
    assert done.returncode == plain.returncode == 1 and done.stdout == plain.stdout
    assert done.stderr.startswith(plain.stderr) and 'ValueError in call' in done.stderr


def test_a_stop_on_the_thread_of_the_engine(tmp_path: Path) -> None:
    done = run_command('run', '--break', 'Squash.backward', '--ui', 'prompt', str(PROGRAMS / 'torch_gpu.py'), 'waits',
                       cwd=tmp_path, typed='args\np gradient.device\np gradient.shape\nq\n', timeout=200)
    assert done.returncode == 0 and 'native thread' in done.stderr, done.stderr
    assert 'gradient  float32[32, 8, 6, 6]  stats only: on cuda:0' in done.stderr
    assert done.stdout == plain_output('torch_gpu.py', 'waits')


@pytest.mark.parametrize('options', [[], ['--ops']], ids=['calls', 'ops'])
def test_a_captured_graph_has_no_work_of_ours(record: Record, options: list[str]) -> None:
    recorded = record('torch_cuda_graph.py', *options)
    assert recorded.out == plain_output('torch_cuda_graph.py')
    assert recorded.trace.count(failed=True) == 0
