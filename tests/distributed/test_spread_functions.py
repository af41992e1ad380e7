"""Loops, conditionals and functions with nodes of several tasks: the results of one process, errors, ends and records."""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spread_programs import FIRST, PROGRAMS, PS, SECOND, values

import pyfuncdbg
import pyfuncdbg.tf as tf
from pyfuncdbg.observers.record.trace import Trace

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
v1 = tf.compat.v1
PATIENCE = 60


@pytest.fixture
def target(client: Any) -> Iterator[str]:
    """A server of three tasks, two of them on one worker."""
    spec = tf.train.ClusterSpec({'worker': ['0', '1'], 'ps': ['0']})
    target = str(tf.distribute.Server(spec, 'worker', 0, protocol='dask').target)
    yield target
    v1.Session.reset(target)


def here(name: str) -> list[np.ndarray]:
    return values(tf, '', PROGRAMS[name], lambda device: nullcontext())


def repeated(function: Any, count: int = 6, after: Any = lambda y: y) -> Any:
    """A loop on the first task; the second one calls a Python function in each iteration."""
    def body(i: Any, y: Any) -> Any:
        with tf.device(SECOND):
            y = tf.ensure_shape(tf.numpy_function(function, [y], tf.float64, serialize=True, name='inner'), [])
        with tf.device(FIRST):
            return i + 1, after(y)
    return tf.while_loop(lambda i, _: i < count, body, [0, tf.constant(0., tf.float64)], name='loop')[1]


def steps_on(client: Any) -> list[Any]:
    """The steps that workers know, which have not ended."""
    def steps(dask_worker: Any) -> list[Any]:
        server = dask_worker.handlers['pyfuncdbg_task'].__self__
        return [key for key, step in server._steps.items() if step.calls or not step.ended.done()]
    return [step for steps in client.run(steps).values() for step in steps]


def await_no_steps(client: Any) -> None:
    end = time.monotonic() + PATIENCE
    while steps_on(client) and time.monotonic() < end:
        time.sleep(.02)
    assert steps_on(client) == []


# ---------------------------------------------------------------- results
@pytest.mark.parametrize('name', PROGRAMS)
def test_the_results_of_one_process(client: Any, target: str, name: str) -> None:
    for value, expected in zip(values(tf, target, PROGRAMS[name], tf.device), here(name), strict=True):
        assert (value.dtype, value.shape, value.tolist()) == (expected.dtype, expected.shape, expected.tolist())
    await_no_steps(client)


def test_nodes_run_on_their_tasks_in_every_iteration(client: Any, target: str) -> None:
    with v1.Graph().as_default(), v1.Session(target) as session:
        def pid() -> Any:
            return tf.ensure_shape(tf.numpy_function(os.getpid, [], tf.int64, serialize=True), [])

        def body(i: Any, pids: Any) -> Any:
            with tf.device(SECOND):
                second = pid()
            with tf.device(PS):
                first = pid()
            return i + 1, tf.concat([pids, [second, first, pid()]], 0)
        found = session.run(tf.while_loop(lambda i, _: i < 2, body, [0, tf.zeros([0], tf.int64)], shape_invariants=[
            tf.TensorShape([]), tf.TensorShape([None])])[1])
    workers = {str(info['name']): client.run(os.getpid, workers=[address])[address]
               for address, info in client.scheduler_info()['workers'].items()}
    assert found.tolist() == [workers['1'], workers['0'], workers['0']] * 2     # without a device: on the session's task


def test_nodes_with_effects_keep_their_order_on_each_task(target: str) -> None:
    """Also those of loops that run elsewhere, without control dependencies: as in one process."""
    def run(target: str) -> list[Any]:
        with v1.Graph().as_default(), v1.Session(target) as session:
            with tf.device(SECOND) if target else nullcontext():
                w = v1.get_variable('w', initializer=1., use_resource=True)

            def added(i: Any, y: Any) -> Any:
                now = w.assign_add(1.)
                with tf.device(PS) if target else nullcontext():
                    return i + 1, y + now
            before = w.assign(10.)
            first = tf.while_loop(lambda i, _: i < 3, added, [0, 0.])[1]
            between = w.assign_add(100.)
            second = tf.while_loop(lambda i, _: i < 3, added, [0, 0.])[1]
            session.run(w.initializer)
            return [float(value) for value in session.run([before, first, between, second, w.assign_add(0.)])]
    assert run(target) == run('') == [10., 36., 113., 345., 116.]


# ---------------------------------------------------------------- errors and ends
def test_errors_in_a_body_name_the_node_the_task_and_the_cause(client: Any, target: str) -> None:
    def fail(x: Any) -> Any:
        if x > 2:
            raise ValueError(f'too large: {x}')
        return x + 1
    with v1.Graph().as_default(), v1.Session(target) as session:
        tf.constant(0., name='inner')           # a node of this name is no node of the function
        with pytest.raises(tf.errors.InvalidArgumentError, match=(
                r"Detected at node 'inner'[\s\S]*From /job:worker/replica:0/task:1:\nValueError: too large: 3")) as caught:
            session.run(repeated(fail))
        assert isinstance(caught.value.__cause__, ValueError) and caught.value.op.type == 'PyFunc'
        assert 'test_spread_functions.py' in str(caught.value.op.traceback[-1])
        numbers = repeated(lambda x: x + 1, after=lambda y: tf.debugging.check_numerics(1. / (y - 2.), 'no number') * 0. + y)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'From /job:worker/replica:0/task:0:\nno number : Tens'):
            session.run(numbers)
        with tf.device(SECOND):
            here = tf.while_loop(lambda i: i < 3., lambda i: fail_here(i), [tf.constant(0., tf.float64)])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'Could not find callback with .*\(of process '):
            session.run(here)
    await_no_steps(client)


