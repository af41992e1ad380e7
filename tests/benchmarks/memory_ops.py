"""Memory over many recorded ops of our own runtime: `python tests/benchmarks/memory_ops.py [OPS]`, 5,000,000 by default.

Prints the resident memory of the process after each tenth of the ops. A run has 100 ops of 8x8 with values of its own; the
trace keeps the newest calls within 64 MB.
"""
from __future__ import annotations

import gc
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from pyfuncdbg import tf
from pyfuncdbg.observers.record.recorder import Recorder

OPS = 100


def resident() -> float:
    """Megabytes of memory that this process has."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def main(ops: int) -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
        for _ in range(OPS):
            y = y + x
    session = tf.compat.v1.Session(graph=graph)
    runs = ops // OPS
    with tempfile.TemporaryDirectory() as folder, Recorder(Path(folder) / 'ops.pfd', ops=True, full_limit=0, budget=64 << 20,
                                                           keep_newest=True) as recorder:
        for number in range(1, runs + 1):
            session.run(y, {x: np.full((8, 8), number, np.float32)})
            if number % max(runs // 10, 1) == 0:
                recorder.flush()
                gc.collect()
                print(f'{number * OPS:>9,} ops: {resident():.1f} MB, {len(gc.get_objects()):,} objects', flush=True)


if __name__ == '__main__':
    main(int(next(iter(sys.argv[1:]), '5000000')))
