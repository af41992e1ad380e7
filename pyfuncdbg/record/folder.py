"""The folder of a trace: its manifest, the names of its logs, and the ledger that shares one byte budget among processes.

Made by the recorder that starts, joined by forked children, opened by readers.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import struct
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import NotATraceError, TraceError
from pyfuncdbg.record.frames import VERSION, newer

MANIFEST = 'manifest.json'
LEDGER = 'ledger'
_LOG_NAME = re.compile(r'(\d{1,10})-(\d{4,9})\.log')
_LARGEST_MANIFEST = 64 << 10
_FORMAT = 'pyfuncdbg trace'


@dataclass(frozen=True, slots=True)
class Manifest:
    """What identifies a trace.

    Attributes:
        id: Random, so that an index can tell whose it is.
        version: Format version.
        created: Unix time, seconds; all times in the trace count from here.
        budget: Bytes.
    """

    id: str
    version: int
    created: float
    budget: int


def create(path: Path, budget: int) -> Manifest:
    """Make the folder of a new trace.

    Raises:
        TraceError: The path is taken or cannot be written.
    """
    try:
        path.mkdir(exist_ok=True)
        if (path / MANIFEST).exists():
            raise taken(path)
        if any(path.iterdir()):
            raise TraceError(f'{path}: is a folder with other files in it; give a path that does not exist yet')
        manifest = Manifest(uuid.uuid4().hex, VERSION, time.time(), budget)
        try:
            with open(path / LEDGER, 'xb') as ledger:       # of two programs that come at once, one makes it
                ledger.write(_LEDGER.pack(0, 0))
        except FileExistsError:
            raise taken(path) from None
        _write_whole(path / MANIFEST, json.dumps({
            'format': _FORMAT, 'version': VERSION, 'id': manifest.id, 'created': manifest.created, 'budget': budget}))
    except FileExistsError as error:
        raise TraceError(f'{path}: is a file; give the path of a folder that does not exist yet') from error
    except OSError as error:
        raise TraceError(f'{path}: cannot record there: {error.strerror}') from error
    return manifest


def taken(path: Path) -> TraceError:
    """Says that a trace is there, and whether it is being recorded."""
    for _, log in logs(path):
        process = int(log.name.partition('-')[0])
        if process != os.getpid() and Path(f'/proc/{process}').exists():
            return TraceError(f'{path}: process {process} records there; give another path')
    return TraceError(f'{path}: already holds a trace; give another path or remove it first')


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_suffix('.new')
    draft.write_text(text + '\n', encoding='utf-8')
    draft.rename(path)


def read_manifest(path: Path) -> Manifest:
    """Read what identifies the trace at `path`.

    Raises:
        NotATraceError, TraceVersionError, TraceError: There is none, it is from a newer version, or unreadable.
    """
    try:
        if not path.exists():
            raise NotATraceError(f'{path}: no such file or folder')
        if not path.is_dir() or not (path / MANIFEST).is_file():
            raise NotATraceError(f'{path}: not a trace; a trace is a folder with a {MANIFEST} in it')
        with open(path / MANIFEST, 'rb') as file:
            held = json.loads(file.read(_LARGEST_MANIFEST))
        if not isinstance(held, dict) or held.get('format') != _FORMAT:
            raise NotATraceError(f'{path}: not a trace; its {MANIFEST} is of something else')
        version = int(held['version'])
        if version > VERSION:
            raise newer(path, version)
        return Manifest(str(held['id'])[:64], version, float(held['created']), int(held['budget']))
    except OSError as error:
        raise TraceError(f'{path / MANIFEST}: cannot be read: {error.strerror}') from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise NotATraceError(f'{path / MANIFEST}: damaged: {error}') from error


def log_path(path: Path, process: int) -> Path:
    """Where the log of this process goes, the `process`-th to record into the trace."""
    return path / f'{os.getpid()}-{process:04d}.log'


def logs(path: Path) -> list[tuple[int, Path]]:
    """The logs in a trace with the number of their process, in order.

    Raises:
        TraceError: The folder cannot be read.
    """
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise TraceError(f'{path}: cannot be read: {error.strerror}') from error
    found: dict[int, Path] = {}
    for name in names:
        match = _LOG_NAME.fullmatch(name)
        if match is not None:
            found.setdefault(int(match[2]), path / name)
    return sorted(found.items())


_LEDGER = struct.Struct('<QQ')


class Ledger:
    """How many bytes of a trace's disk share are spent, and how many processes joined; a file that all of them lock."""

    __slots__ = ('_fd', 'balance', 'process', 'spent', 'total')

    def __init__(self, path: Path, total: int) -> None:
        """Join the trace at `path`, which may take `total` bytes on disk.

        Raises:
            OSError: The ledger cannot be opened.
        """
        self._fd = os.open(path / LEDGER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        self.total = total
        self.balance = 0
        """Granted to this process and not used yet."""
        with self._locked() as (spent, processes):
            self.spent = spent
            self.process = processes + 1
            self._store(spent, self.process)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            held = os.pread(self._fd, _LEDGER.size, 0)
            yield _LEDGER.unpack(held) if len(held) == _LEDGER.size else (self.total, 0)
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _store(self, spent: int, processes: int) -> None:
        os.pwrite(self._fd, _LEDGER.pack(spent, processes), 0)

    def fits(self, size: int, share: float) -> bool:
        """Whether `size` more bytes stay within this share of the total, as far as is known without asking the others."""
        return self.spent - self.balance + size <= self.total * share

    def afford(self, size: int, share: float = 1.0) -> bool:
        """Take `size` bytes of the budget if they stay within `share` of it; never more is spent than the total."""
        if not self.fits(size, share):
            return False
        if self.balance < size:
            # Asking in larger pieces: a lock and two file operations cost 5 µs.
            missing = size - self.balance
            with self._locked() as (spent, processes):
                grant = max(missing, min(self.total // 64, 1 << 20))
                if spent + grant > self.total:
                    grant = missing
                self.spent = spent
                if spent + grant > self.total:
                    return False
                self.spent = spent + grant
                self._store(self.spent, processes)
            self.balance += grant
        self.balance -= size
        return True

    def close(self) -> None:
        """Give back what was granted and not used."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                with self._locked() as (spent, processes):
                    self._store(spent - self.balance, processes)
                os.close(self._fd)
            self._fd = -1

    def abandon(self) -> None:
        """Let go of the file without touching its content: a forked child does not own its parent's balance."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
