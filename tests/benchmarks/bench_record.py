"""What recording costs: a python call with and without a recorder, on the user's thread and with the log written.

    python tests/benchmarks/bench_record.py

Prints microseconds per call and ratios to the same call without a recorder; medians of several rounds.
"""
from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, wrapped

from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

ROUNDS = 15
RUN = new_run()


def per_call(call: Callable[..., object], value: object, count: int) -> float:
    """Microseconds of one call in a loop of `count`."""
    began = time.perf_counter()
    for _ in range(count):
        call(value, run=RUN)
    return (time.perf_counter() - began) / count * 1e6


def median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(ROUNDS))


def burst(recorder: Recorder, call: Callable[..., object], value: object, count: int) -> float:
    """On the user's thread only: the queue holds the burst, the writer runs between bursts."""
    recorder.flush()
    assert recorder._writer is not None
    recorder._writer.end_thread()
    recorder._backlog.mark = count + 1
    taken = per_call(call, value, count)
    recorder.flush()
    return taken


def sustained(recorder: Recorder, call: Callable[..., object], value: object, count: int) -> float:
    """With the writer thread at work, until all is in the log."""
    began = time.perf_counter()
    per_call(call, value, count)
    recorder.flush()
    return (time.perf_counter() - began) / count * 1e6


def main() -> None:
    call = wrapped(lambda x: (x,))
    values = {'scalar': (np.float32(1), 20_000), '64 floats': (np.ones(64, np.float32), 10_000),
              '64x64': (np.ones((64, 64), np.float32), 1_000), '1M floats': (np.ones(1_000_000, np.float32), 20)}
    print(f'{"value":10} {"bare":>8} {"capture":>8} {"burst":>8} {"sustained":>9}   us per call; ratio to bare')
    for name, (value, count) in values.items():
        bare = median(lambda v=value, n=count: per_call(call, v, n))  # type: ignore[misc]
        capture = Capture()
        capture.start()
        captured = median(lambda v=value, n=count: per_call(call, v, n))  # type: ignore[misc]
        capture.stop()
        with tempfile.TemporaryDirectory() as place:
            with Recorder(Path(place) / 'steady.pfd', budget=2 << 30) as recorder:
                steady = median(lambda v=value, n=count, r=recorder: sustained(r, call, v, n))  # type: ignore[misc]
            with Recorder(Path(place) / 'burst.pfd', budget=2 << 30) as recorder:
                few = max(min(count, 5000) // (10 if value.nbytes > 1 << 20 else 1), 1)     # must fit into the queue
                alone = median(lambda v=value, n=few, r=recorder: burst(r, call, v, n))  # type: ignore[misc]
            with Trace.open(Path(place) / 'steady.pfd') as trace:
                info = trace.info()
        print(f'{name:10} {bare:8.2f} {captured:8.2f} {alone:8.2f} {steady:9.2f}   '
              f'burst {alone / bare:.1f}x, sustained {steady / bare:.1f}x; dropped {info.dropped or "nothing"}, '
              f'{info.nbytes / max(info.calls, 1):.0f} bytes per call on disk')


if __name__ == '__main__':
    main()
