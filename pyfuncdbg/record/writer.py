"""The writer: takes what calls have queued, encodes it in batches and appends it to the log of this process.

Runs on a thread of its own, every 0.1 s or when the queue has grown; `flush` does the same on the caller's thread. The
thread is a bare one: `threading.enumerate`, `threading.settrace` and joins at exit of the program do not see it.
"""
from __future__ import annotations

import _thread
import os
import platform
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from pyfuncdbg.record import frames
from pyfuncdbg.record.backlog import Backlog, Said, lost_with, release, release_said
from pyfuncdbg.record.batch import MOST_ROWS, MOST_TENSORS, Row, encode
from pyfuncdbg.record.description import plan_record
from pyfuncdbg.record.failure import Failure
from pyfuncdbg.record.folder import Ledger, log_path
from pyfuncdbg.record.snapshot import Snapshots
from pyfuncdbg.record.store import Store

_INTERVAL = 0.1
_LONG_RUNNING = 200_000_000
_PRINT_SHARE = 0.9
_PIECES = 1 << 20
_CLOSING = 2048
_SLOWEST_REPORT = 60.0

CUT = 'output bytes'
"""What the capture left out of one call, by its own limit and not for the budget."""

_NAMES = {frames.SITE: 'sites', frames.PLAN: 'runs', frames.RUNS: 'runs', frames.NOTE: 'notes', frames.PROCESS: 'processes'}


