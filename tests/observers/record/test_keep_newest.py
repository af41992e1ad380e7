"""Recordings that keep their newest calls: the oldest segments give way, counted, and what later calls need stays."""
from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgpack
import numpy as np
import pytest
from plain_host import new_run, wrapped
from recorded_script import ENVIRONMENT

from pyfuncdbg.errors import DroppedError, TraceError
from pyfuncdbg.hooks.random_states import restore
from pyfuncdbg.observers.record.index import trace_index
from pyfuncdbg.observers.record.log import compaction, disk_room, log_file, log_names
from pyfuncdbg.observers.record.log.log_file import LogFile, LogReader
from pyfuncdbg.observers.record.log.trace_folders import remove_trace
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

BUDGET = 1 << 20
CALLS = 600
"""Of 8 KB each: five times the budget."""


def record(path: Path, calls: int = CALLS, size: int = 1_000, **options: object) -> None:
    """Calls of one function, each in a run of its own but within one that goes on, and written at once."""
    call, other = wrapped(lambda x: [x[:1]]), wrapped(lambda x: [x], 'rare')
    whole = new_run('goes on')
    with Recorder(path, budget=BUDGET, keep_newest=True, **options) as recorder:  # type: ignore[arg-type]
        other(np.zeros(3), run=whole)
        for number in range(calls):
            call(np.full(size, number, np.float64), run=whole if number % 2 else new_run())
            recorder.flush()
        other(np.ones(3), run=whole)


def numbers(trace: Trace) -> list[int]:
    return [int(call.inputs[0].to_numpy()[0]) for call in trace.calls(site='norm')]


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.glob('*.log'))


def test_the_newest_calls_are_whole_and_the_oldest_counted(tmp_path: Path) -> None:
    path = tmp_path / 't.pfd'
    record(path)
    assert size_of(path) < BUDGET
    with Trace.open(path) as trace:
        info, kept = trace.info(), numbers(trace)
        assert info.damage == () and info.complete and info.dropped == {'oldest calls': CALLS + 2 - info.calls}
        assert kept == list(range(CALLS - len(kept), CALLS)) and len(kept) * 8_000 > 0.5 * BUDGET
        assert info.lost_calls == CALLS + 2 - info.calls
        assert trace.calls(site='rare')[-1].inputs[0].to_numpy().tolist() == [1, 1, 1]
        assert trace.calls()[0].site.source and {site.name for site in trace.sites()} == {
            'norm', 'rare'} and trace.calls()[0].label.startswith('norm')
        assert {run.label for run in trace.runs()} >= {'goes on'}
    first, *others = log_names.logs(path)[0].segments
    assert first == 0 and len(others) == max(others) - min(others) + 1 and min(others) > 20


def test_without_it_the_oldest_calls_are_kept(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x[:1]])
    with Recorder(tmp_path / 't.pfd', budget=BUDGET, segment=1 << 16) as recorder:
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().dropped['tensors'] > 400 and 'oldest calls' not in trace.info().dropped
        assert trace.calls(limit=1)[0].inputs[0].to_numpy()[0] == 0 and trace.count() == CALLS
        with pytest.raises(DroppedError):
            trace.calls()[-1].inputs[0].to_numpy()


def test_a_value_that_comes_again_is_in_the_segments_that_stay(tmp_path: Path) -> None:
    """Bytes of a tensor are stored once in each segment."""
    call, same = wrapped(lambda x, w: [x[:1]]), np.arange(500.0)
    with Recorder(tmp_path / 't.pfd', budget=BUDGET, keep_newest=True) as recorder:
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64), same)
            recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert 50 < trace.count() < CALLS
        for one in trace.calls():
            assert one.inputs[1].to_numpy().tolist() == same.tolist()


