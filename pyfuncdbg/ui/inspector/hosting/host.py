"""Host process of `pyfuncdbg run --ui inspector` and `--live`: parent of the program and of the screen.

It gives the program a pseudo-terminal and the screen the user's terminal, and waits on its main thread. It holds the
pseudo- terminal open and passes signals on, so neither of the two takes the other along: without a screen the program goes
on here, as if it had been started plainly. The terminal is put back whatever happens, and the exit is the program's.

Where a program survives its screen, a byte relay takes the place of the screen between pseudo-terminal and terminal.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.hooks.notice import say
from pyfuncdbg.ui.inspector.hosting.session_program import SessionProgram
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard, guard_of
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_LINE, LEAVE_SCREEN, lacks_cursor_control

_LAST, _LONGEST = 0.2, 1.0
"""Seconds that the last output of a program may take to come, and in all; its children may write for ever."""
SMALLEST = (40, 12)
"""Columns and rows of a terminal that can be used."""
_SCREEN = ('import sys; sys.argv[0] = "pyfuncdbg"; sys.path.append(sys.argv[1]); '
           'from pyfuncdbg.ui.inspector.hosting.screen_process import main; sys.exit(main(sys.argv[2]))')
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)
_PATIENCE = 3.0
"""Seconds that the screen has to end when it is asked to."""
LEFT = 0
"""Exit code of a screen that the user has left when the program was over; others than these three mean that it failed."""
NOTHING = 3
"""Exit code of a screen that had nothing to show: the program ended before it began."""
EARLY = 4
"""Exit code of a screen that the user has left while the program ran, however soon after that it ended."""


class Relay:
    """Byte relay in both directions.

    Args:
        master: Of the pseudo-terminal, non-blocking.
        modes: Of the user's terminal, as it is put back.
        bell: Has something to read when a signal came.
        program: At that terminal.
        guard: Of the user's terminal.
    """

    def __init__(self, master: int, modes: list[Any], bell: int, program: SessionProgram, guard: TerminalGuard) -> None:
        self._master = master
        self._modes = modes
        self._bell = bell
        self._program = program
        self._guard = guard
        self._typed = b''

    def run(self) -> None:
        """Copy until the program has ended, or its terminal is gone."""
        with self._raw(), _follow_size(self._resize), contextlib.suppress(OSError, ValueError):
            self._resize()
            end = math.inf
            while time.monotonic() < end:
                over = self._program.poll() is not None
                end = min(end, time.monotonic() + _LONGEST) if over else end
                watched = [self._master, self._bell, *([] if over else [0, self._program.fileno()])]
                ready, writable, _ = select.select(watched, [self._master] if self._typed else [], [],
                                                   _LAST if over else None)
                if self._bell in ready:
                    os.read(self._bell, 4096)
                if 0 in ready:
                    typed = os.read(0, 4096)
                    if not typed:
                        break
                    self._typed += typed
                if writable:
                    self._typed = self._typed[os.write(self._master, self._typed[:512]):]
                if self._master in ready:
                    _write(os.read(self._master, 65536))
                elif over:
                    break

    def _resize(self) -> None:
        columns, rows = os.get_terminal_size(1)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))

    @contextmanager
    def _raw(self) -> Iterator[None]:
        """Every key goes to the program's terminal, which knows what Ctrl-C means."""
        self._guard.hold(0, LEAVE_LINE)
        try:
            with contextlib.suppress(OSError, termios.error):
                tty.setraw(0, termios.TCSADRAIN)        # keys typed meanwhile belong to the program
            yield
        finally:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
            self._guard.free()


