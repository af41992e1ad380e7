"""Cost of `diff`: two recordings of so many calls that are the same, and two in which the second half of the calls differs.

    python tests/benchmarks/bench_diff.py [CALLS]

Prints CPU seconds and the most memory of a fresh process; by default of 20,000 and of 1,000,000 calls.
"""
from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from plain_host import new_run, wrapped

from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
from pyfuncdbg.observers.debug.comparison.trace_comparison import compare_traces
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

SITES = 5
FLUSH = 2_000


def make(path: Path, calls: int, shift: float) -> None:
    """Record calls, the second half of which returns other values where `shift` is not 0."""
    def layer(number: int, x: np.ndarray) -> tuple[np.ndarray]:
        return (x * 2 + np.float32(shift if 2 * number >= calls else 0),)

    sites = [wrapped(layer, f'layer{number}') for number in range(SITES)]
    run = new_run()
    with Recorder(path, budget=4 << 30) as recorder:
        for number in range(calls):
            sites[number % SITES](number, np.full(4, number, np.float32), run=run)
            if number % FLUSH == 0:
                recorder.flush()                # the writer keeps up: nothing is dropped


def measure(one: str, two: str) -> None:
    """Compare, in this process."""
    with Trace.open(one) as first, Trace.open(two) as second:
        began = time.process_time()
        found = compare_traces(first, second, Rules(frozenset({'environment', 'time'})), (one, two))
        seconds = time.process_time() - began
    differing = sum(number for _, _, number in found.later) + (found.first is not None)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f'{found.calls:>12,} calls, {differing:>9,} differ {seconds:9.2f} s {memory:9.0f} MB', flush=True)


def main() -> None:
    """Record here and measure in fresh processes."""
    if len(sys.argv) == 4 and sys.argv[1] == '--inside':
        measure(*sys.argv[2:])
        return
    for calls in [int(sys.argv[1])] if len(sys.argv) > 1 else [20_000, 1_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ('one.pfd', 'same.pfd', 'other.pfd')]
            for path, shift in zip(paths, (0.0, 0.0, 1.0), strict=True):
                make(path, calls, shift)
            for other in paths[1:]:
                subprocess.run([sys.executable, __file__, '--inside', str(paths[0]), str(other)], check=True)


if __name__ == '__main__':
    main()
