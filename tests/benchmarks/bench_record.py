"""What recording costs: a Python call with a recorder and without, on the program's thread and until it is in the log."""
from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from cost_curves import Curve
from measurement import PROCESS, THREAD, Row, Side, Target, Work

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, wrapped

from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

RUN = new_run()
VALUES = {'scalar': np.float32(1), '64 floats': np.ones(64, np.float32), '64x64': np.ones((64, 64), np.float32)}
TARGETS = {('64 floats', THREAD): Target('adds', 3), ('64 floats', PROCESS): Target('adds', 5)}


def sides(folder: Path, value: object, burst: bool) -> tuple[Side, Side]:
    """A call recorded and not; in a burst, the writer works between series."""
    call = wrapped(lambda x: (x,))
    current: list[Recorder] = []

    @contextmanager
    def around() -> Iterator[None]:
        with tempfile.TemporaryDirectory(dir=folder) as place, Recorder(Path(place) / 't.pfd', budget=2 << 30) as recorder:
            call(value, run=RUN)
            recorder.flush()
            if burst:
                assert recorder._writer is not None
                recorder._writer.end_thread()
                recorder._backlog.mark = 1 << 30
            current[:] = [recorder]
            yield
            recorder.flush()
    recorded = Side('recorded', lambda: call(value, run=RUN), around, None if burst else lambda: current[0].flush())
    return recorded, Side('unrecorded', lambda: call(value, run=RUN))


def rows(folder: Path) -> Iterator[Row]:
    for name, value in VALUES.items():
        for clock, how in ((THREAD, 'burst'), (PROCESS, 'sustained')):
            yield Row(f'recorded call with {name}, {how}', partial(sides, folder, value, clock == THREAD),
                      TARGETS.get((name, clock)), 'adds', clock=clock, series=1_000, same=False, seconds=2)


def curves(folder: Path) -> Iterator[Curve]:
    yield Curve('A recorded call', 'elements of its input', (1, 100, 10_000, 1_000_000),
                lambda size: Row('', partial(sides, folder, np.ones(size, np.float32), False), clock=PROCESS,
                                 series=max(10, min(1_000, 10_000_000 // size)), same=False))
    yield Curve('Opening a trace, and its first 50 calls', 'calls in the trace', (100, 1_000, 10_000, 100_000),
                lambda calls: Row('', lambda: (Side('Trace.open', opening(folder, calls)), None), kind='takes',
                                  per='opening', series=1, same=False))


def opening(folder: Path, calls: int) -> Work:
    path = folder / f'{calls}.pfd'
    if not path.exists():
        call = wrapped(lambda x: (x,))
        with Recorder(path, budget=2 << 30) as recorder:
            for number in range(calls):
                call(np.float32(number), run=RUN)
                if number % 5_000 == 0:
                    recorder.flush()

    def work() -> object:
        with Trace.open(path) as trace:
            return len(trace.calls(limit=50))
    return work
