"""Recording of a process that runs Dask workers, into a private folder of its machine.

`begin` and `end` are called by the plugin, on the worker's event loop. The client has the others called there, to fetch what
was recorded: by any worker of the machine, because one that was killed cannot answer.
"""
from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyfuncdbg import hosts
from pyfuncdbg.distributed.remote_trace import LIST_FILE, TOKEN, FileKey, file_path
from pyfuncdbg.distributed.worker_label import label_of_worker
from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks import rank_variables
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.observers.record import fork
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.log.log_file import VERSION
from pyfuncdbg.observers.record.log.log_names import logs
from pyfuncdbg.observers.record.log.trace_folder import read_manifest
from pyfuncdbg.observers.record.processes.followed_process import LIST, FollowedProcess
from pyfuncdbg.observers.record.recorder import Recorder

LARGEST_CHUNK = 4 << 20
"""Bytes of one answer."""
_MOST_TRACES = 1_000
"""Of a machine: a worker that is killed again and again begins as many."""
_SUFFIX = '.pfd'

_lock = new_rlock()
_recordings: dict[str, WorkerRecording] = {}
_failures: dict[str, str] = {}
_attachments: list[hosts.Attachment] = []


class WorkerRecording:
    """The recorder of this process, and its entry in the list of processes; also of forked children.

    Args:
        recording: Id of the recording.
        name: Dask's name of the worker.
        options: Of the recorder.

    Attributes:
        token: Name of the trace.
        thread: As of `ForkFollower`.
        workers: How many workers of this process record.
    """

    thread = 0

    def __init__(self, recording: str, name: object, options: Mapping[str, Any]) -> None:
        """Begin.

        Raises:
            TraceError, OSError: There is no room, or no private folder.
        """
        self.token, self.workers = uuid.uuid4().hex, 1
        self._recorder = Recorder(_make_folder(recording) / f'{self.token}{_SUFFIX}', **options).start()
        self._label_before = rank_variables.label
        rank_variables.label = label_of_worker(name)
        self._process = FollowedProcess(str(self._recorder.path))
        self._process.list_beginning(sys.orig_argv)
        fork.follow(self)

    def add_worker(self) -> None:
        """Another worker runs in this process: which one makes a call is not known, so the process has no label."""
        self.workers += 1
        rank_variables.label = ''
        self._process.list_ranks()

    def before_fork(self) -> None:
        """The recorder does what there is to do."""

    def after_fork(self) -> None:
        """In the child: it is a process of its own."""
        self._process.list_beginning(sys.orig_argv, is_fork=True)

    def stop(self) -> None:
        """Close the log; a second time does nothing."""
        fork.unfollow(self)
        self._recorder.stop()
        self._process.end('')
        rank_variables.label = self._label_before


def begin(recording: str, name: object, version: int, options: Mapping[str, Any]) -> str:
    """Record this process, for a worker in it.

    Args:
        recording: Id of the recording.
        name: Dask's name of the worker.
        version: The newest format of a trace that the client can read.
        options: Of the recorder.

    Returns:
        The token of the trace; that of an earlier worker of this process, if there is one.

    Raises:
        TraceError: The client could not read it, or it cannot be written here.
        OSError: There is no private folder for it.
    """
    try:
        if version < VERSION:
            raise TraceError(f'it writes traces of format {VERSION}, and the client reads them up to {version}; '
                             'install the same version of pyfuncdbg on both')
        with _lock:
            if (known := _recordings.get(recording)) is not None:
                known.add_worker()
                return known.token
            made = _recordings[recording] = WorkerRecording(recording, name, options)
            _attachments.extend(hosts.attach_all())
            return made.token
    except Exception as error:                  # for the client, which asks
        _failures[recording] = f'{type(error).__name__}: {error}'
        raise


def end(recording: str, *, at_once: bool = False) -> None:
    """End the recording of a worker in this process; with the last one, the log is closed.

    Args:
        recording: Its id; an unknown one is ignored.
        at_once: Whatever workers there are.
    """
    with _lock:
        known = _recordings.get(recording)
        if known is None:
            return
        known.workers -= 1
        if known.workers > 0 and not at_once:
            return
        del _recordings[recording]
        known.stop()
        if not _recordings:
            while _attachments:
                _attachments.pop().detach()


