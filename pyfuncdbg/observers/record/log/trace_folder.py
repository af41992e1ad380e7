"""The folder of a trace: manifest, names of logs, and the ledger of the byte budget that processes share.

Made by the recorder that starts, joined by forked children, opened by readers.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import NoRoomError, NotATraceError, TraceError
from pyfuncdbg.observers.record.log.descriptor import Descriptor, open_regular
from pyfuncdbg.observers.record.log.disk_room import FULL
from pyfuncdbg.observers.record.log.log_file import VERSION, newer

MANIFEST = 'manifest.json'
LEDGER = 'ledger'
_LOG_NAME = re.compile(r'(\d{1,10})-(\d{4,9})\.log')
_LARGEST_MANIFEST = 64 << 10
_FORMAT = 'pyfuncdbg trace'
_LATEST = 253_402_300_800.0
"""The year 10,000, in Unix time: no calendar goes further."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Identity of a trace.

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


def create(path: Path, budget: int) -> bool:
    """Make a new trace and leave nothing behind on failure; whether its folder was made too.

    Raises:
        NoRoomError: The disk is full.
        TraceError: The path is taken or cannot be written.
    """
    made = not path.exists()
    try:
        path.mkdir(exist_ok=True)
        if (path / MANIFEST).exists():
            raise taken(path)
        if any(path.iterdir()):
            raise TraceError(f'{path}: is a folder with other files in it; give a path that does not exist yet')
        try:
            with open(path / LEDGER, 'xb', buffering=0) as ledger:      # another program may create it at the same time
                ledger.write(_LEDGER.pack(0, 0))
            _write_whole(path / MANIFEST, json.dumps({
                'format': _FORMAT, 'version': VERSION, 'id': uuid.uuid4().hex, 'created': time.time(), 'budget': budget}))
        except FileExistsError:
            raise taken(path) from None
        except OSError:
            remove(path, made)
            raise
    except FileExistsError as error:
        raise TraceError(f'{path}: is a file; give the path of a folder that does not exist yet') from error
    except OSError as error:
        raise refused(path, error) from error
    return made


def remove(path: Path, made: bool) -> None:
    """Remove a trace that holds nothing yet, and its folder if that was made for it."""
    with contextlib.suppress(OSError):          # another program has written into it meanwhile
        for file in (path / MANIFEST, draft(path / MANIFEST), path / LEDGER):
            file.unlink(missing_ok=True)
        if made:
            path.rmdir()


def refused(path: Path, error: OSError) -> TraceError:
    """Says why nothing can be recorded at `path`."""
    kind = NoRoomError if error.errno in FULL else TraceError
    return kind(f'{path}: cannot record there: {error.strerror}')


def identity(path: Path) -> tuple[int, int]:
    """A key that tells the folder of a trace from another that is at its path later.

    Raises:
        OSError: It is not there.
    """
    found = path.stat()
    return found.st_dev, found.st_ino


def require(path: Path, expected: tuple[int, int]) -> None:
    """Check that the folder at `path` is the one of this identity.

    Raises:
        OSError: It was removed, moved or replaced.
    """
    if identity(path) != expected:
        raise FileNotFoundError(path)


def fresh_path(directory: Path | None = None) -> Path:
    """A path for a trace in `directory` (the current one) that does not exist yet: 'pyfuncdbg-20250131-235959.pfd'."""
    place = directory if directory is not None else Path.cwd()
    name = time.strftime('pyfuncdbg-%Y%m%d-%H%M%S')
    path = place / f'{name}.pfd'
    number = 2
    while path.exists():
        path = place / f'{name}-{number}.pfd'
        number += 1
    return path


def taken(path: Path) -> TraceError:
    """Says that a trace is there, and whether it is being recorded."""
    process = recording_process(path)
    if process:
        return TraceError(f'{path}: process {process} records there; give another path')
    return TraceError(f'{path}: already holds a trace; give another path or remove it first')


def recording_process(path: Path) -> int:
    """The process that has a log of this trace open for writing, 0 if there is none. One whose files cannot be looked at
    counts, if it has the number of one that recorded there."""
    for _, log in logs(path):
        process = int(log.name.partition('-')[0])
        try:
            if any(_writes(f'/proc/{process}/fd/{number}', log) for number in os.listdir(f'/proc/{process}/fd')):
                return process
        except PermissionError:
            return process
        except OSError:                         # it has ended
            pass
    return 0


def _writes(descriptor: str, log: Path) -> bool:
    try:
        return bool(os.lstat(descriptor).st_mode & stat.S_IWUSR) and os.path.samestat(os.stat(descriptor), log.lstat())
    except OSError:                             # closed meanwhile
        return False


def _write_whole(path: Path, text: str) -> None:
    new = draft(path)
    new.write_text(text + '\n', encoding='utf-8')
    new.rename(path)


def draft(path: Path) -> Path:
    """The path at which a file is written before it has its name."""
    return path.with_suffix('.new')


