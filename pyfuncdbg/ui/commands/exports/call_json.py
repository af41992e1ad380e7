"""Calls as JSON: one array, or a line for each call."""
from __future__ import annotations

import json
from typing import IO

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls

_MOST = 1 << 30
"""Elements of a tensor or entries of a list: nothing is cut in a file."""


def write_json(calls: ExportedCalls, file: IO[str]) -> int:
    """Write an object with what `info` says and the calls.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many calls were written.
    """
    file.write(f'{{"info": {json.dumps(plain(calls.trace.info()), allow_nan=False)}, "calls": [\n')
    count = 0
    for call in calls:
        file.write((',\n' if count else '') + _call_text(call))
        count += 1
    file.write('\n]}\n')
    return count


def write_json_lines(calls: ExportedCalls, file: IO[str]) -> int:
    """Write a line for each call.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many calls were written.
    """
    count = 0
    for call in calls:
        file.write(_call_text(call) + '\n')
        count += 1
    return count


def _call_text(call: CallRecord) -> str:
    """The record as `call --json` gives it, and the values of its tensors where they were kept."""
    record = plain(call, _MOST)
    for side, tensors in (('inputs', call.inputs), ('outputs', call.outputs)):
        for fields, tensor in zip(record[side], tensors, strict=True):
            fields.pop('elements', None)
            try:
                fields['values'] = plain(tensor.to_numpy(), _MOST)['values']
            except DroppedError:
                fields['values'] = None
    return json.dumps(record, allow_nan=False)
