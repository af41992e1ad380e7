"""Nodes of a session run that a recorder gets together: the same record as of calls one by one."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.op_batch import OpBatch
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield


class Bystander:
    """A hook that wants each op as a call, and does nothing."""

    kinds = ('op',)
    passive = True

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        return proceed()


class Program:
    """Training of a variable, with a Python function, strings, a split and an effect."""

    def __init__(self, tf: Any) -> None:
        v1 = tf.compat.v1
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = v1.placeholder(tf.float32, [3], name='x')
            weight = v1.get_variable('w', [3], initializer=v1.constant_initializer(2.0), use_resource=True)
            hidden = tf.tanh(weight * self.x, name='hidden')
            peek = v1.py_func(lambda a: a * 2, [hidden], tf.float32, name='peek')
            first, *_ = tf.split(tf.reshape(peek, [3]), 3, name='parts')
            self.text = tf.strings.as_string(first, precision=2, name='text')
            loss = tf.reduce_sum(tf.square(hidden - 1.0), name='loss')
            self.train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
            self.loss, self.hidden = loss, hidden
            self.init = v1.global_variables_initializer()
        self.session = v1.Session(graph=self.graph)

    def run(self, times: int = 3) -> list[str]:
        self.session.run(self.init)
        return [repr(np.asarray(value).tolist()) for _ in range(times)
                for value in self.session.run([self.loss, self.text, self.train], {self.x: [1, 2, 3]})[:2]]


def listed(path: Path) -> list[Any]:
    with Trace.open(path) as trace:
        return [(call.site.kind, call.site.name, call.ordinal, call.run,
                 [(tensor.name, tensor.dtype, tensor.shape, tensor.note,
                   repr(tensor.to_numpy().tolist()) if tensor.key is not None else tensor.absent)
                  for tensor in (*call.inputs, *call.outputs)])
                for call in trace.calls() if call.site.kind in ('op', 'python')]


def test_the_record_is_the_same_as_of_calls(tf: Any, tmp_path: Path) -> None:
    one_by_one, bystander = Program(tf), Bystander()
    hooks.add(bystander)
    try:
        with pyfuncdbg.record(tmp_path / 'calls.pfd', ops=True, level='full'):
            expected = one_by_one.run()
    finally:
        hooks.remove(bystander)
    together = Program(tf)
    with pyfuncdbg.record(tmp_path / 'batches.pfd', ops=True, level='full'):
        assert together.run() == expected
    calls, batches = listed(tmp_path / 'calls.pfd'), listed(tmp_path / 'batches.pfd')
    first = min(run for _, _, _, run, _ in calls) - min(run for _, _, _, run, _ in batches)
    assert [(*batch[:3], batch[3] + first, batch[4]) for batch in batches] == calls
    assert {'hidden', 'peek', 'loss', 'text', 'parts'} <= {name for _, name, _, _, _ in batches}


def test_a_run_is_one_batch_and_its_sequence_is_made_once(tf: Any, tmp_path: Path) -> None:
    program, batches = Program(tf), list[OpBatch]()
    recorder = Recorder(tmp_path / 'ops.pfd', ops=True)
    on_ops = recorder.on_ops
    recorder.on_ops = lambda batch: (batches.append(batch), on_ops(batch))[1]
    with recorder:
        program.run(4)
    assert len(batches) == 5                    # the first is the initializer
    assert len({id(batch.sequence) for batch in batches[1:]}) == 1 and len(batches[1]) > 10


def test_what_the_program_does_to_its_results_is_not_in_the_record(tf: Any, tmp_path: Path) -> None:
    v1, graph = tf.compat.v1, tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [1 << 14], name='x')
        made = tf.negative(x, name='turned')
        tf.tanh(made, name='bent')
    with v1.Session(graph=graph) as session, pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True, level='full'):
        for number in (1, 2):
            given = np.full(1 << 14, number, np.float32)
            turned, _ = session.run(['turned:0', 'bent:0'], {x: given})
            turned[:] = given[:] = 99
    with Trace.open(tmp_path / 'ops.pfd') as trace:
        calls = trace.calls(site='turned')
        assert [(call.inputs[0].to_numpy()[-1], call.outputs[0].to_numpy()[-1]) for call in calls] == [(1, -1), (2, -2)]
