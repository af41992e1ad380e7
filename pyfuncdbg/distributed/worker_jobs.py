"""Jobs of a process that runs Dask workers: chunks of work on a trace, each unit in a `WorkProcess`.

A client has the functions called: `look` and `end` on the event loop, `work` as a task on a thread of the worker. What they
give is plain data or bytes.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgpack

from pyfuncdbg.distributed.work_process import ProcessEndedError, WorkFailedError, WorkProcess, check_trace
from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.observers.record.log.program_environment import process_versions

_MOST_ENDED = 100

_lock = new_rlock()
_jobs: dict[str, _Job] = {}
_ended: list[str] = []
"""Ids of jobs that have ended: a chunk of theirs may still begin."""


class _Job:
    """The processes of a job.

    Attributes:
        idle: Those without a chunk.
        working: The others.
    """

    def __init__(self) -> None:
        self.idle: list[WorkProcess] = []
        self.working: list[WorkProcess] = []


def versions() -> dict[str, str]:
    """The versions that make results the same.

    Returns:
        By name.
    """
    found = process_versions()
    return {**found, 'Python': found['Python'].rpartition('.')[0]}


def look(path: str, identity: str) -> tuple[dict[str, str], str]:
    """Say whether this process can take part.

    Args:
        path: The folder of the trace.
        identity: Of its manifest.

    Returns:
        The versions here, and what is wrong with the trace; '' for nothing.
    """
    try:
        check_trace(path, identity)
    except TraceError as error:
        return versions(), str(error)
    return versions(), ''


def work(job: Mapping[str, Any], units: Sequence[Any]) -> bytes:
    """Do a chunk.

    Args:
        job: As of `begin_work`, with its `job` id.
        units: Of the chunk.

    Returns:
        MessagePack: why the chunk cannot be done, '' if it was, and for each unit an error as text, '' for none, and the
        result.
    """
    answers: list[tuple[str, Any]] = []
    process: WorkProcess | None = None
    try:
        for unit in units:
            if process is None:
                process = _take(job)
            try:
                answers.append(process.ask(unit))
            except ProcessEndedError as error:
                _drop(job['job'], process)
                process = None
                if job['job'] in _ended:
                    raise WorkFailedError('the job has ended') from None
                answers.append((f'the process that worked at it {error}', None))
    except (WorkFailedError, OSError) as error:
        return bytes(msgpack.packb([str(error), []]))
    finally:
        if process is not None:
            _give_back(job['job'], process)
    return bytes(msgpack.packb(['', answers]))


def end(job: str) -> None:
    """End the processes of a job.

    Args:
        job: Its id.
    """
    with _lock:
        _ended.append(job)
        del _ended[:-_MOST_ENDED]
        known = _jobs.pop(job, None)
    for process in known.working if known is not None else ():
        process.kill()
    for process in known.idle if known is not None else ():
        process.end()


def _take(job: Mapping[str, Any]) -> WorkProcess:
    """A process without a chunk, a new one if there is none."""
    with _lock:
        if job['job'] in _ended:
            raise WorkFailedError('the job has ended')
        known = _jobs.setdefault(job['job'], _Job())
        while known.idle:
            process = known.idle.pop()
            if process.is_alive:
                known.working.append(process)
                return process
            process.end()
    process = WorkProcess(job)
    with _lock:
        known.working.append(process)
        if job['job'] in _ended:
            process.kill()
    return process


def _drop(job: str, process: WorkProcess) -> None:
    with _lock:
        if (known := _jobs.get(job)) is not None and process in known.working:
            known.working.remove(process)


def _give_back(job: str, process: WorkProcess) -> None:
    with _lock:
        if (known := _jobs.get(job)) is None:
            process.end()
            return
        known.working.remove(process)
        known.idle.append(process)
