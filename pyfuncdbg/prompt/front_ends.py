"""The front ends of this process: `install` offers those that a program may need, and is what all faces call.

At each stop the broker picks the usable one of greatest priority; without one a stop is logged and the program goes on.
"""
from __future__ import annotations

from collections.abc import Sequence

from pyfuncdbg.debug.debugger import Debugger
from pyfuncdbg.prompt.conversation import Conversation
from pyfuncdbg.prompt.debugpy import DebugpyClient
from pyfuncdbg.prompt.interrupt import listen
from pyfuncdbg.prompt.kernel import Kernel
from pyfuncdbg.prompt.lending import Lending
from pyfuncdbg.prompt.pending import Pending, Typed
from pyfuncdbg.prompt.pipe import Pipe
from pyfuncdbg.prompt.terminal import Terminal

_installed: dict[int, tuple[Pending, Lending]] = {}


def install(debugger: Debugger, ui: str | None = None, *, commands: Sequence[Typed] = ()) -> None:
    """Let the user be asked at stops of this debugger. More than once changes who is asked, and adds commands.

    Args:
        debugger: Whose stops.
        ui: 'auto', 'inspector', 'prompt', or 'none': stops are logged and the program goes on. None leaves it as it is.
        commands: Carried out at the first stop, before anybody is asked.
    """
    if ui is not None:
        debugger.broker.wanted = ui
    installed = _installed.get(id(debugger))
    if installed is None:
        pending = Pending()
        conversation = Conversation(debugger, pending)
        installed = _installed[id(debugger)] = pending, Lending(conversation, pending)
        debugger.broker.add(DebugpyClient(debugger))
        debugger.broker.add(Kernel(conversation, debugger))
        debugger.broker.add(Terminal(conversation))
        debugger.broker.add(Pipe(conversation, pending))
    pending, lending = installed
    if ui == 'inspector':
        lending.forgive()
        debugger.broker.add(lending)
    pending.add(list(commands))
    listen()
