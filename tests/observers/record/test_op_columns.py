"""Ops recorded together: what a trace gives of them is what it gives of the same calls one by one."""
from __future__ import annotations

import threading
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_host import new_run, new_site

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.op_batch import MOST_OPS, OpBatch, OpSequence, deliver
from pyfuncdbg.hooks.value_placeholders import LaterValue, UnknownValue, ValueNotKnown
from pyfuncdbg.observers.record.log import op_columns
from pyfuncdbg.observers.record.log.call_batch import BAD, Batch, decode_msgpack, summary_of
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.redaction import Redaction
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.float16, np.complex64]


def chain_of(count: int, name: str = 'op') -> OpSequence:
    """Ops that each take the result of the one before and the second value."""
    sites = [new_site(None, f'{name}{i}', 'op', inputs=['a:0', 'b:0'], outputs=[f'{name}{i}:0']) for i in range(count)]
    return OpSequence(sites, [(i + 1 if i else 0, 1) for i in range(count)], [(i + 2,) for i in range(count)], copied=(0, 1))


def batch_of(sequence: OpSequence, run: Run, values: list[Any], ran: int | None = None) -> OpBatch:
    """A run of a sequence, or of so many of its ops."""
    batch = OpBatch(sequence, run, list(values))
    for _ in range(len(sequence.sites) if ran is None else ran):
        batch.times.append(perf_counter_ns())
    return batch


def record(path: Path, sequence: OpSequence, runs: list[list[Any]], together: bool, **options: Any) -> None:
    """Record runs, handed over together or call by call."""
    with Recorder(path, ops=True, capture='off', **options) as recorder:
        for values in runs:
            run = new_run()
            if together:
                deliver(hooks.op_recorder, batch_of(sequence, run, values))
                continue
            for site, inputs, outputs in zip(sequence.sites, sequence.inputs, sequence.outputs, strict=True):
                invoke(site, lambda *_, places=outputs: [values[place] for place in places], run,  # noqa: B023
                       [values[place] for place in inputs])
        assert hooks.op_recorder is recorder


def recorded(path: Path, sequence: OpSequence, runs: list[list[Any]], together: bool, **options: Any) -> list[CallRecord]:
    """The records of such runs, of a trace that is closed."""
    record(path, sequence, runs, together, **options)
    with Trace.open(path) as trace:
        assert not trace.info().damage and not trace.info().dropped
        return trace.calls(kind='op')


def contents(path: Path, sequence: OpSequence, runs: list[list[Any]], together: bool, **options: Any) -> list[list[Any]]:
    """What the records of such runs say."""
    record(path, sequence, runs, together, **options)
    with Trace.open(path) as trace:
        assert not trace.info().damage and not trace.info().dropped
        return [content(call) for call in trace.calls(kind='op')]


def content(call: CallRecord) -> list[Any]:
    """What a record says, without numbers of calls, runs and times."""
    def tensor(one: Any) -> list[Any]:
        return [one.name, one.dtype, one.shape, one.nbytes, one.level, one.note, repr(one.stats),
                one.to_numpy().tobytes() if one.level == 'full' else None]
    return [call.site.name, call.ordinal, call.parent, [tensor(one) for one in call.inputs],
            [tensor(one) for one in call.outputs], call.error, call.dropped]


def values_of(seed: int, count: int, dtype: Any, shape: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(seed)
    values = [(random.standard_normal(shape) * 50).astype(dtype) for _ in range(count)]
    if values[0].dtype.kind == 'f' and values[-1].size:
        values[-1].reshape(-1)[-1] = np.nan
    return values


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(TYPES), st.sampled_from([(), (1,), (3,), (5, 4), (0, 3), (40, 50)]), st.integers(1, 5),
       st.sampled_from([{'level': 'full'}, {'full_limit': 0}, {'full_limit': 200}, {'level': 'none'}]))
