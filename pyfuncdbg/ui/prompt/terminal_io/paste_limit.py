"""Limit on the size of a paste: the editor gets only the beginning of one too long for a line.

Between the terminal and the parser of its keys, on the thread that reads them: `line_editor`, `remote_line` and the driver
of the inspector's screen. A parser that got all of it would take seconds, and the screen minutes.
"""
from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from pyfuncdbg.ui.commands.engine.line_parser import LONGEST

REFUSAL = f'a text of more than {LONGEST} characters was pasted, and refused'
_BEGIN, _END = '\x1b[200~', '\x1b[201~'
_MOST_TYPED = 4_095
"""Characters of a line that come without a pause: what a terminal takes that edits lines itself."""
_PAUSE = 0.1
"""Seconds in which nothing comes between two things that are typed."""
_FEW = 100
"""Characters that a person may type, or hold a key for, while the last ones are drawn."""
_LINE = re.compile('(?<=[\r\n])')


class PasteLimit:
    """Filter of typed text that cuts long pastes.

    Args:
        refused: Called when something without the marks of a paste is too long; all that has come of it is to be forgotten.
        now: A clock, in seconds.
    """

    def __init__(self, refused: Callable[[], None], now: Callable[[], float] = time.monotonic) -> None:
        self._refused = refused
        self._now = now
        self._pasting = False
        self._last = 0.0
        self._count = 0                         # characters of this paste, or of this line without a pause
        self._kept = ''                         # within a paste: may be the beginning of its end; else: what came last

    def passed(self, data: str) -> str:
        """The part of the data that the parser gets."""
        now, last = self._now(), self._last
        self._last = now
        if not self._pasting and now - last > _PAUSE and len(data) < _FEW:     # a large backlog is no typing
            self._count = 0
        parts: list[str] = []
        while data:
            data = self._pasted(data, parts) if self._pasting else self._typed(data, parts)
        return ''.join(parts)

    def _pasted(self, data: str, parts: list[str]) -> str:
        """Up to the end of the paste; the rest. One character too many is passed on, by which it is known as too long."""
        text, end, rest = (self._kept + data).partition(_END)
        self._kept = ''
        if not end:
            text, self._kept = text[:1 - len(_END)], text[1 - len(_END):]
        parts.append(text[:max(0, LONGEST + 1 - self._count)])
        self._count += len(text)
        if end:
            parts.append(end)
            self._pasting, self._count = False, 0
        return rest

    def _typed(self, data: str, parts: list[str]) -> str:
        """Up to the beginning of a paste; the rest."""
        mark = (self._kept + data).find(_BEGIN)
        end = len(data) if mark < 0 else mark - len(self._kept)         # before `data` where the mark came in two pieces
        for line in _LINE.split(data[:max(0, end)]):
            before, self._count = self._count, self._count + len(line)
            if self._count <= _MOST_TYPED:
                whole = len(line) >= _FEW and line.isprintable()        # a paste without brackets: inserted at once
                parts.append(f'{_BEGIN}{line}{_END}' if whole else line)
            elif before <= _MOST_TYPED:
                self._refused()
            if line.endswith(('\r', '\n')):
                self._count = 0
        self._kept = '' if mark >= 0 else (self._kept + data)[1 - len(_BEGIN):]
        if mark < 0:
            return ''
        self._pasting, self._count = True, 0
        behind = end + len(_BEGIN)
        parts.append(data[max(0, end):behind])
        return data[behind:]


class _LimitedReader(PosixStdinReader):
    """Reader of the terminal's input that applies the limit."""

    def __init__(self, descriptor: int, encoding: str, limit: PasteLimit) -> None:
        super().__init__(descriptor, encoding=encoding)
        self._limit = limit

    def read(self, count: int = 1024) -> str:
        return self._limit.passed(super().read(1 << 16))


def limit_pastes(session: PromptSession[str], source: Vt100Input, say: Callable[[str], None]) -> None:
    """Have a session of prompt_toolkit refuse what is too long, in one line above the one that is typed."""
    def refuse() -> None:
        run_in_terminal(lambda: say(REFUSAL))

    def forget() -> None:
        loop = session.app.loop
        if loop is not None:                    # the keys that have come already are in the line first
            loop.call_soon(session.default_buffer.reset)
            loop.call_soon(refuse)
    source.stdin_reader = _LimitedReader(source.fileno(), source.stdin.encoding, PasteLimit(forget))
    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> Any:
        if len(event.data) + len(event.current_buffer.text) > LONGEST:
            refuse()
        else:
            event.current_buffer.insert_text(event.data.replace('\r\n', '\n').replace('\r', '\n'))
    session.key_bindings = bindings
