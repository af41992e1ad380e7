"""A flight recorder under the real TensorFlow: sessions, datasets on native threads, and what native ops make of values."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.tensorflow


def test_runs_whose_native_ops_give_nan_are_kept_with_their_calls(tf: Any, tmp_path: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [])
        root = tf.math.sqrt(tf.compat.v1.py_func(lambda v: v - np.float32(50), [x], tf.float32, name='shift'))
    recorder = pyfuncdbg.record(tmp_path / 't.pfd', keep_on='has_nan(out)', before=4, after=0, keep_most=2)
    with pyfuncdbg.attach('tensorflow'), tf.compat.v1.Session(graph=graph) as session, recorder:
        assert hooks.fast_watcher['python'] is recorder            # as quick as a recorder
        for number in range(100, 47, -1):
            session.run(root, {x: np.float32(number)})
    first, second = recorder.traces
    with Trace.open(first) as trace:
        (trip,) = trace.info().trips
        assert trip.call < 0 and trip.site == 'Session.run'
        assert [call.inputs[0].to_numpy() for call in trace.calls()] == [50.0, 49.0]        # and two runs
        run = trace.run(-trip.call)
        assert np.isnan(run.fetches[0].to_numpy()) and run.feeds[0].to_numpy() == 49.0
        assert [call.run for call in trace.calls()][-1] == run.id
    with Trace.open(second) as trace:
        assert [call.inputs[0].to_numpy() for call in trace.calls()] == [48.0]


def test_elements_of_a_dataset_on_native_threads(tf: Any, tmp_path: Path) -> None:
    def scale(x: Any) -> Any:
        return np.float32(np.inf if x == 60 else x * 2)
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', keep_on='has_inf(out)', before=8,
                                                         after=5) as recorder:
        elements = tf.data.Dataset.range(200).map(lambda i: tf.numpy_function(scale, [i], tf.float32), num_parallel_calls=4)
        assert sum(np.isinf(element.numpy()) for element in elements) == 1
    with Trace.open(recorder.traces[0]) as trace:
        made = {int(call.inputs[0].to_numpy()): call for call in trace.calls()}
        assert np.isinf(made[60].outputs[0].to_numpy()) and made[60].site.name == 'PyFunc'
        finished = [call for call in made.values() if call.duration is not None]
        assert 0 < len(finished) <= 14
        assert all(call.outputs[0].to_numpy() == 2 * number for number, call in made.items()
                   if call in finished and number != 60)
        assert trace.info().lost_calls > 20


def test_eager_functions_and_their_gradients(tf: Any, tmp_path: Path) -> None:
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', keep_on='has_inf(out)', before=50,
                                                         after=1) as recorder:
        for value in (4.0, 1.0, 0.0):
            variable = tf.Variable(value)
            with tf.GradientTape() as tape:
                root = tf.py_function(tf.sqrt, [variable], tf.float32)
            tape.gradient(root, variable)
    with Trace.open(recorder.traces[0]) as trace:
        trip = trace.info().trips[0]
        call = trace.call(str(trip.call))
        assert call.site.kind == 'gradient' and np.isinf(call.outputs[0].to_numpy())
        assert trace.call(call.forward).inputs[0].to_numpy() == 0.0
        assert len(trace.calls(kind='python')) == 3
