"""The source of a recorded function: that in the trace, and the present one to compare with it."""
from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.replay.named_objects import object_named
from pyfuncdbg.observers.debug.replay.program_code import ProgramCode
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.snapshots import value_encoding as tags
from pyfuncdbg.observers.record.trace import Trace


def current_source(code: ProgramCode, encoded: Any) -> str:
    """The source of a function as its file has it now.

    Args:
        code: Looks it up.
        encoded: The function as in the trace.

    Returns:
        The lines; '' if they cannot be had.
    """
    function_code = _code_of(code, encoded)
    if function_code is None:
        return ''
    try:
        with open(function_code.co_filename, encoding='utf-8', errors='replace') as file:
            lines = file.read().splitlines(keepends=True)
        return ''.join(inspect.getblock(lines[function_code.co_firstlineno - 1:]))
    except (OSError, SyntaxError, IndexError):
        return ''


def _code_of(code: ProgramCode, encoded: Any) -> CodeType | None:
    if not isinstance(encoded, list) or len(encoded) < 2:
        return None
    tag, *parts = encoded
    if tag in (tags.METHOD, tags.PARTIAL):
        return _code_of(code, parts[0])
    try:
        if tag == tags.OBJECT:
            call = vars(object_named(code.modules, parts[0], parts[1])).get('__call__')
            return getattr(call, '__code__', None)
        if tag == tags.FUNCTION:
            return code.code_in_file(parts[2], parts[4], parts[3])
    except (CommandError, TypeError, IndexError):
        return None
    return None


def recorded_source(trace: Trace, call: CallRecord) -> dict[str, str]:
    """The source that the trace holds of a function's file.

    Args:
        trace: The trace.
        call: A call of the function.

    Returns:
        By the name of the file: its lines where they were, else empty ones; {} if it holds none.
    """
    filename = call.site.filename
    text = trace.source(filename)
    lines = dict(text.lines)
    for offset, line in enumerate(call.site.source.splitlines()):
        lines.setdefault(call.site.line + offset, line)
    if not lines:
        return {}
    whole = [lines.get(number, '') for number in range(1, max(lines) + 1)]
    return {filename: '\n'.join(whole) + '\n'}
