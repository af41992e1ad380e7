"""Recorded call of another process behind an error that holds its traceback as text.

Pools and loaders raise such errors in the process that waits for the work. Asked on the stopped thread.
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyfuncdbg.hooks.exception_message import exception_message
from pyfuncdbg.observers.record.records import CallRecord

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.trace import Trace

_TRACEBACK = 'Traceback (most recent call last):'
_NEWEST = 100
"""Failed calls that are compared with an error."""


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """A call of another process that raised.

    Attributes:
        number, label: Of the call in the trace.
        process: Id that the system gave to the process.
        error: The exception, as one line.
    """

    number: str
    label: str
    process: int
    error: str


def remote_call(error: BaseException, trace: Trace) -> RemoteCall | None:
    """The call behind an error of this process; None if it holds no traceback of a recorded call elsewhere.

    Args:
        error: The error.
        trace: The recording.
    """
    texts: list[str] = []
    known: BaseException | None = error
    while known is not None and len(texts) < _NEWEST:
        texts.append(exception_message(known))
        known = known.__cause__                 # of `concurrent.futures` it has the text
    if not any(_TRACEBACK in text for text in texts):
        return None
    processes = trace.info().processes
    for call in trace.calls(failed=True, limit=_NEWEST, newest_first=True):
        if processes[call.process - 1] != os.getpid() and any(_is_reported_in(call, text) for text in texts):
            return RemoteCall(call.number, call.label, processes[call.process - 1], _one_line(call))
    return None


def _is_reported_in(call: CallRecord, text: str) -> bool:
    error = call.error
    if error is None or f'{error.type.rpartition(".")[2]}: {error.message}' not in text or not error.frames:
        return False
    frame = error.frames[-1]
    return f'line {frame.line}, in {frame.function}' in text


def _one_line(call: CallRecord) -> str:
    error = call.error
    if error is None:
        return ''
    first = next((line for line in error.message.splitlines() if line.strip()), '')
    return f'{error.type.rpartition(".")[2]}: {first}'
