"""A file descriptor that is used only while it is the file that was opened.

Also opens the files of a trace for reading: in a foreign trace they may be links or pipes.

A program may close descriptors that it has not opened, as daemons do (`os.closerange`), and soon its own file has the
number. Used by the log and the ledger, one thread at a time.
"""
from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from pyfuncdbg.hooks.signal_handlers import raise_program_error


class Descriptor:
    """One open file.

    Args:
        path: The file; not a link.
        flags: For `os.open`.
    """

    __slots__ = ('_identity', '_number')

    def __init__(self, path: Path, flags: int) -> None:
        """Open it.

        Raises:
            OSError: It cannot be.
        """
        self._number = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        self._identity = _identity(os.fstat(self._number))

    def fileno(self) -> int:
        """The number of the descriptor.

        Returns:
            The number.

        Raises:
            OSError: It was closed, by the program perhaps.
        """
        if self._number >= 0 and _identity(os.fstat(self._number)) == self._identity:
            return self._number
        raise OSError(errno.EBADF, 'its file was closed by the program')

    def is_at(self, path: Path) -> bool:
        """Whether a path leads to this file.

        Args:
            path: The path.

        Returns:
            True also where that cannot be found out, because of permissions, say.
        """
        try:
            return _identity(os.stat(path, follow_symlinks=False)) == self._identity
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise_program_error(error)        # a timeout of the program's is one of these
            return True

    def close(self) -> None:
        """Close it, if it still is this file; closing twice is allowed."""
        with contextlib.suppress(OSError):      # the program has closed it
            number = self.fileno()
            self._number = -1                   # first: a child that is forked meanwhile would close it once more
            os.close(number)


def open_regular(path: Path) -> int:
    """Open a regular file for reading; neither follows a link nor waits for a pipe.

    Args:
        path: The file.

    Returns:
        Its descriptor.

    Raises:
        OSError: It is no regular file, or cannot be opened.
    """
    number = -1
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(number).st_mode):
            return number
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):       # a link, a socket
            raise
    if number >= 0:
        os.close(number)
    raise OSError(errno.EINVAL, 'not a regular file')


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
