"""An exception on its way into the trace: what needs its frames is taken on the thread of the call, the text is made later.

A `Failure` keeps no frame, no local and no exception alive.
"""
from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from pyfuncdbg.hooks.call import Frame

_LONGEST_MESSAGE = 16 << 10
_LONGEST_TRACEBACK = 64 << 10
_MOST_FRAMES = 400
_PACKAGE = Path(__file__).resolve().parent.parent
_MACHINERY = (str(_PACKAGE / 'hooks'), str(_PACKAGE / 'record'))


class Failure:
    """What is kept of an exception until the writer thread makes its text."""

    __slots__ = ('_text', 'frames', 'message', 'type')

    def __init__(self, error: BaseException) -> None:
        kind = type(error)
        self.type = kind.__qualname__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__qualname__}'
        self.message = _message(error)
        trace = _without_machinery(error.__traceback__)
        walked = [Frame(frame.f_code.co_filename, line or 0, frame.f_code.co_name)
                  for frame, line in traceback.walk_tb(trace)]
        self.frames = walked if len(walked) <= _MOST_FRAMES else walked[:_MOST_FRAMES // 2] + walked[-_MOST_FRAMES // 2:]
        self._text: traceback.TracebackException | None
        try:
            self._text = traceback.TracebackException(kind, error, trace, limit=-_MOST_FRAMES, lookup_lines=False,
                                                      compact=True)
        # The exception is the program's: a property or method of it that raises here must not end the recording.
        except Exception:
            self._text = None

    def record(self) -> list[Any]:
        """Plain data for the log; reads source lines, so it runs on the writer thread."""
        try:
            text = ''.join(self._text.format()) if self._text is not None else f'{self.type}: {self.message}\n'
        # Notes and messages of the program's exceptions are formatted here too.
        except Exception:
            text = f'{self.type}: {self.message}\n'
        if len(text) > _LONGEST_TRACEBACK:
            half = _LONGEST_TRACEBACK // 2
            text = f'{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}'
        return [self.type, self.message, [list(frame) for frame in self.frames], text]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST_MESSAGE]
    # `__str__` is the program's and may raise anything.
    except Exception as broken:
        return f'<no message: str() of the exception raised {type(broken).__name__}>'


def _without_machinery(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is not ours; the whole if all are."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename.startswith(_MACHINERY):
        first = first.tb_next
    return first if first is not None else trace
