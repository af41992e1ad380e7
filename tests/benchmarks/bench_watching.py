"""What watching a whole run costs: against TensorFlow without any, and against the same run unrecorded."""
from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_runtime import in_graph, ours, py_func, theirs
from measurement import PROCESS, THREAD, Row, Side, Target, Work

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


def rows(folder: Path) -> Iterator[Row]:
    yield Row('Session.run of a py_func, scalar, recorded; trace opened and closed over 300',
              lambda: (Side('recorded', recorded(in_graph(ours, py_func), folder)),
                       None if theirs is None else Side('TensorFlow, unrecorded', many(in_graph(theirs, py_func)))),
              Target('faster', 7.5), per='run', calls=SERIES, series=1, same=False)
    for size in (64, 1024):
        for level, options in (('statistics', {'level': 'stats', 'full_limit': 0}), ('in full', {'level': 'full'})):
            for name, clock in (("on the program's thread", THREAD), ('with the writer', PROCESS)):
                target = OPS_TARGETS.get((size, level, clock))
                yield Row(f'every op recorded, {size}x{size}, {level}, {name}', partial(every_op, folder, size, options),
                          target, 'adds', per='op', calls=100, series=40 if size == 64 else 4, clock=clock, same=False,
                          seconds=2)


OPS_TARGETS = {(64, 'statistics', THREAD): Target('adds', 1.5), (64, 'statistics', PROCESS): Target('adds', 5),
               (64, 'in full', THREAD): Target('adds', 1.5), (1024, 'statistics', PROCESS): Target('time', 2.5)}


def every_op(folder: Path, size: int, options: dict[str, Any]) -> tuple[Side, Side]:
    """Runs of 100 adds whose values are distinct in each run, recorded and not."""
    def work() -> Work:
        with ours.Graph().as_default() as graph:
            x, p = (ours.compat.v1.placeholder(ours.float32, [size, size]) for _ in range(2))
            y = x
            for _ in range(100):
                y = y + p
        session = ours.compat.v1.Session(graph=graph)
        value, more = np.ones((size, size), np.float32), np.ones((size, size), np.float32)

        def run() -> object:
            value[0, 0] += 1
            value[1:] += 1e-3
            return session.run(y, {x: value, p: more})
        return run

    current: list[Recorder] = []

    @contextmanager
    def around() -> Iterator[None]:
        with tempfile.TemporaryDirectory(dir=folder) as place, Recorder(
                Path(place) / 't.pfd', budget=2 << 30, ops=True, **options) as recorder:
            current[:] = [recorder]
            yield
    return Side('recorded', work(), around, lambda: current[0].flush()), Side('unrecorded', work())
