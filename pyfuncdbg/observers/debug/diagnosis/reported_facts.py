"""Facts that processes report which the program has started: written into its trace.

`pyfuncdbg doctor` begins it in the program's process. A forked process has it from its parent; one that starts afresh is
invited, and joins before its work begins. On the thread of the report.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyfuncdbg.hooks import process_invitations
from pyfuncdbg.hooks.facts import Fact, on_report
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.observers.debug.diagnosis.evidence import FactWriter
from pyfuncdbg.observers.record.recorder import Recorder, join_recording


def record_reports(recorder: Recorder) -> None:
    """Write the facts that a host reports in this process, and in those that it starts from now on.

    Args:
        recorder: Of the trace.
    """
    def write(facts: Iterable[Fact]) -> None:
        FactWriter(recorder).write(facts, ())       # of its own: the parent's may have been writing when it was forked

    def invitation() -> Invitation | None:
        recording = recorder.invitation()
        return None if recording is None else Invitation(__name__, 'join_examination', recording.data)
    on_report(write)
    process_invitations.offer(invitation)


def join_examination(**recording: Any) -> None:
    """Write the facts that a host reports in this process, which has started afresh, into the trace that it records into.

    Args:
        **recording: Arguments of `join_recording`.

    Raises:
        OSError: The trace was removed, moved or replaced.
    """
    record_reports(join_recording(**recording))
