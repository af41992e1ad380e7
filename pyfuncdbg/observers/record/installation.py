"""Installation of a recorder in its process: hook, forks, the switch of recordings, the end of the interpreter.

Called by the recorder and the flight recorder, on the thread that starts or stops them, or that forks.
"""
from __future__ import annotations

import atexit
import threading
from typing import Protocol

from pyfuncdbg.hooks.capture import DEPTH as CAPTURE_DEPTH, Capture
from pyfuncdbg.hooks.chain import Hook, hooks
from pyfuncdbg.hooks.forking_thread import parent_thread_id
from pyfuncdbg.observers.record import fork, recording_switch
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.fork import ForkFollower
from pyfuncdbg.observers.record.log.queue import Backlog, Running, charge
from pyfuncdbg.observers.record.recording_switch import Switchable

DEPTH = CAPTURE_DEPTH
"""Depth of the recorder in the chain: inside of debugger hooks, so that it sees the function's real inputs."""


class Installable(Hook, ForkFollower, Switchable, Protocol):
    """A recorder."""


def install(recorder: Installable, capture: Capture | None, replaced: Hook | None = None) -> None:
    """Let a recorder see calls from now on.

    Args:
        recorder: It is stopped at the interpreter's exit.
        capture: Captures what calls print for it, if that is wanted.
        replaced: The hook that has waited for it.
    """
    fork.follow(recorder)
    recording_switch.register(recorder)
    atexit.register(recorder.stop)
    if capture is not None:
        capture.start(as_hook=False)
    hooks.add(recorder, depth=DEPTH, replaced=replaced)


def uninstall(recorder: Installable, capture: Capture | None) -> None:
    """Let a recorder see no more calls.

    Args:
        recorder, capture: As of `install`.
    """
    hooks.remove(recorder)
    if capture is not None:
        capture.stop()
    fork.unfollow(recorder)
    recording_switch.unregister(recorder)
    atexit.unregister(recorder.stop)


def forking_calls(backlog: Backlog) -> list[Running]:
    """The calls that the thread which has forked was in.

    Args:
        backlog: Of the parent, in the child.

    Returns:
        Their entries, in order of their start.
    """
    thread = parent_thread_id()
    return [entry for entry in backlog.running_calls() if entry[0].thread == thread]


def carry_on(entries: list[Running], calls: CallRecorder) -> None:
    """Go on with these calls in the child, on the only thread that it has.

    Args:
        entries: From `forking_calls`.
        calls: Of the child.
    """
    thread = threading.get_native_id()
    for entry in entries:
        call = entry[0]
        call.thread = thread
        calls.announce_again(call.run, call.site)
        calls.running[call.id] = entry
        charge(entry[1], calls.snapshots)
