"""Errors in a function that is being traced, with the user's lines, in the form of TensorFlow's AutoGraph."""
from __future__ import annotations

import linecache
from textwrap import indent
from types import TracebackType
from typing import Any

from pyfuncdbg.errors import OperatorNotAllowedInGraphError, OpError
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.program_traceback import drop_own_frames
from pyfuncdbg.hooks.tracing_notice import is_block

_REWORDED = (AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration, TypeError,
             UnboundLocalError, ValueError, OperatorNotAllowedInGraphError)
"""Exception types with their text as only argument, so that a copy can have more text; subclasses may differ."""
_HEAD = 'in user code:\n\n'


class _LongKeyError(KeyError):
    """A KeyError whose `str` is its text, not the repr of a key."""

    def __init__(self, text: str, key: Any) -> None:
        super().__init__(key)
        self._text = text

    def __str__(self) -> str:
        return self._text


_LongKeyError.__name__ = 'KeyError'


_FRAMES, _TEXT = '_pyfuncdbg_frames', '_pyfuncdbg_text'


class in_user_code:                             # noqa: N801  a context manager; of a generator StopIteration cannot come out
    """Add the user's frames to the text of an exception. The original is the cause of the new one."""

    def __init__(self, reworded: bool) -> None:
        """Initialize; without `reworded` errors pass unchanged."""
        self._reworded = reworded

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _: Any, error: BaseException | None, traceback: TracebackType | None) -> None:
        if not self._reworded or not isinstance(error, Exception):
            return
        frames, converted = _frames(traceback)
        if not converted:
            return
        frames_before = getattr(error, _FRAMES, None)   # added already by a nested traced function
        frames += frames_before or []
        text = getattr(error, _TEXT) if frames_before else f'{type(error).__name__}: {error}'
        error_with_frames = _make_error(error, f'{_HEAD}{"".join(frames)}\n' + indent(text, '    ') + '\n')
        if error_with_frames is None:
            return
        setattr(error_with_frames, _FRAMES, frames)
        setattr(error_with_frames, _TEXT, text)
        drop_own_frames(error)
        raise error_with_frames from (error.__cause__ if frames_before else error)


def _make_error(error: Exception, text: str) -> Exception | None:
    """An error of the same type with another text; None if only the program can create one."""
    kind = type(error)
    if kind in _REWORDED or (kind.__init__ is Exception.__init__ and kind.__new__ is Exception.__new__):
        return kind(text)
    if isinstance(error, KeyError) and kind in (KeyError, _LongKeyError):
        return _LongKeyError(text, error.args[0] if error.args else None)
    if isinstance(error, OpError) and kind.__init__ is OpError.__init__ and error.code is not None:
        return kind(error.node_def, error.op, text)
    return None


_INLINE = ('<listcomp>', '<setcomp>', '<dictcomp>')
"""Inlined functions of the compiler, with the line of the enclosing frame."""


def _frames(traceback: TracebackType | None) -> tuple[list[str], bool]:
    """The frames of the program, and whether any is converted.

    Of a function and its blocks, which run as functions, the innermost. `*` marks converted code, `**` unconverted code
    called by it.
    """
    entries: list[str] = []
    mark, converted = '  *', False
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        traceback = traceback.tb_next
        if is_machinery(code.co_filename):
            if code.co_name == 'unconverted_call':
                mark = '  **'
            continue
        if code.co_name in _INLINE and entries:
            continue
        if mark == '  *' and is_library(code.co_filename):
            mark = '  **'
        if is_block(code) and entries:
            entries.pop()
        text = linecache.getline(code.co_filename, line).strip()
        entries.append(f'    File "{code.co_filename}", line {line}, in {code.co_name}{mark}\n        {text}\n')
        converted |= mark == '  *'
        mark = '' if mark == '  **' else mark
    return entries, converted
