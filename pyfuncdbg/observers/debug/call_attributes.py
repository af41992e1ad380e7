"""Attributes of `call` in conditions, and the message for an unknown one.

Asked when a condition is read, and where one written as a Python function has raised; on any thread.
"""
from __future__ import annotations

from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks.call import Call

ATTRIBUTES = ('id', 'ordinal', 'site', 'run', 'thread', 'inputs', 'outputs', 'error', 'output', 'started', 'finished',
              'parent', 'forward', 'sources')
"""Those for users; a `Call` has a few more."""


def unknown(name: str) -> str:
    """Error message for `call.NAME`; '' if a call has that attribute."""
    if name in Call.__slots__ or hasattr(Call, name):
        return ''
    numbers = 'call.id is the number that is shown as #40, call.ordinal counts the calls of the node from 0'
    close = nearest(name, ATTRIBUTES)
    return f'a call has no {name!r}.{close} {numbers}; it has {", ".join(ATTRIBUTES)}'


def explained(error: Exception) -> str:
    """The text of what a condition raised; of an attribute that calls do not have, with those that they have."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Call) and (why := unknown(error.name or '')):
        return why
    return str(error)