def fail_here(x: Any) -> Any:
    """A node of this process's function, on the other task."""
    y = tf.ensure_shape(tf.numpy_function(lambda x: x + 1, [x], tf.float64), [])
    with tf.device(FIRST):
        return y * 1.


def test_a_deadline_and_a_close_in_the_middle_of_a_body(client: Any, target: str, tmp_path: Path) -> None:
    def count(x: Any, folder: str = str(tmp_path)) -> Any:
        import pathlib
        import time
        (pathlib.Path(folder) / str(int(x))).write_text('')
        time.sleep(.05)
        return x + 1
    with v1.Graph().as_default():
        session = v1.Session(target)
        endless = repeated(count, 1 << 30)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=v1.RunOptions(timeout_in_ms=500))
        await_no_steps(client)
        errors: list[Any] = []

        def run() -> None:
            with pytest.raises(tf.errors.CancelledError) as caught:
                session.run(endless)
            errors.append(caught.value)
        for file in tmp_path.iterdir():
            file.unlink()
        thread = threading.Thread(target=run)
        thread.start()
        end = time.monotonic() + PATIENCE
        while not (tmp_path / '1').exists() and time.monotonic() < end:
            time.sleep(.01)
        session.close()
        thread.join(PATIENCE)
        assert len(errors) == 1
    await_no_steps(client)
    iterations = len(list(tmp_path.iterdir()))
    time.sleep(.2)
    assert len(list(tmp_path.iterdir())) == iterations          # the loop has ended on its task, too


def test_a_task_that_is_killed_in_an_iteration(client: Any, target: str) -> None:
    def end(x: Any) -> Any:
        import os
        if x == 2:
            os.kill(os.getpid(), 9)
        return x + 1
    with v1.Graph().as_default(), v1.Session(target) as session:
        with tf.device(PS):
            v = v1.get_variable('v', initializer=5., use_resource=True)
        deadly, harmless = repeated(end), repeated(lambda x: x + 1)
        session.run(v.initializer)
        assert session.run(harmless) == 6.
        workers = {*client.nthreads()}
        begun = time.monotonic()
        with pytest.raises(tf.errors.UnavailableError, match=r'Task /job:worker/replica:0/task:1/\S+ at .* is gone'):
            session.run(deadly)
        assert time.monotonic() - begun < 10    # as the documentation promises
        end_of_patience = time.monotonic() + PATIENCE
        while len({*client.nthreads()} - workers) < 1 and time.monotonic() < end_of_patience:
            time.sleep(.05)
        client.wait_for_workers(2, timeout=PATIENCE)
        with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)):
            session.run(harmless)
        with v1.Session(target, graph=session.graph) as other:
            assert other.run([harmless, v]) == [6., 5.]


def test_what_a_body_on_another_task_cannot_have(target: str) -> None:
    with v1.Graph().as_default(), v1.Session(target) as session:
        def squared(i: Any, y: Any) -> Any:
            with tf.device(SECOND):
                y = tf.ensure_shape(tf.py_function(lambda a: a * a, [y], tf.float32, serialize=True), [])
            with tf.device(FIRST):
                return i + 1, y * 1.5
        x = tf.constant(2.)
        y = tf.while_loop(lambda i, _: i < 2, squared, [0, x])[1]
        assert session.run(y) == np.float32(54.)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'EagerPyFunc:1 is needed on another task, .*py_func'):
            session.run(v1.gradients(y, x))

        def counted(i: Any) -> Any:
            data = v1.data.Dataset.range(3).map(there)
            return i + data.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

        def there(j: Any) -> Any:
            with tf.device(SECOND):
                return j + 1
        with tf.device(FIRST):
            loop = tf.while_loop(lambda i: i < 3, counted, [tf.constant(0, tf.int64)])
        with pytest.raises(tf.errors.InvalidArgumentError, match='a function of a dataset runs where the dataset is'):
            session.run(loop)


# ---------------------------------------------------------------- records
def test_calls_of_a_body_are_recorded_where_they_are_made(client: Any, target: str, tmp_path: Path) -> None:
    with pyfuncdbg.distributed.attach(client, tmp_path / 't.pfd', level='full', ops=True), v1.Graph().as_default(), \
            v1.Session(target) as session:
        loop = repeated(lambda x: x / 2 + 8, 3, lambda y: tf.ensure_shape(tf.numpy_function(
            lambda y: y + 1, [y], tf.float64, serialize=True), []))
        results = [session.run(loop) for _ in range(2)]
    assert results == [(((8 + 1) / 2 + 8 + 1) / 2 + 8) + 1] * 2
    with Trace.open(tmp_path / 't.pfd') as trace:
        second = [call for call in trace.calls() if call.site.kind == 'python' and call.site.name.startswith('inner')]
        runs = list(dict.fromkeys(call.run for call in second))
        assert [call.inputs[0].to_numpy().item() for call in second] == [0., 9., 13.5] * 2
        assert len(runs) == 2 and [runs.index(call.run) for call in second] == [0, 0, 0, 1, 1, 1]     # one run a step
        assert {call.process for call in second}.isdisjoint(
            call.process for call in trace.calls() if call.site.kind == 'python' and call not in second)
        steps = [call for call in trace.calls() if call.site.op_type == 'TaskStep']
        assert len(steps) == 6 and {call.process for call in steps}.isdisjoint(call.process for call in second)
