"""Abort of a run: how it passes through the calls that no hook watches, and where it ends.

Never compiled: the frames of `call_unwatched` tell where such a call goes on. Runs on the thread of each call.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Run, current
from pyfuncdbg.hooks.transparent_frames import transparent

_T = TypeVar('_T')


@transparent
def call_unwatched(run: Run, func: Callable[..., _T], *arguments: Any) -> _T:
    """Execute a call that no hook is interested in; an abort in its function aborts the run all the same.

    Args:
        run: The run that it is part of.
        func: The function.
        *arguments: Of the function.

    Returns:
        What `func` returns.

    Raises:
        RunAborted: The run was aborted in the function, even if that swallowed the abort.
        BaseException: What `func` raised, unchanged.
    """
    try:
        outputs = func(*arguments)
    except BaseException as error:
        aborted = error if isinstance(error, RunAborted) else run.aborted
        if aborted is None:
            raise
        run.aborted = None if current.get() is None and abort_ends_here(run) else aborted
        if aborted is error:
            raise
        raise aborted.with_traceback(None) from None
    if (swallowed := run.aborted) is not None:
        run.aborted = None if current.get() is None and abort_ends_here(run) else swallowed
        raise swallowed.with_traceback(None)
    return outputs


def abort_ends_here(run: Run) -> bool:
    """Whether an abort of a run ends with the call whose frame asks: the run is a thread's eager code, and no unwatched call
    around it could swallow the abort.
    """
    frame: FrameType | None = sys._getframe(2)
    while run.endless and frame is not None:
        if frame.f_code is call_unwatched.__code__ and frame.f_locals['run'] is run:
            return False
        frame = frame.f_back
    return run.endless
