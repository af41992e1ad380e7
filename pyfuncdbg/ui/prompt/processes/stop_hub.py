"""Hub of the stops of a program: its first process listens, and the others bring their stops to its prompt.

It exists once there may be another process: before the first fork, with the first invitation, from the start of a program
that is debugged and whose processes are followed, else before the first one that starts afresh or forks; then the debugger
is loaded when a process needs it. A bare thread accepts connections; each process that has stopped has a thread of its own,
which holds its place in the broker's queue. What forks, forks without the thread that accepts.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import select
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.hooks import process_invitations
from pyfuncdbg.hooks.bare_thread import BareThread
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.observers.record import fork

if TYPE_CHECKING:                               # most programs are one process, and need none of these
    import socket

    from pyfuncdbg.observers.debug.debugger import Debugger
    from pyfuncdbg.ui.prompt.processes.remote_process import RemoteProcess

_PATIENCE = 5.0
"""Seconds that a process has to say what it wants."""
_ENDING = 1.0
"""Seconds that a fork waits at most for the thread to end."""


class StopHub:
    """The hub of one debugger. Any thread.

    Args:
        load: Loads the debugger where there is none yet: has `serve` called.

    Attributes:
        first: The path of the first process's hub; '' in the first process itself, and where there is none.
    """

    def __init__(self, load: Callable[[], None] = lambda: None) -> None:
        self.first = ''
        self._load = load
        self._debugger: Debugger | None = None
        self._invite: Callable[[], Invitation] | None = None
        self._loading = new_rlock()
        self._lock = new_rlock()
        self._listening: socket.socket | None = None
        self._path = ''
        self._owner = 0
        self._accepting: _Accepting | None = None
        self._processes: list[RemoteProcess] = []
        self._has_failed = False
        fork.follow(self)
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(before=self._bind, after_in_parent=self._accept)
        atexit.register(self.stop)

    def serve(self, debugger: Debugger, invite: Callable[[], Invitation]) -> None:
        """Have a debugger from now on.

        Args:
            debugger: Whose stops, and whose broker has the queue for those of other processes.
            invite: What a process that has started needs to have the breakpoints.
        """
        self._debugger, self._invite = debugger, invite
        debugger.broker.is_first = not self.first

    # ------------------------------------------------------------------ the first process
    def open(self, program: str = '', *, forks: bool = False) -> str:
        """Listen, unless this is not the first process.

        Args:
            program: Its name, by which processes that start afresh find it; by default as known, or the process id.
            forks: This process is about to fork: the thread that accepts starts after that.

        Returns:
            The path for other processes, '' if there is none.
        """
        self._bind(program)
        if not forks:
            self._accept()
        return self.path

    @property
    def is_debugged(self) -> bool:
        """Whether this process has a debugger, which forked children have, too."""
        return self._debugger is not None

    @property
    def path(self) -> str:
        """The path for other processes, '' if there is none."""
        return self._path or self.first

    def _bind(self, program: str = '') -> None:
        """Make the socket, before the first process starts that may need it."""
        with self._lock:
            asks_nobody = self._debugger is not None and self._debugger.broker.front_end_name == 'none'
            if self._listening is not None or self.first or self._has_failed or asks_nobody:
                return
            from pyfuncdbg.ui.commands.socket import first_process
            try:
                self._listening, self._path = first_process.listen(
                    program or process_invitations.program or str(os.getpid()))
            except (OSError, CommandError) as error:
                self._has_failed = True
                say(f'other processes of the program cannot ask here where they stop: {error}')
                return
            self._owner = os.getpid()

    def _accept(self) -> None:
        with self._lock:
            if self._listening is not None and self._accepting is None:
                accepting = self._accepting = _Accepting(self._listening, self._welcome)
                with contextlib.suppress(RuntimeError):         # no thread can start at interpreter shutdown
                    accepting.thread.start(accepting.run)

    def _welcome(self, connection: socket.socket) -> None:
        """On the thread that accepts: hand the connection to a thread of its own."""
        with contextlib.suppress(RuntimeError):
            BareThread().start(lambda: self._serve(connection))

    def _serve(self, connection: socket.socket) -> None:
        """Answer what a process wants; where it has stopped, hold its stops until it ends."""
        from pyfuncdbg.ui.commands.socket import first_process
        process = None
        try:
            connection.setblocking(True)
            first_process.refuse_strangers(connection)
            wanted = first_process.receive_line(connection, _PATIENCE)
            if wanted.get('for') == 'breakpoints' and self._debugger is None:
                first_process.send_line(connection, first_process.LATER)
                connection.close()
            elif wanted.get('for') in ('breakpoints', 'prompt'):
                _, invite = self._debugging()
                first_process.send_line(connection, invite()._asdict())
                connection.close()
            elif wanted.get('for') == 'stops':
                debugger, _ = self._debugging()
                first_process.send_line(connection, {})
                from pyfuncdbg.ui.prompt.processes.remote_process import RemoteProcess
                process = RemoteProcess(connection, int(wanted['pid']), str(wanted['label']), debugger)
                self._processes.append(process)
                process.hold_stops()
        except (OSError, PyfuncdbgError, KeyError, ValueError, TypeError):
            connection.close()                  # it has ended, or is no part of the program: it goes on without us
        finally:
            if process is not None:
                with contextlib.suppress(ValueError):
                    self._processes.remove(process)

    def _debugging(self) -> tuple[Debugger, Callable[[], Invitation]]:
        """The debugger, loaded if need be, and its invitations."""
        with self._loading:
            if self._debugger is None:
                self._load()
            if self._debugger is None or self._invite is None:
                raise CommandError('this process is not debugged')
            return self._debugger, self._invite

    def stop(self) -> None:
        """The process ends: those that wait go on."""
        if self._owner == os.getpid():
            self.before_fork()
            with self._lock:
                listening, self._listening = self._listening, None
                if listening is not None:
                    listening.close()
                    with contextlib.suppress(OSError):
                        os.unlink(self._path)

    # ------------------------------------------------------------------ forks
    @property
    def thread(self) -> int:
        """`threading.get_ident()` of the thread that accepts, 0 if there is none; see `fork.ForkFollower`."""
        return self._accepting.thread.ident if self._accepting is not None else 0

    def before_fork(self) -> None:
        """End the thread: Python 3.12 warns of a process of several threads that forks."""
        with self._lock:
            accepting, self._accepting = self._accepting, None
        if accepting is not None:
            accepting.end()

    def after_fork(self) -> None:
        """In the child: the hub is the parent's, or that of its parent."""
        self.first = self._path or self.first
        self._path = ''
        if self._debugger is not None:
            self._debugger.broker.is_first = not self.first
        if self._listening is not None:
            self._listening.close()
        if self._accepting is not None:
            self._accepting.close()
        for process in self._processes:
            process.forget()                    # its other end must see that the parent ends
        self._listening = self._accepting = None
        self._processes = []


class _Accepting:
    """A thread that accepts connections.

    Attributes:
        thread: The thread.
    """

    def __init__(self, listening: socket.socket, welcome: Callable[[socket.socket], None]) -> None:
        self.thread = BareThread()
        self._listening = listening
        self._welcome = welcome
        self._hears, self._bell = os.pipe()

    def run(self) -> None:
        """Accept until `end`."""
        try:
            while self._hears not in select.select([self._listening.fileno(), self._hears], [], [])[0]:
                try:
                    connection, _ = self._listening.accept()
                except OSError:                 # the process has ended already, or no file descriptor is left
                    continue
                connection.set_inheritable(False)
                self._welcome(connection)
        except (OSError, ValueError):           # the program has closed all files that it can
            pass

    def end(self) -> None:
        """End the thread and wait for it, for a short time."""
        with contextlib.suppress(OSError):
            os.write(self._bell, b'!')
        self.thread.wait(_ENDING)
        self.close()

    def close(self) -> None:
        """Close its pipe."""
        for one in (self._hears, self._bell):
            with contextlib.suppress(OSError):
                os.close(one)
