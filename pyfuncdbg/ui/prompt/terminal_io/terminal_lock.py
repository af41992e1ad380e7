"""Lock on a terminal between processes: a forked child and its parent may stop at the same time.

The lock is on a file of the user's for each terminal, so the system releases it when its holder dies. Used by the thread
that has the prompt of its process.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.processes import program_prompt
from pyfuncdbg.ui.commands.socket.rendezvous import own_folder

_PATIENCE = 0.05
"""Seconds between two looks at whether the terminal is free."""


@contextlib.contextmanager
def turn(terminal: int, say: Callable[[str], None], is_wanted: Callable[[], bool]) -> Iterator[bool]:
    """Wait until no other process asks at this terminal, and keep it; False if it is not wanted any more.

    Args:
        terminal: Its descriptor.
        say: Told once who has it, if that is no process of the same job: those take turns, and each shows its stop then.
        is_wanted: Whether to go on waiting.
    """
    file = _open_lock(terminal)
    if file is None:                            # no folder for the lock: do not wait
        yield True
        return
    has_lock = False
    try:
        was_told = False
        while not (has_lock := _take_lock(file)) and is_wanted():
            if not was_told:
                was_told = True
                if not _is_of_this_job(_holder(file)):
                    say(f'process {_holder(file)} has the terminal; process {os.getpid()} waits for it')
            time.sleep(_PATIENCE)
        if has_lock:
            program_prompt.note(True)
        yield has_lock
    finally:
        if has_lock:
            program_prompt.note(False)
        os.close(file)


def _open_lock(terminal: int) -> int | None:
    """The file of this terminal's lock; a lock of POSIX kind, which a child made by `fork` at the prompt does not share."""
    try:
        name = f'{own_folder()}/terminal-{os.fstat(terminal).st_rdev}.lock'
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except (OSError, CommandError):
        return None


def _take_lock(file: int) -> bool:
    """Whether the terminal is ours now."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)
    return True


def _is_of_this_job(holder: str) -> bool:
    """Whether a process, as `_holder` names it, is in the process group of this one."""
    try:
        return os.getpgid(int(holder)) == os.getpgrp()
    except (ValueError, OSError):
        return False


def _holder(file: int) -> str:
    return os.pread(file, 20, 0).decode('ascii', 'replace') or 'another'
