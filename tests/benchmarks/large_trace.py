"""Makes the traces that the inspector is measured with: real calls through chain and recorder, on native threads."""
from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / 'observers' / 'record'))
from native_threads import run_native
from plain_host import new_run, wrapped

from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

THREADS = 4
CALLS_A_RUN = 10


def make(path: Path, calls: int) -> None:
    """Record that many calls of ten sites, ten a run, on four native threads, and make the index.

    One in 500 gives a NaN, one in 1,000 prints, one in 2,000 raises.
    """
    recorder = Recorder(path, budget=4 << 30)
    share = calls // THREADS

    def work() -> None:
        for number in range(share):
            if number % CALLS_A_RUN == 0:
                run = new_run()
            with contextlib.suppress(ValueError):
                sites[number % CALLS_A_RUN](number, np.full(4, number, np.float32), run=run)
            if number % 2_000 == 0:
                recorder.flush()                # the writer keeps up: nothing is dropped
            if number % 50 == 0:
                time.sleep(0)                   # the threads take turns

    def step(number: int, x: np.ndarray) -> tuple[np.ndarray]:
        if number % 2_000 == 1_999:
            raise ValueError(f'step {number} has no gradient')
        if number % 1_000 == 3:
            print('step', number)
        return (x / 0 if number % 500 == 0 else x * 2,)

    sites = [wrapped(step, f'layer{i}/step') for i in range(CALLS_A_RUN)]
    with recorder, np.errstate(all='ignore'):
        run_native([work] * THREADS)
    with Trace.open(path):
        pass


if __name__ == '__main__':
    make(Path(sys.argv[1]), int(sys.argv[2]))
