"""Frames that our mode adds to tracebacks.

PyTorch's functions in Python call themselves once more through a mode.
"""
from __future__ import annotations

from types import FrameType, TracebackType
from typing import Any

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hosts.interception.exception_event import await_exception
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames

_HANDLER = 'handle_torch_function'


def drop_added_frames(error: BaseException) -> None:
    """Make the traceback of an exception as it is without hooks."""
    error.__traceback__ = without_added_frames(error.__traceback__)


def drop_later_added_frames(handler: FrameType) -> None:
    """Take the frames out of a traceback that are added to it between our mode and the program's frame, once they are.

    Args:
        handler: The frame that has called our mode with a function in Python.
    """
    def drop(_: BaseException, traceback: TracebackType | None) -> None:
        without_added_frames(traceback)
    outer = handler.f_back
    if handler.f_code.co_name == _HANDLER and outer is not None and outer.f_back is not None:
        await_exception(outer.f_back, drop)


def replaced_caller(handler: FrameType) -> FrameType | None:
    """The frame that has called a function which came to our mode.

    Args:
        handler: The frame that has called our mode: this one, or that of PyTorch's handler for a function in Python.
    """
    outer = handler.f_back
    return outer.f_back if handler.f_code.co_name == _HANDLER and outer is not None else handler


def without_added_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback, which is changed in place, as it is without hooks."""
    first = without_own_frames(traceback)
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
    return first


def without_call_frame(op: Any) -> Any:
    """What calls an op without the frame of PyTorch's that a call in Python adds; the op itself if there is none.

    Args:
        op: What a mode is to call.
    """
    kind = type(op)
    is_direct = kind.__module__ == 'torch._ops' and (
        kind.__name__ == 'OpOverload' or (kind.__name__ == 'OpOverloadPacket' and not op._has_torchbind_op_overload))
    return op._op if is_direct else op


def frames_within_op(entry: TracebackType | None, called: Any) -> TracebackType | None:
    """The frames of a traceback that begins with a mode of ours: those within the op that it called.

    An op that is called in Python calls itself once more through a mode. PyTorch's C++ goes on with an exception without
    frames, as it makes its own.

    Args:
        entry: The traceback.
        called: What the mode has called.
    """
    in_python = type(called).__module__ == 'torch._ops'
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
        if in_python and entry is not None and entry.tb_frame.f_globals.get('__name__') == 'torch._ops' and not is_own_file(
                entry.tb_frame.f_code.co_filename):     # a stand-in has the globals of the frame that it stands in for
            entry = entry.tb_next
    return without_own_frames(entry)
