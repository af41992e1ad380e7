"""Several processes of real PyTorch in one trace: two ranks of torchrun, each with workers that start afresh."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg

pytestmark = pytest.mark.torch
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
TRAINING = '''
import torch
import torch.distributed
from torch.utils.data import DataLoader, Dataset

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor([float(index)])

if __name__ == '__main__':
    torch.distributed.init_process_group('gloo')
    rank = torch.distributed.get_rank()
    x = torch.tensor([rank + 1.0], requires_grad=True)
    y = Doubled.apply(x)
    y.sum().backward()
    total = y.detach().clone()
    torch.distributed.all_reduce(total)
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context='spawn')
    print(rank, total.item(), x.grad.item(), sum(batch.sum().item() for batch in loader), flush=True)
    torch.distributed.destroy_process_group()
'''


def test_ranks_of_torchrun_and_their_spawned_workers_record_into_one_trace(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(TRAINING)
    launcher = '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2'
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', *launcher, 'train.py'],
                          cwd=tmp_path, text=True, capture_output=True, timeout=250,
                          env=dict(os.environ, PYTHONPATH=str(HERE)))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ['0 6.0 2.0 28.0', '1 6.0 2.0 28.0']
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        tree = trace.info().tree
        assert trace.info().argv[:2] == ('-m', 'torch.distributed.run')
        ranks = [process for process in tree if process.parent == tree[0].pid and process.label]
        assert sorted(process.label for process in ranks) == ['rank:0', 'rank:1']
        for rank in ranks:
            passes = trace.calls(processes=(rank.log,), kind='python')
            assert [call.site.name for call in passes] == ['Doubled', 'Doubled.backward']
            assert passes[0].inputs[0].to_numpy().tolist() == [int(rank.label[-1]) + 1.0]
            workers = [process for process in tree if process.parent == rank.pid]
            assert [worker.label for worker in workers] == [rank.label] * 2
            items = trace.calls(processes=tuple([worker.log for worker in workers]), site='Numbers.__getitem__')
            assert sorted(call.outputs[0].to_numpy().item() for call in items) == [float(index) for index in range(8)]
