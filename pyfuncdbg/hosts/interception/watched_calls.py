"""Watched calls, found by their inputs: compiled code makes them, and no frame of the chain holds them.

Asked by the debugger while it reads a stack, on any thread.
"""
from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.call_frames import Entrance
from pyfuncdbg.hooks.chain import hooks


def find_watched_call(inputs: Any) -> tuple[Call | None, Any]:
    """The active call with this list of inputs, among those that one hook watches, and the hook."""
    for hook in (*hooks.python, *hooks.run):
        calls = getattr(hook, 'calls', None)
        if calls is not None and (call := calls.call_of(inputs)) is not None:
            return call, hook
    return None, None


def describe_by_inputs(name: str) -> Callable[[FrameType], Entrance | None]:
    """A reader of a frame's watched call, from its inputs in a variable of the frame; frames of `chain` hold other calls."""
    def described(frame: FrameType) -> Entrance | None:
        call, hook = find_watched_call(frame.f_locals.get(name))
        return Entrance(call.site, call.run, call.inputs, call, (hook,)) if call is not None else None
    return described
