"""Frames that our mode adds to tracebacks.

PyTorch's functions in Python call themselves once more through a mode.
"""
from __future__ import annotations

from types import TracebackType

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames

_HANDLER = 'handle_torch_function'


def drop_added_frames(error: BaseException) -> None:
    """Make the traceback of an exception as it is without hooks."""
    first = without_own_frames(error.__traceback__)
    before: TracebackType | None = None
    entry = first
    while entry is not None and entry.tb_next is not None and entry.tb_next.tb_next is not None:
        again = entry.tb_next.tb_next
        if entry.tb_next.tb_frame.f_code.co_name == _HANDLER and again.tb_frame.f_code is entry.tb_frame.f_code:
            if before is None:
                first = again
            else:
                before.tb_next = again
            entry = again
        else:
            before, entry = entry, entry.tb_next
    error.__traceback__ = first


def frames_within_op(entry: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback that begins with a mode of ours: those within the op that it called.

    An op that is called in Python calls itself once more through a mode. PyTorch's C++ goes on with an exception without
    frames, as it makes its own.
    """
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
        if entry is not None and entry.tb_frame.f_globals.get('__name__') == 'torch._ops':
            entry = entry.tb_next
    return without_own_frames(entry)
