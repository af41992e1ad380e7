"""The fast path of callbacks: the same calls and runs as by the chain of hooks, and stops in them."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hosts.jax.jax_program import RELEASE, record
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.jax.callbacks.callback_dispatch import CallbackDispatch
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

STOP = """
import jax, jax.numpy as jnp, numpy as np
def half(v):
    if v == 2:
        breakpoint()
    return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
for k in range(4):
    print(step(jnp.float32(k)))
"""


def recorded(jax: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, is_fast: bool) -> tuple[list[Any], int]:
    """What is recorded of the calls and runs of a program, and how many of the calls the chain has made."""
    by_chain: list[Any] = []
    call = CallbackDispatch._call
    hook = Seen()
    if not is_fast:
        hooks.add(hook)
    shape = jax.ShapeDtypeStruct((2,), np.float32)
    step = jax.jit(lambda v, w: jax.pure_callback(lambda a, b: np.asarray(a) / np.asarray(b), shape, v, w))
    with monkeypatch.context() as patches, pyfuncdbg.attach('jax'), Recorder(folder / f'{is_fast}.pfd'):
        patches.setattr(CallbackDispatch, '_call', lambda self, callback, *rest: by_chain.append(callback) or call(
            self, callback, *rest))
        for k in range(5):                      # ready inputs: else a thread of XLA's calls
            step(*jax.block_until_ready((jax.numpy.arange(2.) + k, jax.numpy.full(2, 2.)))).block_until_ready()
    hooks.remove(hook)
    with pyfuncdbg.load(folder / f'{is_fast}.pfd') as trace:
        calls = [(call.site.name, call.ordinal, [tensor.to_numpy().tolist() for tensor in (*call.inputs, *call.outputs)])
                 for call in trace.calls(kind='python')]
        runs = [(run.label, [tensor.to_numpy().tolist() for tensor in (*run.feeds, *run.fetches)]) for run in trace.runs()]
    return [*calls, *runs], len(by_chain)


def test_it_records_what_the_chain_does(jax: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, by_chain = recorded(jax, tmp_path, monkeypatch, True)
    slow, by_chain_alone = recorded(jax, tmp_path, monkeypatch, False)
    assert fast == slow and len(fast) == 10
    assert fast[-1] == ('lambda', [[4, 5], [2, 2], [2, 2.5]])
    assert (by_chain, by_chain_alone) == (0, 5)     # the run has made the site


def test_a_stop_in_a_call_that_it_makes_has_its_call(tmp_path: Path) -> None:
    done, trace = record(tmp_path, STOP, '--ui', 'prompt', typed='p float(v)\nr\nc\n')
    assert "STOPPED in half at program.py:6, node 'lambda/half'" in done.stderr, done.stderr
    assert 'run #3 lambda' in done.stderr and '\n2.0\n' in done.stderr and 'returns  float32 1.0' in done.stderr
    assert done.stdout == '0.0\n0.5\n1.0\n1.5\n'
    assert [float(call.outputs[0].to_numpy()) for call in trace.calls(kind='python')] == [0, .5, 1, 1.5]
    assert [[float(tensor.to_numpy()) for tensor in (*run.feeds, *run.fetches)] for run in trace.runs()] == [
        [0, 0], [1, .5], [2, 1], [3, 1.5]]


FAILS = """
import jax, jax.numpy as jnp, numpy as np
def half(v):
    if v == 2:
        raise ValueError('two')
    return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
for k in range(4):
    v = jnp.float32(k)
    try:
        print(step(v))
    except (ValueError, RuntimeError) as error:     # in JAX 0.6 the latter
        print('no', v - 1, bool(v == 3))
"""


def test_an_op_of_the_program_is_no_end_of_a_run(tmp_path: Path) -> None:
    """Neither within a callback nor after one that has failed."""
    done, trace = record(tmp_path, FAILS)
    assert done.stdout == '0.0\n0.5\nno 1.0 False\n1.5\n', done.stderr
    assert [[float(tensor.to_numpy()) for tensor in (*run.feeds, *run.fetches)] for run in trace.runs()] == [
        [0, 0], [1, .5], [] if RELEASE >= (0, 8) else [2], [3, 1.5]]


def test_calls_that_no_hook_wants_are_counted(jax: Any) -> None:
    step = jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct((), np.float32), v))
    with pyfuncdbg.attach('jax'):
        entry = debugger.breakpoints.set('nowhere')
        debugger.start()
        try:
            assert [float(step(jax.numpy.float32(k))) for k in range(5)] == [1, 2, 3, 4, 5]
        finally:
            debugger.breakpoints.clear(entry.number)
            debugger.leave()
        hook = Seen()
        hooks.add(hook)
        try:
            step(jax.numpy.float32(7))
        finally:
            hooks.remove(hook)
    assert [call.ordinal for call in hook.calls] == [5]


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'int32', 'uint32', 'float16', 'bfloat16', 'float32', 'complex64'])
def test_arrays_are_read_in_the_same_memory(jax: Any, dtype: str) -> None:
    from pyfuncdbg.hooks.host import HOSTS
    jnp = jax.numpy
    with pyfuncdbg.attach('jax'):
        for array in (jnp.arange(6).reshape(2, 3).astype(dtype), jnp.ones((), dtype), jnp.zeros((0, 2), dtype)):
            read = HOSTS['jax'].to_numpy(array)
            assert read.dtype == array.dtype and read.shape == array.shape and array._npy_value is None
            assert not read.size or read.__array_interface__['data'][0] == array.unsafe_buffer_pointer()
            assert read.tolist() == np.asarray(array).tolist()
