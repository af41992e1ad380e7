"""Event of an exception that is about to reach a frame, before any code of the frame sees it. On the thread of the frame."""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, TracebackType


def await_exception(frame: FrameType, on_exception: Callable[[BaseException, TracebackType | None], None]) -> None:
    """Call a function with the exception that is the next event of a frame, if it is one.

    A program that is traced, by a debugger or for its coverage, stays as it is: then nothing happens.

    Args:
        frame: It is about to get an exception.
        on_exception: Takes the exception, and its traceback from this frame on inwards, which it may change in place.
    """
    if sys.gettrace() is not None or frame.f_trace is not None:
        return

    def on_event(frame: FrameType, event: str, details: tuple[type, BaseException, TracebackType | None]) -> None:
        sys.settrace(None)
        frame.f_trace = None
        if event == 'exception':
            on_exception(details[1], details[2])
    frame.f_trace = on_event
    sys.settrace(_trace_nothing)


def _trace_nothing(frame: FrameType, event: str, details: object) -> None:
    """Trace function that traces no new frame."""
