"""Tasks and schedulers that are stopped (SIGSTOP): they close no connection, as a machine that vanishes closes none."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_task_loss import FIRST, SECOND, Running, v1, waiting

import pyfuncdbg
import pyfuncdbg.tf as tf
from pyfuncdbg.distributed.liveness import SETTING, silence
from pyfuncdbg.observers.record.trace import Trace

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
PROCESS = '''
import asyncio, sys
from distributed import Scheduler, Worker

async def main():
    async with (Scheduler(port=0, dashboard_address=':0') if len(sys.argv) == 1 else
                Worker(sys.argv[1], name=sys.argv[2], nthreads=1, dashboard_address=':0')) as process:
        print(process.address, flush=True)
        await process.finished()

if __name__ == '__main__':
    asyncio.run(main())
'''


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[Any]]:
    """A scheduler and two workers, in processes without nannies."""
    (tmp_path / 'process.py').write_text(PROCESS)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), os.environ.get('PYTHONPATH', '')])}
    started: list[Any] = []
    address = ''
    try:
        for words in ([], ['0'], ['1']):
            command = [sys.executable, str(tmp_path / 'process.py'), *([address] if words else []), *words]
            started.append(subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL))
            line = started[-1].stdout.readline().strip()
            address = address or line
        started[0].address = address
        yield started
    finally:
        for process in started:
            process.kill()                      # also one that is stopped
        for process in started:
            process.communicate()


@contextmanager
def stopped(process: Any) -> Iterator[None]:
    """A process that answers nothing; it goes on afterwards."""
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def unavailable(session: Any, fetch: Any) -> str:
    with pytest.raises(tf.errors.UnavailableError) as caught:
        session.run(fetch)
    return str(caught.value)


# long: one cluster for all of it
def test_nothing_waits_for_a_process_that_is_silent(processes: list[Any], tmp_path: Path) -> None:
    import dask
    from distributed import Client
    pyfuncdbg.distributed  # noqa: B018  registers the protocol
    scheduler, _, worker = processes
    with Client(scheduler.address) as client, v1.Graph().as_default():
        target = tf.distribute.Server({'worker': ['0', '1']}, 'worker', 0, protocol='dask').target
        with tf.device(FIRST):
            kept = v1.get_variable('kept', initializer=1., use_resource=True)
        with tf.device(SECOND):
            lost = v1.get_variable('lost', initializer=2., use_resource=True)
            printed = tf.numpy_function(lambda: print('before the end') or 1, [], tf.int64, serialize=True)
            fed = v1.placeholder(tf.float32, [])
            later = lost + fed
        both, begun = kept + lost, tmp_path / 'begun'
        slow = waiting(begun, 1)
        with pyfuncdbg.distributed.attach(client, tmp_path / 'job.pfd', patience=10) as recording:
            session = v1.Session(target)
            session.run([v1.global_variables_initializer(), printed])
            handle = session.partial_run_setup([both, later], [fed])
            assert session.partial_run(handle, both) == 3.
            time.sleep(.5)                      # the log is written
            with dask.config.set({'pyfuncdbg.task-silence': '3s'}):
                running = Running(session, slow, begun)
                with stopped(worker):
                    error = running.failure()
                    assert isinstance(error, tf.errors.UnavailableError), error
                    assert '/job:worker/replica:0/task:1' in str(error) and 'it has not answered for 3 s' in str(error)
                    assert session.run(kept) == 1.                  # not all tasks are needed for this
                    with pytest.raises(tf.errors.UnavailableError):
                        session.partial_run(handle, later, {fed: 1.})
                    with v1.Session(target) as other:
                        assert "has no worker '1'" in (text := unavailable(other, kept)) and 'it has not answered' in text
                    with v1.Session(target, graph=v1.Graph()):      # closed without a run
                        pass
                assert session.run(both) == 3.                      # the task is the one that it was
                with stopped(scheduler):
                    assert session.run(both) == 3.
                    assert 'The scheduler of the Dask cluster at tcp://' in unavailable(v1.Session(target), both)
                assert v1.Session(target).run(both) == 3.
                os.kill(worker.pid, signal.SIGSTOP)
                session.close()
        assert any('did not close its log' in line for line in recording.missing)
    with Trace.open(tmp_path / 'job.pfd') as trace:                 # what the task had before
        (call,) = trace.calls(printed=True)
    assert ''.join(one.text for one in call.output) == 'before the end\n'


@pytest.mark.parametrize(('value', 'seconds'), [('2 minutes', 120.0), ('500ms', 0.5), (3, 3.0)])
def test_the_setting_is_a_time(value: object, seconds: float) -> None:
    import dask
    with dask.config.set({SETTING: value}):
        assert silence() == seconds


@pytest.mark.parametrize('value', ['soon', '-1s', 0, 'inf', 'nan', None, '3 parsecs', ['7s']])
def test_a_setting_that_is_no_time_is_named(value: object) -> None:
    import dask
    with dask.config.set({SETTING: value}), pytest.raises(ValueError, match=(
            rf"'pyfuncdbg.task-silence' of Dask's configuration is {re.escape(repr(value))}; expected a time above 0")):
        silence()
