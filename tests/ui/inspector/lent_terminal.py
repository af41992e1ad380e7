"""A program on a real pseudo-terminal that it lends to an inspector, and the screen that a person would see."""
from __future__ import annotations

import contextlib
import copy
import os
import re
import signal
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[3]
READY = ': for a command[^\n]*\n[^\n]* q quit$'
"""The end of the inspector's screen when keys are taken."""
TYPING = ' Esc back$'
"""The end of it while a line is typed."""

PROGRAM = '''
import sys, time
import numpy as np
import pyfuncdbg
from pyfuncdbg import tf
v1 = tf.compat.v1

def norm(x):
    mu = x.mean()
    y = x - mu
    print('norm of', x.tolist())
    return y

graph = tf.Graph()
with graph.as_default():
    a = v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(norm, [a], tf.float32, name='norm')
    c = tf.multiply(b, 2., name='c')

def train(steps, ui):
    with v1.Session(graph=graph) as plain:
        sess = pyfuncdbg.DebugSession(plain, ui=ui) if ui else plain
        for step in range(steps):
            print('step', step, sess.run(c, {a: np.arange(3, dtype=np.float32) * step}))
    print('end')
'''
"""What most tests run, and add a few lines to."""


_KEYBOARD = re.compile(rb'\x1b\[[<>]\d*u')
"""Sequences that pyte does not know."""


