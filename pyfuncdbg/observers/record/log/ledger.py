"""Ledger of a trace: the byte budget that its processes share.

Used by the journal of one process, one thread at a time. Granting needs a lock on a file, so each process has a balance.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log.descriptor import Descriptor
from pyfuncdbg.observers.record.log.log_names import logs
from pyfuncdbg.observers.record.log.trace_folder import LEDGER, LEDGER_CONTENT


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

    def __init__(self, path: Path, total: int, is_first: bool) -> None:
        """Join the trace at `path`, which may take `total` bytes on disk; `is_first` is the process that has made it.

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
            self.process = 1 if is_first else processes + 1
            self._store(spent, max(processes, self.process))

    def watch_disk(self, largest_size: Callable[[], tuple[int, int]]) -> None:
        """Grant no more from now on than this process's log may grow to.

        Args:
            largest_size: `LogFile.largest_size`.
        """
        self._largest_size = largest_size

    @contextlib.contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        number = self._file.fileno()
        fcntl.flock(number, fcntl.LOCK_EX)
        try:
            content = os.pread(number, LEDGER_CONTENT.size, 0)
            yield LEDGER_CONTENT.unpack(content) if len(content) == LEDGER_CONTENT.size else self._recount()
        finally:
            fcntl.flock(number, fcntl.LOCK_UN)

    def _recount(self) -> tuple[int, int]:
        """The totals by the logs, for a ledger that was cut off; grants of others that are not written yet are lost."""
        try:
            trace_logs = logs(self._folder)
            written = sum(log.nbytes for log in trace_logs)
        except (OSError, TraceError):
            return self.total, self.process     # nothing more is written to a folder that cannot be read
        return max(self.spent, written), max([self.process, *(log.process for log in trace_logs)])

    def _store(self, spent: int, processes: int) -> None:
        os.pwrite(self._file.fileno(), LEDGER_CONTENT.pack(spent, processes), 0)

    def fits(self, size: int, share: float = 1.0) -> bool:
        """Whether more bytes stay within a share of the limit, as far as is known without asking the other processes.

        Args:
            size: How many bytes.
            share: Of the limit, 0 to 1.

        Returns:
            True if they do.
        """
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
        """Take bytes of the budget; never more is spent than the total.

        Args:
            size: How many bytes.
            share: Of the budget that may be used up, 0 to 1.

        Returns:
            False, and nothing taken, if they do not fit.
        """
        if not self.fits(size, share) or (self.balance < size and not self._grant(size - self.balance, size, share)):
            return False
        self.balance -= size
        return True

    def refund(self, size: int) -> None:
        """Give back bytes that were granted and not written.

        Args:
            size: How many bytes.
        """
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
