"""Debugging of a process that has started afresh, as of the one that has started it.

It has the same breakpoints and asks at the same prompt. Called in the new process, before its work begins.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.processes import shared_memory
from pyfuncdbg.observers.debug.stops.stop import Verb
from pyfuncdbg.ui.prompt.install import install


def join_debugging(breakpoints: Sequence[Mapping[str, Any]], last: int, memory: str, position: int, ui: str,
                   state: Mapping[str, bool], lost: Verb, first: str) -> None:
    """Debug this process as the one that has started it, from now on.

    Args:
        breakpoints: Fields of the breakpoints, with their numbers.
        last: The greatest number that a breakpoint has had.
        memory: Path of the memory that the processes of the program share; '' if there is none.
        position: How far the changes in it are in the breakpoints.
        ui: Name of the front end.
        state: Whether the debugger is on, stops at errors, holds all threads while one is at the prompt, was left.
        lost: How a stop goes on once the user is lost.
        first: The path at which the first process of the program is asked for the user; '' if there is none.

    Raises:
        OSError: The other process has ended.
    """
    if memory and memory == shared_memory.path():
        return                                  # invited twice: it has joined, and hears of changes
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
    debugger.stops_all = state['stops_all']
    if state['on']:
        debugger.start()
    debugger.left = state['left']
    install(debugger, ui, first=first)
