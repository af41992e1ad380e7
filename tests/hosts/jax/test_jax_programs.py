"""The programs of `programs/`, recorded: the same output as without us, and every call in its run."""
from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hosts.jax.jax_program import ERROR, PROGRAMS, record

import pyfuncdbg
from pyfuncdbg.hosts.jax.runs.dispatches import Dispatches
from pyfuncdbg.observers.record.recorder import Recorder

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]


def test_each_way_to_call_python(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'kinds.py')
    assert done.stdout == (PROGRAMS / 'kinds.out').read_text(), done.stderr
    python = list(trace.calls(kind='python'))
    counts = Counter(call.site.function for call in python)
    assert counts == {'pure': 2, 'impure': 2, 'looped': 8, 'row': 12, 'noted': 2}
    assert [call.outputs[0].to_numpy().tolist() for call in python if call.site.function == 'looped'][:2] == [
        [1, 2, 3], [.5, 1, 1.5]]
    assert Counter(run.label for run in trace.runs()) == {'step': 2, 'lambda': 4}
    labels = {run.id: run.label for run in trace.runs()}
    calls_by_run = Counter(labels[call.run] for call in python)
    assert calls_by_run == {'step': 14, 'lambda': 12}
    lines = {call.site.function: call.site.stack[-1].line for call in python}
    assert lines == {'pure': 14, 'impure': 15, 'noted': 16, 'looped': 18, 'row': 23}
    assert {call.site.op_type for call in python} == {'pure_callback', 'io_callback', 'debug_callback'}


def test_runs_have_names_of_arguments_and_results(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'nan.py')
    assert done.stdout == (PROGRAMS / 'nan.out').read_text(), done.stderr
    (run,) = [run for run in trace.runs() if run.kind == 'function']
    assert (run.label, tuple(tensor.name for tensor in run.feeds), run.fetch_names) == (
        'step', ("w['a']", "w['b']", 'x'), ('result[0]', "result[1]['a']", "result[1]['b']"))


def test_late_calls_belong_to_the_run_that_was_dispatched_for_them(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'late.py')
    plain = (PROGRAMS / 'late.out').read_text()
    assert done.stdout == plain.replace('JaxRuntimeError None', f"{ERROR} ArithmeticError('three')"), done.stderr
    calls = list(trace.calls(kind='python'))
    inputs = {call.run: float(call.inputs[0].to_numpy()) for call in calls}
    assert [inputs[number] for number in sorted(inputs)] == [0, 0, 1, 2, 3, 4]
    assert [call.error.type for call in calls if call.error is not None] == ['ArithmeticError']


def test_several_devices_call_on_their_own_threads(tmp_path: Path) -> None:
    done, trace = record(tmp_path, PROGRAMS / 'devices.py')
    assert done.stdout == (PROGRAMS / 'devices.out').read_text(), done.stderr
    calls = list(trace.calls(kind='python'))
    assert Counter(call.run for call in calls) == {run.id: 4 for run in trace.runs()} and len(trace.runs()) == 3
    assert len({call.thread for call in calls}) >= 2
    bad = Counter(call.run for call in calls if call.outputs[0].stats.pos_inf)
    assert set(bad.values()) == {1} and len(bad) == 3


def test_a_call_that_comes_while_its_dispatch_is_noted_is_of_that_run(jax: Any, tmp_path: Path,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA's thread calls before the thread that has dispatched has noted the run: both mean the same one."""
    begin = Dispatches._begin
    shape = jax.ShapeDtypeStruct((), np.float32)
    step = jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(a) + 1, shape, v))
    slowly = jax.jit(lambda a, k: (a @ a)[0, 0] * 0 + k)
    large = jax.numpy.ones((900, 900))
    with pyfuncdbg.attach('jax'), Recorder(tmp_path / 'trace'):
        for k in range(3):
            step(slowly(large, float(k))).block_until_ready()
        monkeypatch.setattr(Dispatches, '_begin', lambda *args: (time.sleep(.3), begin(*args))[1])
        step(slowly(large, 7.)).block_until_ready()
    with pyfuncdbg.load(tmp_path / 'trace') as trace:
        calls = {call.run: float(call.inputs[0].to_numpy()) for call in trace.calls(kind='python')}
        assert [(calls[run.id], len(run.feeds)) for run in trace.runs()] == [(0, 1), (1, 1), (2, 1), (7, 1)]


STATIC = """
import functools, jax, jax.numpy as jnp, numpy as np
S = jax.ShapeDtypeStruct((2,), jnp.float32)
table = jnp.arange(5000.)
def same(v):
    return np.asarray(v)
@functools.partial(jax.jit, static_argnums=0, static_argnames=('mode',))
def step(count, v, mode='a'):
    return jax.pure_callback(same, S, v) * count + table[:2]
for k in range(3):
    print(step(2, jnp.full(2, float(k)), mode='b'))
"""


def test_static_arguments_and_constants_are_no_inputs_of_a_run(tmp_path: Path) -> None:
    done, trace = record(tmp_path, STATIC)
    assert done.stdout == '[0. 1.]\n[2. 3.]\n[4. 5.]\n', done.stderr
    assert [[(tensor.name, tensor.to_numpy().tolist()) for tensor in run.feeds] for run in trace.runs()] == [
        [('v', [k, k])] for k in range(3)]