def test_together_as_one_by_one(tmp_path_factory, dtype, shape, count, options):
    path = tmp_path_factory.mktemp('ops')
    runs = [values_of(seed, count + 2, dtype, shape) for seed in (1, 1, 2)]
    one_by_one = contents(path / 'a.pfd', chain_of(count), runs, False, **options)
    together = contents(path / 'b.pfd', chain_of(count), runs, True, **options)
    assert together == one_by_one
    assert len(together) == 3 * count


def test_numbers_times_and_parents(tmp_path):
    sequence, run = chain_of(3), new_run()
    values = values_of(0, 5, np.float32, (2,))
    with Recorder(tmp_path / 'a.pfd', ops=True):
        batch = batch_of(sequence, run, values)
        times = list(batch.times)
        outer = new_site(None, 'outer', 'op')
        invoke(outer, lambda *_: [deliver(hooks.op_recorder, batch)] and [values[0]], run, [values[0]])
        invoke(sequence.sites[0], lambda *_: [values[0]], run, [values[0]])
    with Trace.open(tmp_path / 'a.pfd') as trace:
        by_name = {(call.site.name, call.ordinal): call for call in trace.calls(kind='op')}
        assert sorted(by_name) == [('op0', 0), ('op0', 1), ('op1', 0), ('op2', 0), ('outer', 0)]
        around = by_name['outer', 0]
        assert [by_name[f'op{i}', 0].parent for i in range(3)] == [around.number] * 3
        assert by_name['op0', 1].parent == ''
        numbers = [int(by_name[key].number) for key in [('outer', 0), ('op0', 0), ('op1', 0), ('op2', 0), ('op0', 1)]]
        assert numbers == list(range(numbers[0], numbers[0] + 5))
        ends = [by_name['op0', 0].started, *(call.started + call.duration for call in (by_name[f'op{i}', 0]
                                                                                     for i in range(3)))]
        assert np.allclose(np.diff(ends), np.diff(times) / 1e9, atol=2e-9)
        assert {call.run for call in by_name.values()} == {run.id}


def test_a_beginning_of_a_sequence(tmp_path):
    sequence = chain_of(4)
    values = values_of(0, 6, np.float32, (2,))
    with Recorder(tmp_path / 'a.pfd', ops=True):
        deliver(hooks.op_recorder, batch_of(sequence, new_run(), values[:4], ran=2))
        deliver(hooks.op_recorder, batch_of(sequence, new_run(), values[:2], ran=0))
        deliver(hooks.op_recorder, batch_of(sequence, new_run(), values))
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert [(call.site.name, call.ordinal) for call in trace.calls(kind='op')] == [
            ('op0', 0), ('op1', 0), ('op0', 1), ('op1', 1), ('op2', 0), ('op3', 0)]


def test_what_may_change_is_copied_when_it_is_delivered(tmp_path):
    sequence = chain_of(2)
    values = [np.full(100, float(i)) for i in range(4)]
    values[3] = values[0][::-1]                 # a view of what the program has fed
    with Recorder(tmp_path / 'a.pfd', ops=True, level='full') as recorder:
        deliver(hooks.op_recorder, batch_of(sequence, new_run(), values))
        values[0][:] = values[1][:] = -1
        recorder.flush()
    with Trace.open(tmp_path / 'a.pfd') as trace:
        first, second = trace.calls(kind='op')
        assert [one.to_numpy()[0] for one in (*first.inputs, *first.outputs)] == [0, 1, 2]
        assert second.outputs[0].to_numpy()[0] == 0


def test_values_that_are_no_arrays_of_numbers(tmp_path):
    sequence = chain_of(2)
    texts = np.array([b'a', b'bc'], object)
    values = [texts, np.float32(2.5), None, np.array(['x', 'yz'])]
    calls = recorded(tmp_path / 'a.pfd', sequence, [values], True)
    assert calls[0].inputs[0].to_numpy().tolist() == [b'a', b'bc'] and calls[0].inputs[1].to_numpy() == 2.5
    assert calls[0].outputs[0].absent and calls[1].outputs[0].to_numpy().tolist() == [b'x', b'yz']


