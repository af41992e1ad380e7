"""The command socket of this process: `listen` opens it, and any program of the same user can send commands then.

Called once, by `pyfuncdbg run --listen` or, with PYFUNCDBG_LISTEN=1, by `import pyfuncdbg`; by the inspector, `adopt`, which
opens no socket but takes in one that is connected already. It loads `socket` and
`threading` only: everything else comes when a client does. A process made by `fork` has no socket: a breakpoint there is
logged, or goes to its own terminal. One that is started anew has its own if the variable is set.
"""
from __future__ import annotations

import atexit
import itertools
import os
import sys
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.program_arguments import program_name

if TYPE_CHECKING:
    import socket

    from pyfuncdbg.ui.commands.socket.clients import Client
    from pyfuncdbg.ui.commands.socket.server import CommandServer

_server: CommandServer | None = None


def listen_in_program() -> None:
    """At import, when the environment asks for it: listen, if this is a program and not our own command line."""
    words = sys.orig_argv
    ours = any(first == '-m' and second == 'pyfuncdbg' for first, second in itertools.pairwise(words))
    if not ours and os.path.basename(program_name()) != 'pyfuncdbg':
        listen()


def listen(*, wait: bool = False) -> bool:
    """Open the command socket and say so on stderr; doing it twice is allowed. False, with a report, if it cannot be opened.

    Args:
        wait: Return only when a client has connected and has said `cont`.
    """
    global _server
    if _server is None:
        try:
            _server = _open_server()
        except (OSError, PyfuncdbgError) as error:
            say(f'cannot listen: {error}')
            return False
        say(f'listening; connect with: pyfuncdbg connect {os.getpid()}')
    if wait:
        say('waiting for a client; "cont" there lets the program begin')
        _server.wait()
    return True


def adopt(connection: socket.socket, *, attached: bool = False) -> Client:
    """Serve a client that is connected already; without a listening socket, none is made and nothing is said.

    Args:
        connection: Belongs to the server from now on.
        attached: Stops go to it from the start.
    """
    global _server
    if _server is None:
        from pyfuncdbg.ui.commands.socket.server import CommandServer
        _server = _start_server(CommandServer(None))
    return _server.adopt(connection, attached=attached)


def close() -> None:
    """Tell the clients that the program ends, and remove the socket."""
    global _server
    server, _server = _server, None
    if server is not None:
        server.close()


def _open_server() -> CommandServer:
    import socket
    if not hasattr(socket, 'AF_UNIX'):
        raise CommandError('this system has no Unix sockets')
    from pyfuncdbg.ui.commands.socket.rendezvous import bind_socket, own_folder, programs
    from pyfuncdbg.ui.commands.socket.server import CommandServer
    path = os.path.join(own_folder(), f'{os.getpid()}.sock')
    programs()                                  # removes the sockets of killed programs
    return _start_server(CommandServer(bind_socket(path), path))


def _start_server(server: CommandServer) -> CommandServer:
    server.start()
    atexit.register(close)
    os.register_at_fork(after_in_child=_after_fork)
    return server


def _after_fork() -> None:
    global _server
    server, _server = _server, None
    if server is not None:
        server.forget()
