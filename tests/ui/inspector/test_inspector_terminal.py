"""From start to the line that makes the demo's loss NaN, in a real terminal: typed, and read off the screen."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspecting import ROOT

import pyfuncdbg.demo

LINES = (Path(pyfuncdbg.demo.__file__).parent / 'train.py').read_text().splitlines()
BIRTH = next(number for number, line in enumerate(LINES, 1) if 'return (pixels - mean) / std' in line)
PATIENCE = 60.0


class Terminal:
    """A shell in tmux."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._socket = str(folder / 'tmux')
        environment = {name: value for name, value in os.environ.items() if not name.startswith('TMUX')}
        environment |= {'PYTHONPATH': str(ROOT), 'XDG_STATE_HOME': str(folder), 'XDG_CONFIG_HOME': str(folder / 'config'),
                        'LC_ALL': 'C.UTF-8'}
        subprocess.run(['tmux', '-S', self._socket, '-f', '/dev/null', 'new-session', '-d', '-x', str(width),
                        '-y', str(height), '-c', str(folder), 'sh'], env=environment, check=True, timeout=30)

    def _tmux(self, *args: str) -> str:
        return subprocess.run(['tmux', '-S', self._socket, *args], capture_output=True, text=True, check=True,
                              timeout=30).stdout

    def type(self, text: str, *keys: str) -> None:
        """Type a text as fast as a paste, then keys by name."""
        if text:
            self._tmux('send-keys', '-l', text)
        if keys:
            self.burst(*keys)

    def burst(self, *keys: str) -> None:
        """Texts and keys by name, all at once."""
        self._tmux('send-keys', *keys)

    @property
    def screen(self) -> str:
        return self._tmux('capture-pane', '-p')

    def until(self, *texts: str) -> str:
        """The screen once it shows all these."""
        end = time.monotonic() + PATIENCE
        while not all(text in self.screen for text in texts):
            assert time.monotonic() < end, f'{texts} do not come:\n{self.screen}'
            time.sleep(0.1)
        return self.screen

    @property
    def in_full_screen(self) -> bool:
        """Whether a program has left the shell's screen for one of its own."""
        return self._tmux('display-message', '-p', '#{alternate_on}').strip() == '1'

    def resize(self, width: int, height: int) -> None:
        self._tmux('resize-window', '-x', str(width), '-y', str(height))

    def close(self) -> None:
        subprocess.run(['tmux', '-S', self._socket, 'kill-server'], check=False, timeout=30)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which('tmux') is None:
        pytest.skip('needs tmux')
    opened = Terminal(tmp_path, 80, 24)
    try:
        yield opened
    finally:
        opened.close()


def test_the_nan_of_the_demo_is_found_from_start_to_line(terminal: Terminal) -> None:
    ours = f'{sys.executable} -m pyfuncdbg'
    terminal.type(f'{ours} demo >/dev/null 2>&1; {ours} open demo.pfd', 'Enter')
    shown = terminal.until('is the first call that gave NaN or infinity', f'> {BIRTH}     return (pixels - mean) / std')
    assert 'invalid value encountered in divide' in shown and 'NaN 64' in shown and terminal.in_full_screen
    number = shown.split('call #')[1].split()[0]
    terminal.type(':health', 'Enter')
    shown = terminal.until('BORN', f'train.py:{BIRTH}')
    assert f'#{number}' in shown
    terminal.type(f":pt '#{number}:in0[10]'", 'Enter')
    terminal.until('images:0', 'all zero')                              # the image without contrast
    terminal.type('[')
    terminal.until('health  (1 of 2)')
    terminal.type('', 'Escape')
    terminal.until(f'> {BIRTH}     return')
    terminal.burst(':inf', 'Escape', 'j', '4')
    terminal.until('number 10 of 32 has a standard deviation of 0.00')
    terminal.burst(':zz', 'C-u', 'info', 'Enter', 'j', ':', 'repo', 'Tab', 'Enter', 'j', 'j')
    terminal.until('report  (4 of 4)')
    terminal.type('[')
    terminal.until('info  (3 of 4)')
    terminal.type(':repo', 'Tab', 'Enter')
    terminal.until('report  (4 of 4)', f'NaN born in call #{number}')
    terminal.resize(160, 50)
    terminal.type('', 'Escape')
    terminal.until('╭─ graph', '╭─ source', '╭─ tape', 'NaN begins')
    terminal.type('f')
    shown = terminal.until('normalize[30]')
    terminal.type('q')
    terminal.until('-m pyfuncdbg open demo.pfd')
    assert not terminal.in_full_screen
    terminal.type('echo still $((40 + 2))', 'Enter')
    terminal.until('still 42')
