"""What recording adds to a fork: `python tests/benchmarks/bench_fork.py`.

The median time of `os.fork` in a program whose other threads make calls all the time, recorded and not, each in a process of
its own. The target is at most 20 ms more, however many threads there are.
"""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')      # NumPy reads it when it is loaded; its threads end at each fork

import numpy as np

FORKS, ROUNDS = 30, 5
TARGET = 20.0
"""Milliseconds."""


def forks(callers: int, trace: str) -> list[float]:
    """Milliseconds of each fork; recorded where a path is given."""
    from pyfuncdbg import tf
    from pyfuncdbg.observers.record.recorder import Recorder
    from pyfuncdbg.tf.compat import v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float64, [None])
        y, session = v1.py_func(lambda value: value + 1, [x], tf.float64), v1.Session()
    value, going = np.ones(100), True

    def call() -> None:
        while going:
            session.run(y, {x: value})
    recorder = Recorder(trace, budget=4 << 30).start() if trace else None
    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    taken = []
    for _ in range(FORKS):
        session.run(y, {x: value})
        time.sleep(0.005)
        began = time.perf_counter()
        child = os.fork()
        if not child:
            os._exit(0)
        taken.append((time.perf_counter() - began) * 1e3)
        os.waitpid(child, 0)
    going = False
    for thread in threads:
        thread.join()
    if recorder is not None:
        recorder.stop()
    return taken


def measured(callers: int, trace: str) -> list[float]:
    """The same in a process of its own."""
    done = subprocess.run([sys.executable, '-W', 'ignore', __file__, str(callers), trace], capture_output=True, text=True,
                          check=True, timeout=600)
    return list(json.loads(done.stdout))


def main() -> None:
    """Print one line for each number of threads."""
    print('threads that call   plain ms   recorded ms   added ms   longest ms   target')
    for callers in (0, 1, 3, 16):
        plain: list[float] = []
        recorded: list[float] = []
        for _ in range(ROUNDS):                 # in turn, so that both see the same noise
            plain += measured(callers, '')
            with tempfile.TemporaryDirectory() as place:
                recorded += measured(callers, str(Path(place) / 't.pfd'))
        usual, ours = statistics.median(plain), statistics.median(recorded)
        print(f'{callers:17}   {usual:8.2f}   {ours:11.2f}   {ours - usual:8.2f}   {max(recorded):10.1f}   '
              f'<= {TARGET:.0f} added', flush=True)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        print(json.dumps(forks(int(sys.argv[1]), sys.argv[2])))
    else:
        main()
