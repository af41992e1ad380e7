"""Debugging of a process that has started afresh, as of the one that has started it.

It has the same breakpoints and asks at the same terminal. Called in the new process, before its work begins.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.breakpoints import child_hits
from pyfuncdbg.observers.debug.breakpoints.plain_fields import set_breakpoint
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Verb
from pyfuncdbg.ui.prompt.install import install


def join_debugging(breakpoints: Sequence[Mapping[str, Any]], hits: str, ui: str, state: Mapping[str, bool],
                   lost: Verb) -> None:
    """Debug this process as the one that has started it, from now on.

    Args:
        breakpoints: Fields of the breakpoints, with their numbers.
        hits: Path of the memory in which hits are noted; '' if there is none.
        ui: Name of the front end.
        state: Whether the debugger is on, stops at errors, was left.
        lost: How a stop goes on once the user is lost.

    Raises:
        OSError: The other process has ended.
    """
    install(debugger, ui)
    debugger.broker.lost = lost
    for fields in breakpoints:
        try:
            set_breakpoint(debugger.breakpoints, fields)
        except CommandError as error:
            say(f'breakpoint {fields["number"]} is not set in this process: {error}')
    debugger.catching = state['catching']
    if hits:
        child_hits.join(hits)
    if state['on']:
        debugger.start()
    debugger.left = state['left']
