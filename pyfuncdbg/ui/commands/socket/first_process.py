"""Meeting of the processes of a program: the first one listens, the others connect to it.

A process asks there for the breakpoints when it starts, and for the user when a thread of it has stopped; where the first
one debugs nothing yet, for the prompt when it comes to a `breakpoint()`. One line of JSON goes each way; for a stop the
protocol of the command socket follows, in which the process that has stopped is the server. The socket is in the user's own
folder. Any thread.
"""
from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from typing import Any, Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.ui.commands.socket.rendezvous import bind_socket, own_folder, peer_uid, sockets_named, stale_removed

Purpose = Literal['breakpoints', 'stops', 'prompt']
LATER = {'later': True}
"""Answer where there are no breakpoints: the first process debugs nothing, but would if asked for the prompt."""
_PATIENCE = 30.0
"""Seconds that the first process has to answer: it may be in native code that holds the GIL."""
_LONGEST = 4 << 20
"""Bytes of a line: all breakpoints of a program."""
_ENDING = '.stops'
_NAME = 12
"""Characters of a program's name in the path, which may not be long."""


def listen(program: str) -> tuple[socket.socket, str]:
    """Listen in the first process.

    Args:
        program: A name that no other program of the user has.

    Returns:
        The socket, non-blocking, and its path.

    Raises:
        CommandError: There is no folder for it.
        OSError: It cannot be made.
    """
    path = os.path.join(own_folder(), program[:_NAME] + _ENDING)
    stale_removed(_ENDING)
    return bind_socket(path), path


def path_of(program: str) -> str:
    """The path at which the first process of a program listens, '' if it does not.

    Args:
        program: As of `listen`.
    """
    return next(iter(sockets_named(program[:_NAME] + _ENDING)), '')


def meet(path: str, purpose: Purpose, patience: float, **fields: Any) -> tuple[socket.socket, dict[str, Any]]:
    """Connect to the first process.

    Args:
        path: Where it listens.
        purpose: What for.
        patience: Seconds to wait for its answer.
        **fields: What it is to know of this process.

    Returns:
        The connection, blocking, and the answer.

    Raises:
        OSError: It has ended, or does not answer.
        CommandError: It is another user's, or refuses.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(patience)
        connection.connect(path)
        refuse_strangers(connection)
        send_line(connection, {'for': purpose, 'pid': os.getpid(), **fields})
        answer = receive_line(connection, patience)
        if 'error' in answer:
            raise CommandError(str(answer['error']))
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection, answer


def ask(path: str, purpose: Purpose) -> dict[str, Any]:
    """Ask the first process one thing.

    Args:
        path: Where it listens.
        purpose: What for.

    Returns:
        Its answer; empty where it has ended, or does not answer, which is said.
    """
    try:
        connection, answer = meet(path, purpose, _PATIENCE)
    except (FileNotFoundError, ConnectionRefusedError):
        return {}
    except (OSError, CommandError) as error:
        silent = isinstance(error, TimeoutError)
        why = f'the first process of the program has not answered for {_PATIENCE:g} s' if silent else str(error)
        say(f'process {os.getpid()} does not stop at breakpoints: {why}')
        return {}
    connection.close()
    return answer


def invitations_to_prompt(path: str) -> list[Invitation]:
    """At a `breakpoint()` in a program that is not debugged: from now on it is, in its first process.

    Args:
        path: Where that listens.

    Returns:
        What this process needs to ask there; nothing where that cannot be.
    """
    answer = ask(path, 'prompt')
    return [Invitation(**answer)] if answer else []


def refuse_strangers(connection: socket.socket) -> None:
    """Refuse a connection with another user's process.

    Raises:
        CommandError: It is one.
    """
    uid = peer_uid(connection)
    if uid not in (None, os.geteuid()):
        raise CommandError(f'the process at the other end belongs to user {uid}')


def send_line(connection: socket.socket, fields: dict[str, Any]) -> None:
    """Send one line.

    Raises:
        OSError: The other process has ended.
    """
    connection.sendall(json.dumps(fields).encode('ascii') + b'\n')


def receive_line(connection: socket.socket, patience: float) -> dict[str, Any]:
    """Receive one line, and nothing of what follows it before this process has answered.

    Raises:
        OSError: The other process has ended, does not answer, or sends something else.
    """
    data, deadline = b'', time.monotonic() + patience
    while not data.endswith(b'\n'):
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        piece = connection.recv(1 << 16)
        if not piece or len(data) > _LONGEST:
            raise ConnectionResetError('the process at the other end has ended, or is no part of the program')
        data += piece
    with contextlib.suppress(ValueError, RecursionError):
        fields = json.loads(data)
        if isinstance(fields, dict):
            return fields
    raise ConnectionResetError('the process at the other end is no part of the program')
