"""Logs in segments: one log and many files give the same trace, and a file that is gone or cut takes no other with it."""
from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_host import new_run, wrapped
from recorded_script import ENVIRONMENT

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log import log_names, log_segments
from pyfuncdbg.observers.record.log.log_file import LogFile
from pyfuncdbg.observers.record.log.log_segments import SMALLEST_SEGMENT
from pyfuncdbg.observers.record.log.trace_folders import remove_trace
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.packed_trace import pack_trace, unpack_trace
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

Values = Sequence[tuple[int, int, bool]]
"""Of each call: which site, elements of its input, whether it prints."""
CALL_SIZE = 16_000
"""Bytes of the two tensors of a call of `recorded`, of which a segment has five or so."""


def step(number: int, x: np.ndarray, prints: bool) -> list[np.ndarray]:
    if prints:
        print('step', number)
    if len(x) == 7:
        raise ValueError(f'seven at {number}')
    return [x * 2]


def record(path: Path, values: Values, segment: int) -> None:
    """Record these calls, each written at once."""
    run = new_run()
    with Recorder(path, segment=segment, capture='only') as recorder:
        for number, (site, size, prints) in enumerate(values):
            call = wrapped(lambda x, number=number, prints=prints: step(number, x, prints), f'site{site}')
            with contextlib.suppress(ValueError):
                call(np.arange(size, dtype=np.float64) + number, run=run)
            recorder.flush()


def contents(path: Path) -> list[object]:
    """Everything that a trace says of its calls, times and numbers apart."""
    with Trace.open(path) as trace:
        calls = trace.calls()
        queries = [[int(call.number) for call in trace.calls(**filters)] for filters in (
            {'failed': True}, {'printed': True}, {'site': 'site1'}, {'sort': 'size', 'newest_first': True}, {'limit': 3})]
        first = int(calls[0].number) if calls else 0
        return [[(call.site.name, [(t.nbytes, t.level, t.to_numpy().tolist()) for t in (*call.inputs, *call.outputs)],
                  [entry.text for entry in call.output], call.error and call.error.message) for call in calls],
                [[id - first for id in ids] for ids in queries], trace.info().damage, trace.info().dropped,
                trace.info().complete, sorted((site.name, site.function) for site in trace.sites()), len(trace.runs())]


def segments_of(path: Path) -> list[Path]:
    (log,) = log_names.logs(path)
    return list(log.segments.values())


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A trace of 60 calls in a dozen segments."""
    path = tmp_path / 't.pfd'
    record(path, [(number % 3, 1_000, False) for number in range(60)], SMALLEST_SEGMENT)
    assert len(segments_of(path)) > 10
    return path


def numbers(trace: Trace) -> list[int]:
    """The first element of each call's input: its number."""
    return [int(call.inputs[0].to_numpy()[0]) for call in trace.calls()]


@pytest.mark.hypothesis
@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1, 7, 40, 900, 8_000]), st.booleans()), max_size=40))
def test_one_segment_and_many_are_the_same_trace(tmp_path_factory: pytest.TempPathFactory, values: Values) -> None:
    folder = tmp_path_factory.mktemp('segments')
    for name, segment in (('one', log_segments.USUAL_SEGMENT), ('many', SMALLEST_SEGMENT)):
        record(folder / f'{name}.pfd', values, segment)
    assert len(segments_of(folder / 'one.pfd')) == 1
    assert contents(folder / 'many.pfd') == contents(folder / 'one.pfd')
    shutil.rmtree(folder)


def test_names_and_sizes(recorded: Path) -> None:
    files = segments_of(recorded)
    assert [file.name for file in files] == [f'{os.getpid()}-0001{f".{n}" if n else ""}.log' for n in range(len(files))]
    for file in files[:-1]:
        assert SMALLEST_SEGMENT <= file.stat().st_size < SMALLEST_SEGMENT + 2 * CALL_SIZE
    with Trace.open(recorded) as trace:
        assert trace.info().nbytes == sum(file.stat().st_size for file in files)


