"""Frames that our mode adds to tracebacks.

PyTorch's functions in Python call themselves once more through a mode.
"""
from __future__ import annotations

from types import TracebackType

from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames

_HANDLER = 'handle_torch_function'


def drop_added_frames(error: BaseException) -> None:
    """Make the traceback of an exception as it is when nobody watches."""
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