@contextmanager
def _follow_size(resize: Callable[[], None]) -> Iterator[None]:
    def heard(number: int, frame: Any) -> None:
        with contextlib.suppress(OSError):
            resize()
    before = signal.signal(signal.SIGWINCH, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


def _write(data: bytes) -> None:
    """All of it; a terminal may take it in parts."""
    if not data:
        raise OSError('the terminal of the program is closed')
    while data:
        try:
            data = data[os.write(1, data):]
        except BlockingIOError:
            select.select([], [1], [])


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """The parameters of the screen's process.

    Attributes:
        trace: Where the program's trace is going to be.
        title: What the user called the program.
        live: Show how it goes on, without the debugger.
        commands: A file of commands for the first stop, '' if none.
    """

    trace: str
    title: str
    live: bool = False
    commands: str = ''


def refusal() -> str:
    """The reason why a full screen cannot be shown here, '' if it can."""
    if not (os.isatty(0) and os.isatty(1)):
        return 'stdin and stdout are not a terminal'
    if lacks_cursor_control():
        return f'the terminal (TERM={os.environ.get("TERM", "")}) cannot show a full screen'
    columns, rows = os.get_terminal_size(1)
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return f'the terminal has {columns}x{rows} characters; {SMALLEST[0]}x{SMALLEST[1]} are needed'
    return ''


def host(args: Sequence[str], options: ScreenOptions) -> int:
    """Run a program under a terminal of ours, and show it.

    Args:
        args: Of `pyfuncdbg run` for the program, without those that name a front end or the trace.
        options: What is shown.

    Returns:
        The program's exit code. Does not return where a signal has killed it: that kills this process too.
    """
    code = _Host(args, options).run()
    if code < 0:
        _die_by(-code)
    return code


class _Host:
    """The program, the screen, and the terminal of the user."""

    def __init__(self, args: Sequence[str], options: ScreenOptions) -> None:
        self._args = args
        self._options = options
        self._modes = termios.tcgetattr(0)
        self._guard = guard_of(0)
        self._master, slave = os.openpty()
        os.set_blocking(self._master, False)
        columns, rows = os.get_terminal_size(1)
        size = struct.pack('4H', max(1, rows * (6 if options.live else 3) // 10 - 1), columns - 1, 0,
                           0)   # about what it gets
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        self._hears, self._rings = os.pipe()    # a signal writes to it
        for end in (self._hears, self._rings):
            os.set_blocking(end, False)
        news, self._news = os.pipe()
        own_end, screen_end = socket.socketpair()
        with own_end, screen_end:
            self.program = self._start_program(slave, -1 if options.live else screen_end.fileno())
            os.close(slave)
            screen_end.close()
            self._guard.hold(0, LEAVE_SCREEN)
            self.screen = self._start_screen(news, -1 if options.live else own_end.fileno())
            self._guard.watch(self.screen.pid)
            os.close(news)
        self._told = self._leaving = False

    def _start_program(self, terminal: int, connection: int) -> SessionProgram:
        environment = {name: value for name, value in os.environ.items() if name not in ('LINES', 'COLUMNS')}
        environment['TERM'] = 'xterm-256color'
        command = [*_this_command(), 'run', '--hosted', str(connection), '--record', self._options.trace, *self._args]
        return SessionProgram(command, terminal, environment, [connection] if connection >= 0 else [])

    def _start_screen(self, news: int, connection: int) -> subprocess.Popen[bytes]:
        options = self._options
        guard = self._guard.fileno()
        arguments = json.dumps({'master': self._master, 'news': news, 'connection': connection, 'guard': guard,
                                'trace': options.trace, 'title': options.title, 'live': options.live,
                                'commands': options.commands,
                                'pid': self.program.pid})
        command = [sys.executable, '-P', '-c', _SCREEN, str(Path(__file__).resolve().parents[4]), arguments]
        passed = [self._master, news, *(one for one in (connection, guard) if one >= 0)]
        return subprocess.Popen(command, pass_fds=passed)

    # ------------------------------------------------------------------ main thread
    def run(self) -> int:
        """Wait for both; the program's exit code, negative for a signal."""
        with self._signals():
            try:
                self._watch()
            finally:
                self._put_back()
            alone = self.screen.returncode != LEFT
            if alone and self._terminal_lives():
                self._go_on_here()
            elif alone:                         # without a session whose end would tell it, as under setsid
                self._hang_up()
            code = self.program.wait()
            self.program.release()
        if alone and os.path.isdir(self._options.trace) and self._terminal_lives():
            from pyfuncdbg.ui.commands.programs.recorded_program import draw_report, tell_noted_unhit
            draw_report(Path(self._options.trace), os.getcwd(), dict(os.environ))
            tell_noted_unhit(Path(self._options.trace))
        return code

    def _watch(self) -> None:
        """Wait until the screen is gone."""
        while self.screen.poll() is None:
            if self.program.poll() is not None and not self._told:
                self._told = True
                self._tell({'ended': self.program.returncode})
            if self._leaving and self.program.poll() is not None:
                self._end_screen()
                return
            select.select([self._hears, *([self.program.fileno()] if self.program.returncode is None else [])], [], [])
            _drain(self._hears)

    def _end_screen(self) -> None:
        """Have the screen go: first asked, then made."""
        self._tell({'leave': True})
        for end in (self.screen.terminate, self.screen.kill):
            try:
                self.screen.wait(_PATIENCE)
                return
            except subprocess.TimeoutExpired:
                end()
        self.screen.wait()

    def _tell(self, news: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):      # it is gone
            os.write(self._news, json.dumps(news).encode() + b'\n')

    def _go_on_here(self) -> None:
        """The user's terminal is the program's from now on."""
        code = self.screen.returncode
        if code not in (EARLY, NOTHING) and self._terminal_lives():
            why = f'was killed by {signal.Signals(-code).name}' if code < 0 else 'failed'
            say(f'the inspector {why}; ' + ('the program continues here' if self.program.poll() is None else
                                            'the program has ended'))
        Relay(self._master, self._modes, self._hears, self.program, self._guard).run()

    # ------------------------------------------------------------------ signals
    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Pass signals that are sent to this process on to the program."""
        before = {number: signal.signal(number, self._pass_on) for number in _PASSED_ON}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda number, frame: None)
        wakeup = signal.set_wakeup_fd(self._rings, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _pass_on(self, number: int, frame: Any) -> None:
        """One signal; a terminal that hangs up takes the program's terminal along."""
        self._leaving = self._leaving or number in (signal.SIGTERM, signal.SIGHUP)
        if number == signal.SIGHUP and not self._terminal_lives():
            with contextlib.suppress(OSError):
                self.screen.kill()
            self._hang_up()
            return
        self.program.send_signal(number)

    def _hang_up(self) -> None:
        """The program's terminal ends as the user's has."""
        master, self._master = self._master, -1
        if master >= 0:
            os.close(master)

    def _terminal_lives(self) -> bool:
        try:
            termios.tcgetattr(0)
        except (OSError, termios.error):
            return False
        return True

    def _put_back(self) -> None:
        """The terminal as it was."""
        with contextlib.suppress(OSError, termios.error), _in_background():
            if self.screen.returncode not in (LEFT, EARLY, NOTHING):
                if self.screen.returncode < 0:                          # else it has done so, and told why it failed
                    os.write(1, LEAVE_SCREEN)
                termios.tcsetattr(0, termios.TCSAFLUSH, self._modes)    # reports of the mouse may still come
            else:
                termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
        self._guard.free()


@contextmanager
def _in_background() -> Iterator[None]:
    """Terminals stop who sets them from the background; not in here."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTTOU, before)


def _drain(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(descriptor, 4096)


def _this_command() -> list[str]:
    """The command by which Python was started for this program, with the interpreter's options."""
    words, own = sys.orig_argv, len(sys.argv) - 1
    started = words[1:len(words) - own]
    ours = started[-2:] == ['-m', 'pyfuncdbg'] or (started and os.path.basename(started[-1]) == 'pyfuncdbg')
    return [sys.executable, *started] if ours else [sys.executable, '-m', 'pyfuncdbg']


def _die_by(number: int) -> None:
    """End as the program did, so that who started us sees the same."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)


def take_terminal() -> None:
    """In the program's process, first of all: it is in the foreground of its terminal, whose Ctrl-C comes here."""
    with contextlib.suppress(OSError), _in_background():
        os.tcsetpgrp(0, os.getpgrp())
