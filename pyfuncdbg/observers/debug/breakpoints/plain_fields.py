"""Breakpoints as plain data.

Equal ones are set of it elsewhere: of a file, or in another process of the program.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.breakpoints.table_entry import BreakpointEntry

USUAL: Mapping[str, Any] = {'commands': [], 'do': 'stop', 'once': False, 'every': 1, 'after': 0, 'enabled': True}
"""Fields that need not be written where they have these values."""


def fields_of(entry: BreakpointEntry) -> dict[str, Any]:
    """The fields of a breakpoint, without its number; hits so far count.

    Raises:
        CommandError: Its condition is a Python function, which no text describes.
    """
    one = entry.breakpoint
    if one.when is not None and one.when.text is None:
        raise CommandError('its condition is a Python function')
    fields: dict[str, Any] = {'spec': one.spec.text}
    if one.when is not None:
        fields['if'] = one.when.text
    if one.spec.kind != 'line' and (one.boundary or one.timing != 'before'):
        fields['timing'] = one.timing
    return fields | {'do': one.do, 'once': one.once, 'every': one.every, 'after': max(one.after - entry.hits, 0),
                     'enabled': one.enabled, 'commands': list(entry.commands)}
