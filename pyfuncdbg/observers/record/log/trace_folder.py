"""The folder of a trace, with its manifest.

Made by the recorder that starts, joined by forked children, opened by readers.
"""
from __future__ import annotations

import contextlib
import json
import os
import stat
import struct
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import NoRoomError, NotATraceError, TraceError
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.log.disk_room import FULL
from pyfuncdbg.observers.record.log.log_file import VERSION, newer_version_error
from pyfuncdbg.observers.record.log.log_names import logs

MANIFEST = 'manifest.json'
LEDGER = 'ledger'
PACKED = '.pfz'
"""Suffix of a packed trace."""
LEDGER_CONTENT = struct.Struct('<QQ')
"""Bytes granted, processes joined."""
SMALLEST_BUDGET = 64 << 10
_LARGEST_MANIFEST = 64 << 10
_FORMAT = 'pyfuncdbg trace'
_LATEST = 253_402_300_800.0
"""The year 10,000, in Unix time: no calendar goes further."""


@dataclass(frozen=True, slots=True)
class TracePart:
    """One of the traces that a trace was merged of.

    Attributes:
        name: Of its folder.
        first, last: Numbers of its processes here.
        clock: Seconds that were added to its times.
        uncertainty: Seconds by which its times may still be wrong against those of other parts that have this; None where
            its clock was not compared.
    """

    name: str
    first: int
    last: int
    clock: float
    uncertainty: float | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Identity of a trace.

    Attributes:
        id: Random, so that an index can tell whose it is.
        version: Format version.
        created: Unix time, seconds; all times in the trace count from here.
        budget: Bytes.
        options: Of the recorders of its processes.
        parts: Traces that it was merged of, none of one that was recorded.
    """

    id: str
    version: int
    created: float
    budget: int
    options: dict[str, Any] = field(default_factory=dict)
    parts: tuple[TracePart, ...] = ()

    def clock_of(self, process: int) -> float:
        """What a merge has added to the times of a process.

        Args:
            process: Its number.

        Returns:
            Seconds; 0 in a trace that was not merged.
        """
        return next((part.clock for part in self.parts if part.first <= process <= part.last), 0.0)


def check_budget(budget: int) -> None:
    """Refuse a budget in which there is no room for a call.

    Args:
        budget: Bytes of a trace.

    Raises:
        TraceError: It is too small.
    """
    if budget < SMALLEST_BUDGET:
        raise TraceError(f'a budget of {budget:,} bytes is too small to record anything: at least {SMALLEST_BUDGET >> 10}KB')


def create(path: Path, budget: int, created: float | None = None, options: dict[str, Any] | None = None,
           parts: Sequence[TracePart] = ()) -> bool:
    """Make a new trace, whose first process is this one; on failure nothing is left behind.

    Args:
        path: The folder; it may exist and be empty.
        budget: Bytes.
        created: Unix time from which its times count; by default now.
        options: Of the recorders of the processes that follow.
        parts: As of the `Manifest`.

    Returns:
        Whether the folder was made too.

    Raises:
        NoRoomError: The disk is full.
        TraceError: The path is taken or cannot be written.
    """
    is_new = not path.exists()
    try:
        path.mkdir(exist_ok=True)
        if (path / MANIFEST).exists():
            raise path_taken_error(path)
        if any(path.iterdir()):
            raise TraceError(f'{path}: is a folder with other files in it; give a path that does not exist yet')
        try:
            with open(path / LEDGER, 'xb', buffering=0) as ledger:      # another program may create it at the same time
                ledger.write(LEDGER_CONTENT.pack(0, 1))
            _write_atomically(path / MANIFEST, json.dumps({
                'format': _FORMAT, 'version': VERSION, 'id': uuid.uuid4().hex,
                'created': time.time() if created is None else created, 'budget': budget, 'options': options or {},
                **({'parts': [astuple(part) for part in parts]} if parts else {})}))
        except FileExistsError:
            raise path_taken_error(path) from None
        except OSError:
            remove(path, is_new)
            raise
    except FileExistsError as error:
        raise TraceError(f'{path}: is a file; give the path of a folder that does not exist yet') from error
    except OSError as error:
        raise cannot_record_error(path, error) from error
    return is_new


def remove(path: Path, with_folder: bool) -> None:
    """Remove a trace that holds nothing yet.

    Args:
        path: The folder.
        with_folder: Remove the folder too: it was made for the trace.
    """
    with contextlib.suppress(OSError):          # another program has written into it meanwhile
        for file in (path / MANIFEST, draft_path(path / MANIFEST), path / LEDGER):
            file.unlink(missing_ok=True)
        if with_folder:
            path.rmdir()


def cannot_record_error(path: Path, error: OSError) -> TraceError:
    """The error for a path at which nothing can be recorded.

    Args:
        path: The folder.
        error: Of the system.

    Returns:
        An error to raise; a `NoRoomError` if the disk is full.
    """
    kind = NoRoomError if error.errno in FULL else TraceError
    return kind(f'{path}: cannot record there: {error.strerror}')


def identity(path: Path) -> tuple[int, int]:
    """A key that tells the folder of a trace from another that is at its path later.

    Args:
        path: The folder.

    Returns:
        Device and inode.

    Raises:
        OSError: It is not there.
    """
    status = path.stat()
    return status.st_dev, status.st_ino


def check_identity(path: Path, expected: tuple[int, int]) -> None:
    """Check that the folder at a path is still the same.

    Args:
        path: The path.
        expected: The `identity` of the folder.

    Raises:
        OSError: It was removed, moved or replaced.
    """
    if identity(path) != expected:
        raise FileNotFoundError(path)


def fresh_path(directory: Path | None = None) -> Path:
    """A path for a trace that does not exist yet.

    Args:
        directory: In it; the current one if None.

    Returns:
        'DIRECTORY/pyfuncdbg-20250131-235959.pfd', with a number where that exists.
    """
    place = directory if directory is not None else Path.cwd()
    name = time.strftime('pyfuncdbg-%Y%m%d-%H%M%S')
    path = place / f'{name}.pfd'
    number = 2
    while path.exists():
        path = place / f'{name}-{number}.pfd'
        number += 1
    return path


def path_taken_error(path: Path) -> TraceError:
    """The error for a path at which a trace is, recorded now or before.

    Args:
        path: The folder.

    Returns:
        An error to raise.
    """
    process = recording_process(path)
    if process:
        return TraceError(f'{path}: process {process} records there; give another path')
    return TraceError(f'{path}: already holds a trace; give another path or remove it first')


def recording_process(path: Path) -> int:
    """The process that records into a trace: it has a log, or the ledger, open for writing.

    Args:
        path: The folder.

    Returns:
        Its process id, 0 if there is none. A process whose files cannot be read counts, if it has the number of one that
        recorded there.

    Raises:
        TraceError: The folder cannot be read.
    """
    for log in logs(path):
        process = int(log.path.name.partition('-')[0])
        files = *log.segments.values(), path / LEDGER
        try:
            if any(_writes(f'/proc/{process}/fd/{number}', files) for number in os.listdir(f'/proc/{process}/fd')):
                return process
        except PermissionError:
            return process
        except OSError:                         # it has ended
            pass
    return 0


def _writes(descriptor: str, files: Iterable[Path]) -> bool:
    try:
        if not os.lstat(descriptor).st_mode & stat.S_IWUSR:
            return False
        status = os.stat(descriptor)
        return any(os.path.samestat(status, file.lstat()) for file in files if os.path.lexists(file))
    except OSError:                             # closed meanwhile
        return False


def _write_atomically(path: Path, text: str) -> None:
    new = draft_path(path)
    new.write_text(text + '\n', encoding='utf-8')
    new.rename(path)


def draft_path(path: Path) -> Path:
    """The path at which a file is written before it is renamed to its own.

    Args:
        path: Its own.

    Returns:
        The path of the draft.
    """
    return path.with_suffix('.new')


def _part(name: Any, first: Any, last: Any, clock: Any, uncertainty: Any = None) -> TracePart:
    return TracePart(str(name)[:200], int(first), int(last), float(clock),
                     None if uncertainty is None else float(uncertainty))


def read_manifest(path: Path) -> Manifest:
    """Read what identifies a trace.

    Args:
        path: The folder.

    Returns:
        The manifest, checked.

    Raises:
        NotATraceError, TraceVersionError, TraceError: There is none, it is from a newer version, or unreadable.
    """
    try:
        if not path.exists():
            raise NotATraceError(f'{path}: no such file or folder')
        if path.suffix == PACKED and path.is_file():
            raise NotATraceError(f'{path}: is a packed trace; pyfuncdbg unpack makes a trace of it')
        if not path.is_dir() or not os.path.lexists(path / MANIFEST):
            raise NotATraceError(f'{path}: not a trace; a trace is a folder with a {MANIFEST} in it')
        with open(open_regular(path / MANIFEST), 'rb') as file:
            fields = json.loads(file.read(_LARGEST_MANIFEST))
        if not isinstance(fields, dict) or fields.get('format') != _FORMAT:
            raise NotATraceError(f'{path}: not a trace; its {MANIFEST} belongs to another program')
        version = int(fields['version'])
        if not 0 < version < 1 << 31:
            raise ValueError('its version is out of range')
        if version > VERSION:
            raise newer_version_error(path, version)
        created = float(fields['created'])
        if not 0 <= created < _LATEST:
            raise ValueError(f'created at {created}')
        budget = int(fields['budget'])
        if not 0 <= budget < 1 << 63:
            raise ValueError('its budget is out of range')
        options = fields.get('options')
        parts = tuple([_part(*part) for part in fields.get('parts', ())])
        if not all(abs(part.clock) < _LATEST and 0 <= (part.uncertainty or 0.0) < _LATEST for part in parts):
            raise ValueError('a clock is out of range')
        return Manifest(str(fields['id'])[:64], version, created, budget, options if isinstance(options, dict) else {},
                        parts)
    except OSError as error:
        raise TraceError(f'{path / MANIFEST}: cannot be read: {error.strerror}') from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise NotATraceError(f'{path / MANIFEST}: damaged: {error}') from error