@pytest.mark.parametrize('level', ['none', 'stats', 'full'])
def test_values_that_the_recorder_reads_itself(tmp_path: Path, level: str) -> None:
    """They are as if they had been there; where one cannot be read, the reason is. No copy is no loss."""
    import ml_dtypes
    threads = set()
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, ml_dtypes.bfloat16), np.full(9_000_000, np.nan, 'f')]

    def later(array: np.ndarray) -> LaterValue:
        def read() -> np.ndarray:
            threads.add(threading.get_ident())
            return array
        return LaterValue(array.dtype, array.shape, read)

    def unknown() -> np.ndarray:
        raise ValueNotKnown(UnknownValue(np.dtype('i4'), (2,), 'held back'))
    never = LaterValue(np.dtype('i4'), (2,), unknown)
    read_later = [later(array) for array in arrays]
    with Recorder(tmp_path / 'trace', ops=True, level=level, budget=64 << 20) as recorder:
        for first, second, third in ((read_later[0], never, read_later[1]), (read_later[2], read_later[0], read_later[2])):
            batch = batch_of(chain_of(1), new_run(), [first, second, third])
            batch.awaits = True
            deliver(hooks.op_recorder, batch)
        assert threading.get_ident() not in threads     # only where it flushes
        recorder.flush()
    assert bool(threads) is (level != 'none')
    with Trace.open(tmp_path / 'trace') as trace:
        (small, held), (large, again) = [call.inputs for call in trace.calls(kind='op')]
        (brain,), (result,) = [call.outputs for call in trace.calls(kind='op')]
    assert [(one.dtype, one.shape) for one in (small, held, brain, large)] == [
        ('float32', (2, 3)), ('int32', (2,)), ('bfloat16', (3,)), ('float32', (9_000_000,))]
    if level == 'none':
        assert {one.level for one in (small, held, brain, large, again, result)} == {'none'}
        return
    assert small.to_numpy().tolist() == again.to_numpy().tolist() == arrays[0].tolist() and brain.stats.max == 1
    assert (held.level, held.note) == ('none', 'not known: held back') and large.stats.nan == result.stats.nan == 9_000_000


def test_many_runs_are_few_records_and_copies_keep_them(tmp_path):
    sequence = chain_of(10)
    runs = [values_of(seed, 12, np.float32, (30,)) for seed in range(120)]
    calls = recorded(tmp_path / 'a.pfd', sequence, runs, True, full_limit=0)
    assert len(calls) == 1200
    numbers = np.sort([int(call.number) for call in calls])[100:150]
    for name, options, count in (('whole', {}, 1200), ('some', {'ids': {1: numbers}}, 50),
                                 ('redacted', {'redaction': Redaction(values=True)}, 1200)):
        copy_trace(tmp_path / 'a.pfd', tmp_path / f'{name}.pfd', **options)
        with Trace.open(tmp_path / f'{name}.pfd') as trace:
            copied = {call.number: call for call in trace.calls(kind='op')}
            assert not trace.info().damage and len(copied) == count
            if name == 'redacted':
                assert all(one.level == 'none' or one.stats is None for call in copied.values() for one in call.outputs)
            else:
                assert [content(copied[call.number]) for call in calls if call.number in copied] == [
                    content(call) for call in calls if call.number in copied]


def test_the_host_gets_its_arrays_back(tmp_path):
    back: list[Any] = []
    sequence, values = chain_of(2), values_of(0, 4, np.float32, (50,))
    batch = batch_of(sequence, new_run(), values)
    batch.recycle = back.append
    with Recorder(tmp_path / 'a.pfd', ops=True) as recorder:
        deliver(hooks.op_recorder, batch)
        recorder.flush()
        assert [value is mine for value, mine in zip(back[0], values, strict=True)] == [False, False, True, True]
        assert recorder._snapshots.allowance.used == 0 and batch.values == []