class Display(pyte.Screen):
    """An emulated screen with a second one for full-screen programs, which pyte lacks."""

    first: tuple[Any, Any] | None = None

    @property
    def full(self) -> bool:
        """Whether a full-screen program has it."""
        return self.first is not None

    def set_mode(self, *modes: int, **options: Any) -> None:
        if options.get('private') and 1049 in modes and self.first is None:
            self.first = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)
        super().set_mode(*(mode for mode in modes if mode != 1049), **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        if options.get('private') and 1049 in modes and self.first is not None:
            (self.buffer, self.cursor), self.first = self.first, None
        super().reset_mode(*(mode for mode in modes if mode != 1049), **options)

    def mouse(self) -> bool:
        """Whether moves of the mouse are reported."""
        return any(mode << 5 in self.mode for mode in (1000, 1003))


class Terminal:
    """A person at a terminal.

    Args:
        folder: Where the program is, and everything it leaves.
        source: The program, put behind `PROGRAM`; None to start `args` alone.
        args: Instead of the program, behind `python`.
        environment: More variables.
        shell: Started by a shell, as a job of its.
        size: Rows and columns.
    """

    def __init__(self, folder: Path, source: str | None, *args: str, environment: dict[str, str] | None = None,
                 size: tuple[int, int] = (30, 100), shell: bool = False) -> None:
        if source is not None:
            (folder / 'train.py').write_text(PROGRAM + source)
            args = (*args, 'train.py')
        kept = {name: value for name, value in os.environ.items()
                if name not in ('NO_COLOR', 'COLUMNS', 'LINES', 'PYTHONBREAKPOINT', 'PYFUNCDBG_UI')}
        env = {**kept, 'PYTHONPATH': str(ROOT), 'TERM': 'xterm-256color', 'XDG_STATE_HOME': str(folder / 'state'),
               'XDG_CONFIG_HOME': str(folder / 'config'),
               'XDG_RUNTIME_DIR': str(folder), **(environment or {})}
        command = ['/bin/bash', '--norc', '--noprofile', '--noediting', '-i'] if shell else [sys.executable, *args]
        self.child = pexpect.spawn(command[0], command[1:], cwd=str(folder), env={**env, 'PS1': 'shell> '}, dimensions=size,
                                   timeout=60)
        self.child.delaybeforesend = None
        self.display = Display(size[1], size[0])
        self._stream = pyte.ByteStream(self.display)
        self.raw = b''
        self._shell = shell
        if shell:
            self.until('shell>')
        self.modes = termios.tcgetattr(self.child.child_fd)
        if shell:
            self.child.send(f'clear; {sys.executable} {" ".join(args)}\r')

    # ------------------------------------------------------------------ looking
    @property
    def screen(self) -> str:
        """What is on the screen now."""
        return '\n'.join(line.rstrip() for line in self.display.display).rstrip()

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what has been written; False at the end of the program."""
        try:
            data = self.child.read_nonblocking(1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(_KEYBOARD.sub(b'', data))
        return True

    def until(self, *wanted: str, full: bool | None = None, seconds: float = 60) -> str:
        """Wait until all of this is on the screen at once, on that of a full-screen program or not; the screen then."""
        end = time.monotonic() + seconds
        while not (all(re.search(word, self.screen) for word in wanted) and full in (None, self.display.full)):
            alive = self.read()
            assert alive or all(re.search(word, self.screen) for word in wanted), f'it ended with:\n{self.screen}'
            assert time.monotonic() < end, f'{wanted} did not come; there was:\n{self.screen}'
        return self.screen

    def stopped(self, *wanted: str) -> str:
        """Wait until the inspector shows a stop, and takes keys."""
        return self.until('STOPPED', READY, *wanted, full=True)

    def end(self) -> str:
        """Wait for the end of the program; what is on the screen then."""
        stop = time.monotonic() + 60
        while self.read():
            assert time.monotonic() < stop, f'it does not end; there is:\n{self.screen}'
        self.child.wait()
        return self.screen

    @property
    def code(self) -> int:
        """Exit code, negative for a signal."""
        return -self.child.signalstatus if self.child.signalstatus else self.child.exitstatus

    def restored(self) -> bool:
        """Whether the terminal is as it was before the program started."""
        modes = self.display.mode
        return (not self.display.full and not self.display.mouse() and 2004 << 5 not in modes
                and 25 << 5 in modes and termios.tcgetattr(self.child.child_fd) == self.modes)

    # ------------------------------------------------------------------ typing
    def type(self, line: str, *more: tuple[str, str]) -> None:
        """A command line, as soon as the line for it is there.

        Args:
            line: Its first line.
            *more: The others, each behind what must be on the screen before it is typed.
        """
        self.until(READY, full=True)
        self.child.send(':')
        self.until(TYPING)
        self.child.send(line)
        self.until(re.escape(line))
        self.child.send('\r')
        for shown, another in more:
            self.until(re.escape(shown))
            self.child.send(another + '\r')
        end = time.monotonic() + 60
        while self.display.full and re.search(TYPING, self.screen):
            assert self.read() and time.monotonic() < end, f'the line stays:\n{self.screen}'

    def key(self, key: str) -> None:
        """One key."""
        self.child.send(key)

    def leave(self, key: str) -> None:
        """One key, until the inspector has given the screen back; the next one may have taken it by then."""
        before = self.raw.count(b'\x1b[?1049l')
        self.key(key)
        end = time.monotonic() + 60
        while self.raw.count(b'\x1b[?1049l') == before:
            assert self.read() and time.monotonic() < end, f'it stays:\n{self.screen}'

    def inspector(self) -> int:
        """Process number of the inspector, 0 if there is none."""
        return _found('inspector.lease', str(self.program))

    @property
    def program(self) -> int:
        """Process number of the program."""
        return _found('train.py', parent=self.child.pid) if self._shell else self.child.pid

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number in (self.inspector(), self.program, self.child.pid):
            if number:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        with contextlib.suppress(OSError, pexpect.ExceptionPexpect):        # a test may have closed it
            self.child.close(force=True)


def gone(number: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f'/proc/{number}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'
    except OSError:
        return True


def _found(word: str, other: str = '', *, parent: int = 0) -> int:
    """The process with these in its command line, 0 if there is none."""
    for name in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            words = Path(f'/proc/{name}/cmdline').read_text().split('\0')
            status = Path(f'/proc/{name}/stat').read_text().rpartition(')')[2].split()
            if any(word in one for one in words) and (not other or other in words) and parent in (0, int(status[1])):
                return int(name)
    return 0
