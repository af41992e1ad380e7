"""Capture of warnings that the program's filters let through, and of log records of its loggers.

`install` is called by `hooks.capture`; what it installs runs on the thread that warns or logs. If the program has wrapped
it in the meantime, it stays in place, switched off, and only passes on.
"""
from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.output.output import Place
from pyfuncdbg.hooks.output.output_owner import add_output, muted_owner, output_owner
from pyfuncdbg.hooks.source_map import frame_behind_relays, place
from pyfuncdbg.hooks.stand_in_frames import name_program_file


def install() -> Callable[[], None]:
    """Watch both.

    Returns:
        A function that undoes it.
    """
    undo = _watch_warnings(), _watch_log()

    def undo_both() -> None:
        for step in undo:
            step()
    return undo_both


def restore_module() -> None:
    """Let the interpreter find the module of warnings, without which it writes those of C code past all Python code.

    NumPy imports it in a plain program; one that we run beside our own NumPy need not have it. A `warnings.py` of the
    program's own stays what it gets.
    """
    if warnings.__name__ not in sys.modules:
        spec = PathFinder.find_spec(warnings.__name__)
        if spec is not None and spec.origin == warnings.__file__:
            sys.modules[warnings.__name__] = warnings


def _watch_warnings() -> Callable[[], None]:
    # `_showwarnmsg` is what the interpreter calls once the filters have let a warning through. `showwarning` and
    # `_showwarnmsg_impl`, which it calls, are what catch_warnings, pytest and logging replace and restore.
    module: Any = warnings
    previous = module._showwarnmsg
    on = True

    def show(message: Any) -> None:
        call = output_owner() if on else None
        if call is None:
            previous(message)
            return
        name_program_file(message)
        _note_warning(call, message)
        if not _shown_by_default(module):
            previous(message)
        elif call.streams.echo:
            token = muted_owner.set(call)             # its text on stderr is this warning, not another thing said
            try:
                previous(message)
            finally:
                muted_owner.reset(token)

    def undo() -> None:
        nonlocal on
        on = False
        if module._showwarnmsg is show:
            module._showwarnmsg = previous

    module._showwarnmsg = show
    return undo


def _shown_by_default(module: Any) -> bool:
    return (module.showwarning is module._showwarning_orig
            and getattr(module._showwarnmsg_impl, '__module__', None) == module.__name__)


def _note_warning(call: Call, message: warnings.WarningMessage) -> None:
    try:
        text = str(message.message)
    except Exception:                           # the warning's own __str__; the program finds out by itself, or never
        text = '(no text: str() failed)'
    add_output(call, 'warning', text, message.category.__name__, _program_place(message.filename, message.lineno, ''))


def _program_place(filename: str, line: int, function: str) -> Place:
    """The place of the program that warned or logged: behind generated code, the program's line."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_lineno == line and frame.f_code.co_filename == filename:
            outer = frame_behind_relays(frame)
            return place(outer) if outer is not None else (filename, line, function)
        frame = frame.f_back
    return filename, line, function


def _watch_log() -> Callable[[], None]:
    previous = logging.getLogRecordFactory()
    on = True

    def make_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = previous(*args, **kwargs)
        call = output_owner() if on else None
        if call is not None and record.name is not None:        # makeLogRecord makes nameless ones, filled in later
            _note_record(call, record)
        return record

    def undo() -> None:
        nonlocal on
        on = False
        if logging.getLogRecordFactory() is make_record:
            logging.setLogRecordFactory(previous)

    logging.setLogRecordFactory(make_record)
    return undo


def _note_record(call: Call, record: logging.LogRecord) -> None:
    token = muted_owner.set(call)                     # nothing that an argument's __str__ says is said by the program
    try:
        text = record.getMessage()
    except Exception:                           # the program's own mistake, which logging reports in its own way
        text = (f'{record.msg!s} (its arguments do not match)' if isinstance(record.msg, str)
                else '(no text: formatting failed)')
    finally:
        muted_owner.reset(token)
    where = _program_place(record.pathname, record.lineno, record.funcName or '')
    add_output(call, 'log', text, f'{record.levelname} {record.name}', where)
