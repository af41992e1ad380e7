"""What workers say is data of other machines: it is bounded, and no path or number of it is used unchecked."""
from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from pyfuncdbg.distributed import worker_recording
from pyfuncdbg.distributed.fetched_traces import ComparedClock, FetchedTraces
from pyfuncdbg.distributed.remote_trace import LIST_FILE, checked_trace, file_path
from pyfuncdbg.distributed.worker_label import label_of_worker
from pyfuncdbg.errors import TraceError

TOKEN, RECORDING = 'a' * 32, 'b' * 32
GOOD = (TOKEN, 1.0, {(7, 1, 0): 100, (7, 1, 3): 5, LIST_FILE: 30})


def test_a_trace_as_workers_describe_it() -> None:
    trace = checked_trace(GOOD, 1000)
    assert (trace.token, trace.created, trace.files) == GOOD
    assert [file_path(Path('x'), key).name for key in trace.files] == ['7-0001.log', '7-0001.3.log', 'processes']


@pytest.mark.parametrize('content', [
    None, 3, ('x',), ('../../etc', 1.0, {(7, 1, 0): 1}), (TOKEN + '\n', 1.0, {(7, 1, 0): 1}), (TOKEN, 'now', {(7, 1, 0): 1}),
    (TOKEN, float('nan'), {(7, 1, 0): 1}), (TOKEN, 1e300, {(7, 1, 0): 1}), (TOKEN, 1.0, {}), (TOKEN, 1.0, {'../x': 1}),
    (TOKEN, 1.0, {('../x', 1, 0): 1}), (TOKEN, 1.0, {(7, 1): 1}), (TOKEN, 1.0, {(7, 1, -1): 1}),
    (TOKEN, 1.0, {(0, 1, 0): 1}), (TOKEN, 1.0, {(7, 1, 0): -1}), (TOKEN, 1.0, {(7, 1, 0): 1.5}),
    (TOKEN, 1.0, {(7, True, 0): 1}),
    (TOKEN, 1.0, {(7, 1, number): 1 for number in range(10_001)}), (TOKEN, 1.0, {(7, 1, 0): 1 << 40})])
def test_what_cannot_be_a_trace_is_refused(content: Any) -> None:
    with pytest.raises(TraceError, match=r'a worker (describes|announces)'):
        checked_trace(content, 1 << 20)


def fetched(folder: Path, answers: list[Any]) -> FetchedTraces:
    """The traces of one worker whose answers are these."""
    traces = FetchedTraces(folder, RECORDING, 1 << 20)
    traces.add_descriptions('tcp://x', [(TOKEN, 1.0, {(7, 1, 0): 10})], ComparedClock(0.0, None))

    async def ask(address: str, function: Any, *words: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    asyncio.run(traces.fetch(ask))
    return traces


@pytest.mark.parametrize(('answers', 'content'), [
    ([b'0123456789'], b'0123456789'), ([b'01234', b'56789'], b'0123456789'), ([b'01234', OSError('gone')], b'01234'),
    ([b'0' * 11], b''), ([b''], b''), (['0123456789'], b''), ([b'012', b'3' * 8], b'012')])
def test_a_file_has_what_was_announced_at_most(tmp_path: Path, answers: list[Any], content: bytes) -> None:
    traces = fetched(tmp_path, answers)
    assert (tmp_path / TOKEN / '7-0001.log').read_bytes() == content
    assert traces.are_whole == (len(content) == 10)
    traces.merge(tmp_path / 'all.pfd') if content else None
    assert [line for line in traces.problems if 'only a part' in line] == (
        [] if len(content) == 10 or not content else ['worker: only a part of its log could be fetched'])


def test_events_that_make_no_sense_are_passed_over(tmp_path: Path) -> None:
    traces = FetchedTraces(tmp_path, RECORDING, 1 << 20)
    good = {'name': '3', 'host': 'h' * 1000, 'pid': 5, 'error': 'OSError: full'}
    traces.read_events([None, (1.0,), (1.0, 'x'), (1.0, {}), ('x', good), (1.0, {**good, 'pid': 'x'}), (2.0, good)])
    traces.merge(tmp_path / 'all.pfd')
    assert traces.problems == [f'worker:3 (process 5 of {"h" * 300}) is not recorded: OSError: full',
                               'no worker has recorded anything: there is no trace']
    assert not (tmp_path / 'all.pfd').exists()


def test_only_a_private_folder_is_written_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    folder, victim = tmp_path / f'pyfuncdbg-{RECORDING}', tmp_path / 'victim'
    victim.mkdir(mode=0o700)
    (victim / 'file').write_text('x')
    folder.symlink_to(victim)
    with pytest.raises(TraceError, match='not a private folder'):
        worker_recording.begin(RECORDING, 0, 1000, {})
    worker_recording.discard(RECORDING)
    assert worker_recording.traces_here(RECORDING) == [] and (victim / 'file').exists()
    folder.unlink()
    folder.mkdir(mode=0o755)
    with pytest.raises(TraceError, match='not a private folder'):
        worker_recording.begin(RECORDING, 0, 1000, {})
    os.chmod(folder, 0o700)
    (folder / f'{TOKEN}.pfd').symlink_to(victim)
    assert worker_recording.traces_here(RECORDING) == []
    for words in ((RECORDING, '../victim'), ('../victim', TOKEN), (RECORDING.upper(), TOKEN)):
        with pytest.raises(TraceError):
            worker_recording.trace_here(*words)
    worker_recording.discard(RECORDING)
    assert not folder.exists() and (victim / 'file').exists()


def test_a_client_of_an_older_format_is_refused() -> None:
    with pytest.raises(TraceError, match='the client reads them up to 3'):
        worker_recording.begin(RECORDING, 0, 3, {})
    assert worker_recording.failure(RECORDING).startswith('TraceError: it writes traces of format ')


@pytest.mark.parametrize(('name', 'label'), [(0, 'worker:0'), ('12', 'worker:12'), ('alice', 'dask:alice'),
                                             ('tcp://127.0.0.1:80', 'dask:tcp://127.0.0.1:80'), ('٣', 'dask:٣')])
def test_labels_of_workers(name: object, label: str) -> None:
    assert label_of_worker(name) == label
