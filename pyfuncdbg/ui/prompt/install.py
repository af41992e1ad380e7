"""Registration of the front ends of this process; every entry point calls `install`.

At each stop the broker picks the usable one of greatest priority; without one a stop is logged and the program goes on.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
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
from pyfuncdbg.ui.prompt.front_ends.kernel import NotebookKernel
from pyfuncdbg.ui.prompt.front_ends.pipe import Pipe
from pyfuncdbg.ui.prompt.front_ends.terminal import Terminal
from pyfuncdbg.ui.prompt.lending.lent_terminal import LentTerminal
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand, PendingCommands
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import listen

_installed: dict[int, tuple[PendingCommands, LentTerminal]] = {}
_automatic: set[int] = set()
"""Debuggers for which 'auto' was asked for: the configuration has no say."""


def install(debugger: Debugger, ui: str | None = None, *, commands: Sequence[PendingCommand] = ()) -> None:
    """Install the front ends of this debugger. A second call changes the front end and adds commands.

    Args:
        debugger: Whose stops.
        ui: 'auto', which the environment variable PYFUNCDBG_UI may decide; 'inspector', 'prompt', or 'none': stops are
            logged and the program goes on. None leaves it as it is; if it never was anything else, the user's
            configuration may decide too.
        commands: Carried out at the first stop, before the prompt.
    """
    if ui is not None:
        debugger.broker.front_end_name = ui
        (_automatic.add if ui == 'auto' else _automatic.discard)(id(debugger))
    if debugger.broker.front_end_name == 'auto':
        debugger.broker.front_end_name = _preferred_front_end(configured=id(debugger) not in _automatic)
    installed = _installed.get(id(debugger))
    if installed is None:
        pending = PendingCommands()
        conversation = Conversation(debugger, pending)
        elsewhere = DebugpyClient(debugger), NotebookKernel(conversation, debugger)
        installed = _installed[id(debugger)] = pending, LentTerminal(conversation, pending, debugger.broker, elsewhere)
        for front_end in (installed[1], *elsewhere, Terminal(conversation), Pipe(conversation, pending)):
            debugger.broker.add(front_end)
        process_invitations.offer(invitation)
        debugger.changes.share(partial(apply_change, debugger))
    pending, lending = installed
    if ui == 'inspector':
        lending.forgive()
        debugger.broker.add(lending)
        why = lending.why_not()
        if why:
            say(f'no inspector: {why}')
    pending.add(list(commands))
    listen()


def expect_stop(debugger: Debugger) -> None:
    """A stop of this debugger is near: what takes its time to start, may."""
    installed = _installed.get(id(debugger))
    if installed is not None:
        installed[1].prepare()


def _preferred_front_end(*, configured: bool) -> str:
    """The front end of 'auto' for this user: by the environment, else by the configuration."""
    name = os.environ.get('PYFUNCDBG_UI', '')
    if name in UIS:
        return name
    if name:
        say(f'PYFUNCDBG_UI={name}: expected {", ".join(UIS)}.{nearest(name, UIS)}')
        return 'auto'
    return configuration(say).ui if configured else 'auto'
