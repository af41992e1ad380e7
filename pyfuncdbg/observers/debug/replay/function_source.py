"""The present source of a recorded function, to compare with that in the trace."""
from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.replay.named_objects import object_named
from pyfuncdbg.observers.debug.replay.program_code import ProgramCode
from pyfuncdbg.observers.record.snapshots import value_encoding as tags


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
