"""A trace of 10,000,000 calls and 50 GB of values: what it takes to open it, and to ask for calls.

    python tests/benchmarks/bench_scale.py [TRACE | NUMBER OF CALLS]

Without a trace one is made first, in a temporary folder, its values holes of a sparse file. Each line is the start of a
fresh process or one query: seconds that passed, seconds of CPU, and the most memory that the process has had.
"""
from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = 10_000_000
VALUES = 50_000_000_000
QUERIES: tuple[tuple[str, str, dict[str, object]], ...] = (
    ('by number', 'number', {}), ('by time', 'time', {}), ('by thread', 'thread', {}), ('longest first', 'duration', {}),
    ('of one site', 'time', {'site': 'layer7*'}), ('of a kind', 'time', {'kind': 'op'}),
    ('failed', 'time', {'failed': True}), ('with NaN', 'time', {'bad': True}), ('printed', 'time', {'printed': True}),
    ('of one run', 'time', {'run': 70_000}))


def measure(path: str) -> None:
    """Open a trace and query it, in this process."""
    from pyfuncdbg.observers.record.trace import Trace
    with Trace.open(path) as trace:
        say('opened')
        for name, sort, filters in QUERIES:
            timed(f'50 calls {name}', lambda sort=sort, filters=filters: trace.calls(sort=sort, limit=50, **filters))
        timed('information', trace.info)
        timed('use by site', trace.usage)
        timed('one call', lambda: trace.call(4_711))
        start, end = trace.extent()
        middle = (start + end) / 2
        timed('calls in a window of time', lambda: trace.spans_during(middle, middle + 1))


def timed(name: str, work: Callable[[], object]) -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    work()
    say(name, begun, cpu)


def say(name: str, begun: float = 0.0, cpu: float = 0.0) -> None:
    passed = time.perf_counter() - begun if begun else time.time() - float(os.environ['BEGAN'])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f'{name:40}{passed:8.2f} s{time.process_time() - cpu:8.2f} s of CPU{most:8} MB', flush=True)


def main() -> None:
    """Measure in a fresh process, so that start and memory are its own."""
    if len(sys.argv) == 3 and sys.argv[1] == '--inside':
        measure(sys.argv[2])
        return
    given = sys.argv[1] if len(sys.argv) > 1 else str(CALLS)
    with tempfile.TemporaryDirectory() as folder:
        path = given
        if given.isdigit():
            from synthetic_trace import make
            path = str(Path(folder) / 'large.pfd')
            make(Path(path), int(given), VALUES * int(given) // CALLS)
        environment = dict(os.environ, BEGAN=str(time.time()), PYTHONPATH=str(ROOT))
        subprocess.run([sys.executable, __file__, '--inside', path], check=True, env=environment)


if __name__ == '__main__':
    main()
