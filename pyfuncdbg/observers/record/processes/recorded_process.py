"""A process that records itself, without `pyfuncdbg run`.

Its trace lists it if it, or a fork of it, becomes another program. The recorder makes one when it starts;
`abrupt_ends` calls it on the thread of the program that calls `os.exec*`.
"""
from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from pyfuncdbg.observers.record.processes.followed_process import LIST, FollowedProcess


class RecordedProcess:
    """This process and its trace; the same object in each forked child.

    Args:
        folder: Of the trace.
        command: The program and its arguments.
    """

    def __init__(self, folder: str, command: Sequence[str]) -> None:
        self._process = FollowedProcess(folder)
        self._process.leads = False
        self._command = command
        self._first = self._process.beginning(command, False)
        self._listed = 0

    def list_replacement(self, command: Sequence[str] | None, environment: Sequence[bytes] | None = None) -> None:
        """Add what this process becomes now to the list.

        Args:
            command: The program and its arguments; None takes the line before back, it has not become that.
            environment: What that gets; None for the environment of this process.
        """
        if self._listed != os.getpid():
            self._listed = os.getpid()
            self._list_beginnings()
        self._process.list_replacement(command, environment)

    def _list_beginnings(self) -> None:
        """The beginning of the process that records, which the first of it and its forks adds; then that of this one."""
        with contextlib.suppress(OSError):
            os.close(os.open(os.path.join(self._process.folder, LIST),
                             os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            self._process.append(self._first)
        if self._first['pid'] != os.getpid():
            self._process.list_beginning(self._command, is_fork=True)
