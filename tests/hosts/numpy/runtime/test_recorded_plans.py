"""The form of a plan for a recorder records what the executor does: on random graphs, in loops, and where an op raises."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.op_batch import MOST_OPS
from pyfuncdbg.observers.record.log import record_values
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace


class Onlooker:
    """A hook that wants ops as calls, so that the executor runs."""

    kinds = frozenset(('op',))
    passive = True

    def around(self, call: Any, proceed: Any) -> Any:
        return proceed()


class Stepper:
    """A hook that pauses each run before each of its nodes."""

    kinds = frozenset(('run',))

    def __init__(self) -> None:
        self.pauses = 0

    def around(self, call: Any, proceed: Any) -> Any:
        if call.site.name != 'Session.run':
            return proceed()
        control = call.run.control

        def on_pause() -> None:
            self.pauses += 1
            call.run.control.go_to(call.run.control.position + 1)
        control.pause(on_pause)
        return proceed()


def traced(path: Path, program: Any, together: bool, *, stepper: Stepper | None = None, **options: Any) -> list[CallRecord]:
    """The calls of ops of a program, whose run the recorder sees alone or beside another hook."""
    beside = stepper or Onlooker()
    with Recorder(path, ops=True, capture='off', **options) as recorder:
        if not together:
            hooks.add(beside)
        try:
            assert stepper is not None or (hooks.op_recorder is recorder) is together
            program()
        finally:
            hooks.remove(beside)
    with Trace.open(path) as trace:
        assert not trace.info().damage and not trace.info().dropped
        calls = trace.calls(kind='op')
        for call in calls:                      # read before it is closed
            for one in (*call.inputs, *call.outputs):
                if one.level == 'full':
                    VALUES[id(one)] = one, one.to_numpy().tobytes()
        return calls


VALUES: dict[int, Any] = {}


def same_tensor(one: Any, other: Any) -> bool:
    assert [one.name, one.dtype, one.shape, one.nbytes, one.level, one.note] == [
        other.name, other.dtype, other.shape, other.nbytes, other.level, other.note]
    if one.level == 'full':
        assert VALUES[id(one)][1] == VALUES[id(other)][1]
    if one.stats is None or other.stats is None:
        assert one.stats is None and other.stats is None
        return True
    for name in ('size', 'nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf', 'min', 'max', 'histogram', 'first_bad'):
        assert getattr(one.stats, name) == getattr(other.stats, name), name
    tolerance = 1e-12 if one.dtype == 'float64' else 1e-6
    for name in ('mean', 'std'):
        mine, its = getattr(one.stats, name), getattr(other.stats, name)
        assert mine == its or math.isclose(mine, its, rel_tol=tolerance, abs_tol=tolerance * max(1, abs(one.stats.max)))
    return True


def ordinals(calls: list[CallRecord]) -> list[tuple[str, int]]:
    """Sites and ordinals; these from 0 for each site, for both forms may run one graph."""
    least: dict[int, int] = {}
    for call in calls:
        least[call.site.id] = min(call.ordinal, least.get(call.site.id, call.ordinal))
    return [(call.site.name, call.ordinal - least[call.site.id]) for call in calls]


def assert_same(calls: list[CallRecord], others: list[CallRecord]) -> None:
    assert ordinals(calls) == ordinals(others)
    first, its_first = int(calls[0].number), int(others[0].number)
    for call, other in zip(calls, others, strict=True):
        assert int(call.number) - first == int(other.number) - its_first
        assert bool(call.parent) == bool(other.parent)
        assert (call.error is None) == (other.error is None)
        if call.error is not None:
            assert (call.error.type, call.error.message, call.error.traceback.splitlines()[-3:]) == (
                other.error.type, other.error.message, other.error.traceback.splitlines()[-3:])
        for side in ('inputs', 'outputs'):
            for one, another in zip(getattr(call, side), getattr(other, side), strict=True):
                same_tensor(one, another)


OPS = {'add': lambda a, b: a + b, 'sub': lambda a, b: a - b, 'mul': lambda a, b: a * b, 'neg': lambda a, _: -a,
       'matmul': lambda a, b: tf.matmul(a, b), 'relu': lambda a, _: tf.nn.relu(a),
       'reshape': lambda a, _: tf.reshape(tf.reshape(a, [-1]), [16, 16]),
       'transpose': lambda a, _: tf.transpose(a), 'identity': lambda a, _: tf.identity(a),
       'sum': lambda a, b: a + tf.reduce_sum(b), 'split': lambda a, _: tf.concat(tf.split(a, 2), 0),
       'log': lambda a, _: tf.math.log(a), 'python': lambda a, _: tf.numpy_function(_overwrite, [a], a.dtype),
       'cond': lambda a, b: tf.cond(tf.reduce_sum(a) > 0, lambda: a * b, lambda: -b)}


def _overwrite(x: np.ndarray) -> np.ndarray:
    """A function that writes to what it got, and returns it."""
    x += 1
    return x


def graph_of(steps: list[tuple[str, int, int]], dtype: Any) -> Any:
    """A graph of ops on earlier results, and a variable that is assigned and added to; returns what runs it once."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(dtype, [16, 16], name='x')
        v = tf.compat.v1.get_variable('v', [16, 16], dtype, tf.compat.v1.zeros_initializer(), use_resource=True)
        values = [x, tf.constant(np.eye(16) * 2, dtype)]
        for name, first, second in steps:
            result = OPS[name](values[first % len(values)], values[second % len(values)])
            result.set_shape([16, 16])
            values.append(result)
        with tf.control_dependencies([v.assign(values[-1])]):
            added = v.assign_add(tf.ones([16, 16], dtype))
        init = tf.compat.v1.global_variables_initializer()
    session = tf.compat.v1.Session(graph=graph)
    session.run(init)
    return lambda feed: session.run([values[-1], values[len(values) // 2], added], {x: feed})


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12),
       st.sampled_from([np.float32, np.float64]),
       st.sampled_from([{'level': 'full'}, {'full_limit': 0}, {'full_limit': 100}]))
def test_the_forms_of_a_plan_and_stepping_record_the_same(tmp_path_factory, steps, dtype, options):
    path = tmp_path_factory.mktemp('forms')
    fetched, records = [], []
    stepper = Stepper()
    for together, beside in ((True, None), (False, None), (False, stepper)):
        run = graph_of(steps, dtype)
        feed = np.random.default_rng(1).standard_normal((16, 16)).astype(dtype)

        def program(run=run, feed=feed):
            for _ in range(2):
                results = run(feed)
                fetched.append([result.tobytes() for result in results])
                for result in results:
                    result[...] = 77            # the program's: the record has what was computed
                feed[...] += 1
        records.append(traced(path / f'{len(records)}.pfd', program, together, stepper=beside, **options))
    assert fetched[:2] == fetched[2:4] == fetched[4:]
    assert stepper.pauses >= len({call.site.id for call in records[2] if not call.parent})     # before each needed node
    assert_same(*records[:2])
    assert_same(records[0], records[2])
    VALUES.clear()


def test_an_op_that_raises_in_the_middle(tmp_path):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name='x')
        y = tf.reshape(x * 2, [2, 2], name='fails') + 1
    session = tf.compat.v1.Session(graph=graph)
    said = []

    def program():
        for rows in (2, 3, 2):
            try:
                session.run(y, {x: np.ones((rows, 2))})
            except tf.errors.InvalidArgumentError as error:
                said.append((str(error), error.op.name))
    both = [traced(tmp_path / f'{together}.pfd', program, together) for together in (True, False)]
    assert_same(*both)
    assert said[0] == said[1] and said[0][1] == 'fails'
    failed = [call for call in both[0] if call.error is not None]
    assert [(call.site.name, call.ordinal) for call in failed] == [('fails', 1)] and len(both[0]) == 8