def test_states_of_calls_that_stay(tmp_path: Path) -> None:
    """What has changed long ago, and what changes at each call."""
    path, scale = tmp_path / 't.pfd', np.float32(2.5)
    call = wrapped(lambda x: [x[:1] * scale * random.random()])
    with Recorder(path, budget=BUDGET, keep_newest=True) as recorder:
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
    with Trace.open(path) as trace:
        calls = trace.calls()
        assert trace.info().dropped['oldest calls'] > 300
        for one in calls:
            state = trace.call_state(one.number)
            assert state.function is not None and state.errstate is not None and state.folder == os.getcwd()
            generator, value = random.Random(), one.inputs[0].to_numpy()[:1]
            restore(generator, state.generators['random'])
            assert one.outputs[0].to_numpy() == value * scale * generator.random()


def test_a_running_call_stays(tmp_path: Path) -> None:
    path = tmp_path / 't.pfd'
    call = wrapped(lambda x: [x[:1]])
    with Recorder(path, budget=BUDGET, keep_newest=True, capture='only') as recorder:
        def outer(x: np.ndarray) -> list[np.ndarray]:
            print('outer begins')
            time.sleep(0.25)
            for number in range(CALLS):
                call(np.full(1_000, number, np.float64))
                recorder.flush()
            with Trace.open(path) as trace:
                (running,) = trace.calls(site='outer')
                assert running.duration is None and running.output[0].text == 'outer begins\n'
                assert running.inputs[0].to_numpy().tolist() == [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]
                assert trace.info().dropped['oldest calls'] > 300
            return [x]
        wrapped(outer, 'outer')(np.full(12, 7.0))
    with Trace.open(path) as trace:
        (ended,) = trace.calls(site='outer')
        assert ended.duration is not None and ended.inputs[0].to_numpy()[0] == 7


def test_a_live_trace_starts_over_where_segments_went(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x[:1]])
    with Recorder(tmp_path / 't.pfd', budget=BUDGET, keep_newest=True) as recorder, recorder.trace() as trace:
        before = len(os.listdir('/proc/self/fd'))
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
            if number % 7 == 0:
                trace.refresh()
                kept = numbers(trace)
                assert kept == list(range(kept[0], number + 1)) and trace.info().damage == ()
                assert trace.info().dropped.get('oldest calls', 0) == kept[0]
        assert kept[0] > 300 and len(os.listdir('/proc/self/fd')) < before + 20


