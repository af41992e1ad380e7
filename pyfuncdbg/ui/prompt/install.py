"""Registration of the front ends of this process; every entry point calls `install`.

At each stop the broker picks the usable one of greatest priority; without one a stop is logged and the program goes on.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pyfuncdbg.hosts  # noqa: F401  which frames are a framework's must be known
from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks import process_invitations
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.received_change import apply_change
from pyfuncdbg.ui.commands.configuration import UIS, configuration
from pyfuncdbg.ui.prompt.child_invitation import invitation
from pyfuncdbg.ui.prompt.front_ends.debugpy import DebugpyClient
from pyfuncdbg.ui.prompt.front_ends.first_process import FirstProcess
from pyfuncdbg.ui.prompt.front_ends.kernel import NotebookKernel
from pyfuncdbg.ui.prompt.front_ends.pipe import Pipe
from pyfuncdbg.ui.prompt.front_ends.terminal import Terminal
from pyfuncdbg.ui.prompt.lending.lent_terminal import LentTerminal
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand, PendingCommands
from pyfuncdbg.ui.prompt.processes import program_hub
from pyfuncdbg.ui.prompt.processes.stop_hub import StopHub
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import listen


@dataclass(frozen=True, slots=True)
class _Installed:
    """The front ends of one debugger, and its prompt for other processes."""

    pending: PendingCommands
    lending: LentTerminal
    hub: StopHub


_installed: dict[int, _Installed] = {}
_automatic: set[int] = set()
"""Debuggers for which 'auto' was asked for: the configuration has no say."""


def install(debugger: Debugger, ui: str | None = None, *, commands: Sequence[PendingCommand] = (), first: str = '') -> None:
    """Install the front ends of this debugger. A second call changes the front end and adds commands.

    Args:
        debugger: Whose stops.
        ui: 'auto', which the environment variable PYFUNCDBG_UI may decide; 'inspector', 'prompt', or 'none': stops are
            logged and the program goes on. None leaves it as it is; if it never was anything else, the user's
            configuration may decide too.
        commands: Carried out at the first stop, before the prompt.
        first: The path at which the first process of the program is asked for the user; '' in that process.
    """
    if ui is not None:
        debugger.broker.front_end_name = ui
        (_automatic.add if ui == 'auto' else _automatic.discard)(id(debugger))
    if debugger.broker.front_end_name == 'auto':
        debugger.broker.front_end_name = _preferred_front_end(configured=id(debugger) not in _automatic)
    installed = _installed.get(id(debugger))
    if installed is None:
        installed = _installed[id(debugger)] = _offer(debugger, first)
    if ui == 'inspector':
        installed.lending.forgive()
        debugger.broker.add(installed.lending)
        why = installed.lending.why_not()
        if why:
            say(f'no inspector: {why}')
    installed.pending.add(list(commands))
    listen()


def _offer(debugger: Debugger, first: str) -> _Installed:
    """Offer the front ends to a debugger, and its prompt to the other processes of the program."""
    pending = PendingCommands()
    conversation = Conversation(debugger, pending)
    debugpy = DebugpyClient(debugger)
    elsewhere = debugpy, NotebookKernel(conversation, debugger)
    lending = LentTerminal(conversation, pending, debugger.broker, elsewhere)
    hub = program_hub.hub()
    hub.first = first or hub.first
    hub.serve(debugger, lambda: invitation(hub.path))
    for front_end in (FirstProcess(debugger, lambda: hub.first, (debugpy,)), lending, *elsewhere, Terminal(conversation),
                      Pipe(conversation, pending)):
        debugger.broker.add(front_end)
    process_invitations.offer(lambda: invitation(hub.open()))
    debugger.changes.share(partial(apply_change, debugger))
    return _Installed(pending, lending, hub)


def follow_processes(debugger: Debugger, program: str) -> None:
    """Let the processes that start afresh have the breakpoints of a debugger that is installed, and ask here.

    Args:
        debugger: Of this process, the first one.
        program: Names the program; see `socket.first_process.path_of`.
    """
    installed = _installed.get(id(debugger))
    if installed is not None:
        installed.hub.open(program)


def expect_stop(debugger: Debugger) -> None:
    """A stop of this debugger is near: what takes its time to start, may."""
    installed = _installed.get(id(debugger))
    if installed is not None:
        installed.lending.prepare()


def _preferred_front_end(*, configured: bool) -> str:
    """The front end of 'auto' for this user: by the environment, else by the configuration."""
    name = os.environ.get('PYFUNCDBG_UI', '')
    if name in UIS:
        return name
    if name:
        say(f'PYFUNCDBG_UI={name}: expected {", ".join(UIS)}.{nearest(name, UIS)}')
        return 'auto'
    return configuration(say).ui if configured else 'auto'
