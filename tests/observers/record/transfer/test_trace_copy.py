"""Copies of traces: each call that is kept is as it was, what it names comes along, and the rest is counted."""
from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyfuncdbg.errors import DroppedError, TraceError
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.log_file import LogFile, LogReader
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.redaction import Redaction
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

sys.path.insert(0, str(Path(__file__).parents[1]))
from plain_host import new_run, wrapped
from test_formats import contents

FORMATS = Path(__file__).parents[1] / 'formats'


def work(x: Any) -> list[Any]:
    print('work on', x.size)
    if x.flat[0] == 7:
        large = np.full(3000, 7.0)
        raise ValueError(f'seven, {large.size}')
    if x.flat[0] == 9:
        x[...] = 1
    return [x * 2, np.float32(x.flat[0]), np.array([b'text', b'more' * 20], object)]


@pytest.fixture(scope='module')
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls of two sites in five runs: scalars, small and large arrays, text, output, an exception with variables."""
    path = tmp_path_factory.mktemp('original') / 'o.pfd'
    one, other = wrapped(work, 'one'), wrapped(work, 'other')
    with Recorder(path, capture='only') as recorder:
        for number in range(40):
            run = new_run(f'run {number // 8}') if number % 8 == 0 else run   # noqa: F821
            call = one if number % 3 else other
            size = (2, 500, 5000)[number % 3]
            with contextlib.suppress(ValueError):
                call(np.full(size, float(number % 16)), run=run)
            if number == 20:
                recorder.flush()
            recorder.note('kept', {'number': number})
    return path


def content(call: CallRecord) -> list[Any]:
    """Everything that a trace says of a call."""
    def tensor(one: Any) -> Any:
        try:
            value = repr(one.to_numpy().tolist())
        except DroppedError as error:
            value = str(error)
        return one.name, one.dtype, one.shape, one.nbytes, one.level, one.changed, one.note, str(one.stats), value
    error = call.error
    return [call.number, call.site.name, call.site.source, call.run, call.ordinal, call.thread, call.started, call.duration,
            call.parent, call.retry_of, [tensor(one) for one in (*call.inputs, *call.outputs)],
            [(line.kind, line.text) for line in call.output],
            error and (error.type, error.message, error.traceback, [
                (held.frame, one.name, one.type, one.text, tensor(one.tensor) if one.tensor is not None else None)
                for held in error.locals for one in held.variables])]


def calls_of(trace: Trace) -> dict[int, CallRecord]:
    return {int(call.number): call for call in trace.calls(limit=1000)}


@settings(max_examples=25)
@given(data=st.data())
def test_kept_calls_are_as_they_were_and_the_others_are_counted(original: Path, data: st.DataObject,
                                                                 tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp('copy') / 'c.pfd'
    with Trace.open(original) as trace:
        calls = calls_of(trace)
        chosen = data.draw(st.sets(st.sampled_from(sorted(calls)), min_size=1))
        runs = {calls[number].run for number in chosen}
        ids = np.array(sorted([*chosen, *[-run for run in runs]]), np.int64)
        copied = copy_trace(original, target, {1: ids})
        with Trace.open(target) as copy:
            found = calls_of(copy)
            assert {number: content(call) for number, call in found.items()} == {
                number: content(calls[number]) for number in chosen}
            assert {run.id for run in copy.runs()} == runs
            info = copy.info()
            assert info.dropped.get('trimmed calls', 0) == info.lost_calls == len(calls) - len(chosen) == copied.left_out
            assert info.complete and not info.damage and info.started == trace.info().started
            assert len(copy.notes('kept')) == 40
            assert copied.damage == ()


def test_a_copy_of_all_is_the_same(original: Path, tmp_path: Path) -> None:
    copied = copy_trace(original, tmp_path / 'c.pfd')
    with Trace.open(original) as trace, Trace.open(tmp_path / 'c.pfd') as copy:
        assert [content(call) for call in copy.calls(limit=100)] == [content(call) for call in trace.calls(limit=100)]
        assert copied.calls == 40 and copied.left_out == 0 and copy.info().dropped == {}


def test_values_of_calls_that_go_are_not_in_the_copy(original: Path, tmp_path: Path) -> None:
    with Trace.open(original) as trace:
        (small,) = [number for number, call in calls_of(trace).items() if call.ordinal == 0 and call.site.name == 'other']
    copied = copy_trace(original, tmp_path / 'c.pfd', {1: np.array([small])})
    assert copied.nbytes < 20_000 < 100_000 < sum(path.stat().st_size for path in original.iterdir())


@pytest.mark.parametrize('version', ['version-2', 'version-3', 'version-4', 'version-5'])
def test_traces_of_earlier_versions_are_trimmed_too(version: str, tmp_path: Path) -> None:
    with Trace.open(FORMATS / f'{version}.pfd') as trace:
        numbers = trace.call_numbers()
        calls = {call.number: content(call) for call in trace.calls(limit=1000)}
        ids = {int(process): np.sort(numbers.ids[numbers.processes == process][::2]) for process in set(numbers.processes)}
        copy_trace(FORMATS / f'{version}.pfd', tmp_path / 'c.pfd', ids)
        with Trace.open(tmp_path / 'c.pfd') as copy:
            found = {call.number: content(call) for call in copy.calls(limit=1000)}
        assert found and found == {number: calls[number] for number in found}
        assert len(found) == sum(map(len, ids.values()))


@pytest.mark.parametrize('version', ['version-2', 'version-3', 'version-4', 'version-5'])
def test_copies_of_earlier_versions_tell_all_that_these_tell(version: str, tmp_path: Path) -> None:
    copy_trace(FORMATS / f'{version}.pfd', tmp_path / 'c.pfd')
    original, copy = contents(FORMATS / f'{version}.pfd'), contents(tmp_path / 'c.pfd')
    for part, told in original.items():
        if part != 'info':
            assert copy[part] == told, part


def test_a_damaged_trace_is_copied_as_far_as_it_can_be_read(original: Path, tmp_path: Path) -> None:
    damaged = tmp_path / 'd.pfd'
    damaged.mkdir()
    for path in original.iterdir():
        data = path.read_bytes()
        (damaged / path.name).write_bytes(data[:len(data) * 2 // 3] if path.suffix == '.log' else data)
    copied = copy_trace(damaged, tmp_path / 'c.pfd')
    assert 0 < copied.calls < 40 and len(copied.damage) == 1 and 'ends in the middle of a record' in copied.damage[0]
    with Trace.open(tmp_path / 'c.pfd') as copy:
        assert not copy.info().complete


@settings(max_examples=60)
@given(data=st.data())
def test_a_forged_trace_is_copied_or_refused(original: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
                                             ) -> None:
    """Records with right checksums and any content: what can be read is copied, the rest is reported."""
    folder = tmp_path_factory.mktemp('forged')
    (folder / 'f.pfd').mkdir()
    for path in original.iterdir():
        if path.suffix != '.log':
            (folder / 'f.pfd' / path.name).write_bytes(path.read_bytes())
            continue
        reader, log = LogReader(path), LogFile(folder / 'f.pfd' / path.name)
        for frame in reader.frames(0):
            payload = bytearray(reader.read(frame.position, frame.length))
            if data.draw(st.integers(0, 3)) == 0:
                for _ in range(data.draw(st.integers(1, 4))):
                    payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
            log.append(log_file.frame(frame.kind, bytes(payload)))
        log.close()
        reader.close()
    redaction = Redaction(*data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans())))
    ids = data.draw(st.sampled_from([None, {1: np.arange(-5, 20)}]))
    with contextlib.suppress(TraceError):
        copy_trace(folder / 'f.pfd', folder / 'c.pfd', ids, redaction)
        with Trace.open(folder / 'c.pfd') as trace:
            trace.calls(limit=100)


def test_states_of_calls_that_go_are_not_in_the_copy(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x + np.random.rand()])
    with Recorder(tmp_path / 'o.pfd'):
        for number in range(50):
            call(np.float64(number))
    with Trace.open(tmp_path / 'o.pfd') as trace:
        chosen = trace.calls()[7]
        state = trace.call_state(chosen.number)
    copied = copy_trace(tmp_path / 'o.pfd', tmp_path / 'c.pfd', {1: np.array([int(chosen.number)])})
    with Trace.open(tmp_path / 'c.pfd') as trace:
        assert trace.call_state(chosen.number) == state and state.generators is not None
    assert copied.nbytes < 30_000 < 100_000 < sum(path.stat().st_size for path in (tmp_path / 'o.pfd').iterdir())


def test_a_place_that_is_taken_is_left_alone(original: Path, tmp_path: Path) -> None:
    (tmp_path / 'c.pfd').mkdir()
    with pytest.raises(TraceError, match='exists already'):
        copy_trace(original, tmp_path / 'c.pfd')
    assert list((tmp_path / 'c.pfd').iterdir()) == []


def test_a_copy_does_not_go_into_the_trace(original: Path) -> None:
    before = sorted(original.iterdir())
    with pytest.raises(TraceError, match='in the folder of a trace'):
        copy_trace(original, original / 'c.pfd')
    assert sorted(original.iterdir()) == before


def test_a_failure_leaves_nothing(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyfuncdbg.observers.record.log.log_file import LogFile

    def refuse(self: Any, pieces: Any) -> None:
        raise OSError(28, 'No space left on device')
    monkeypatch.setattr(LogFile, 'append', refuse)
    with pytest.raises(TraceError, match='No space left on device'):
        copy_trace(original, tmp_path / 'c.pfd')
    assert list(tmp_path.iterdir()) == []
