"""A shell in a window of a real terminal emulator, tmux, with a server of its own."""
from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0
_numbers = itertools.count()
"""A server that ends still listens for a moment: the next one listens elsewhere."""
needs_tmux = pytest.mark.skipif(shutil.which('tmux') is None, reason='needs tmux')


class Pane:
    """A person at a shell.

    Args:
        folder: Where the shell is, and all that programs leave.
        shell: Command of the shell.
        **environment: More variables.
    """

    def __init__(self, folder: Path, shell: str = 'sh', **environment: str) -> None:
        self.folder = folder
        self._socket = str(folder / f'tmux{next(_numbers)}')
        dropped = ('NO_COLOR', 'COLUMNS', 'LINES', 'PYTHONBREAKPOINT', 'PYFUNCDBG_UI', 'PYFUNCDBG_LISTEN')
        env = {name: value for name, value in os.environ.items() if not name.startswith('TMUX') and name not in dropped}
        env |= {'PYTHONPATH': str(ROOT), 'XDG_STATE_HOME': str(folder), 'XDG_CONFIG_HOME': str(folder / 'config'),
                'XDG_RUNTIME_DIR': str(folder), 'LC_ALL': 'C.UTF-8',
                'ENV': '', **environment}
        subprocess.run(['tmux', '-S', self._socket, '-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', '-c',
                        str(folder), shell], env=env, check=True, timeout=30)
        end = time.monotonic() + PATIENCE
        while not self.screen.endswith(('$', '#')):
            assert time.monotonic() < end, 'no shell'
            time.sleep(0.05)

    def tmux(self, *args: str) -> str:
        """What a command of tmux says."""
        return subprocess.run(['tmux', '-S', self._socket, *args], capture_output=True, text=True, check=True,
                              timeout=60).stdout

    def type(self, text: str) -> None:
        """A text and Enter."""
        self.tmux('send-keys', '-l', text)
        self.tmux('send-keys', 'Enter')

    def python(self, *args: str) -> None:
        """Start Python in the shell."""
        self.type(' '.join([sys.executable, *args]))

    def paste(self, text: str, *, brackets: bool) -> None:
        """Paste a text, as one key does, with the marks around it that the program may have asked for."""
        (self.folder / 'clipboard').write_text(text)
        self.tmux('load-buffer', str(self.folder / 'clipboard'))
        self.tmux('paste-buffer', *(['-p'] if brackets else []))

    @property
    def screen(self) -> str:
        """What is on the screen."""
        return self.tmux('capture-pane', '-p').rstrip()

    @property
    def scrolled(self) -> str:
        """The screen and what has left it upwards, as lines that are whole again."""
        return self.tmux('capture-pane', '-p', '-J', '-S', '-').rstrip()

    def until(self, *texts: str, seconds: float = PATIENCE, scrolled: bool = False) -> str:
        """The screen once it shows all these; or has shown them, where text may have moved them out of it."""
        end = time.monotonic() + seconds
        while not all(text in (screen := self.scrolled if scrolled else self.screen) for text in texts):
            assert time.monotonic() < end, f'{texts} do not come:\n{screen}'
            time.sleep(0.05)
        return screen

    def flags(self) -> dict[str, str]:
        """Modes of the terminal that a program may have left on."""
        names = ('alternate_on', 'cursor_flag', 'mouse_any_flag', 'mouse_sgr_flag', 'keypad_flag', 'keypad_cursor_flag')
        values = self.tmux('display-message', '-p', ' '.join(f'#{{{name}}}' for name in names)).split()
        return dict(zip(names, values, strict=True))

    @property
    def device(self) -> str:
        """The terminal."""
        return self.tmux('display-message', '-p', '#{pane_tty}').strip()

    def close(self) -> None:
        """End the terminal and all in it."""
        subprocess.run(['tmux', '-S', self._socket, 'kill-server'], check=False, timeout=30, capture_output=True)

    def __enter__(self) -> Pane:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def processes(*words: str) -> set[int]:
    """Numbers of the processes that run with all of these in their command lines or environments."""
    found = set()
    for path in Path('/proc').glob('[0-9]*'):
        try:
            text = (path / 'cmdline').read_bytes() + b'\0' + (path / 'environ').read_bytes()
            alive = (path / 'stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
        except OSError:
            continue
        if alive and int(path.name) != os.getpid() and all(word.encode() in text for word in words):
            found.add(int(path.name))
    return found