class Writer:
    """Writes one log. Every method may be called from any thread; one works at a time."""

    def __init__(self, folder: Path, budget: int, backlog: Backlog, snapshots: Snapshots, facts: dict[str, Any],
                 on_failure: Callable[[], None]) -> None:
        """Create the log.

        Args:
            folder: The trace.
            budget: Bytes on disk, shared by the processes of the trace.
            backlog: Where the rows come from.
            snapshots: Whose memory is given back.
            facts: What the process record says beyond what can be found out here.
            on_failure: Called once when the log cannot be written any more.

        Raises:
            OSError: It cannot be created.
        """
        self.folder = folder
        self.failed = False
        self._backlog = backlog
        self._snapshots = snapshots
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._stopping = False
        self._done: _thread.LockType | None = None
        self._pieces: list[Any] = []
        self._pieces_size = 0
        self._begun: dict[int, int] = {}
        self._said_losses: dict[str, int] = {}
        self._next_report = 0.0
        self._report_interval = _INTERVAL
        self._ledger = Ledger(folder, budget)
        try:
            self._log = frames.LogFile(log_path(folder, self._ledger.process))
        except OSError:
            self._ledger.abandon()
            raise
        self._store = Store(self._ledger, self._add)
        self._reserve = _CLOSING if self._ledger.afford(_CLOSING + frames.HEADER_SIZE) else 0
        self._put(frames.PROCESS, _process_record(facts))
        self._commit()

    def start(self) -> None:
        """Start the thread; without one (the interpreter is ending) rows wait for `flush` or `close`."""
        done = _thread.allocate_lock()
        done.acquire()
        self._stopping = False
        try:
            _thread.start_new_thread(self._work, (done,))
        except RuntimeError:
            return
        self._done = done

    def pause(self) -> None:
        """Write what waits, the calls that are running included, and end the thread; `start` goes on."""
        self._stopping = True
        self._backlog.wake.set()
        if self._done is not None:
            self._done.acquire(timeout=1.0)
            self._done = None
        self.flush(everything=True)

    def close(self) -> None:
        """Write what waits and the closing record, and close the log."""
        self.pause()
        # Not for ever: a signal handler may close while its own thread is writing.
        locked = self._lock.acquire(timeout=5.0)
        try:
            if locked and not self.failed:
                try:
                    self._report_losses(last=True)
                    self._append(frames.frame(frames.END, msgpack.packb([time.time(), time.perf_counter_ns()])))
                except OSError as error:
                    self._fail(error)
            self.failed = True
            self._log.close()
            self._ledger.close()
        finally:
            if locked:
                self._lock.release()

    def abandon(self) -> None:
        """In a forked child: let go of the files without touching what the parent has in them."""
        self._log.close()
        self._ledger.abandon()

    def flush(self, *, everything: bool = False) -> None:
        """Write what waits. When this returns, calls that finished before are in the log.

        Args:
            everything: Also calls that have been running for less than 0.2 s.
        """
        if not self._lock.acquire(timeout=5.0):
            return
        try:
            if not self.failed:
                self._drain(everything)
        # Nobody can handle an error of the log, and the caller may be a program's thread: say it and end the recording.
        except Exception as error:
            self._fail(error)
        finally:
            self._lock.release()

    def _work(self, done: _thread.LockType) -> None:
        wake = self._backlog.wake
        try:
            while not self._stopping and not self.failed:
                wake.wait(_INTERVAL)
                wake.clear()
                self.flush()
        finally:
            done.release()

    def _fail(self, error: Exception) -> None:
        """The log cannot be written: say so once, where the program's own output is not disturbed, and stop."""
        if self.failed:
            return
        self.failed = True
        self._on_failure()
        say_unwritable(self.folder, error)
        self._backlog.rows.clear()

    def _drain(self, everything: bool) -> None:
        backlog = self._backlog
        rows = backlog.rows
        waiting = len(rows)
        while True:
            count = min(waiting, self._batch_size())
            batch = [rows.popleft() for _ in range(min(count, len(rows)))]
            self._announce()
            if batch:
                self._write_rows(batch, frames.CALLS)
            backlog.stalled = False
            backlog.space.set()
            waiting -= len(batch)
            if not batch or waiting <= 0:
                break
        while backlog.notes:
            self._put(frames.NOTE, backlog.notes.popleft())
        self._write_running(everything)
        self._commit()
        self._report_losses()
        self._store.forget()

    def _batch_size(self) -> int:
        """Fewer rows when they are heavy, so that memory comes back to those who wait for it."""
        allowance = self._snapshots.allowance
        heavy = allowance.used * 8 // allowance.limit
        return MOST_ROWS if heavy < 1 else min(max(len(self._backlog.rows) // heavy, 1), MOST_ROWS)

    def _announce(self) -> None:
        backlog = self._backlog
        while backlog.sites:
            self._put(frames.SITE, backlog.sites.popleft().record())
        while backlog.plans:
            number, run, site_ids = backlog.plans.popleft()
            self._put(frames.PLAN, plan_record(number, run, site_ids))
        while backlog.runs:
            taken = [backlog.runs.popleft() for _ in range(min(len(backlog.runs), MOST_ROWS))]
            self._put(frames.RUNS, taken)

    def _put(self, kind: int, content: Any) -> None:
        body = msgpack.packb(content, unicode_errors='surrogatepass')
        if self._ledger.afford(len(body) + frames.FRAME_SIZE):
            self._add(frames.frame(kind, body))
        else:
            self._backlog.losses.add({_NAMES[kind]: 1})

    def _add(self, pieces: list[Any]) -> None:
        self._pieces += pieces
        self._pieces_size += sum(map(len, pieces))
        if self._pieces_size > _PIECES:
            self._commit()

    def _commit(self) -> None:
        if self._pieces:
            self._append(self._pieces)
            self._pieces = []
            self._pieces_size = 0

    def _append(self, pieces: list[Any]) -> None:
        self._log.append(pieces)

    def _write_rows(self, rows: list[Row], kind: int) -> None:
        """Write calls as one record, or as much of them as the budget has room for."""
        plain = [row if not row[11] and row[12] is None and len(row[9]) + len(row[10]) <= MOST_TENSORS else self._plain(row)
                 for row in rows]
        lost = self._write_plain(plain, kind)
        self._commit()
        if kind == frames.CALLS:
            self._backlog.losses.add(lost)
            for row in rows:
                if row[15]:                     # looking into each takes a third of the writer's time
                    release(row[9], self._snapshots)
                    release(row[10], self._snapshots)
                release_said(row, self._snapshots)
            if self._begun:
                for row in rows:
                    self._begun.pop(row[0], None)

    def _write_plain(self, rows: list[Row], kind: int) -> dict[str, int]:
        """The counts of what was lost. Rows that do not fit are halved until those that fit are found."""
        body = encode(rows, self._store.describe)
        missed = self._store.count_missed()
        if self._ledger.afford(len(body) + frames.FRAME_SIZE):
            self._add(frames.frame(kind, body))
            for losses in [row[13] for row in rows if row[13]]:
                for what, count in losses.items():
                    missed[what] = missed.get(what, 0) + count
            missed.pop(CUT, None)
            return missed
        if len(rows) == 1:
            said = rows[0][11]
            return lost_with(rows[0], (len(said) if said else 0) + (rows[0][13] or {}).get('prints', 0))
        half = len(rows) // 2
        lost = self._write_plain(rows[:half], kind)
        for what, count in self._write_plain(rows[half:], kind).items():
            lost[what] = lost.get(what, 0) + count
        return lost

    def _plain(self, row: Row) -> Row:
        """A row whose output, error and losses are plain data."""
        said, failure = row[11], row[12]
        lost: dict[str, int] = {}
        output = None
        if type(said) is Said:
            if said.cut:
                lost[CUT] = said.cut
            if said.lost:
                lost['prints'] = said.lost
            elif self._ledger.fits(2 * said.charge, _PRINT_SHARE):
                output = [[e.kind, e.text, e.category, e.filename, e.line, e.function, e.offset] for e in said.entries]
            else:
                lost['prints'] = len(said.entries)
        inputs, outputs = row[9], row[10]
        surplus = len(inputs) + len(outputs) - MOST_TENSORS
        if surplus > 0:
            lost['tensors'] = surplus
            inputs = inputs[:MOST_TENSORS]
            outputs = outputs[:MOST_TENSORS - len(inputs)]
        error = None
        if type(failure) is Failure:
            room = self._ledger.fits(2 * failure.charge, _PRINT_SHARE)
            error = failure.record(self._store.describe if room else None)
            if missed := failure.lost + (0 if room else failure.count):
                lost['locals'] = missed
        return (*row[:9], inputs, outputs, output, error, lost or None, *row[14:])

    def _write_running(self, everything: bool) -> None:
        """Calls that have been running for long, so that one that never returns is in the trace with what it said."""
        now = time.perf_counter_ns()
        rows: list[Row] = []
        running = self._backlog.begun()
        for call, inputs, _ in running:
            if not everything and now - call.started < _LONG_RUNNING:
                continue
            entries = call.output.entries if call.output is not None else ()
            length = sum([len(entry.text) for entry in entries])
            if self._begun.get(call.id) == length:
                continue
            self._begun[call.id] = length
            said = Said(entries, 0, self._snapshots.allowance)
            self._snapshots.allowance.give(said.charge)
            rows.append((call.id, call.run.id, call.site.id, call.ordinal, call.thread, call.started, 0,
                         self._backlog.linked(call.forward), call.parent, inputs, (), said if entries else None, None, None,
                         tuple(call.sources), False))
        for start in range(0, len(rows), MOST_ROWS):
            self._announce()
            self._write_rows(rows[start:start + MOST_ROWS], frames.RUNNING)
        if len(self._begun) > 2 * len(running) + 100:
            ids = {call.id for call, _, _ in running}
            self._begun = {i: n for i, n in self._begun.items() if i in ids}

    def _report_losses(self, last: bool = False) -> None:
        """The totals so far; rarer the longer the budget has been used up, for the reports take room themselves."""
        total = dict(self._backlog.losses.total)
        now = time.monotonic()
        if total == self._said_losses or (not last and now < self._next_report):
            return
        pieces = frames.frame(frames.DROPPED, msgpack.packb(total))
        size = sum(map(len, pieces))
        if not self._ledger.afford(size):
            if self._reserve - size < (0 if last else _CLOSING // 2):
                return
            self._reserve -= size
        self._append(pieces)
        self._said_losses = total
        self._next_report = now + self._report_interval
        self._report_interval = min(self._report_interval * 1.5, _SLOWEST_REPORT)


def say_unwritable(folder: Path, error: Exception) -> None:
    """Tell the user that recording ends, where the program's own output is not disturbed."""
    why = (error.strerror if isinstance(error, OSError) else None) or f'{type(error).__name__}: {error}'
    if sys.__stderr__ is not None:
        sys.__stderr__.write(f'pyfuncdbg: {folder}: cannot write the trace: {why}. Recording stops, the program goes on; '
                             'what was written can be read.\n')


def _process_record(facts: dict[str, Any]) -> list[Any]:
    argv = [str(arg)[:1000] for arg in sys.argv[:100]]
    return [os.getpid(), os.getppid(), argv, platform.python_version(), socket.gethostname(), time.time(),
            time.perf_counter_ns(), facts]
