"""The hub of a program that is not debugged, in case another process of it comes to a `breakpoint()`.

Opened on the thread that starts the first process. The debugger is loaded then, on a thread of the hub, which its front ends
take over.
"""
from __future__ import annotations

from collections.abc import Callable

from pyfuncdbg.ui.prompt.processes.stop_hub import StopHub

_hubs: list[StopHub] = []


def open_hub(program: str, load: Callable[[], None]) -> None:
    """Listen from now on; once.

    Args:
        program: Its name, by which processes that start afresh find it.
        load: Installs the front ends of the debugger.
    """
    if not _hubs:
        _hubs.append(StopHub(load))
        _hubs[0].open(program)


def hub() -> StopHub:
    """The hub for a debugger: that which is open, else a new one."""
    return _hubs[0] if _hubs else StopHub()
