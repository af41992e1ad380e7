"""Columns of numbers in records: of many records together as of each alone, and what no writer writes is refused."""
from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given, strategies as st
from plain_host import wrapped

from pyfuncdbg.observers.record.index.tables import UNFINISHED, Table, call_table, rank_keys
from pyfuncdbg.observers.record.log import columns, log_file, run_batch
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack
from pyfuncdbg.observers.record.log.log_file import LogFrame, LogReader
from pyfuncdbg.observers.record.log.run_batch import NO_ELEMENT
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

_64 = st.integers(-1 << 63, (1 << 63) - 1)
_NUMBERS = st.one_of(st.lists(st.integers(-5, 200), min_size=1, max_size=20), st.lists(_64, min_size=1, max_size=20),
                     _64.map(lambda number: [number] * 3))


@given(st.lists(_NUMBERS, min_size=1, max_size=6))
def test_columns_of_several_records_come_back_in_their_order(records: list[list[int]]) -> None:
    packed = [columns.check(decode_msgpack(msgpack.packb(columns.pack(numbers))), len(numbers)) for numbers in records]
    assert columns.unpack(packed, [len(numbers) for numbers in records]).tolist() == list(chain.from_iterable(records))


@given(_NUMBERS, st.integers(1, 3))
def test_compiled_and_numpy_pack_alike(numbers: list[int], stride: int) -> None:
    forms: list[list[int] | tuple[int, ...] | np.ndarray] = [numbers, tuple(numbers), np.repeat(numbers, stride)[::stride]]
    compiled = [columns.pack(form) for form in forms]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(columns, '_pack_list', None)
        monkeypatch.setattr(columns, '_pack_array', None)
        assert compiled == [columns.pack(form) for form in forms]


@pytest.mark.parametrize('column', [[1 << 63], [0, -1 << 64], []])
def test_a_column_that_does_not_fit_is_refused(column: list[int]) -> None:
    with pytest.raises((OverflowError, ValueError)):
        columns.pack(column)


@pytest.mark.parametrize(('column', 'why'), [
    ('abc', 'wrong column'), ([0, 0], 'wrong column'), ([0, 3, b'abc'], 'wrong column'), ([0.0, 0, b''], 'wrong column'),
    ([True, 0, b''], 'wrong column'), ([0, True, b'a'], 'wrong column'), ([0, '1', b'a'], 'wrong column'),
    ([1 << 63, 0, b''], 'out of range'), ([-1 << 64, 0, b''], 'out of range'), ([0, 1, b'abc'], 'wrong size'),
    ([0, 2, 'ab'], 'wrong size'), ([0, 8, b''], 'wrong size')])
