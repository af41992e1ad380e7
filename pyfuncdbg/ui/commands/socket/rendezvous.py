"""Paths of the command sockets of a user's programs: `PID.sock` in a folder that only the user can enter.

Called by a program that listens and by clients that look for one. A socket whose program is gone refuses connections: then
it is removed. The number of the process says nothing, for it may be from another container.
"""
from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import tempfile
from collections.abc import Iterator

from pyfuncdbg.errors import CommandError

_NAME = re.compile('([0-9]{1,20})[.]sock')
_LONGEST = 100
"""Bytes of a socket's path; the system allows 104 to 108."""


def own_folder() -> str:
    """The folder for new sockets, made if need be: in XDG_RUNTIME_DIR, else where temporary files go.

    Raises:
        CommandError: It is another user's, a link, or cannot be made.
    """
    reason = ''
    for folder in _candidates():
        if len(os.fsencode(folder)) + len('/4194304.sock.new') > _LONGEST:
            reason = reason or f'the path {folder!r} is too long for a socket'
            continue
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            if stat.S_IMODE(os.lstat(folder).st_mode) & 0o077 and not _refusal(folder, any_mode=True):
                os.chmod(folder, 0o700)
            reason = _refusal(folder)
        except OSError as error:
            reason = f'cannot make {folder!r}: {error.strerror}'
        if not reason:
            return folder
    raise CommandError(f'no folder for the command socket: {reason}')


def _candidates() -> Iterator[str]:
    """Folders that may hold sockets, the preferred one first."""
    uid = os.geteuid()
    tried = set()
    for parent in (os.environ.get('XDG_RUNTIME_DIR', ''), f'/run/user/{uid}'):
        if parent and parent not in tried and _usable(parent, uid):
            tried.add(parent)
            yield os.path.join(parent, 'pyfuncdbg')
    for parent in (tempfile.gettempdir(), '/tmp'):
        if parent not in tried:
            tried.add(parent)
            yield os.path.join(parent, f'pyfuncdbg-{uid}')


def _usable(parent: str, uid: int) -> bool:
    """Whether a runtime folder is really the user's: su and sudo leave the variable of another user."""
    try:
        status = os.stat(parent)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and os.access(parent, os.W_OK | os.X_OK)


def _refusal(folder: str, *, any_mode: bool = False) -> str:
    """The reason not to trust a folder, '' if there is none."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return f'{folder!r} is not a folder, perhaps a link made by another user'
    if status.st_uid != os.geteuid():
        return f'{folder!r} belongs to user {status.st_uid}'
    if stat.S_IMODE(status.st_mode) & 0o077 and not any_mode:
        return f'{folder!r} is accessible to other users'
    return ''


def bind_socket(path: str) -> socket.socket:
    """A socket that listens there; the path cannot be seen before it does.

    Raises:
        OSError: It cannot be made.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    new = f'{path}.new'
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        listening.bind(new)
        os.chmod(new, 0o600)
        listening.listen(16)
        listening.setblocking(False)
        os.rename(new, path)
    except BaseException:
        listening.close()
        raise
    return listening


def programs() -> dict[int, str]:
    """Paths of the sockets that a program listens at, by process number; the others are removed."""
    sockets: dict[int, str] = {}
    for folder in _candidates():
        try:
            if _refusal(folder):
                continue
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, name)
            if (socket_of := _NAME.fullmatch(name)) and int(socket_of[1]) not in sockets and _answers(path):
                sockets[int(socket_of[1])] = path
    return dict(sorted(sockets.items()))


def sockets_named(name: str) -> Iterator[str]:
    """Paths of the sockets of a name in the user's folders, whether there is a listener or not."""
    for folder in _candidates():
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):      # it is not there
            if stat.S_ISSOCK(os.lstat(path).st_mode) and not _refusal(folder):
                yield path


def stale_removed(ending: str) -> int:
    """Remove the sockets of killed processes whose names end so; how many there were."""
    count = 0
    for folder in _candidates():
        with contextlib.suppress(OSError):
            if not _refusal(folder):
                count += sum(1 for name in os.listdir(folder) if name.endswith(ending)
                             and not _answers(os.path.join(folder, name)))
    return count


def refusals() -> list[str]:
    """The reasons why folders that may hold sockets are not searched."""
    reasons = []
    for folder in _candidates():
        with contextlib.suppress(OSError):      # it is not there
            reasons += [reason] if (reason := _refusal(folder)) else []
    return reasons


def _answers(path: str) -> bool:
    """Whether a socket has a listener; a stale one is removed, and no other kind of file."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return False
    except OSError:                             # gone meanwhile
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.setblocking(False)
        try:
            trial.connect(path)
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                os.unlink(path)
            return False
        except BlockingIOError:                 # its queue is full, so a server is listening
            return True
        except OSError:
            return False
    return True


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end, None where the system does not tell."""
    if not hasattr(socket, 'SO_PEERCRED'):
        return None
    import struct
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize('3i'))
    uid: int = struct.unpack('3i', raw)[1]
    return uid