def test_files_stay_open_however_often_a_live_trace_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as before: those of logs that were written anew are closed, and do not count any more."""
    monkeypatch.setattr(trace_index, '_MOST_OPEN', 6)
    call = wrapped(lambda x: [x[:1]])
    with Recorder(tmp_path / 't.pfd', budget=BUDGET, keep_newest=True) as recorder, recorder.trace() as trace:
        before = len(os.listdir('/proc/self/fd'))
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            if number % 20 == 0:
                recorder.flush()
                trace.refresh()
        recorder.flush()                # the writer has the oldest segment open while it removes it
        opened = len(os.listdir('/proc/self/fd')) - before + 1      # one was open before
        assert trace.info().dropped['oldest calls'] > 300 and opened in (5, 6)


@pytest.mark.parametrize('content', [3, [], ['x', 1], [2], [1 << 62, -5], None, [1 << 62, 5]])
def test_a_hostile_record_of_what_was_removed(tmp_path: Path, content: object) -> None:
    record(tmp_path / 't.pfd', calls=30, segment=1 << 16)
    log = log_names.logs(tmp_path / 't.pfd')[0]
    with open(log.path, 'ab') as file:
        file.write(b''.join(log_file.frame(log_file.REMOVED, msgpack.packb(content))))
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        if content == [1 << 62, 5]:             # its segments are to be ignored
            assert info.calls < 32 and info.dropped == {'oldest calls': 5} and info.damage == ()
        else:
            assert info.calls == 32 and info.dropped == {} and len(info.damage) == 1


def test_a_trace_that_was_opened_before_answers_from_what_is_there(tmp_path: Path) -> None:
    call = wrapped(lambda x: [x[:1]])
    with Recorder(tmp_path / 't.pfd', budget=BUDGET, keep_newest=True) as recorder:
        call(np.zeros(1_000))
        with recorder.trace() as trace:
            for number in range(CALLS):
                call(np.full(1_000, number, np.float64))
                recorder.flush()
            assert trace.count() == 1
            trace.refresh()
            assert 50 < trace.count() < CALLS and numbers(trace)[-1] == CALLS - 1


def test_a_copy_counts_them_too(tmp_path: Path) -> None:
    record(tmp_path / 't.pfd')
    copied = copy_trace(tmp_path / 't.pfd', tmp_path / 'copy.pfd')
    with Trace.open(tmp_path / 't.pfd') as trace, Trace.open(tmp_path / 'copy.pfd') as copy:
        assert copied.damage == () and copy.info().dropped == trace.info().dropped and numbers(copy) == numbers(trace)


def test_killed_after_the_first_segment_was_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The removed segment is still there, and its calls are counted: they are not shown."""
    path, removed = tmp_path / 't.pfd', []
    unlink = Path.unlink

    def kept(file: Path, missing_ok: bool = False) -> None:
        if file.suffix == '.log':
            removed.append(file.read_bytes())
            if len(removed) == 5:
                return
        unlink(file, missing_ok)
    monkeypatch.setattr(Path, 'unlink', kept)
    record(path)
    monkeypatch.undo()
    with Trace.open(path) as trace:
        info, shown = trace.info(), numbers(trace)
        assert info.damage == () and info.dropped == {'oldest calls': CALLS + 2 - info.calls}
        assert shown == list(range(CALLS - len(shown), CALLS))
    assert len(log_names.logs(path)[0].segments) > 2 and 5 in log_names.logs(path)[0].segments
    remove_trace(path)


def test_killed_while_the_first_segment_is_written_anew(tmp_path: Path) -> None:
    record(tmp_path / 't.pfd', calls=30)
    draft = tmp_path / 't.pfd' / f'{os.getpid()}-0001.new'
    draft.write_bytes(b'half of a ')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert numbers(trace) == list(range(30)) and trace.info().damage == ()
    remove_trace(tmp_path / 't.pfd')
    assert not draft.parent.exists()


def test_a_program_that_is_killed_at_any_time(tmp_path: Path) -> None:
    script = tmp_path / 'script.py'
    script.write_text('import sys\nfrom pathlib import Path\nfrom test_keep_newest import record\n'
                      'record(Path(sys.argv[1]), 10**9, 1_000)\n')
    environment = {**ENVIRONMENT, 'PYTHONPATH': os.pathsep.join([str(Path(__file__).parent), ENVIRONMENT['PYTHONPATH']])}
    for attempt in range(4):
        path = tmp_path / f'{attempt}.pfd'
        process = subprocess.Popen([sys.executable, script, path], env=environment)
        deadline = time.monotonic() + 60
        while (not path.exists() or max((n for log in log_names.logs(path) for n in log.segments), default=0) < 20) \
                and time.monotonic() < deadline:
            time.sleep(0.003)
        time.sleep(0.01 * attempt)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with Trace.open(path) as trace:
            info, kept = trace.info(), numbers(trace)
            assert all('ends in the middle of a record' in line for line in info.damage) and len(info.damage) <= 1
            assert kept == list(range(kept[0], kept[-1] + 1)) and len(kept) > 40
            assert info.dropped == {'oldest calls': kept[0] + 1}        # and the first of the other site
        assert size_of(path) < BUDGET + (64 << 10)


