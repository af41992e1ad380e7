"""Process in which a worker of a cluster carries out work on a trace: replays run the program's functions there.

They change folder, random generators and globals of their process while they run, and may end it: the worker's own has other
tasks. `WorkProcess` is used on the worker's threads, `main` runs in the process. Requests and answers are MessagePack, each
with its length before it, on pipes of their own: functions may read and write the standard streams.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgpack

from pyfuncdbg.errors import PyfuncdbgError, TraceError
from pyfuncdbg.hooks.own_process import own_start
from pyfuncdbg.observers.record.log.trace_folder import read_manifest
from pyfuncdbg.observers.record.processes.followed_process import own_environment
from pyfuncdbg.observers.record.trace import Trace

Work = Callable[[Any], Any]
"""From a unit to its result, both plain data."""
_OWN = 'pyfuncdbg.'
_BOOT = ('import sys; sys.path.insert(0, sys.argv[1]); from pyfuncdbg.distributed.work_process import main; '
         'del sys.path[0]; main(int(sys.argv[2]), int(sys.argv[3]))')
_LENGTH = struct.Struct('<I')
_IDLE = 60.0
"""Seconds without a request after which the process ends: its worker or its client has forgotten it."""
_PIECE = 1 << 20
_LONGEST = 300


class WorkFailedError(TraceError):
    """The work cannot be done in this process at all."""


class ProcessEndedError(TraceError):
    """The process has ended while it worked at a unit."""


class WorkProcess:
    """A process that has begun the work of a job.

    Args:
        job: As of `begin_work`.

    Raises:
        WorkFailedError: It cannot be done there.
        OSError: No process can be started.
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        (asked, self._requests), (self._answers, given) = os.pipe(), os.pipe()
        try:
            with own_start():
                self._process = subprocess.Popen(
                    [sys.executable, '-c', _BOOT, str(Path(__file__).parents[2]), str(asked), str(given)],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    pass_fds=(asked, given), env=own_environment(), start_new_session=True)
        except BaseException:
            self._close()
            raise
        finally:
            os.close(asked)
            os.close(given)
        try:
            error, _ = self.ask(dict(job))
        except ProcessEndedError as ended:
            raise WorkFailedError(f'a process for the work cannot be started: it {ended}') from None
        if error:
            self.end()
            raise WorkFailedError(error)

    def ask(self, request: Any) -> tuple[str, Any]:
        """Have a unit worked at.

        Args:
            request: The unit: plain data.

        Returns:
            An error as text, '' for none, and the result.

        Raises:
            ProcessEndedError: The process has ended; says how.
        """
        try:
            _write(self._requests, request)
            error, result = _read(self._answers)
            return str(error), result
        except (OSError, EOFError, ValueError, TypeError):
            self.end()
            raise ProcessEndedError(_end_text(self._process.returncode)) from None

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended, of idleness for one."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process, whatever it does; a second time does nothing."""
        self._close()
        if self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.5)         # it ends by itself where it waits for a request, or has died just now
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """End the process at once; the thread that waits for its answer sees that."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def _close(self) -> None:
        for name in ('_requests', '_answers'):
            with contextlib.suppress(OSError):
                os.close(getattr(self, name))
            setattr(self, name, -1)


def _end_text(code: int) -> str:
    if code >= 0:
        return f'ended with exit code {code}'
    try:
        return f'was ended by {signal.Signals(-code).name}'
    except ValueError:
        return f'was ended by signal {-code}'


# ------------------------------------------------------------------ in the process

def main(requests: int, answers: int) -> None:
    """Answer requests until there are no more.

    Args:
        requests, answers: Descriptors of the pipes.
    """
    for one in (requests, answers):
        os.set_inheritable(one, False)          # what functions start does not hold them
    try:
        work = begin_work(_read(requests))
        _write(answers, ['', None])
    except (PyfuncdbgError, OSError, ImportError) as error:
        _write(answers, [str(error)[:_LONGEST], None])
        return
    except EOFError:                            # its worker has ended
        return
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            unit = _read(requests, _IDLE)
            try:
                answer = ['', work(unit)]
            except (PyfuncdbgError, OSError) as error:
                answer = [str(error)[:_LONGEST] or type(error).__name__, None]
            _write(answers, answer)


def begin_work(job: Mapping[str, Any]) -> Work:
    """Open the trace and prepare the work on it.

    Args:
        job: `path` and `id` of the trace; `work`, the 'module:function' that takes the trace and `options` and gives what
            does a unit; `folder`, the working folder of who asks; `folders`, to be searched for modules too.

    Returns:
        What does a unit.

    Raises:
        TraceError: The trace is not here, or is another.
    """
    check_trace(job['path'], job['id'])
    with contextlib.suppress(OSError):          # on another machine there may be none of this name
        os.chdir(job['folder'])
    sys.path += [folder for folder in job['folders'] if folder not in sys.path]
    module, _, name = job['work'].partition(':')
    if not module.startswith(_OWN):
        raise TraceError(f'{module!r} is no module of pyfuncdbg')
    prepare: Callable[[Trace, Mapping[str, Any]], Work] = getattr(importlib.import_module(module), name)
    return prepare(Trace.open(job['path']), job['options'])


def check_trace(path: str, identity: str) -> None:
    """Refuse what is not the trace.

    Args:
        path: Its folder.
        identity: The id of its manifest.

    Raises:
        TraceError: It is not here, or another is.
    """
    try:
        found = read_manifest(Path(path)).id
    except (TraceError, OSError):
        raise TraceError(f'{path} cannot be read there; every worker must see the folder of the trace, under the same '
                         'path') from None
    if found != identity:
        raise TraceError(f'{path} is another trace there')


def _write(descriptor: int, message: Any) -> None:
    data = memoryview(msgpack.packb(message))
    for part in (memoryview(_LENGTH.pack(len(data))), data):
        while part:
            part = part[os.write(descriptor, part):]


def _read(descriptor: int, patience: float | None = None) -> Any:
    """The next message.

    Raises:
        EOFError: The other side is gone, or has asked for nothing for that many seconds.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    if not waiting.poll(None if patience is None else patience * 1000):
        raise EOFError
    (length,) = _LENGTH.unpack(_exactly(descriptor, _LENGTH.size))
    return msgpack.unpackb(_exactly(descriptor, length))


def _exactly(descriptor: int, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = os.read(descriptor, min(length - len(parts), _PIECE))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
