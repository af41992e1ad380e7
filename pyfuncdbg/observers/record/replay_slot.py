"""Slot for what replays calls: it calls functions of the program by way of hosts, of which a trace knows nothing.

The front door says who replays. On the thread of who asks.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.errors import CommandError

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

    Raises:
        CommandError: Nothing replays calls here.
    """
    if _replay is None:
        raise CommandError('nothing replays calls here: import pyfuncdbg')
    return _replay(trace, call, **options)