def test_no_room_for_the_new_first_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then new values are left out, as without the option, and counted."""
    class Full(LogFile):
        __slots__ = ()

        def append(self, pieces: object) -> None:
            if self.size:
                raise OSError(errno.ENOSPC, 'full')
            super().append(pieces)              # type: ignore[arg-type]
    monkeypatch.setattr(compaction, 'LogFile', Full)
    path = tmp_path / 't.pfd'
    record(path)
    with Trace.open(path) as trace:
        assert trace.info().damage == () and trace.info().dropped['tensors'] > 100 and trace.count() == CALLS + 2
        assert 'oldest calls' not in trace.info().dropped
    assert list(path.glob('*.new')) == [] and size_of(path) < BUDGET


def test_a_disk_with_less_room_than_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are smaller then, so that there are some to remove; nobody is told that something is left out."""
    path, room = tmp_path / 't.pfd', 2 << 20
    monkeypatch.setattr(disk_room, '_disk', lambda descriptor: (True, max(room - size_of(path), 0)))
    call = wrapped(lambda x: [x[:1]])
    with Recorder(path, budget=256 << 20, keep_newest=True) as recorder:
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
    assert size_of(path) < room
    with Trace.open(path) as trace:
        kept = numbers(trace)
        assert trace.info().damage == () and kept == list(range(CALLS - len(kept), CALLS)) and len(kept) > 100
        assert trace.info().dropped == {'oldest calls': CALLS - len(kept)}


def test_processes_share_the_budget(tmp_path: Path) -> None:
    path = tmp_path / 't.pfd'
    call = wrapped(lambda x: [x[:1]])
    with Recorder(path, budget=BUDGET, keep_newest=True) as recorder:
        for number in range(CALLS):
            call(np.full(1_000, number, np.float64))
            recorder.flush()
            if number == 300:
                child = os.fork()
        if child == 0:
            recorder.stop()
            os._exit(0)
        os.waitpid(child, 0)
    assert size_of(path) < BUDGET
    with Trace.open(path) as trace:
        assert trace.info().damage == ()
        whole = [int(one.inputs[0].to_numpy()[0]) for one in trace.calls(process=1) if one.inputs[0].level == 'full']
        assert whole[-1] == CALLS - 1 and whole[0] > 0
        made, dropped = CALLS + CALLS - 301, trace.info().dropped
        assert trace.count() + dropped['oldest calls'] + dropped.get('calls', 0) == made


def test_the_first_segment_holds_what_describes_later_calls_once(tmp_path: Path) -> None:
    record(tmp_path / 't.pfd', calls=2 * CALLS)
    reader = LogReader(log_names.logs(tmp_path / 't.pfd')[0].path)
    kinds = Counter(frame.kind for frame in reader.frames(0))
    reader.close()
    assert kinds[log_file.PROCESS] == kinds[log_file.REMOVED] == 1 and kinds[log_file.SITE] == 2
    assert not kinds[log_file.CALLS] and not kinds[log_file.BLOB]


def test_runs_that_ended_go_with_their_calls(tmp_path: Path) -> None:
    from pyfuncdbg import tf
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float64, [1_000])
        y = tf.numpy_function(lambda x: x[:1], [x], tf.float64)
        with tf.compat.v1.Session() as session, Recorder(tmp_path / 't.pfd', budget=BUDGET, keep_newest=True) as recorder:
            for number in range(CALLS):
                session.run(y, {x: np.full(1_000, number)})
                recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls, runs = trace.calls(kind='python'), trace.runs()
        assert 50 < len(calls) < CALLS and 0 <= len(runs) - len(calls) <= 1
        assert {call.run for call in calls} <= {run.id for run in runs} and runs[-1].duration is not None
        assert [int(run.feeds[0].to_numpy()[0]) for run in runs[-5:]] == list(range(CALLS - 5, CALLS))


@pytest.mark.parametrize(('segment', 'words'), [
    (1 << 18, 'expected 65,536 to 229,376, a quarter of what the budget has for logs, where the newest calls are kept,'),
    (1, 'segments of 1 bytes')])
def test_segments_too_large_to_be_removed(tmp_path: Path, segment: int, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        Recorder(tmp_path / 't.pfd', budget=BUDGET, segment=segment, keep_newest=True)
