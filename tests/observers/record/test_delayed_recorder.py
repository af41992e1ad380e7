"""A recorder that is made with the first call: no call of any thread goes unrecorded, and none twice."""
from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from plain_host import new_run, wrapped

import pyfuncdbg
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.installed_hooks import Hook
from pyfuncdbg.observers.record.delayed_recorder import DelayedRecorder, begin_all
from pyfuncdbg.observers.record.log.trace_folder import create, identity
from pyfuncdbg.observers.record.recorder import Recorder, recorders
from pyfuncdbg.observers.record.trace import Trace

THREADS, CALLS = 8, 5


class Neutral:
    """A hook that takes every call without being asked."""

    kinds = frozenset(('python',))

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        return proceed()


@pytest.mark.parametrize('beside', [None, Neutral()])
def test_threads_whose_first_calls_come_at_once_are_all_recorded(beside: Hook | None, tmp_path: Path) -> None:
    made: list[Recorder] = []

    def make(waiting: DelayedRecorder) -> Recorder:
        time.sleep(0.2)                         # the other threads come meanwhile
        create(tmp_path / 't.pfd', 1 << 20)
        made.append(Recorder(tmp_path / 't.pfd').join(identity(tmp_path / 't.pfd'), is_first=True, replaced=waiting))
        return made[0]

    DelayedRecorder(make).install()
    if beside is not None:
        hooks.add(beside)
    step, barrier = wrapped(lambda number: (np.float32(number),), 'step'), threading.Barrier(THREADS)

    def work(number: int) -> None:
        run = new_run()
        barrier.wait()
        for place in range(CALLS):
            step(np.float32(number * CALLS + place), run=run)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made[0].stop()
    if beside is not None:
        hooks.remove(beside)
    assert len(made) == 1
    with Trace.open(tmp_path / 't.pfd') as trace:
        values = sorted(float(call.inputs[0].to_numpy()) for call in trace.calls())
    assert values == [float(number) for number in range(THREADS * CALLS)]


def test_one_that_cannot_be_made_is_out_of_the_way(tmp_path: Path) -> None:
    asked: list[None] = []
    waiting = DelayedRecorder(lambda _: asked.append(None))
    waiting.install()
    double, run = wrapped(lambda number: (number * 2,), 'double'), new_run()
    assert [double(1.0, run=run)[0], double(2.0, run=run)[0]] == [2.0, 4.0]
    assert asked == [None] and waiting not in hooks and recorders() == ()
    begin_all()
    assert asked == [None]


FORKS = '''
import multiprocessing, numpy, sys
from pyfuncdbg import tf

def work(number):
    print(number, 'pyfuncdbg.observers.record.recorder' in sys.modules, flush=True)
    tf.numpy_function(float, [tf.constant(1.0)], tf.float32)

if __name__ == '__main__':
    for number in range(4):
        process = multiprocessing.get_context('fork').Process(target=work, args=(number,))
        process.start()
        process.join()
'''


def test_the_third_forked_child_need_not_load_the_recorder(tmp_path: Path) -> None:
    (tmp_path / 'forks.py').write_text(FORKS)
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', 'forks.py'], cwd=tmp_path, capture_output=True,
                          text=True, timeout=110, check=True,
                          env={**os.environ, 'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1])})
    assert done.stdout == '0 False\n1 False\n2 True\n3 True\n' and not done.stderr
    with Trace.open(tmp_path / 'forks.pfd') as trace:
        assert trace.count() == 4
