"""What attaching to PyTorch costs: `python tests/benchmarks/bench_torch.py`, where PyTorch is installed.

Each way in which PyTorch calls a Python function, and a backward step: without us, attached with nobody watching, recorded.
CPU time of the program's thread; the best of short series, the states in turn. Names of ways are arguments.
"""
from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from timing import Result, Work, table
from torch.utils.data._utils.fetch import _MapDatasetFetcher
from torch.utils.data.dataloader import default_collate

import pyfuncdbg

ROUNDS = 30
REPEATS = 20
CHAIN = 50
BATCH = 64


class Same(torch.autograd.Function):  # type: ignore[misc, name-defined]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


@torch.library.custom_op('bench::same', mutates_args=(), schema='(Tensor x) -> Tensor')
def same(x: Any) -> Any:
    return x.clone()


class Rows(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        self.rows = torch.randn(BATCH, 4)

    def __len__(self) -> int:
        return BATCH

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.rows[index], index


class Inner(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: Any) -> Any:
        for _ in range(REPEATS):
            self.inner(x)
        return x


def training_step() -> Work:
    """One step of a small network on a batch of 256."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, wanted = torch.randn(256, 256), torch.randint(0, 10, (256,))

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), wanted).backward()
        optimizer.step()
    return step


def ways() -> Iterator[tuple[str, Work, int, str, str]]:
    """Name, a piece of work, how many calls it is, and what is asked for: attached, recorded."""
    x, leaf, outer, inner = torch.ones(4), torch.ones(4, requires_grad=True), Outer(), Inner()

    def repeated(function: Callable[[Any], Any]) -> Work:
        def work() -> None:
            for _ in range(REPEATS):
                function(x)
        return work

    def chain() -> Any:
        y = leaf
        for _ in range(CHAIN):
            y = y * 1.0
        return y
    yield 'autograd.Function', repeated(Same.apply), REPEATS, '<= 0.3 µs more', '<= 20 µs more'
    yield 'custom op', repeated(same), REPEATS, '<= 0.3 µs more', '<= 15 µs more'
    fetcher, indices = _MapDatasetFetcher(Rows(), True, default_collate, False), list(range(BATCH))
    yield 'loader item', lambda: fetcher.fetch(indices), BATCH, '<= 0.3 µs more', '<= 10 µs more'
    yield 'module, outermost', repeated(inner), REPEATS, '<= 0.3 µs more', '-'
    yield 'module, inner', lambda: outer(x), REPEATS, '<= 0.3 µs more', '-'
    yield 'operation of the forward pass', chain, CHAIN, '-', '-'
    yield 'backward step, with its operation', lambda: chain().sum().backward(), CHAIN + 1, '<= 0.3 µs more', '<= 20 µs more'
    yield 'training step', training_step(), 1, '<= 1.02x the time', '-'


@contextmanager
def recorded(folder: Path) -> Iterator[None]:
    with pyfuncdbg.attach('torch'), pyfuncdbg.record(str(folder)):
        yield


def best(work: Work, states: dict[str, Callable[[], AbstractContextManager[Any]]], calls: int) -> dict[str, float]:
    """Microseconds of one call in each state."""
    found = dict.fromkeys(states, float('inf'))
    for _ in range(ROUNDS):
        for name, state in states.items():
            with state():
                for _ in range(3):
                    work()
                for _ in range(10):
                    start = time.thread_time_ns()
                    work()
                    found[name] = min(found[name], (time.thread_time_ns() - start) / calls / 1e3)
    return found


def results(folder: Path, wanted: list[str]) -> Iterator[Result]:
    numbers = iter(range(1_000_000))
    states: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        'plain': nullcontext, 'attached': lambda: pyfuncdbg.attach('torch'),
        'recorded': lambda: recorded(folder / f'{next(numbers)}.pfd')}
    for name, work, calls, *targets in ways():
        if wanted and not any(word in name for word in wanted):
            continue
        found = best(work, states, calls)
        for state, target in zip(('attached', 'recorded'), targets, strict=True):
            more = found[state] - found['plain']
            yield Result(f'{name}: {state}', found[state], found['plain'], target,
                         f'{found[state] / found["plain"]:.2f}x the time, {more:+.2f} µs')


if __name__ == '__main__':
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        print(table(list(results(Path(temporary), sys.argv[1:]))))
