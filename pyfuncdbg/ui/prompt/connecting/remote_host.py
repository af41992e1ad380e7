"""Program on another machine, reached by ssh: `pyfuncdbg connect HOST:`.

ssh runs `pyfuncdbg connect --stdio` there; its stdin and stdout are one end of a pair of sockets, whose other end is the
connection. On the client's main thread.
"""
from __future__ import annotations

import re
import shlex
import socket
import subprocess
from dataclasses import dataclass

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.prompt.connecting.connection import Connection

_HOST = re.compile(r'(?P<host>[^\s:/-][^\s:/]*|\[[0-9a-fA-F:.%\w]+\]):(?P<pid>\d{0,10})')
_PATIENCE = 300.0
"""Seconds until the program there has greeted: ssh may ask for a password first."""
_END = 5.0


@dataclass(frozen=True, slots=True)
class Destination:
    """Address of a program.

    Attributes:
        pid: Its process number; None for the only one there is.
        host: The machine, as ssh knows it; '' for this one.
    """

    pid: int | None = None
    host: str = ''


def destination(text: str | None) -> Destination:
    """Read what `connect` was given.

    Args:
        text: 'PID', 'HOST:', 'HOST:PID'; None for nothing.

    Raises:
        UsageError: It is none of these.
    """
    if text is None:
        return Destination()
    if text.isdecimal():
        return Destination(int(text))
    match = _HOST.fullmatch(text)
    if match is None:
        raise UsageError(f"connect: {text!r} is no program: expected a process id such as 4711, or a machine that ssh "
                         "reaches, as 'HOST:' or 'HOST:4711'")
    return Destination(int(match['pid']) if match['pid'] else None, match['host'].strip('[]'))


def connect_by_ssh(where: Destination, command: str) -> Connection:
    """A connection with a program on another machine.

    Args:
        where: The machine and the program.
        command: How pyfuncdbg is called there.

    Raises:
        UsageError: ssh cannot be run, or no program answers there.
    """
    ours, theirs = socket.socketpair()
    words = [*shlex.split(command), 'connect', '--stdio', *([str(where.pid)] if where.pid is not None else [])]
    try:
        process = subprocess.Popen(['ssh', '-T', where.host, shlex.join(words)], stdin=theirs.fileno(),
                                   stdout=theirs.fileno())
    except OSError as error:
        ours.close()
        raise UsageError(f'connect: ssh cannot be run: {error.strerror or error}') from None
    finally:
        theirs.close()
    try:
        return Connection(ours, patience=_PATIENCE)
    except UsageError as error:
        try:
            code = process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            raise UsageError(f'connect: {where.host} does not answer as a program does: {error}') from None
        raise UsageError(f'connect: ssh {where.host} {shlex.join(words)} has ended with exit code {code}; its message is '
                         'above') from None
    except BaseException:
        process.kill()
        raise
