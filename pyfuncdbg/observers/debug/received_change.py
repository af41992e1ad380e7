"""Changes of another process of the program, made in this one.

On the thread that hears of them, or on one that is to change something.
"""
from __future__ import annotations

import os
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.processes.program_changes import Change


def apply_change(debugger: Debugger, change: Change) -> None:
    """Make a change; one that makes no sense here is reported.

    Args:
        debugger: Of this process.
        change: Of another one.
    """
    name = change['change']
    if name == 'quit':
        debugger.leave()
    elif name == 'start':
        debugger.start()
    elif name == 'catch':
        debugger.catching = change['on']
        if change['on']:
            debugger.start()
    elif name == 'stop-all':
        debugger.stops_all = change['on']
        if change['on']:
            debugger.start()
    elif name == 'show':
        if change['pid'] == os.getpid():
            debugger.halt.show()
    else:
        _change_breakpoint(debugger, name, change)


def _change_breakpoint(debugger: Debugger, name: str, change: Change) -> None:
    breakpoints = debugger.breakpoints
    fields: dict[str, Any] = change.get('fields', change)
    number: int = fields['number']
    if (number in breakpoints.entries) is (name == 'set'):
        return                                  # it could not be set here, or is set already
    try:
        if name == 'set':
            breakpoints.set_fields(fields)
            debugger.start()
        elif name == 'clear':
            breakpoints.clear(number)
        elif name == 'enable':
            breakpoints.enable(number, change['on'])
        elif name == 'condition':
            breakpoints.change(number, change['if'])
        elif name == 'ignore':
            breakpoints.ignore(number, change['count'])
        elif name == 'commands':
            breakpoints.set_commands(number, change['lines'])
    except CommandError as error:
        say(f'breakpoint {number} is not as in the process that has changed it: {error}')
