"""Debugging of a process that has started afresh, as of the one that has started it.

It has the same breakpoints and asks at the same terminal. Called in the new process, before its work begins.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Verb
from pyfuncdbg.ui.prompt.install import install


def join_debugging(breakpoints: Sequence[Mapping[str, Any]], last: int, memory: str, position: int, ui: str,
                   state: Mapping[str, bool], lost: Verb) -> None:
    """Debug this process as the one that has started it, from now on.

    Args:
        breakpoints: Fields of the breakpoints, with their numbers.
        last: The greatest number that a breakpoint has had.
        memory: Path of the memory that the processes of the program share; '' if there is none.
        position: How far the changes in it are in the breakpoints.
        ui: Name of the front end.
        state: Whether the debugger is on, stops at errors, was left.
        lost: How a stop goes on once the user is lost.

    Raises:
        OSError: The other process has ended.
    """
    if memory:
        debugger.changes.join(memory, position)
    debugger.broker.lost = lost
    for fields in breakpoints:
        try:
            debugger.breakpoints.set_fields(fields)
        except CommandError as error:
            say(f'breakpoint {fields["number"]} is not set in this process: {error}')
    debugger.breakpoints.last_number = last
    debugger.catching = state['catching']
    if state['on']:
        debugger.start()
    debugger.left = state['left']
    install(debugger, ui)
