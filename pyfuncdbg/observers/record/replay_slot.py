"""Slot for the function that replays recorded calls: it runs the program's functions by way of hosts.

The front door fills it; `CallRecord.replay` asks it, on the thread of the caller.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

ReplayCall = Callable[..., Any]
"""From a trace, a call of it and the options of `CallRecord.replay` to the result."""
_replay: ReplayCall | None = None


def set_replay(replay_call: ReplayCall) -> None:
    """Set what replays calls from now on.

    Args:
        replay_call: Takes a trace, a call and options.
    """
    global _replay
    _replay = replay_call


def replay(trace: Any, call: Any, **options: Any) -> Any:
    """Replay a call.

    Args:
        trace: Of the call.
        call: The call.
        **options: As of `CallRecord.replay`.

    Returns:
        The result.
    """
    assert _replay is not None, 'the front door fills the slot'
    return _replay(trace, call, **options)
