"""Memory of a process that trains for long: `python tests/benchmarks/bench_torch_memory.py`, where PyTorch is installed.

A small model is trained with a DataLoader, an `autograd.Function` and watched gradients while a recorder is on: resident
memory at every tenth of the steps. It has to be flat once caches and pools are filled. Arguments: `ops`, or `plain` for the
program alone, and the number of steps (100,000).
"""
from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import pyfuncdbg

STEPS = 100_000
BATCH = 8


class Scaled(torch.autograd.Function):  # type: ignore[misc, name-defined]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 0.5

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 0.5


class Rows(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        self.rows = torch.randn(64, 8)

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.rows[index], index % 2


def resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def train(steps: int) -> None:
    """Train, and print the memory on the way."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=BATCH, shuffle=True)
    done, started = 0, time.process_time()
    while done < steps:
        for x, wanted in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(Scaled.apply(model(x)), wanted).backward()
            optimizer.step()
            done += 1
            if done % max(steps // 10, 1) == 0:
                print(f'{done:9,} steps {resident():8.1f} MB {time.process_time() - started:8.0f} s', flush=True)


if __name__ == '__main__':
    torch.set_num_threads(1)
    options = [word for word in sys.argv[1:] if not word.isdigit()]
    count = next((int(word) for word in sys.argv[1:] if word.isdigit()), STEPS)
    if 'plain' in options:
        train(count)
    else:
        with tempfile.TemporaryDirectory() as folder, pyfuncdbg.attach('torch'), \
                pyfuncdbg.record(str(Path(folder) / 'run.pfd'), ops='ops' in options):
            train(count)