def test_a_live_trace_follows_into_new_segments(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd', segment=SMALLEST_SEGMENT) as recorder, recorder.trace() as trace:
        for number in range(40):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
            trace.refresh()
            assert numbers(trace) == list(range(number + 1))
        assert len(segments_of(tmp_path / 't.pfd')) > 3 and trace.share_read == 1.0
        with pytest.raises(TraceError, match=f'process {os.getpid()} records there'):
            remove_trace(tmp_path / 't.pfd')


def test_reading_without_patience_says_how_much_is_read(recorded: Path) -> None:
    trace = Trace(recorded)
    shares = []
    while trace.refresh(patience=0.0):
        shares.append(trace.share_read)
    assert shares == sorted(shares) and len(shares) > 60 and 0 < shares[0] < 0.05 and shares[-1] == 1.0
    assert numbers(trace) == list(range(60))
    trace.close()


def test_a_missing_segment_takes_only_its_calls(recorded: Path) -> None:
    files = segments_of(recorded)
    files[2].unlink()
    files[3].unlink()
    files[6].unlink()
    with Trace.open(recorded) as trace:
        kept, damage = numbers(trace), trace.info().damage
        names = {call.site.name for call in trace.calls()}
    assert len(damage) == 2 and 'segments 2 to 3 are missing' in damage[0] and 'segment 6 is missing' in damage[1]
    assert kept[0] == 0 and kept[-1] == 59 and kept == sorted(set(kept)) and 40 < len(kept) < 50
    assert names == {'site0', 'site1', 'site2'}


def test_without_the_first_segment_calls_have_times_and_values(recorded: Path) -> None:
    with Trace.open(recorded) as trace:
        started = {int(call.inputs[0].to_numpy()[0]): call.started for call in trace.calls()}
    segments_of(recorded)[0].unlink()
    with Trace.open(recorded) as trace:
        info = trace.info()
        assert 'segment 0 is missing' in info.damage[0] and info.processes == (os.getpid(),)
        calls = trace.calls()
        assert 50 < len(calls) < 60
        for call in calls:
            assert call.started == started[int(call.inputs[0].to_numpy()[0])]


@pytest.mark.parametrize('cut', [3, 200, 9_000, 40_000])
def test_a_segment_that_is_cut_takes_only_what_is_behind_the_cut(recorded: Path, cut: int) -> None:
    file = segments_of(recorded)[4]
    size = file.stat().st_size
    os.truncate(file, size - cut)
    with Trace.open(recorded) as trace:
        (line,), kept = trace.info().damage, numbers(trace)
        trace.refresh()
        assert trace.info().damage == (line,)
    assert re.fullmatch(rf'{file.name}: ends in the middle of a record at byte \d+ of {size - cut}; '
                        'the records behind it are lost', line)
    assert kept[-1] == 59 and kept == sorted(kept) and 53 <= len(kept) < 60


def test_a_damaged_record_takes_only_the_rest_of_its_segment(recorded: Path) -> None:
    file = segments_of(recorded)[4]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    content[20] ^= 255                          # in the first record
    file.write_bytes(content)
    with Trace.open(recorded) as trace:
        (line,), kept = trace.info().damage, numbers(trace)
    assert line.startswith(f'{file.name}: a record is damaged at byte 16 of') and kept[-1] == 59 and 53 <= len(kept) < 58
    file.write_bytes(b'no log at all')
    with Trace.open(recorded) as trace:
        assert 'not a log of pyfuncdbg' in trace.info().damage[0] and numbers(trace) == kept


def test_killed_between_two_segments(recorded: Path) -> None:
    """The next segment is made and has nothing, not even its header."""
    last = segments_of(recorded)[-1]
    (recorded / f'{os.getpid()}-0001.{len(segments_of(recorded))}.log').touch()
    with Trace.open(recorded) as trace:
        assert numbers(trace) == list(range(60)) and trace.info().damage == ()
    os.truncate(last, last.stat().st_size - 100)
    with Trace.open(recorded) as trace:
        assert len(trace.info().damage) == 1


def test_a_killed_program_leaves_every_call_that_was_written(tmp_path: Path) -> None:
    path, side = tmp_path / 't.pfd', tmp_path / 'side'
    program = Path(__file__).with_name('killed_program.py')
    process = subprocess.Popen([sys.executable, program, path, side, str(SMALLEST_SEGMENT)], env=ENVIRONMENT)
    deadline = time.monotonic() + 60
    while (not path.exists() or len(list(path.glob('*.log'))) < 6) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with Trace.open(path) as trace:
        info, calls = trace.info(), trace.calls()
        assert not info.complete and all('ends in the middle of a record' in line for line in info.damage)
        ids = [int(call.number) for call in calls if call.duration is not None]
        assert len(log_names.logs(path)[0].segments) >= 6 and ids == list(range(1, len(ids) + 1))
        for call in calls:
            assert call.inputs[0].to_numpy().tolist() == (call.inputs[0].to_numpy().flat[0] + np.zeros(
                call.inputs[0].shape)).tolist()


def test_a_fork_in_mid_segment(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd', segment=SMALLEST_SEGMENT) as recorder:
        for number in range(20):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
            if number == 7:
                child = os.fork()
        if child == 0:
            recorder.stop()
            os._exit(0)
        os.waitpid(child, 0)
    parent, of_child = log_names.logs(tmp_path / 't.pfd')
    assert len(parent.segments) > 2 and len(of_child.segments) > 1
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().damage == () and trace.info().complete
        found = [[int(call.inputs[0].to_numpy()[0]) for call in trace.calls(process=process)] for process in (1, 2)]
    assert found == [list(range(20)), list(range(8, 20))]


@pytest.mark.parametrize('error', [errno.ENOSPC, errno.EMFILE, errno.EACCES])
def test_where_no_segment_can_be_made_the_last_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    refused = []

    class Refusing(LogFile):
        __slots__ = ()

        def __init__(self, path: Path) -> None:
            if '.2.' in path.name and len(refused) < 8:
                refused.append(path.name)
                path.touch()                    # as where the header had no room
                raise OSError(error, os.strerror(error))
            super().__init__(path)
    monkeypatch.setattr(log_segments, 'LogFile', Refusing)
    path = tmp_path / 't.pfd'
    record(path, [(0, 1_000, False)] * 40, SMALLEST_SEGMENT)
    assert len(refused) == 8
    with Trace.open(path) as trace:
        assert numbers(trace) == list(range(40)) and trace.info().damage == () and trace.info().dropped == {}
    sizes = [file.stat().st_size for file in segments_of(path)]
    assert sizes[1] > SMALLEST_SEGMENT + 6 * CALL_SIZE and sizes[0] < sizes[1] > sizes[2]


def test_a_signal_handler_that_raises_at_a_new_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raised = []

    class Interrupted(LogFile):
        __slots__ = ()

        def __init__(self, path: Path) -> None:
            super().__init__(path)
            if '.1.' in path.name and not raised:
                raised.append(path)
                self.close()
                raise FileExistsError(errno.EEXIST, 'made a moment ago')
    monkeypatch.setattr(log_segments, 'LogFile', Interrupted)
    path = tmp_path / 't.pfd'
    record(path, [(0, 1_000, False)] * 30, SMALLEST_SEGMENT)
    with Trace.open(path) as trace:
        assert numbers(trace) == list(range(30)) and trace.info().damage == ()
    assert raised[0].stat().st_size == 16 and len(segments_of(path)) > 4


def test_packed_copied_and_removed(recorded: Path, tmp_path: Path) -> None:
    whole = contents(recorded)
    pack_trace(recorded, tmp_path / 't.pfz')
    unpack_trace(tmp_path / 't.pfz', tmp_path / 'unpacked.pfd')
    assert contents(tmp_path / 'unpacked.pfd') == whole and len(segments_of(tmp_path / 'unpacked.pfd')) > 10
    copied = copy_trace(recorded, tmp_path / 'copy.pfd')
    assert contents(tmp_path / 'copy.pfd') == whole and (copied.calls, copied.damage) == (60, ())
    remove_trace(recorded)
    assert not recorded.exists()


def test_a_copy_has_segments_too(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_segments.LogSegments.__init__, '__defaults__', (SMALLEST_SEGMENT,))
    copy_trace(recorded, tmp_path / 'copy.pfd')
    assert contents(tmp_path / 'copy.pfd') == contents(recorded) and len(segments_of(tmp_path / 'copy.pfd')) > 10


def test_a_copy_says_what_was_missing(recorded: Path, tmp_path: Path) -> None:
    segments_of(recorded)[3].unlink()
    copied = copy_trace(recorded, tmp_path / 'copy.pfd')
    assert len(copied.damage) == 1 and 'segment 3 is missing' in copied.damage[0] and 50 < copied.calls < 60
    with Trace.open(tmp_path / 'copy.pfd') as trace:
        assert trace.info().damage == () and len(trace.calls()) == copied.calls


def test_more_segments_than_files_stay_open(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyfuncdbg.observers.record.index import trace_index
    monkeypatch.setattr(trace_index, '_MOST_OPEN', 3)
    before = len(os.listdir('/proc/self/fd'))
    with Trace.open(recorded) as trace:
        assert numbers(trace) == list(range(60)) and len(os.listdir('/proc/self/fd')) == before + 3


@pytest.mark.parametrize('name', ['1-0002.0.log', '1-0002.01.log', '1-0002.99999999.log', '1-0002.1.1.log', '1-0002..log',
                                  '1-0002.9999999.log', '1-0002.-1.log', '1-0002.\u0661.log'])
def test_other_names_are_no_segments(recorded: Path, name: str) -> None:
    (recorded / name).write_bytes(b'')
    with Trace.open(recorded) as trace:
        assert len(trace.info().processes) == 1 and trace.info().damage == ()


@pytest.mark.parametrize('name', ['1-0001.500.log', '99999999-0001.500.log'])
def test_a_segment_of_another_process_id_is_not_taken_for_one(recorded: Path, name: str) -> None:
    """Neither before nor behind the names of the trace's own files."""
    shutil.copy(segments_of(recorded)[2], recorded / name)
    with Trace.open(recorded) as trace:
        assert numbers(trace) == list(range(60)) and trace.info().damage == ()


@pytest.mark.parametrize('size', [0, SMALLEST_SEGMENT - 1, (1 << 40) + 1])
def test_sizes_that_no_segment_can_have(tmp_path: Path, size: int) -> None:
    with pytest.raises(TraceError, match=f'segments of {size:,} bytes: expected 65,536 to 1,099,511,627,776'):
        Recorder(tmp_path / 't.pfd', segment=size)
    assert not (tmp_path / 't.pfd').exists()
