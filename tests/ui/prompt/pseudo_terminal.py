"""A program under `pyfuncdbg run` on a real pseudo-terminal, and what a person would read there."""
from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
_CONTROL = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r')
_BEGINS = '\x1b[?2004h'
"""What a line editor sends when a line can be typed."""
READY = '<ready>'


class Terminal:
    """A person at a terminal.

    Args:
        folder: Where the program is, and everything it leaves.
        args: Behind `python`.
        **options: For pexpect; `environment` is added to the environment.
    """

    def __init__(self, folder: Path, *args: str, environment: dict[str, str] | None = None, **options: Any) -> None:
        env = {key: value for key, value in os.environ.items() if key not in ('NO_COLOR', 'COLUMNS', 'PYTHONBREAKPOINT')}
        env |= {'PYTHONPATH': str(HERE), 'TERM': 'xterm', 'XDG_STATE_HOME': str(folder / 'state'),
               'XDG_CONFIG_HOME': str(folder / 'config'),
                'PYFUNCDBG_UI': 'prompt', **(environment or {})}
        options = {'dimensions': (50, 120), 'timeout': 40} | options
        self.child = pexpect.spawn(sys.executable, list(args), cwd=str(folder), env=env, encoding='utf-8',
                                   codec_errors='replace', **options)
        self.child.delaybeforesend = None
        self.raw = ''
        self._prompt = '(pfd) ' if env['TERM'] == 'dumb' else READY
        self._read = 0

    @property
    def text(self) -> str:
        """All that was written, without what moves the cursor and colours."""
        return _CONTROL.sub('', self.raw.replace(_BEGINS, READY))

    def until(self, *wanted: str) -> str:
        """Read until the texts have come, one after another; what was written from the last reading to their end."""
        start = position = self._read
        deadline = time.monotonic() + self.child.timeout
        for word in wanted:
            while (found := self.text.find(word, position)) < 0:
                if time.monotonic() > deadline:
                    raise AssertionError(f'{word!r} did not come; there was: {self.text[start:]}')
                self.read_more()
            position = found + len(word)
        self._read = position
        return self.text[start:position]

    def prompt(self) -> str:
        """Read up to the next prompt at which a line can be typed."""
        return self.until(self._prompt)

    def type(self, line: str, *wanted: str) -> str:
        """A line and Enter; reads the texts that should come then, and the prompt behind them."""
        self.child.send(line + '\r')
        return self.until(*wanted, self._prompt)

    def last(self, line: str, *wanted: str) -> str:
        """A line after which no prompt comes."""
        self.child.send(line + '\r')
        return self.until(*wanted) if wanted else ''

    def end(self) -> int:
        """Read to the end of the program; its exit code, negative for a signal."""
        while self.read_more():
            pass
        self.child.wait()
        return -self.child.signalstatus if self.child.signalstatus else self.child.exitstatus

    def read_more(self) -> bool:
        """Read what comes next; False at the end."""
        try:
            self.raw += self.child.read_nonblocking(65536, timeout=self.child.timeout)
        except pexpect.EOF:
            return False
        except pexpect.TIMEOUT:
            raise AssertionError(f'nothing came any more; there was: {self.text[self._read:]}') from None
        return True

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.child.child_fd >= 0:
            self.child.close(force=True)
