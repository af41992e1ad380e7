"""What a recorder queues of a call, whatever the values are and whatever came before."""
from __future__ import annotations

import contextlib
import gc
import itertools
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst
from plain_host import HOST, PlainHost, new_run

from pyfuncdbg.hooks.call import CallSite, new_call
from pyfuncdbg.hooks.chain import invoke
from pyfuncdbg.hooks.value_placeholders import NOT_COMPUTED, UnknownValue, ValueNotKnown
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS, Snapshot
from pyfuncdbg.observers.record.trace import Trace

DTYPES = [np.dtype(name) for name in ('?', 'i1', 'f4', '>f4', 'f8', 'c16', 'M8[ns]', 'S3', 'U2', 'i4,f8')]
WAYS: list[Callable[[np.ndarray], np.ndarray]] = [
    np.copy, lambda array: array[..., ::-1] if array.ndim else array, np.transpose, lambda array: array.reshape(-1),
    lambda array: np.asfortranarray(np.concatenate([array.reshape(-1)] * 40).reshape(8, -1)) if array.size else array,
    lambda array: np.resize(array, (3, 64)) if array.size else array]
"""What a call may get of an array: the same, one of the same bytes in another shape, one not in one piece, a large one."""
arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_side=4, min_side=0)))


def queued(recorder: Recorder, inputs: list[Any], outputs: list[Any], change: int) -> tuple[QueuedCall, list[bytes]]:
    """The record of one call, in which the function adds to one of its inputs; and what these held after it."""
    site = CallSite('f', 'PyFunc', 'python', HOST)
    call = new_call(site, new_run(), [value.copy() if isinstance(value, np.ndarray) else value for value in inputs], 7, 11)
    kept = recorder.on_begin(call)
    if inputs and isinstance(value := call.inputs[change % len(inputs)], np.ndarray) and value.dtype.kind == 'f':
        value += 1
    recorder.on_return(call, kept, outputs)
    return recorder._backlog.rows[-1], [value.tobytes() for value in call.inputs]


def kept_of(taken: Any) -> tuple[str, tuple[int, ...], bytes, bool]:
    """Type, shape and bytes of a value in the queue, and whether the call changed it."""
    if isinstance(taken, tuple):
        return str(taken[0]), *taken[1:]
    if isinstance(taken, np.generic):
        return str(taken.dtype), (), taken.tobytes(), False
    assert isinstance(taken, Snapshot) and taken.data is not None
    changed = taken.after is not None and taken.after != digest(taken.data)
    return str(taken.dtype), taken.shape, bytes(taken.data), changed


@given(given_arrays=st.lists(arrays, min_size=1, max_size=4), data=st.data())
def test_what_is_queued_is_what_there_was(given_arrays: list[np.ndarray], data: st.DataObject) -> None:
    recorder = Recorder(Path('never-made.pfd'))
    with np.errstate(all='ignore'):
        for _ in range(4):
            values, results = ([data.draw(st.sampled_from(WAYS))(array)
                                for array in data.draw(st.permutations(given_arrays))] for _ in range(2))
            values.append(np.float32(1))
            row, after = queued(recorder, values, results, data.draw(st.integers(0, 4)))
            assert [kept_of(taken) for taken in row.inputs] == [
                (str(value.dtype), value.shape, value.tobytes(), value.tobytes() != now)
                for value, now in zip(values, after, strict=True)]
            assert [kept_of(taken) for taken in row.outputs] == [
                (str(value.dtype), value.shape, value.tobytes(), False) for value in results]


@pytest.mark.parametrize('kind', '?bhilqBHILQefdgFDG')
@pytest.mark.parametrize('order', '=S')
def test_arrays_without_dimensions_are_queued_as_scalars_where_they_can(kind: str, order: str) -> None:
    """Of each type the bytes of its elements, those of a NaN included."""
    dtype = np.dtype(kind).newbyteorder(order)
    recorder = Recorder(Path('never-made.pfd'))
    with np.errstate(all='ignore'):
        for data in (bytes(range(1, 1 + dtype.itemsize)), b'\xff' * dtype.itemsize, bytes(dtype.itemsize)):
            value = np.frombuffer(data if kind != '?' else data[:1] and bytes([data[0] & 1]), dtype)[0:1].reshape(())
            row, (after,) = queued(recorder, [value], [value, value.copy()], 0)
            assert [kept_of(taken) for taken in (*row.inputs, *row.outputs)] == [
                (str(dtype), (), value.tobytes(), value.tobytes() != after), *[(str(dtype), (), value.tobytes(), False)] * 2]
            scalar = dtype.isnative and dtype.type in SCALARS
            assert [isinstance(taken, dtype.type) for taken in row.outputs] == [scalar, scalar]


