"""The hub of a program that is not debugged, in case another process of it comes to a `breakpoint()`.

Opened on the thread that starts the first process, or forks it. The debugger is loaded when a process asks for it, on a
thread of the hub, which its front ends take over.
"""
from __future__ import annotations

from collections.abc import Callable

from pyfuncdbg.hooks import process_invitations
from pyfuncdbg.ui.prompt.processes.stop_hub import StopHub

_hubs: list[StopHub] = []
_expecting: list[StopHub] = []
"""In a forked child and its children: the hub that is asked at the first `breakpoint()`."""


def open_hub(program: str, load: Callable[[], None], forks: bool = False) -> None:
    """Listen from now on; once.

    Args:
        program: Its name, by which processes that start afresh find it.
        load: Installs the front ends of the debugger.
        forks: This process is about to fork: the thread that accepts starts after that.
    """
    if not _hubs:
        _hubs.append(StopHub(load))
        _hubs[0].open(program, forks=forks)


def expect_prompt() -> None:
    """In a forked child of a program that is not debugged yet: its `breakpoint()` asks the first process."""
    if _hubs and not _hubs[0].is_debugged and not _expecting:
        _expecting.append(_hubs[0])
        process_invitations.expect(_ask_for_prompt)


def _ask_for_prompt() -> list[process_invitations.Invitation]:
    from pyfuncdbg.ui.commands.socket.first_process import invitations_to_prompt  # with `socket`
    return invitations_to_prompt(_expecting.pop().first)


def hub() -> StopHub:
    """The hub for a debugger: that which is open, else a new one."""
    return _hubs[0] if _hubs else StopHub()