def test_loops_and_gradients_and_functions(tmp_path):
    @tf.function
    def power(x, n):
        result = x
        for _ in tf.range(n):
            result = tf.tanh(result * x)
        return result

    def program():
        x = tf.constant([0.5, -2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(power(x, 3))
        tape.gradient(y, x)
        list(tf.data.Dataset.range(3).map(lambda i: i * 2))
    program()                                   # traced before
    both = [traced(tmp_path / f'{together}.pfd', program, together, level='full') for together in (True, False)]
    assert_same(*both)
    assert sum(call.site.op_type == 'Tanh' for call in both[0]) == 3


def test_a_plan_longer_than_a_sequence(tmp_path):
    count = 2 * MOST_OPS + 10
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.compat.v1.placeholder(tf.float32, [], name='x')
        for _ in range(count):
            y = y + 1
    session = tf.compat.v1.Session(graph=graph)
    calls = traced(tmp_path / 'a.pfd', lambda: session.run(y, {x: 0}), True)
    outputs = [float(np.frombuffer(VALUES[id(call.outputs[0])][1], np.float32)[0]) for call in calls]
    assert outputs == list(range(1, count + 1))


def test_large_outputs_are_delivered_before_the_run_ends(tmp_path):
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.compat.v1.placeholder(tf.float32, [512, 1024], name='x')
        for _ in range(6):
            y = y + 1
    session = tf.compat.v1.Session(graph=graph)
    sizes = []
    with Recorder(tmp_path / 'a.pfd', ops=True, full_limit=0) as recorder:
        on_ops = recorder.on_ops
        recorder.on_ops = lambda batch: (sizes.append(len(batch)), on_ops(batch))[1]
        session.run(y, {x: np.zeros((512, 1024))})
    assert sizes == [1] * 6
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert [call.outputs[0].stats.max for call in trace.calls(kind='op')] == [1, 2, 3, 4, 5, 6]


def test_a_hook_that_comes_in_a_python_call_sees_the_ops_after_it(tmp_path):
    seen = []

    class Late(Onlooker):
        def around(self, call: Any, proceed: Any) -> Any:
            seen.append(call.site.name)
            return proceed()
    late = Late()

    def install(x):
        hooks.add(late)
        return x
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [3], name='x')
        y = tf.add(tf.numpy_function(install, [tf.add(x, 1, name='before')], tf.float32, name='call'), 1, name='after')
        y = tf.multiply(y, 2, name='last')
    session = tf.compat.v1.Session(graph=graph)
    with Recorder(tmp_path / 'a.pfd', ops=True):
        try:
            result = session.run(y, {x: [1, 2, 3]})
        finally:
            hooks.remove(late)
    assert result.tolist() == [6, 8, 10] and seen == ['after', 'last']
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert [call.site.name for call in trace.calls(kind='op')] == ['before', 'call', 'after', 'last']


def test_a_recorder_that_stops_in_a_python_call(tmp_path):
    recorder = Recorder(tmp_path / 'a.pfd', ops=True)

    def stop(x):
        recorder.stop()
        return x
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [3], name='x')
        y = tf.numpy_function(stop, [x + 1], tf.float32) * 2
    with recorder:
        assert tf.compat.v1.Session(graph=graph).run(y, {x: [1, 2, 3]}).tolist() == [4, 6, 8]
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert next(iter(trace.calls(kind='op'))).site.op_type == 'AddV2'


