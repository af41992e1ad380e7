"""Inputs whose elements changed while a recorded call ran: by its function, or by what ran beside it."""
from __future__ import annotations

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

_NAMED = 3
"""How many calls are named."""
_LOOKED_AT = 100
"""How many calls that ran meanwhile are read."""


def concurrent_write_remarks(trace: Trace, call: CallRecord) -> tuple[str, ...]:
    """Why an execution may differ from the recording: the function has read an input that changed meanwhile.

    Args:
        trace: Where the call was recorded.
        call: As recorded.

    Returns:
        A remark for each input that changed, with the calls of other threads in that time: the program may share memory
        between them.
    """
    changed = [f'input {slot} {tensor.name}' for slot, tensor in enumerate(call.inputs) if tensor.changed]
    if not changed or call.duration is None:
        return ()
    _, spans = trace.spans_during(call.started, call.started + call.duration, kind='python', limit=_LOOKED_AT)
    beside = [trace.call(span.number) for span in spans if span.process == call.process and span.thread != call.thread]
    # Of calls that share the memory, the change is in all.
    beside = [other for other in beside if any(tensor.changed for tensor in other.inputs)] or beside
    names = ', '.join(f'#{other.number} {other.label}' for other in beside[:_NAMED])
    more = f' and {len(beside) - _NAMED} more' if len(beside) > _NAMED else ''
    by = f'by the function or by what ran meanwhile: {names}{more}' if beside else 'by the function or by another thread'
    return tuple([f'{name} changed during the recorded call, {by}' for name in changed])
