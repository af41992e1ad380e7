"""The traces in a directory: listed, and removed without touching any other file.

Called before a recording begins, and by commands, on any thread. No link is followed: another user may have created the
name.
"""
from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any, Literal, get_args

from pyfuncdbg.errors import NotATraceError, TraceError
from pyfuncdbg.observers.record.log.log_names import is_draft, is_log
from pyfuncdbg.observers.record.log.trace_folder import (
    LEDGER,
    MANIFEST,
    Manifest,
    create,
    draft_path,
    read_manifest,
    recording_process,
)
from pyfuncdbg.observers.record.processes.followed_process import LIST

_OLD_INDEXES = tuple('index.sqlite' + end for end in ('', '-journal', '-wal', '-shm'))
"""Files that traces of older versions have."""


Exist = Literal['error', 'number', 'replace']
"""Action where there is something at the path of a new trace."""
EXIST: tuple[Exist, ...] = get_args(Exist)


def create_trace(path: Path, exist: Exist, budget: int, created: float | None = None,
                 options: dict[str, Any] | None = None) -> tuple[Path, bool]:
    """Make a new trace.

    Args:
        path: The folder.
        exist: What to do if it exists; see `Recorder`.
        budget: Bytes.
        created, options: See `trace_folder.create`.

    Returns:
        Where it is, and whether its folder was made too.

    Raises:
        NoRoomError: The disk is full.
        TraceError: The path is taken or cannot be written.
    """
    if exist == 'replace' and (path / MANIFEST).exists():
        remove_trace(path)
    if exist != 'number':
        return path, create(path, budget, created, options)
    free = free_path(path)
    try:
        create(free, budget, created, options)
    except TraceError:
        with contextlib.suppress(OSError):      # it was never made
            free.rmdir()
        raise
    return free, True


def free_path(path: Path) -> Path:
    """The first of NAME.pfd, NAME-2.pfd, ... that does not exist.

    Args:
        path: NAME.pfd.

    Returns:
        The path, made as an empty folder so that no other program takes it; not made where that fails, which the recording
        will report.
    """
    name = path.name.removesuffix('.pfd')
    number = 0
    while True:
        number += 1
        free = path if number == 1 else path.with_name(f'{name}-{number}{path.name.removeprefix(name)}')
        try:
            free.mkdir()
        except FileExistsError:
            continue
        except OSError:
            pass
        return free


def traces_in(directory: Path) -> list[tuple[Path, Manifest | TraceError]]:
    """The traces in a directory.

    Args:
        directory: The directory; its subdirectories are not searched.

    Returns:
        Path and manifest of each, the newest first; at last those that cannot be read, with the error.

    Raises:
        TraceError: The directory cannot be read.
    """
    traces: list[tuple[Path, Manifest | TraceError]] = []
    try:
        with os.scandir(directory) as entries:
            folders = [directory / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise TraceError(f'{directory}: cannot be read: {error.strerror}') from error
    for path in sorted(folders):
        try:
            traces.append((path, read_manifest(path)))
        except NotATraceError:
            pass
        except TraceError as error:             # of a newer version, or without the right to read it
            traces.append((path, error))
    return sorted(traces, key=lambda pair: -pair[1].created if isinstance(pair[1], Manifest) else 0.0)


def newest_in(directory: Path) -> Path | None:
    """The trace in a directory that was begun last.

    Args:
        directory: The directory.

    Returns:
        Its path; None if there is none.

    Raises:
        TraceError: The directory cannot be read.
    """
    return next((path for path, manifest in traces_in(directory) if isinstance(manifest, Manifest)), None)


def remove_trace(path: Path) -> None:
    """Remove a trace: its own files, and then its folder.

    Args:
        path: The folder; not a link to one.

    Raises:
        NotATraceError: It is none.
        TraceError: It is being recorded, other files are in it, or it cannot be removed; nothing is gone then, unless the
            system refused in the middle.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise NotATraceError(f'{path}: not a trace; a trace is a folder, and no link to one') from error
    try:
        names = sorted(os.listdir(folder))
        _check(path, folder, names)
        read_manifest(path)
        for name in sorted(names, key=lambda name: name == MANIFEST):       # until the end it is known as a trace
            os.unlink(name, dir_fd=folder)
        path.rmdir()
    except OSError as error:
        raise TraceError(f'{path}: cannot be removed: {error.strerror}') from error
    finally:
        os.close(folder)


def _check(path: Path, folder: int, names: list[str]) -> None:
    """Refuse a folder that is in use, or that holds more than a trace.

    Raises:
        TraceError: It is one of these.
    """
    ours = {MANIFEST, draft_path(path / MANIFEST).name, LEDGER, LIST, *_OLD_INDEXES}
    others = [name for name in names if not ((name in ours or is_log(name) or is_draft(name)) and
                                             stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode))]
    if others:
        more = f' and {len(others) - 3} more' if len(others) > 3 else ''
        raise TraceError(f'{path}: left as it is: {", ".join(others[:3])}{more} in it {"are" if len(others) > 1 else "is"} '
                         'not of a trace')
    process = recording_process(path)
    if process:
        raise TraceError(f'{path}: left as it is: process {process} records there')