def test_large_values_are_summarised_once_and_never_with_old_statistics(tmp_path, monkeypatch):
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.compat.v1.placeholder(tf.float32, [512, 512], name='x')
        for _ in range(5):
            y = y + x
    session = tf.compat.v1.Session(graph=graph)
    counts = []
    rows_of = record_values.rows_of
    monkeypatch.setattr(record_values, 'rows_of', lambda arrays: (counts.append(len(arrays)), rows_of(arrays))[1])
    with Recorder(tmp_path / 'a.pfd', ops=True, full_limit=0) as recorder:
        for i in range(12):
            session.run(y, {x: np.full((512, 512), float(i))})
            if i % 2:
                recorder.flush()
    assert sum(counts) <= 12 * 6
    with Trace.open(tmp_path / 'a.pfd') as trace:
        calls = trace.calls(kind='op')
        assert [(call.inputs[1].stats.max, call.outputs[0].stats.min, call.outputs[0].stats.max) for call in calls] == [
            (i, k * i, k * i) for i in range(12) for k in range(2, 7)]


@pytest.mark.parametrize('limit', [0, 1 << 20])
def test_arrays_that_came_back_are_used_again_and_no_value_changes(tmp_path, limit):
    graph = tf.Graph()
    with graph.as_default():
        x = y = tf.compat.v1.placeholder(tf.float32, [64, 64], name='x')
        for _ in range(5):
            y = y + x
    session = tf.compat.v1.Session(graph=graph)
    results = []
    with pyfuncdbg.record(tmp_path / 'a.pfd', ops=True, full_limit=limit) as recorder:
        for i in range(30):
            results.append(session.run(y, {x: np.full((64, 64), float(i))}))
            if i % 3 == 0:
                recorder.flush()
    assert [result[5, 5] for result in results] == [6 * i for i in range(30)]
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert [(call.outputs[0].stats.min, call.outputs[0].stats.max) for call in trace.calls(kind='op')] == [
            (k * i, k * i) for i in range(30) for k in range(2, 7)]


