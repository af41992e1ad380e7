"""A recorded call whose input another thread wrote to meanwhile: what is said of it, and that the function is not blamed."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.observers.debug.replay.concurrent_writes import concurrent_write_remarks
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.views.flags import flags


class SharedMemoryHost:
    """The part of a host that the recorder asks; its inputs are the memory of the caller."""

    name, version, variables = 'shared', '1', ()

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)


def call(function: Callable[..., Any], array: np.ndarray) -> None:
    site = CallSite(function.__name__, 'PyFunc', 'python', SharedMemoryHost(), function=function,  # type: ignore[arg-type]
                    outputs=['out:0'])

    def outputs(*inputs: Any) -> Sequence[Any]:
        return [function(*inputs)]
    chain.invoke(site, outputs, Run('test', site.host, 0), [array])


def record(path: Path, writes: bool) -> None:
    """`reader` waits while `other` runs on another thread, and writes to the shared array or not; then `writer` does."""
    reading, done = threading.Event(), threading.Event()

    def reader(x: Any) -> Any:
        reading.set()
        assert done.wait(60)
        return x[:1]

    def other(x: Any) -> Any:
        if writes:
            x += 1
        return x

    def writer(x: Any) -> Any:
        x *= 2
        return x

    shared = np.ones(3, np.float32)
    with Recorder(path):
        thread = threading.Thread(target=call, args=(reader, shared))
        thread.start()
        assert reading.wait(60)
        call(other, shared)
        done.set()
        thread.join()
        call(writer, shared)


def test_the_calls_that_ran_meanwhile_are_named(tmp_path: Path) -> None:
    record(tmp_path / 't.pfd', writes=True)
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = {one.site.name: one for one in trace.calls()}
        reader, other, writer = calls['reader'], calls['other'], calls['writer']
        assert [[flag.text for flag in flags(one.inputs[0])][-1] for one in (reader, other, writer)] == [
            'changed during the call'] * 3
        name = reader.inputs[0].name
        assert concurrent_write_remarks(trace, reader) == (
            f'input 0 {name} changed during the recorded call, by the function or by what ran meanwhile: '
            f'#{other.number} other[0]',)
        assert concurrent_write_remarks(trace, writer) == (
            f'input 0 {name} changed during the recorded call, by the function or by another thread',)


def test_nothing_is_said_of_inputs_that_stayed(tmp_path: Path) -> None:
    record(tmp_path / 't.pfd', writes=False)
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [concurrent_write_remarks(trace, one) for one in trace.calls(site='reader')] == [()]
