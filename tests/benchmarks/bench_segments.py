"""What it costs to keep the newest calls of a recording that does not fit into its budget, and to read segments.

    python tests/benchmarks/bench_segments.py [CALLS]

Records calls with an input of 1 KB, each its own, in three ways, by turns: all of them fit; they fit, in segments of 4 MB;
a budget of 32 MB has room for the newest only. Each line: CPU of the process for each call, with the log written, median
of five; what the trace holds; CPU to open it.
"""
from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, wrapped

from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

CALLS = 200_000
TURNS = 5
WAYS: dict[str, dict[str, Any]] = {
    'one file': {'budget': 4 << 30}, 'segments of 4 MB': {'budget': 4 << 30, 'segment': 4 << 20},
    'the newest in 32 MB': {'budget': 32 << 20, 'keep_newest': True}}


def record(path: Path, calls: int, options: dict[str, Any]) -> float:
    """Record; CPU seconds for each call."""
    call, run, values = wrapped(lambda x: (x[0],)), new_run(), np.arange(128.0)
    began = time.process_time()
    with Recorder(path, **options) as recorder:
        for number in range(calls):
            values[0] = number
            call(values, run=run)
            if number % 2_000 == 0:
                recorder.flush()
    return (time.process_time() - began) / calls


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    holds: dict[str, str] = {}
    for _ in range(TURNS):
        for name, options in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                times[name].append(record(Path(folder) / 't.pfd', calls, options))
                began = time.process_time()
                with Trace.open(Path(folder) / 't.pfd') as trace:
                    info = trace.info()
                    holds[name] = f'{info.calls:9,} calls in {len(list(Path(folder).glob("t.pfd/*.log"))):3} files, ' \
                                  f'{info.nbytes >> 20:4} MB, opened in {time.process_time() - began:.2f} s, {info.dropped}'
    usual = statistics.median(times['one file'])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f'{name:22}{median * 1e6:6.2f} us a call, {median / usual:4.2f} times  {holds[name]}')


if __name__ == '__main__':
    main()
