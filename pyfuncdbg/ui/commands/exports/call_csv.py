"""Table of calls as CSV: a line for each call, for spreadsheets and pandas."""
from __future__ import annotations

import csv
from typing import IO

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls, status

COLUMNS = ('call', 'site', 'ordinal', 'kind', 'op_type', 'run', 'process', 'thread', 'started', 'seconds', 'status',
           'function', 'file', 'line', 'inputs', 'outputs', 'bad_elements', 'error')
_FORMULA = ('=', '+', '-', '@', '\t', '\r')


def write_call_csv(calls: ExportedCalls, file: IO[str]) -> int:
    """Write the header and a line for each call.

    Args:
        calls: The calls.
        file: To write to, opened with `newline=''`.

    Returns:
        How many calls were written.
    """
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for call in calls:
        writer.writerow([_cell(value) for value in _row(call)])
        count += 1
    return count


def _row(call: CallRecord) -> tuple[object, ...]:
    site, tensors = call.site, (*call.inputs, *call.outputs)
    bad = sum(tensor.stats.bad for tensor in tensors if tensor.stats is not None)
    shapes = (' '.join(f'{tensor.dtype}{list(tensor.shape)}'.replace(' ', '') for tensor in side)
              for side in (call.inputs, call.outputs))
    return (call.number, site.name, call.ordinal, site.kind, site.op_type, call.run, call.process, call.thread,
            f'{call.started:.9f}', '' if call.duration is None else f'{call.duration:.9f}', status(call), site.function,
            site.filename, site.line or '', *shapes, bad,
            f'{call.error.type}: {call.error.message}' if call.error is not None else '')


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula begins with an apostrophe: a trace may come from anywhere."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
