"""Bridge between the socket of a program and stdin and stdout, byte for byte: `pyfuncdbg connect --stdio`.

It is at the far end of an ssh session, so that the debugger opens no port. A process of its own, with a thread for each
direction.
"""
from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

from pyfuncdbg.errors import UsageError

_PIECE = 1 << 16


def bridge(path: str) -> int:
    """Carry bytes both ways until one side ends.

    Args:
        path: Where the program listens.

    Returns:
        The exit code, 0.

    Raises:
        UsageError: The program does not take the connection.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        raise UsageError(f'connect: cannot connect to {path!r}: {error.strerror or error}') from None
    sys.stdout.flush()
    threading.Thread(target=_carry_in, args=(connection,), name='pyfuncdbg stdin', daemon=True).start()
    with connection, contextlib.suppress(OSError):              # the client is gone, or the program was killed
        while data := connection.recv(_PIECE):
            _write(data)
    return 0


def _carry_in(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(0, _PIECE):
            connection.sendall(data)
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)   # the client is gone: the other thread ends, too


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest):]
