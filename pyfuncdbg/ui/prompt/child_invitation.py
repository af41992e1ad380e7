"""Invitation of a process that starts afresh to be debugged as the one that starts it.

Made on the thread that starts the process; `child_debugging` accepts it there.
"""
from __future__ import annotations

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.observers.debug.breakpoints.plain_fields import fields_of
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.processes import child_hits, shared_memory

_refused: set[int] = set()
"""Numbers of breakpoints that were reported as not set in other processes."""


def invitation(first: str) -> Invitation:
    """What a process that starts now needs to be debugged as this one.

    Args:
        first: The path at which it asks for the user; '' if it is to ask at its own terminal.
    """
    child_hits.count_child()                    # first: what changes from now on is told
    debugger.changes.catch_up()
    position = debugger.changes.position
    breakpoints = []
    for number, entry in sorted(debugger.breakpoints.entries.items()):
        try:
            fields = fields_of(entry)
        except CommandError as error:
            if number not in _refused:
                _refused.add(number)
                say(f'breakpoint {number} is not set in processes that start afresh: {error}, expected a text')
            continue
        breakpoints.append({**fields, 'number': number})
    debugger.changes.follow()
    return Invitation(f'{__package__}.child_debugging', 'join_debugging', {
        'breakpoints': breakpoints, 'last': debugger.breakpoints.last_number, 'memory': shared_memory.path(),
        'position': position, 'ui': debugger.broker.front_end_name,
        'state': {'catching': debugger.catching, 'stops_all': debugger.stops_all, 'left': debugger.left, 'on': debugger.on},
        'lost': debugger.broker.lost,
        'first': first})