def clock() -> float:
    """The time on this machine. Called by the client.

    Returns:
        Unix time, seconds.
    """
    return time.time()


def failure(recording: str) -> str:
    """Why this process does not record. Called by the client.

    Args:
        recording: Id of the recording.

    Returns:
        An error as text, '' where it records.
    """
    return '' if recording in _recordings else _failures.get(recording, 'it was not asked to record')


async def close(recording: str) -> None:
    """End the recording in this process, if that is not done. Called by the client.

    Args:
        recording: Id of the recording.
    """
    await asyncio.to_thread(end, recording, at_once=True)


async def describe(recording: str) -> list[tuple[str, float, dict[FileKey, int]]]:
    """Describe all traces of a recording on this machine, also of processes that were killed. Called by the client.

    Args:
        recording: Its id.

    Returns:
        As `remote_trace.checked_trace` reads it.
    """
    return await asyncio.to_thread(traces_here, recording)


def traces_here(recording: str) -> list[tuple[str, float, dict[FileKey, int]]]:
    """Describe the traces of a recording on this machine.

    Args:
        recording: Its id.

    Returns:
        As of `describe`; none where nothing was recorded.
    """
    found = []
    folder = _folder_of(recording)
    if not _is_private(folder):
        return []
    for path in sorted(folder.iterdir())[:_MOST_TRACES]:
        token = path.name.removesuffix(_SUFFIX)
        if TOKEN.fullmatch(token):
            with contextlib.suppress(TraceError, OSError):      # it was just being made when its process was killed
                files = {(int(log.path.name.partition('-')[0]), log.process, segment): file.lstat().st_size
                         for log in logs(path) for segment, file in log.segments.items()}
                if (path / LIST).is_file():
                    files[LIST_FILE] = (path / LIST).lstat().st_size
                found.append((token, read_manifest(path).created, files))
    return found


async def read_file(recording: str, token: str, key: FileKey, start: int, length: int) -> bytes:
    """Read a piece of a trace on this machine. Called by the client.

    Args:
        recording: Id of the recording.
        token: Of the trace.
        key: Of the file.
        start: First byte.
        length: How many, at most.

    Returns:
        The bytes, fewer at the end of the file.

    Raises:
        TraceError: There is no such trace.
        OSError: The file cannot be read.
    """
    return await asyncio.to_thread(_read, trace_here(recording, token), key, start, min(length, LARGEST_CHUNK))


def _read(folder: Path, key: FileKey, start: int, length: int) -> bytes:
    with open(open_regular(file_path(folder, key)), 'rb') as file:
        file.seek(start)
        return file.read(length)


def trace_here(recording: str, token: str) -> Path:
    """The folder of a trace of a recording on this machine.

    Args:
        recording: Id of the recording.
        token: Of the trace.

    Returns:
        The folder.

    Raises:
        TraceError: There is no such trace.
    """
    folder = _folder_of(recording)
    if not TOKEN.fullmatch(token) or not _is_private(folder):
        raise TraceError(f'{folder}: no trace of this recording is here')
    return folder / f'{token}{_SUFFIX}'


def discard(recording: str) -> None:
    """Remove what was recorded on this machine. Called by the client when it has it.

    Args:
        recording: Id of the recording.
    """
    folder = _folder_of(recording)
    if _is_private(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _folder_of(recording: str) -> Path:
    """A folder whose name no other user can know before it is there."""
    if not TOKEN.fullmatch(recording):
        raise TraceError(f'{recording[:40]!r} is no id of a recording')
    return Path(tempfile.gettempdir()) / f'pyfuncdbg-{recording}'


def _make_folder(recording: str) -> Path:
    folder = _folder_of(recording)
    with contextlib.suppress(FileExistsError):  # another worker of this machine has made it
        folder.mkdir(mode=0o700)
    if not _is_private(folder):
        raise TraceError(f'{folder}: is not a private folder of this user')
    return folder


def _is_private(folder: Path) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
