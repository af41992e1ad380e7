"""Slots for the functions that replay and audit recorded calls: they run the program's functions by way of hosts.

The front door fills them; `CallRecord.replay` and `Trace.audit` ask them, on the thread of the caller.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

ReplayCall = Callable[..., Any]
"""From a trace, a call of it and the options of `CallRecord.replay` to the result."""
AuditTrace = Callable[..., Any]
"""From a trace and the options of `Trace.audit` to the result."""
_replay: ReplayCall | None = None
_audit: AuditTrace | None = None


def set_replay(replay_call: ReplayCall) -> None:
    """Set what replays calls from now on.

    Args:
        replay_call: Takes a trace, a call and options.
    """
    global _replay
    _replay = replay_call


def set_audit(audit_trace: AuditTrace) -> None:
    """Set what audits functions from now on.

    Args:
        audit_trace: Takes a trace and options.
    """
    global _audit
    _audit = audit_trace


def audit(trace: Any, **options: Any) -> Any:
    """Audit the functions of a recording.

    Args:
        trace: The recording.
        **options: As of `Trace.audit`.

    Returns:
        The result.
    """
    assert _audit is not None, 'the front door fills the slot'
    return _audit(trace, **options)


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