def test_what_has_no_room_is_counted(tmp_path):
    sequence = chain_of(20)
    with Recorder(tmp_path / 'a.pfd', ops=True, level='full', budget=256 << 10):
        for seed in range(60):
            deliver(hooks.op_recorder, batch_of(sequence, new_run(), values_of(seed, 22, np.float32, (300,))))
    with Trace.open(tmp_path / 'a.pfd') as trace:
        info, calls = trace.info(), trace.calls(kind='op')
        assert not info.damage and sum(log.stat().st_size for log in (tmp_path / 'a.pfd').iterdir()) <= 256 << 10
        assert len(calls) + info.dropped.get('calls', 0) == 1200
        assert info.dropped['tensors'] > 0 and any(call.outputs[0].note == 'over budget' for call in calls)
        assert all(one.level == 'full' or one.note == 'over budget' for call in calls for one in call.outputs)


@pytest.mark.parametrize('options', [{'level': 'full'}, {'full_limit': 0}, {'full_limit': 30_000}, {'level': 'none'}])
@pytest.mark.parametrize(('length', 'budget'), [(10_000, 2_097_152), (70_000, 4_194_304)])
def test_values_that_have_no_room_in_memory_together_are_kept_as_any(tmp_path, options, length, budget):
    assert (4 * length > budget // 16) is (length == 70_000)       # larger than the memory together, or each
    runs = [values_of(1, 8, np.float32, (length,)) for _ in range(2)]
    unbounded = contents(tmp_path / 'a.pfd', chain_of(6), runs, True, budget=1 << 30, **options)
    bounded = contents(tmp_path / 'b.pfd', chain_of(6), runs, True, budget=budget, **options)
    assert bounded == unbounded and len(bounded) == 12


def test_values_to_be_read_later_that_have_no_room_in_memory_are_read_at_once(tmp_path):
    arrays = values_of(0, 8, np.float32, (10_000,))
    values: list[Any] = [LaterValue(array.dtype, array.shape, lambda array=array: array) for array in arrays]
    with Recorder(tmp_path / 'a.pfd', ops=True, level='full', budget=2 << 20) as recorder:
        batch = batch_of(chain_of(6), new_run(), values)
        batch.awaits = True
        deliver(hooks.op_recorder, batch)
        recorder.flush()
        assert recorder._snapshots.allowance.used == 0
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert not trace.info().dropped
        kept = [tensor.to_numpy() for call in trace.calls(kind='op') for tensor in call.outputs]
    assert [one.tobytes() for one in kept] == [one.tobytes() for one in arrays[2:]]


def test_of_what_has_no_room_on_disk_nan_is_found(tmp_path):
    values = values_of(0, 8, np.float32, (10_000,))
    with Recorder(tmp_path / 'a.pfd', ops=True, level='full', budget=128 << 10):
        deliver(hooks.op_recorder, batch_of(chain_of(6), new_run(), values))
    with Trace.open(tmp_path / 'a.pfd') as trace:
        calls = trace.calls(kind='op')
        assert [call.ordinal for call in calls] == [0] * 6 and trace.info().dropped['tensors'] >= 6
        assert [call.site.name for call in trace.calls(kind='op', bad=True)] == ['op5']
        assert calls[-1].outputs[0].stats.nan == 1 and calls[-1].outputs[0].note == 'over budget'


def test_ops_are_kept_while_running_calls_hold_all_memory(tmp_path):
    def inner(*_):
        deliver(hooks.op_recorder, batch_of(sequence, run, values_of(0, 402, np.float32, (2,))))
        return [np.float32(0)]
    sequence, run = chain_of(400), new_run()            # 51,200 bytes of the 65,536 without values
    with Recorder(tmp_path / 'a.pfd', ops=True, budget=1 << 20) as recorder:
        invoke(new_site(None, 'outer', 'python'), inner, run, [np.zeros(15_000, np.float32)])
        recorder.flush()
        assert recorder._snapshots.allowance.used == 0
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert trace.count(kind='op') == 400 and not trace.info().dropped


def test_a_mistake_of_the_recorder_is_no_error_of_the_program(tmp_path, capfd):
    sequence = chain_of(1)
    with Recorder(tmp_path / 'a.pfd', ops=True) as recorder:
        recorder.on_ops = lambda batch: 1 / 0
        deliver(hooks.op_recorder, batch_of(sequence, new_run(), values_of(0, 3, np.float32, (2,))))
        assert hooks.op_recorder is None and not hooks.op
    assert 'Recorder failed at op calls from #' in capfd.readouterr().err


def test_only_a_recorder_of_all_ops_takes_them_together(tmp_path):
    for options, together in (({'ops': True}, True), ({}, False), ({'ops': True, 'every': 2}, False),
                              ({'ops': True, 'level': 'op*=full,*=stats'}, False)):
        with Recorder(tmp_path / f'{len(options)}{together}{options.get("every")}.pfd', **options) as recorder:
            assert (hooks.op_recorder is recorder) is together
    with Recorder(tmp_path / 'x.pfd', ops=True), Recorder(tmp_path / 'y.pfd', ops=True):
        assert hooks.op_recorder is None
    assert hooks.op_recorder is None


def test_a_sequence_is_not_too_long():
    with pytest.raises(ValueError, match='a sequence of 513 ops; expected 512 at most'):
        chain_of(MOST_OPS + 1)


def payload() -> bytes:
    """A record of two ops, one of which has a NaN."""
    class Store:
        def place_array(self, array: np.ndarray) -> Any:
            return [array.tobytes()]

        def miss(self, nbytes: int) -> None:
            raise AssertionError

        def describe(self, snapshot: Any) -> list[Any]:
            raise AssertionError
    batch = batch_of(chain_of(2), new_run(), [np.float32([1, 2]), np.float32(3), np.float64([1, np.nan]), np.int8([[1]])])
    batch.ordinals = [0, 0]
    return op_columns.encode([op_columns.QueuedOps(batch, 1 << 20, 0), op_columns.QueuedOps(batch, 0, 0)], Store())


def test_the_summary_and_the_descriptions_of_a_record():
    body = payload()
    batch = Batch(body)
    assert batch.count == 4 and list(summary_of(body, lambda entry: False).flags) == [BAD, BAD, BAD, BAD]
    inputs, outputs = batch.tensors(1)
    assert inputs[0][:5] == ['float64', [2], 16, 2, [np.float64([1, np.nan]).tobytes()]] and inputs[1] == np.float32(3)
    assert outputs == [['int8', [1, 1], 1, 2, [b'\1'], False, '', None, False]]
    (_, _, nbytes, level, where, _, _, stats, bad), = batch.tensors(2)[1]
    assert (nbytes, level, where, stats[:2], stats[-1], bad) == (16, 1, None, [2, 1], [1], True)
    assert len(batch.descriptions()) == 8


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_columns_are_errors_and_no_crash(data):
    fields = decode_msgpack(payload())
    place: Any = fields[15]
    while True:
        at = data.draw(st.integers(0, len(place) - 1))
        if isinstance(place[at], list) and place[at] and data.draw(st.booleans()):
            place = place[at]
            continue
        place[at] = data.draw(st.sampled_from(
            [None, -1, 1 << 40, [], b'', b'x' * 16, 'x', [[1, 2]], [0, 1, b'\xff' * 6], 1.5]))
        break
    try:
        batch = Batch(msgpack.packb(fields))
        batch.descriptions()
        batch.tensors(3)
    except ValueError:
        pass
