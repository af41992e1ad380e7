"""What attaching to PyTorch costs: `python tests/benchmarks/bench_torch.py`, where PyTorch is installed.

Each way in which PyTorch calls a Python function, and a backward step: without us, attached with nobody watching, recorded.
CPU time of the program's thread; the best of short series, the states in turn. Names of ways are arguments. Last, what
`--ops` adds to an op above a `TorchDispatchMode` that does nothing.
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
from torch.utils._python_dispatch import TorchDispatchMode
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


def training_step(size: int = 256) -> Work:
    """One step of a small network on a batch.

    Args:
        size: Of the batch and of each of its rows.
    """
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(size, size), torch.nn.ReLU(), torch.nn.Linear(size, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, wanted = torch.randn(size, size), torch.randint(0, 10, (size,))

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
def recorded(folder: Path, **options: Any) -> Iterator[None]:
    with pyfuncdbg.attach('torch'), pyfuncdbg.record(str(folder), **options):
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


class EmptyMode(TorchDispatchMode):  # type: ignore[misc]
    """Sees each op and does nothing."""

    count = 0

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        EmptyMode.count += func is not torch.ops.aten.detach.default
        return func(*args, **(kwargs or {}))


def op_results(folder: Path) -> Iterator[Result]:
    """Of ops that repeat one line, and of those of a training step of tiny tensors, whose code is in no cache."""
    folder.mkdir()
    numbers = iter(range(1_000_000))
    states: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        'plain': nullcontext, 'mode': EmptyMode, 'recorded': lambda: recorded(folder / f'{next(numbers)}.pfd'),
        'ops': lambda: recorded(folder / f'{next(numbers)}.pfd', ops=True)}
    x = torch.ones(4)

    def repeated() -> None:
        for _ in range(REPEATS):
            x * 1.0
    for name, work in ('an op', repeated), ('an op of a training step', training_step(8)):
        EmptyMode.count = 0
        with EmptyMode():
            work()
        took = best(work, states, EmptyMode.count)
        ours, mode = took['ops'] - took['recorded'], took['mode'] - took['plain']
        yield Result(f'{name}: --ops', ours, mode, '<= 6 µs more', f'{ours / mode:.2f}x the time, {ours - mode:+.2f} µs')


if __name__ == '__main__':
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        names = sys.argv[1:]
        rows = list(results(Path(temporary), names))
        if not names or '--ops' in names:
            rows += op_results(Path(temporary) / 'ops')
        print(table(rows))
