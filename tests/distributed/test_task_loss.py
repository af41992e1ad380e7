"""Tasks that are killed, slow or closed in the middle of a step: each run ends with its error, and a new session goes on."""
from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import pyfuncdbg
import pyfuncdbg.tf as tf
from pyfuncdbg.observers.record.trace import Trace

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
v1 = tf.compat.v1
FIRST, SECOND = '/job:worker/task:0', '/job:worker/task:1'
PATIENCE = 120


@pytest.fixture
def target(client: Any) -> str:
    """A server of two tasks."""
    return str(tf.distribute.Server({'worker': ['0', '1']}, 'worker', 0, protocol='dask').target)


def waiting(path: Path, seconds: float = 600) -> Any:
    """A node of the first task that waits for one of the second; that takes long, after it has written a file."""
    def wait(text: str = str(path)) -> int:
        import pathlib
        import time
        pathlib.Path(text).write_text('begun')
        time.sleep(seconds)
        return 1
    with tf.device(SECOND):
        slow = tf.numpy_function(wait, [], tf.int64, serialize=True)
    with tf.device(FIRST):
        return slow + 1


class Running(threading.Thread):
    """A run in a thread of its own, when its slow node has begun."""

    def __init__(self, session: Any, fetch: Any, begun: Path) -> None:
        super().__init__(daemon=True)
        self._session, self._fetch = session, fetch
        self.error: Exception | None = None
        self.start()
        end = time.monotonic() + PATIENCE
        while not begun.exists():
            assert time.monotonic() < end and self.is_alive(), self.error
            time.sleep(.01)

    def run(self) -> None:
        try:
            self._session.run(self._fetch)
        except Exception as error:              # the test asks for it
            self.error = error

    def failure(self) -> Exception | None:
        """The error of the run, which ends."""
        self.join(PATIENCE)
        assert not self.is_alive()
        return self.error


def test_a_task_that_is_killed_and_comes_back(client: Any, target: str, tmp_path: Path) -> None:
    with pyfuncdbg.distributed.attach(client, tmp_path / 'job.pfd'):
        lose_a_task(client, target, tmp_path)
    with Trace.open(tmp_path / 'job.pfd') as trace:         # what the task had before it was killed
        labels = {process.log: process.label for process in trace.info().tree}
        (call,) = trace.calls(printed=True)
    assert labels[call.process] == 'worker:1' and ''.join(one.text for one in call.output) == 'before the end\n'
    assert call.site.stack[-1].function == 'lose_a_task' and call.site.stack[-1].filename == __file__


def lose_a_task(client: Any, target: str, tmp_path: Path) -> None:
    """Kill the second task in a run, and go on in a new session."""
    with v1.Graph().as_default() as graph, v1.Session(target) as session:
        with tf.device(FIRST):
            kept = v1.get_variable('kept', initializer=1., use_resource=True)
        with tf.device(SECOND):
            lost = v1.get_variable('lost', initializer=2., use_resource=True)
            printed = tf.numpy_function(lambda: print('before the end') or 1, [], tf.int64, serialize=True)
        both, start = kept + lost, v1.global_variables_initializer()
        session.run(start)
        session.run([kept.assign_add(4.), printed])
        time.sleep(.5)                          # its log is written
        running = Running(session, waiting(tmp_path / 'begun'), tmp_path / 'begun')
        (address,) = [address for address, info in client.scheduler_info()['workers'].items() if info['name'] == 1]
        os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
        error = running.failure()
        assert isinstance(error, tf.errors.UnavailableError), error
        assert '/job:worker/replica:0/task:1' in str(error) and 'is gone' in str(error)
        shown = ''.join(traceback.format_exception(error))      # without Dask's frames, and errors of its connections
        assert shown.count('Traceback') == 1 and 'site-packages' not in shown
        assert shown.endswith('Restart it, and make a new session: the other tasks keep their variables\n')
        assert session.run(kept) == 5.          # not all tasks are needed for this
        end = time.monotonic() + PATIENCE
        while True:                             # until the task is there again, which is another one
            try:
                session.run(both)
            except tf.errors.UnavailableError:
                assert time.monotonic() < end
                time.sleep(.2)
            except tf.errors.AbortedError as aborted:
                assert 'just restarted. Make a new session' in str(aborted)
                break
    with v1.Session(target, graph=graph) as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(both)
        session.run(lost.initializer)
        assert session.run(both) == 7.
    v1.Session.reset(target)


def test_a_deadline(target: str, tmp_path: Path) -> None:
    with v1.Graph().as_default(), v1.Session(target) as session:
        slow = waiting(tmp_path / 'begun', 3)
        with pytest.raises(tf.errors.DeadlineExceededError, match='Deadline Exceeded'):
            session.run(slow, options=v1.RunOptions(timeout_in_ms=500))
        with tf.device(FIRST):
            x = tf.constant(1.) + 1.
        assert session.run(x, options=v1.RunOptions(timeout_in_ms=60_000)) == 2.


def test_a_session_that_is_closed_while_it_runs(target: str, tmp_path: Path) -> None:
    with v1.Graph().as_default():
        session = v1.Session(target)
        running = Running(session, waiting(tmp_path / 'begun', 3), tmp_path / 'begun')
        session.close()
        error = running.failure()
        assert isinstance(error, tf.errors.CancelledError) and 'Session::Close()' in str(error)
        with pytest.raises(RuntimeError, match='closed Session'):
            session.run(tf.constant(1.))


def test_a_client_that_is_closed(client: Any, target: str) -> None:
    from distributed import Client
    with v1.Graph().as_default():
        x = tf.constant(1.) + 1.
        with Client(client.scheduler.address):
            session = v1.Session(target)
            assert session.run(x) == 2.
        with pytest.raises(tf.errors.UnavailableError, match='the Dask client of this session is closed'):
            session.run(x)
        session.close()
