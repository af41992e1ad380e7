"""What attaching to PyTorch costs, where it is installed.

Each way in which PyTorch calls a Python function, and a backward step: without us, attached with nobody watching, recorded.
Last, what `--ops` adds to an op above a `TorchDispatchMode` that does nothing.
"""
from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
from measurement import THREAD, Around, Row, Side, Target, Work, warm
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data._utils.fetch import _MapDatasetFetcher
from torch.utils.data.dataloader import default_collate

import pyfuncdbg

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


def ways() -> Iterator[tuple[str, Work, int, Target | None, Target | None]]:
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
    yield 'autograd.Function', repeated(Same.apply), REPEATS, Target('adds', 0.3), Target('adds', 20)
    yield 'custom op', repeated(same), REPEATS, Target('adds', 0.3), Target('adds', 15)
    fetcher, indices = _MapDatasetFetcher(Rows(), True, default_collate, False), list(range(BATCH))
    yield 'loader item', lambda: fetcher.fetch(indices), BATCH, Target('adds', 0.3), Target('adds', 10)
    yield 'module, outermost', repeated(inner), REPEATS, Target('adds', 0.3), None
    yield 'module, inner', lambda: outer(x), REPEATS, Target('adds', 0.3), None
    yield 'operation of the forward pass', chain, CHAIN, None, None
    yield ('backward step, with its operation', lambda: chain().sum().backward(), CHAIN + 1, Target('adds', 0.3),
           Target('adds', 20))
    for size in (8, 256):
        yield f'training step of {size}x{size}', training_step(size), 1, Target('time', 1.02), None


@contextmanager
def recorded(folder: Path, **options: Any) -> Iterator[None]:
    with tempfile.TemporaryDirectory(dir=folder) as place, pyfuncdbg.attach('torch'), pyfuncdbg.record(
            f'{place}/t.pfd', **options):
        yield


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


def rows(folder: Path) -> Iterator[Row]:
    torch.set_num_threads(1)
    for name, work, calls, attached, recording in ways():
        for state, around, target in (('attached', lambda: pyfuncdbg.attach('torch'), attached),
                                      ('recorded', lambda: recorded(folder), recording)):
            yield Row(f'PyTorch: {name}, {state}', partial(sides, state, work, around), target, calls=calls, clock=THREAD,
                      kind='adds', series=10, same=False)
    forward_and_back = next(work for name, work, *_ in ways() if name.startswith('backward step'))
    yield Row("PyTorch: backward step with its operation, recorded, against torch's detect_anomaly", lambda: (
        Side('recorded', forward_and_back, warm(forward_and_back, lambda: recorded(folder))),
        Side('detect_anomaly', forward_and_back, warm(forward_and_back, torch.autograd.detect_anomaly))),
        kind='faster', calls=CHAIN + 1, clock=THREAD, series=10, same=False)
    for name, work, calls in (('ops that repeat one line', one_line(), REPEATS), ('ops of a training step of 8x8',
                                                                                 training_step(8), 0)):
        yield Row(f'PyTorch: --ops, {name}', partial(op_sides, folder, work), Target('adds', 6), per='op',
                  calls=calls or ops_of(work), clock=THREAD, series=10, same=False, seconds=2)



def sides(state: str, work: Work, around: Around) -> tuple[Side, Side]:
    return Side(state, work, warm(work, around)), Side('PyTorch alone', work, warm(work, nullcontext))


def op_sides(folder: Path, work: Work) -> tuple[Side, Side]:
    """Ops of a recording with `--ops`, against a recording without and a mode that does nothing."""
    @contextmanager
    def peer() -> Iterator[None]:
        with recorded(folder), EmptyMode():
            yield
    return Side('--ops', work, warm(work, lambda: recorded(folder, ops=True))), Side('an empty mode', work, warm(work, peer))


def one_line() -> Work:
    x = torch.ones(4)

    def work() -> None:
        for _ in range(REPEATS):
            x * 1.0
    return work


def ops_of(work: Work) -> int:
    EmptyMode.count = 0
    with EmptyMode():
        work()
    return EmptyMode.count
