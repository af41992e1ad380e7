"""The program under a session leader: its process, its exit code, and a descriptor that signals its end.

On the main thread of the process that the user started.
"""
from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_LEADER = str(Path(__file__).with_name('session_leader.py'))


class SessionProgram:
    """A program at a terminal, under a session leader.

    Args:
        command: What to run, a path and its arguments.
        terminal: The slave side of its terminal.
        environment: Its environment.
        passed: Descriptors that it gets.

    Attributes:
        pid: Its process.
        returncode: Its exit code once that is known, negative for a signal.
    """

    def __init__(self, command: Sequence[str], terminal: int, environment: Mapping[str, str], passed: Sequence[int]) -> None:
        self._report, child_end = os.pipe()
        try:
            self._leader = subprocess.Popen(
                [sys.executable, '-I', '-S', _LEADER, str(child_end), *command], stdin=terminal, stdout=terminal,
                stderr=terminal, start_new_session=True, env=environment, pass_fds=[child_end, *passed])
        finally:
            os.close(child_end)
        self._told = b''
        while b'\n' not in self._told and self._read():
            pass
        first, _, self._told = self._told.partition(b'\n')
        self.pid = int(first or 0)
        os.set_blocking(self._report, False)
        self.returncode: int | None = None

    def fileno(self) -> int:
        """Can be read when there is news."""
        return self._report

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        if self.returncode is None:
            with contextlib.suppress(BlockingIOError):
                open_ = self._read()
                if b'\n' in self._told:
                    self.returncode = int(self._told)
                elif not open_:                 # the leader was killed, and the program with it
                    self.returncode = -signal.SIGKILL
        return self.returncode

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        while (code := self.poll()) is None:
            select.select([self._report], [], [])
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.poll() is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def release(self) -> None:
        """End the leader of a program that has ended, without a hang-up signal to any process."""
        self._leader.kill()
        self._leader.wait()

    def _read(self) -> bool:
        data = os.read(self._report, 64)
        self._told += data
        return bool(data)
