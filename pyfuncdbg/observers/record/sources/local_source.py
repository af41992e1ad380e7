"""Local source files that may be opened, and their bytes; never a pipe, device or link target.

A trace is untrusted: a file that it names is shown only if its content is known to the trace already. Called by
readers of traces on any thread, and by the writer for the program's own files.
"""
from __future__ import annotations

import io
import os
import stat
import tokenize
from functools import lru_cache
from typing import NamedTuple

from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.sources.source_text import lines_of

LARGEST = 4_000_000
"""Bytes of the largest source file that is read."""
_SUFFIXES = ('.py', '.ipynb')
_NEVER = ('/proc/', '/sys/', '/dev/', '/net/', '//')
"""Where opening a file may do more than read it: files of the kernel, of devices, of other hosts."""

_LONGEST_NAME = 4096
"""As systems have it: to resolve a longer one takes time that grows with its square."""


class LoadedFile(NamedTuple):
    """A file as it was read, and when it was changed last, in nanoseconds since 1970."""

    data: bytes
    changed: int


def read_regular(path: str) -> LoadedFile | None:
    """Read a regular file; neither waits nor acts on a device.

    Args:
        path: The file; not a link.

    Returns:
        Its content; None if it is larger than `LARGEST`, or anything else.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise_program_error(error)
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        with open(file, 'rb', closefd=False) as stream:
            data = stream.read(LARGEST + 1)
        return LoadedFile(data, status.st_mtime_ns) if len(data) <= LARGEST else None
    except OSError as error:
        raise_program_error(error)
        return None
    finally:
        os.close(file)


class Candidate(NamedTuple):
    """A local file that may be the one of a name, as it is now."""

    path: str
    size: int
    changed: int


def candidate(filename: str) -> Candidate | None:
    """Find a source file that may be opened; it is not opened yet.

    Args:
        filename: As a trace names it; untrusted.

    Returns:
        The file; None if there is none.
    """
    try:
        if len(filename) > _LONGEST_NAME or not filename.endswith(_SUFFIXES) or _forbidden(os.path.abspath(filename)):
            return None
        path = os.path.realpath(filename)
        if not path.endswith(_SUFFIXES) or _forbidden(path):
            return None
        status = os.lstat(path)
    except (OSError, ValueError) as error:               # a name that no file can have: with a NUL, with a lone surrogate
        raise_program_error(error)
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
        return None
    return Candidate(path, status.st_size, status.st_mtime_ns)


def _forbidden(path: str) -> bool:
    return path.startswith(_NEVER)


@lru_cache(64)
def lines_if_equal(file: Candidate, key: bytes) -> tuple[str, ...] | None:
    """Read a candidate whose bytes have a known hash.

    Args:
        file: The candidate.
        key: The hash.

    Returns:
        Its lines; None if its bytes have another.
    """
    content = read_regular(file.path)
    return tuple(decode_lines(content.data)) if content is not None and digest(content.data) == key else None


def decode_lines(data: bytes) -> list[str]:
    """Decode a source file as Python does.

    Args:
        data: Its bytes.

    Returns:
        Its lines; none if it cannot be decoded.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return lines_of(io.TextIOWrapper(io.BytesIO(data), encoding).read())
    except (SyntaxError, UnicodeError, LookupError):
        return []