def read_manifest(path: Path) -> Manifest:
    """Read what identifies the trace at `path`.

    Raises:
        NotATraceError, TraceVersionError, TraceError: There is none, it is from a newer version, or unreadable.
    """
    try:
        if not path.exists():
            raise NotATraceError(f'{path}: no such file or folder')
        if not path.is_dir() or not os.path.lexists(path / MANIFEST):
            raise NotATraceError(f'{path}: not a trace; a trace is a folder with a {MANIFEST} in it')
        with open(open_regular(path / MANIFEST), 'rb') as file:
            held = json.loads(file.read(_LARGEST_MANIFEST))
        if not isinstance(held, dict) or held.get('format') != _FORMAT:
            raise NotATraceError(f'{path}: not a trace; its {MANIFEST} belongs to another program')
        version = int(held['version'])
        if not 0 < version < 1 << 31:
            raise ValueError('its version is out of range')
        if version > VERSION:
            raise newer(path, version)
        created = float(held['created'])
        if not 0 <= created < _LATEST:
            raise ValueError(f'created at {created}')
        budget = int(held['budget'])
        if not 0 <= budget < 1 << 63:
            raise ValueError('its budget is out of range')
        return Manifest(str(held['id'])[:64], version, created, budget)
    except OSError as error:
        raise TraceError(f'{path / MANIFEST}: cannot be read: {error.strerror}') from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise NotATraceError(f'{path / MANIFEST}: damaged: {error}') from error


def log_path(path: Path, process: int) -> Path:
    """The path for the log of this process, the `process`-th to record into the trace."""
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


def is_log(name: str) -> bool:
    """Whether a log of a trace could have this name."""
    return _LOG_NAME.fullmatch(name) is not None


_LEDGER = struct.Struct('<QQ')


class Ledger:
    """Shared account of a trace: bytes spent and processes joined, in a file that all of them lock.

    Attributes:
        total: Bytes that the trace may take.
        limit: The same, or less where the disk has no room for that; measured when a grant is needed.
        spent: Bytes granted to all processes, as far as known.
        balance: Granted to this process and not used yet.
        process: Number of this process in the trace.
        full: 0, or the `errno` with which the disk, not the budget, refused something.
    """

    __slots__ = ('_file', '_folder', '_granted', '_largest_size', 'balance', 'full', 'limit', 'process', 'spent', 'total')

    def __init__(self, path: Path, total: int) -> None:
        """Join the trace at `path`, which may take `total` bytes on disk.

        Raises:
            OSError: The ledger cannot be opened.
        """
        self._file = Descriptor(path / LEDGER, os.O_RDWR)
        self._folder = path
        self._largest_size: Callable[[], tuple[int, int]] | None = None
        self._granted = 0
        self.total = self.limit = total
        self.balance = self.full = self.spent = self.process = 0
        with self._locked() as (spent, processes):
            self.spent = spent
            self.process = processes + 1
            self._store(spent, self.process)

    def watch_disk(self, largest_size: Callable[[], tuple[int, int]]) -> None:
        """From now on grant no more than this process's log may grow to: see `LogFile.largest_size`."""
        self._largest_size = largest_size

    @contextlib.contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        number = self._file.fileno()
        fcntl.flock(number, fcntl.LOCK_EX)
        try:
            held = os.pread(number, _LEDGER.size, 0)
            yield _LEDGER.unpack(held) if len(held) == _LEDGER.size else self._recounted()
        finally:
            fcntl.flock(number, fcntl.LOCK_UN)

    def _recounted(self) -> tuple[int, int]:
        """The totals by the logs, for a ledger that was cut off; grants of others that are not written yet are lost."""
        try:
            listed = logs(self._folder)
            written = sum(log.lstat().st_size for _, log in listed)
        except (OSError, TraceError):
            return self.total, self.process     # nothing more is written to a folder that cannot be read
        return max(self.spent, written), max([self.process, *(number for number, _ in listed)])

    def _store(self, spent: int, processes: int) -> None:
        os.pwrite(self._file.fileno(), _LEDGER.pack(spent, processes), 0)

    def fits(self, size: int, share: float = 1.0) -> bool:
        """Whether `size` more bytes stay within this share of the limit, as far as is known without asking the others."""
        used = self.spent - self.balance + size
        if used <= self.limit * share:
            return True
        if self.limit == self.total or used > self.total * share:
            return False
        why = self._measure()                   # the disk may have room again
        if used <= self.limit * share:
            return True
        self.full = why
        return False

    def afford(self, size: int, share: float = 1.0) -> bool:
        """Take `size` bytes of the budget if they stay within `share` of it; never more is spent than the total."""
        if not self.fits(size, share) or (self.balance < size and not self._grant(size - self.balance, size, share)):
            return False
        self.balance -= size
        return True

    def refund(self, size: int) -> None:
        """Give back bytes that were granted and not written."""
        self.balance += size

    def return_balance(self) -> None:
        """Give back what was granted and not used: to the other processes, or because the disk has no room for it."""
        with self._locked() as (spent, processes):
            self.spent = spent - self.balance
            self._store(self.spent, processes)
        self._granted -= self.balance
        self.balance = 0

    def _grant(self, missing: int, size: int, share: float) -> bool:
        """Ask for more than is missing: a lock and two file operations cost 5 µs."""
        with self._locked() as (spent, processes):
            self.spent = spent
            why = self._measure()
            if spent - self.balance + size > self.limit * share or spent + missing > self.limit:
                if spent - self.balance + size <= self.total * share and spent + missing <= self.total:
                    self.full = why
                return False
            grant = max(missing, min(self.limit // 64, 1 << 20))
            if spent + grant > self.limit:
                grant = missing
            self.spent = spent + grant
            self._store(self.spent, processes)
        self._granted += grant
        self.balance += grant
        return True

    def _measure(self) -> int:
        """Ask for the room on the disk; the `errno` of what bounds it."""
        if self._largest_size is None:
            return 0
        largest, why = self._largest_size()
        self.limit = min(self.total, self.spent + max(largest - self._granted, 0))
        return why

    def close(self) -> None:
        """Give back what was granted and not used."""
        with contextlib.suppress(OSError):      # closed before, or by the program
            self.return_balance()
        self.abandon()

    def abandon(self) -> None:
        """Let go of the file without touching its content: a forked child does not own its parent's balance."""
        self._file.close()
