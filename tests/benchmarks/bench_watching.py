"""What watching a whole run costs: `python tests/benchmarks/bench_watching.py`.

Session.run with a recorder against TensorFlow without any (where it is installed), and against itself unrecorded.
"""
from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench_runtime import in_graph, ours, py_func, theirs
from timing import Result, Work, measured, table

from pyfuncdbg.observers.record.recorder import Recorder


def recorded(work: Work, folder: Path, **options: Any) -> Work:
    """The same call while a recorder is installed; a new trace for each series, so that no budget ends."""
    count = iter(range(1_000_000))

    def call() -> None:
        with Recorder(folder / f'{next(count)}.pfd', budget=2 << 30, **options):
            for _ in range(SERIES):
                work()
    return call


SERIES = 300
"""Runs recorded into one trace."""


def many(work: Work) -> Work:
    def call() -> None:
        for _ in range(SERIES):
            work()
    return call


def python_calls(count: int, size: int) -> Any:
    """A chain of adds with script ops in between."""
    def build(tf: Any) -> Any:
        value = np.ones((size, size), np.float32)
        x, p = (tf.compat.v1.placeholder(tf.float32, value.shape) for _ in range(2))
        y = x
        for i in range(100):
            y = tf.compat.v1.py_func(np.negative, [y], tf.float32) if count and i % (100 // count) == 0 else y + p
        return y, {x: value, p: value}
    return build


def results(folder: Path) -> Iterator[Result]:
    mine = in_graph(ours, py_func)
    peer = None if theirs is None else many(in_graph(theirs, py_func))
    yield measured(f'{SERIES} x Session.run -> py_func, recorded', recorded(mine, folder / 'a'), peer, '10x faster')
    for name, options, target in (('in full', {'level': 'full'}, '<= 5x the time'),
                                  ('statistics', {'level': 'stats', 'full_limit': 0}, '<= 1.5x the time')):
        work = in_graph(ours, python_calls(0, 64))
        yield measured(f'{SERIES} x 100 ops of 64x64, every op recorded, {name}',
                       recorded(work, folder / name, ops=True, **options), many(work), target, faster=False, seconds=3)
    work = in_graph(ours, python_calls(10, 64))
    yield measured(f'{SERIES} x 100 ops of 64x64, 10 of them py_func, py calls recorded',
                   recorded(work, folder / 'py'), many(work), '-', faster=False, seconds=2)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as place:
        for name in ('a', 'in full', 'statistics', 'py'):
            (Path(place) / name).mkdir()
        print(table(list(results(Path(place)))))
