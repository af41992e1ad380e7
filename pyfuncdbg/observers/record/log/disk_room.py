"""Free space for a log: on its disk, and below the limit on the size of a file (RLIMIT_FSIZE).

Asked by the ledger before it grants bytes, on the thread that writes, so that an almost full disk is a smaller budget and
no write has to fail. Quotas are not known before a write fails: the log remembers where.
"""
from __future__ import annotations

import errno
import os
import resource

from pyfuncdbg.hooks.signal_handlers import raise_program_error

FULL = frozenset((errno.ENOSPC, errno.EFBIG, errno.EDQUOT))
"""Errors of a write that found no room."""

_MARGIN = 1 << 20
_MARGIN_SHARE = 16


def margin(descriptor: int) -> int:
    """Bytes to be left to the program on the disk of a file.

    Args:
        descriptor: Of the file.

    Returns:
        1 MB, or a 16th of what is free now if that is less.
    """
    _, free = _disk(descriptor)
    return min(_MARGIN, free // _MARGIN_SHARE)


def largest_size(descriptor: int, size: int, margin: int) -> tuple[int, int]:
    """The size to which an open file may grow.

    Args:
        descriptor: Of the file.
        size: Of the file, in bytes.
        margin: Bytes to be left on its disk.

    Returns:
        The size in bytes, and the `errno` of what would prevent more.
    """
    known, free = _disk(descriptor)
    largest, why = size + max(free - margin, 0) if known else 1 << 62, errno.ENOSPC
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < largest:
        largest, why = limit, errno.EFBIG
    return largest, why


def _disk(descriptor: int) -> tuple[bool, int]:
    """Whether the file system says how large it is (some in user space do not), and the bytes that are free."""
    try:
        disk = os.fstatvfs(descriptor)
    except OSError as error:
        raise_program_error(error)
        return False, 0
    return disk.f_blocks > 0, disk.f_bavail * disk.f_frsize