def test_calls_that_run_are_told_and_may_end_in_any_order() -> None:
    recorder = Recorder(Path('never-made.pfd'))
    site, form = CallSite('f', 'PyFunc', 'python', HOST), recorder.calls
    calls = [new_call(site, new_run(), [np.float32(number)], 7, 11) for number in range(40)]
    begun = [(call, form.on_begin(call)) for call in calls]
    assert [call for call, *_ in recorder._backlog.running_calls()] == calls
    assert [form.call_of(call.inputs) for call in calls] == calls and form.call_of([np.float32(0)]) is None
    for call, kept in begun[::2]:
        form.on_return(call, kept, ())
    assert [call for call, *_ in recorder._backlog.running_calls()] == calls[1::2]
    error = ValueError('it')
    for call, kept in reversed(begun[1::2]):
        recorder.on_error(call, kept, error)
    assert not recorder._backlog.running_calls()
    assert sorted(row.id for row in recorder._backlog.rows) == [call.id for call in calls]


def test_a_copy_is_shared_only_by_what_is_the_same() -> None:
    recorder = Recorder(Path('never-made.pfd'))
    site, form = CallSite('f', 'PyFunc', 'python', HOST), recorder.calls
    first = np.arange(64, dtype=np.float32)
    others = [first.copy(), first.reshape(8, 8), first.view(np.int32), first + 1, first.copy()]
    rows = []
    for value in others:
        call = new_call(site, new_run(), [value], 7, 11)
        form.on_return(call, form.on_begin(call), [value])
        rows.append(recorder._backlog.rows[-1])
    for row, value in zip(rows, others, strict=True):
        (dtype, shape, data, changed), = row.inputs
        assert (dtype, shape, data, changed) == (value.dtype, value.shape, value.tobytes(), False)
        assert row.outputs[0] is row.inputs[0]          # what it got it gave
    assert len({id(row.inputs[0]) for row in rows}) == 5


def test_memory_that_is_written_to_later_is_no_part_of_what_was_kept() -> None:
    recorder = Recorder(Path('never-made.pfd'))
    site, form = CallSite('f', 'PyFunc', 'python', HOST), recorder.calls
    value = np.zeros(100)
    for step in itertools.islice(itertools.count(1), 5):
        call = new_call(site, new_run(), [value], 7, 11)
        kept = form.on_begin(call)
        value += step
        form.on_return(call, kept, [value])
    seen = [(np.frombuffer(row.inputs[0][2])[0], row.inputs[0][3], np.frombuffer(row.outputs[0][2])[0])
            for row in recorder._backlog.rows]
    assert seen == [(0, True, 1), (1, True, 3), (3, True, 6), (6, True, 10), (10, True, 15)]


def test_what_a_type_holds_dies_with_its_arrays() -> None:
    class Held:
        """Something that a dtype refers to."""

    alive: weakref.WeakSet[Held] = weakref.WeakSet()
    recorder = Recorder(Path('never-made.pfd'))
    site, form = CallSite('f', 'PyFunc', 'python', HOST), recorder.calls
    for make in (lambda held: np.dtype('f4', metadata={'held': held}),
                 lambda held: np.dtype([('a', np.dtype('f4', metadata={'held': held}))])):
        held = Held()
        alive.add(held)
        value = np.zeros(100, make(held))
        call = new_call(site, new_run(), [value], 7, 11)
        form.on_return(call, form.on_begin(call), [value])
        recorder._backlog.rows.clear()
        del held, value, call
    gc.collect()
    assert not alive


@pytest.mark.parametrize(('reason', 'is_read'), [(NOT_COMPUTED, True), ('without elements', False)])
@pytest.mark.parametrize('fails', [False, True])
def test_an_input_that_is_computed_during_the_call_is_read_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                    reason: str, is_read: bool, fails: bool) -> None:
    """One that has got its elements in another way was none before the call, and is none in its record."""
    class Later:
        elements: np.ndarray | None = None

    def to_numpy(self: Any, value: Any) -> np.ndarray:
        if isinstance(value, Later) and value.elements is None:
            raise ValueNotKnown(UnknownValue(np.dtype('f4'), (2,), reason))
        return np.asarray(value.elements if isinstance(value, Later) else value)
    monkeypatch.setattr(PlainHost, 'to_numpy', to_numpy)

    def compute(value: Later) -> list[Any]:
        value.elements = np.array([1, 2], 'f4')
        if fails:
            raise ZeroDivisionError
        return [value.elements]
    site = CallSite('f', 'PyFunc', 'python', HOST, function=compute)
    with Recorder(tmp_path / 'trace', capture='off'), contextlib.suppress(ZeroDivisionError):
        invoke(site, compute, new_run(), [Later()])
    with Trace.open(tmp_path / 'trace') as trace:
        ((tensor,),) = [call.inputs for call in trace.calls()]
    assert (tensor.dtype, tensor.shape, tensor.note) == ('float32', (2,), '' if is_read else f'not known: {reason}')
    assert not is_read or tensor.to_numpy().tolist() == [1, 2]
