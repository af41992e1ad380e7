"""A person at a real terminal in front of `pyfuncdbg run`, or of plain Python, who sees what a terminal shows."""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pyte

import pyfuncdbg

ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]
PATIENCE = 60.0
INSPECTOR = ('--ui', 'inspector')
LIVE = ('--live',)
ITS_KEYS = 'Ctrl-] takes them back'
"""Said while the program has the keys."""
_MODES = {'1049': 'alternate screen', '1000': 'mouse', '1002': 'mouse', '1003': 'mouse', '1006': 'mouse',
          '2004': 'paste', '25': 'cursor'}
_LEFT = b'\x1b[?1049l'
_MODE = re.compile(rb'\x1b\[\?([0-9;]+)([hl])')


class Person:
    """Somebody at a terminal.

    Args:
        folder: Where the program is, and what it leaves.
        args: Behind `python`.
        size: Rows and columns.
        **environment: More of the environment.
    """

    def __init__(self, folder: Path, *args: str, size: tuple[int, int] = (40, 120), **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items()
                if name not in ('NO_COLOR', 'COLUMNS', 'LINES', 'PYFUNCDBG_LISTEN', 'COLORTERM')}
        env = {**kept, 'PYTHONPATH': str(ROOT), 'TERM': 'xterm-256color', 'XDG_STATE_HOME': str(folder / 'state'),
               'XDG_CONFIG_HOME': str(folder / 'config'),
               'XDG_RUNTIME_DIR': str(folder), **environment}
        self.folder = folder
        self.child = pexpect.spawn(sys.executable, list(args), cwd=str(folder), env=env, dimensions=size, timeout=PATIENCE)
        self.child.delaybeforesend = None
        self.raw = b''
        self.modes = termios.tcgetattr(self.child.child_fd)
        self._screen = pyte.Screen(size[1], size[0])
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return '\n'.join(line.rstrip() for line in self._screen.display)

    def until(self, wanted: str | Callable[[str], bool], seconds: float = PATIENCE) -> str:
        """Look until that is on the screen."""
        end = time.monotonic() + seconds
        found = wanted if callable(wanted) else lambda text: wanted in text
        while not found(self.text):
            assert time.monotonic() < end, f'{wanted!r} did not come; there is:\n{self.text}'
            assert self.read(0.2) or found(self.text), f'it has ended; {wanted!r} did not come; there is:\n{self.text}'
        return self.text

    def read(self, seconds: float) -> bool:
        """Read for so long at most; False at the end."""
        try:
            data = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        *full, normal = re.sub(rb'\x1b\[[<=>][0-9;]*[a-z]|\x1b\[\?[0-9;]*\$p|\x1bP[^\x1b]*\x1b\\', b'', data).split(_LEFT)
        for part in full:
            self._stream.feed(part)
            self._screen.reset()                # what was there before has no place in these tests
        self._stream.feed(normal)
        return True

    def ready(self) -> str:
        """Look until the keys are those of the screen around the program, and no line is typed; what is shown then."""
        return self.until(lambda text: text.rstrip().endswith(' q quit'))

    def settle(self, seconds: float = 0.5) -> str:
        """Read until nothing comes for a while; of a live view, which is drawn again and again, for three seconds."""
        last, end = -1, time.monotonic() + 3
        while len(self.raw) != last and time.monotonic() < end:
            last = len(self.raw)
            if not self.read(seconds):
                break
        return self.text

    def type(self, keys: str) -> None:
        """Keys."""
        self.child.send(keys)

    def resize(self, rows: int, columns: int) -> None:
        """Another size of the window."""
        self.child.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def end(self, seconds: float = PATIENCE) -> int:
        """Read to the end; the exit code, negative for a signal."""
        end = time.monotonic() + seconds
        while self.read(0.2):
            assert time.monotonic() < end, f'it does not end; there is:\n{self.text}'
        self.child.wait()
        return -self.child.signalstatus if self.child.signalstatus else self.child.exitstatus

    @property
    def left_on(self) -> set[str]:
        """Modes of the terminal that were switched on and never off: what would annoy the next program."""
        state: dict[str, bool] = {}
        for numbers, how in _MODE.findall(self.raw):
            for number in numbers.decode().split(';'):
                if number in _MODES:
                    state[number] = (how == b'h') != (number == '25')
        return {_MODES[number] for number, on in state.items() if on}

    def processes(self) -> list[int]:
        """The process that was started, and all below it."""
        found = [self.child.pid]
        for pid in found:
            for task in Path(f'/proc/{pid}/task').glob('*/children'):
                found += [int(word) for word in task.read_text().split()]
        return found

    def process(self, *words: str, without: str = '') -> int:
        """The one process below that has all these in its command line."""
        def matches(pid: int) -> bool:
            found = Path(f'/proc/{pid}/cmdline').read_bytes().decode().split('\0')
            return all(word in found for word in words) and without not in found[:-1]
        found = [pid for pid in self.processes()[1:] if matches(pid)]
        assert len(found) == 1, found
        return found[0]

    @property
    def program(self) -> int:
        """The process of the program."""
        return self.process('--hosted', without='-S')

    @property
    def screen_process(self) -> int:
        """The process of the screen."""
        return self.process('-P')

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *exception: Any) -> None:
        for pid in reversed(self.processes()):
            if pid != self.child.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if self.child.child_fd >= 0:
            self.child.close(force=True)


def hang_up(child: pexpect.spawn) -> None:
    """Close the terminal. By the file that owns the descriptor: else that file closes whatever has the number next."""
    child.ptyproc.fileobj.close()
    child.ptyproc.fd = child.child_fd = -1
    child.ptyproc.closed = child.closed = True


def under(folder: Path, source: str, *options: str, args: tuple[str, ...] = (), **more: Any) -> Person:
    """Start a program under `pyfuncdbg run`."""
    (folder / 'script.py').write_text(source)
    return Person(folder, '-m', 'pyfuncdbg', 'run', '--record', 'trace.pfd', *options, 'script.py', *args, **more)


def plainly(folder: Path, source: str, *args: str, **more: Any) -> Person:
    """Start the same with Python alone."""
    (folder / 'script.py').write_text(source)
    return Person(folder, 'script.py', *args, **more)


def noted(folder: Path) -> Any:
    """What the program has written to its notes; they are taken away."""
    path = folder / 'notes.json'
    found = json.loads(path.read_text())
    path.unlink()
    return found


def leave(person: Person) -> int:
    """Leave the finished screen; the exit code."""
    person.until(lambda text: 'program: ended' in text or 'program: killed' in text)
    person.ready()
    person.type('q')
    return person.end()