def test_what_is_no_column_is_refused(column: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        columns.check(column, 1)


@given(st.lists(st.one_of(st.tuples(_64, _64, _64), st.tuples(_64, _64, _64, _64)), min_size=1, max_size=columns.MOST_ROWS))
def test_runs_come_back_from_this_and_the_earlier_form(runs: list[tuple[int, ...]]) -> None:
    expected = [list((*run, NO_ELEMENT)[:4]) for run in runs]
    for content in (run_batch.encode(runs), [list(run) for run in runs]):
        count, packed = run_batch.decode(decode_msgpack(msgpack.packb(content)))
        assert np.stack([columns.unpack([column], [count]) for column in packed], 1).tolist() == expected


@pytest.mark.parametrize('content', [
    [], 3, {}, [0, *[[0, 0, b'']] * 4], [1 << 40, *[[0, 0, b'']] * 4], [True, *[[0, 0, b'']] * 4], [1, *[[0, 0, b'']] * 3],
    [1, *[[0, 0, b'']] * 5], [2, *[[0, 1, b'a']] * 4], [[1, 2]], [[1, 2, 3], 4], [[1, 2, 'x']], [[1, 2, True]]])
def test_what_is_no_record_of_runs_is_refused(content: object) -> None:
    with pytest.raises(ValueError):
        run_batch.decode(content)


_APPENDED = st.lists(st.tuples(_NUMBERS, st.sampled_from(['array', 'constant', 'int'])), max_size=8)


@given(_APPENDED, st.sampled_from([1, 3, 1_000]), st.data())
def test_a_table_holds_what_was_appended_in_whatever_form(appended: list[tuple[list[int], str]], times: int,
                                                          data: st.DataObject) -> None:
    table, expected = Table({'id': np.int64, 'other': np.int64}, lambda columns: np.arange(len(columns['id']))), list[int]()
    views = []
    for numbers, form in appended:
        same = form != 'array'
        numbers = ([numbers[0]] * len(numbers) if same else numbers) * times
        column: int | np.ndarray = numbers[0]
        if form != 'int':
            column = np.broadcast_to(np.int64(numbers[0]), len(numbers)) if same else np.array(numbers, np.int64)
        table.append(len(numbers), {'id': np.array(numbers, np.int64), 'other': column})
        expected += numbers
        views.append((table.view(), len(expected)))
    whole = np.array(expected, np.int64)
    for view, count in views:                   # those that were given out before have not changed
        assert len(view['id']) == count
        for column in (view['id'], view['other']):
            assert np.array_equal(column.to_numpy(), whole[:count])
            assert column.least() == whole[:count].min() and column.is_constant() == (len(set(expected[:count])) == 1)
    if views:
        some = st.integers(0, len(expected) - 1)
        rows = np.array(data.draw(st.lists(some, max_size=min(9, len(expected) // 2))), np.int64)
        assert view['id'][rows].tolist() == whole[rows].tolist()
        assert [view['other'][row] for row in rows.tolist()] == whole[rows].tolist()


def test_a_million_calls_take_little_memory() -> None:
    """As a log gives them: numbers that grow, few sites, records of 512."""
    table, count, rng = call_table(), 1 << 20, np.random.default_rng(1)
    number = np.arange(count) + np.tile([1, -1], count // 2)
    columns = {'process': 1, 'id': number + 1, 'run': number // 10, 'site': number % 9, 'ordinal': number // 9,
               'thread': rng.integers(0, 4, count) << 23, 'started': number * 100_000, 'duration': 50_000 + number % 977,
               'flags': np.where(number % 512 == 0, 1, 0), 'forward': 0, 'parent': 0, 'size': 16,
               'position': number // 512 * 99_999, 'head': number // 512 * 512}
    tracemalloc.start()
    for start in range(0, count, 1 << 14):
        table.append(1 << 14, {name: column if isinstance(column, int) else column[start:start + (1 << 14)]
                               for name, column in columns.items()})
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 24 * count
    view = table.view()
    assert np.array_equal(view['id'][view.rows], np.arange(1, count + 1)) and view.rows.dtype == np.int32
    for name, column in columns.items():
        assert np.array_equal(view[name].to_numpy(), np.broadcast_to(column, count)), name


@pytest.mark.parametrize('order', ['up', 'down', 'far', 'random', 'twice', 'processes'])
def test_rows_are_those_that_count_in_order(order: str) -> None:
    table, count, rng = call_table(), 200_000, np.random.default_rng(2)
    ids = {'up': np.arange(count), 'down': np.arange(count)[::-1], 'far': np.roll(np.arange(count), 70_000),
           'random': rng.permutation(count), 'twice': np.arange(count) // 2, 'processes': np.arange(count) % 60_000}[order]
    ids = ids + 1
    processes = 1 + np.arange(count) // 60_000 if order == 'processes' else np.ones(count, np.int64)
    duration = rng.integers(-1, 2, count)
    columns = dict.fromkeys(('run', 'site', 'ordinal', 'thread', 'started', 'flags', 'forward', 'parent', 'position', 'head',
                             'size'), 0)
    table.append(count, {**columns, 'process': processes, 'id': ids, 'duration': duration})
    chosen: dict[tuple[int, int], int] = {}
    for row, (process, id_, lasted) in enumerate(zip(processes.tolist(), ids.tolist(), duration.tolist(), strict=True)):
        key = process, id_
        if lasted != UNFINISHED or key not in chosen or duration[chosen[key]] == UNFINISHED:
            chosen[key] = row
    view = table.view()
    assert view.rows.tolist() == [chosen[key] for key in sorted(chosen)]
    for process, id_ in ((1, 1), (1, count // 2), (1, 60_000), (2, 7), (4, 20_000), (1, count + 1), (9, 1)):
        assert view.row(process, id_) == chosen.get((process, id_))
    assert view.nearest_ids(1, 5_000_000)[0] == max(id_ for process, id_ in chosen if process == 1)


@given(st.lists(st.integers(-1 << 60, 1 << 60), min_size=1, max_size=6), st.data())
def test_ranks_are_those_of_unique(keys: list[int], data: st.DataObject) -> None:
    drawn = np.array(data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=30)), np.int64)
    known, ranks = rank_keys(np.concatenate((np.full(5000, drawn[0]), drawn)))
    expected = np.unique(np.concatenate((np.full(5000, drawn[0]), drawn)), return_inverse=True)
    assert known.tolist() == expected[0].tolist() and ranks.tolist() == expected[1].reshape(-1).tolist()


def test_reading_that_is_broken_off_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are put into the table some records later than they are read: none may be missing then, and none twice."""
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(40):
            call(np.float32(number))
            recorder.flush()
    whole = LogReader.frames
    for after in range(1, 40, 6):
        def frames(self: LogReader, start: int, base: int = 0, after: int = after) -> Iterator[LogFrame]:
            for number, frame in enumerate(whole(self, start, base)):
                if number == after:
                    raise KeyboardInterrupt
                yield frame
        trace = Trace(tmp_path / 't.pfd')
        with trace:
            monkeypatch.setattr(LogReader, 'frames', frames)
            with pytest.raises(KeyboardInterrupt):
                trace.refresh()
            monkeypatch.setattr(LogReader, 'frames', whole)
            trace.refresh()
            assert [int(given.inputs[0].to_numpy()) for given in trace.calls()] == list(range(40))
            assert len(trace._index.calls.view()['id']) == 40


def test_of_records_read_together_only_the_damaged_one_is_lost(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(9):
            call(np.float32(number))
            recorder.flush()
    (log,) = (tmp_path / 't.pfd').glob('*.log')
    with Trace.open(tmp_path / 't.pfd') as trace:
        records = list(LogReader(log).frames(0))
    data = log.read_bytes()[:log_file.HEADER_SIZE]
    calls = 0
    for record in records:
        payload = record.payload
        if record.kind == log_file.CALLS and (calls := calls + 1) == 4:
            fields = decode_msgpack(payload)
            fields[1][0] = [0, 5, b'']
            payload = msgpack.packb(fields)
        data += b''.join(log_file.frame(record.kind, payload))
    log.write_bytes(data)
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [int(held.inputs[0].to_numpy()) for held in trace.calls()] == [0, 1, 2, 4, 5, 6, 7, 8]
        assert len(trace.info().damage) == 1 and 'wrong column' in trace.info().damage[0]
