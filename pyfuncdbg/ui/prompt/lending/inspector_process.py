"""The inspector process that borrows the terminal, from the first stop to the end of the program.

Two connections lead to it: the command socket, and the lease, a socket with one word a line that says who has the terminal.
The program says `lend`, `return`, `relax` (leave the keys and the modes of the line to the program, but keep the screen),
`resume` (take them again) and `output` (more is held); the process says `pid N`, `shown`, `hidden`, `returned`, `relaxed`,
`left` (the user has closed it) and `failed WHY`. The process is no child of the program, which may wait for its children,
but of its group of processes: Ctrl-Z, hang-ups and new sizes of the window reach both, as one job; and a thread that reads
the terminal does not get the program suspended, as in the background it would be.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.own_process import own_start
from pyfuncdbg.ui.commands.socket.listen import adopt
from pyfuncdbg.ui.prompt.lending.held_output import HeldOutput
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard

_PATIENCE = 10.0
"""Seconds that it may take to give the terminal back; on a busy machine it takes a while to start."""
_START = '''import os, sys
if os.fork():
    os._exit(0)
sys.path.append(sys.argv.pop(1))
sys.argv[0] = 'pyfuncdbg'
from pyfuncdbg.ui.inspector.lease.lent_process import main
main()
'''
_KEPT = ('PYTHONPATH', 'PYTHONHOME', 'PYTHONUSERBASE', 'PYTHONNOUSERSITE', 'PYTHONPYCACHEPREFIX', 'PYTHONDONTWRITEBYTECODE',
         'PYTHONUTF8')
"""Variables of Python and pyfuncdbg that name places and are passed on: others make it talk, listen or stop."""


class InspectorProcess:
    """The process, as the program sees it.

    Args:
        terminal: Descriptor of the terminal.
        output: What is held while it is lent.
        guard: Puts the terminal back if both processes are killed.

    Attributes:
        gone: It has ended, or is no use any more.
        left: The user has closed it.
        shown: Its screen may be on the terminal.
        reason: Why it has ended, '' if it has not said.
        changed: Called when one of these changes, on a thread of this object's.

    Raises:
        CommandError: It cannot be started.
    """

    def __init__(self, terminal: int, output: HeldOutput, guard: TerminalGuard) -> None:
        self.gone = self.left = self.shown = False
        self.reason = ''
        self.changed: Callable[[], None] = lambda: None
        self._pid = 0
        self._guard = guard
        self._back = threading.Event()
        ours, commands = socket.socketpair()
        self._lease, lease = socket.socketpair()
        try:
            self._first = _start(terminal, (lease.fileno(), commands.fileno(), output.file, output.pipe, guard.fileno()))
        except BaseException:
            ours.close()
            self._lease.close()
            raise
        finally:
            commands.close()
            lease.close()
        self._client = adopt(ours)
        self._client.around = _without_keys
        output.grown = lambda: self._say('output')
        threading.Thread(target=self._hear, name='pyfuncdbg lease', daemon=True).start()

    @property
    def number(self) -> int:
        """Its number as a client."""
        return self._client.number

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event."""
        self._client.send(event)

    def lend(self) -> None:
        """The terminal is its own from now on."""
        self._say('lend')

    def take_back(self) -> None:
        """The terminal is the program's again; a process that does not answer is ended."""
        self._await('return')

    def relax(self) -> None:
        """The keys are the program's for a moment; its screen stays."""
        self._await('relax')

    def resume(self) -> None:
        """They are its own again."""
        self._say('resume')

    def _await(self, word: str) -> None:
        self._back.clear()
        if self.gone:
            return
        self._say(word)
        if not self._back.wait(_PATIENCE) and not self.gone:
            self.reason = 'it did not return the terminal'
            self.end()
            self._back.wait(1.0)

    def end(self) -> None:
        """Make an end of it."""
        self.gone = True
        with contextlib.suppress(OSError):
            self._lease.shutdown(socket.SHUT_RDWR)
        if self._pid and not self._back.is_set():
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def forget(self) -> None:
        """In a forked child: it is the parent's."""
        self._lease.close()

    def _say(self, word: str) -> None:
        with contextlib.suppress(OSError):      # it is gone, which the other thread hears
            self._lease.sendall(word.encode() + b'\n')

    def _hear(self) -> None:
        """On a thread of its own, until the process has ended."""
        try:
            self._first.wait()
            with self._lease.makefile('r', encoding='utf-8', errors='replace') as lines:
                for line in lines:
                    word, _, rest = line.rstrip('\n').partition(' ')
                    if word == 'pid':
                        self._pid = int(rest)
                        self._guard.watch(self._pid)
                    elif word in ('shown', 'hidden'):
                        self.shown = word == 'shown'
                    elif word in ('returned', 'relaxed'):
                        self.shown = word == 'relaxed'
                        self._back.set()
                    elif word == 'left':
                        self.left = True
                    elif word == 'failed':
                        self.reason = rest
        except OSError:
            pass
        code = self._first.wait()
        if code and not self.reason:
            self.reason = f'it ended at once, with exit code {code}'
        self.gone = True
        self._back.set()
        self.changed()


@contextlib.contextmanager
def _without_keys() -> Iterator[None]:
    """Give code that is evaluated at a stop and reads the terminal no input: the keys are the inspector's.

    Not where the main thread may be at a prompt of its own meanwhile, which would take this for its end.
    """
    if threading.current_thread() is not threading.main_thread() or not os.isatty(0):
        yield
        return
    before = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.dup2(nothing, 0)
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(nothing)


def _start(terminal: int, descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Start a process that starts it and ends; it takes these descriptors along, under the same numbers."""
    environment = {name: value for name, value in os.environ.items()
                   if name in _KEPT or not (name.startswith(('PYTHON', 'PYFUNCDBG_')) or name in ('COLUMNS', 'LINES'))}
    if not sys.executable:
        raise CommandError('the path of this Python is not known')
    place = Path(__file__).resolve().parents[4]
    command = [sys.executable, '-P', '-c', _START, str(place), *map(str, (*descriptors, os.getpid()))]
    try:
        with own_start():
            return subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment,
                                    pass_fds=[one for one in descriptors if one >= 0])
    except OSError as error:
        raise CommandError(f'it cannot be started: {error}') from None
