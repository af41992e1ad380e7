"""The writer: takes what calls have queued and writes it in batches to the log of this process.

Runs on a thread of its own, every 0.1 s or when the queue has grown; `flush` does the same on the caller's thread. The
thread is a bare one: `threading.enumerate`, `threading.settrace` and joins at exit of the program do not see it.
"""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pyfuncdbg.hooks.bare_thread import BareThread
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.record.log import log_file, run_batch
from pyfuncdbg.observers.record.log.columns import MOST_ROWS
from pyfuncdbg.observers.record.log.journal import Journal
from pyfuncdbg.observers.record.log.log_segments import LogLimits
from pyfuncdbg.observers.record.log.notice import Notices
from pyfuncdbg.observers.record.log.op_columns import QueuedOps
from pyfuncdbg.observers.record.log.queue import Backlog, QueuedOutput, release_ops, release_output
from pyfuncdbg.observers.record.log.queued_call import QueuedCall, held_by, queued_call
from pyfuncdbg.observers.record.snapshots.site_notes import plan_record
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshots
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

_T = TypeVar('_T')
_INTERVAL = 0.1
_LONG_RUNNING = 200_000_000
_LARGEST_BATCH = 4 << 20
_ENDING = 1.0
"""Seconds to wait for the thread to end, which may be in the middle of a write to a slow disk."""


class Writer:
    """Writer of one log. Every method may be called from any thread; one works at a time."""

    def __init__(self, folder: Path, limits: LogLimits, backlog: Backlog, snapshots: Snapshots, facts: dict[str, Any],
                 notices: Notices, on_failure: Callable[[], None], is_first: bool = True) -> None:
        """Create the log.

        Args:
            folder: The trace.
            limits: Of its size and of its files.
            backlog: Where the rows come from.
            snapshots: Whose memory is given back.
            facts: What the process record says beyond what can be found out here.
            notices: For notices to the user of what could not be written.
            on_failure: Called once when the log cannot be written any more.
            is_first: This process has made the trace.

        Raises:
            OSError: It cannot be created.
        """
        self.folder = folder
        self.failed = False
        self.gone = False
        """The folder was removed, moved or replaced by another."""
        self._notices = notices
        self._backlog = backlog
        self._snapshots = snapshots
        self._on_failure = on_failure
        self._lock = new_rlock()
        self._busy = False
        """Some thread is writing."""
        self._calls_at_work = 0
        self._worker: BareThread | None = None
        self._output_lengths: dict[int, int] = {}
        self._segment = 0
        self._journal = Journal(folder, limits, facts, backlog, notices, is_first)
        backlog.pressure.busy, backlog.pressure.progress = self._is_busy, lambda: self._journal.progress

    @property
    def thread(self) -> int:
        """`threading.get_ident()` of the thread that writes, 0 if there is none."""
        worker = self._worker
        return worker.ident if worker is not None else 0

    def start(self) -> None:
        """Start the thread; without one (the interpreter is ending) rows wait for `flush` or `close`."""
        worker = self._worker = BareThread()
        try:
            worker.start(lambda: self._work(worker))
        except RuntimeError:
            self._worker = None

    def end_thread(self) -> None:
        """End the thread after its current batch; `start` resumes. Waits for the thread, not for a lock, and at most 1 s."""
        worker, self._worker = self._worker, None
        if worker is not None:
            self._backlog.wake.set()
            worker.wait(_ENDING)

    def close(self) -> None:
        """Write what waits and the closing record, and close the log."""
        self.end_thread()
        self.flush(everything=True)
        self._run_exclusively(self._finish, despite_stall=True)
        if not self.failed:                     # another thread is in the middle of a batch, and nothing goes behind that
            waiting = self._calls_at_work + len(self._backlog.rows) + sum(len(ops.batch) for ops in list(self._backlog.ops))
            self._notices.left_out(self.folder, waiting)
        self._run_exclusively(self._journal.close)

    def abandon(self) -> None:
        """In a forked child: let go of the files without touching what the parent has in them."""
        self.failed = True                      # a fork below `flush` comes back into it
        self._journal.abandon()

    def flush(self, *, everything: bool = False, wait: bool = True) -> None:
        """Write what waits. When this returns, calls that finished before are in the log.

        Args:
            everything: Also calls that have been running for less than 0.2 s.
            wait: Where another thread is writing; else it is left to that one.
        """
        self._run_exclusively(lambda: None if self.failed else self._drain(everything), despite_stall=True, wait=wait)

    def write_through(self, content: TensorContent) -> list[Any] | None:
        """Write the bytes of a tensor from the program's memory and describe it.

        For one that has no room in the queue: larger than that, or the calls that are running hold all of it.

        Args:
            content: The tensor.

        Returns:
            The description; None if the bytes have no room on disk.
        """
        return self._run_exclusively(lambda: None if self.failed else self._journal.write_through(content))

    def _run_exclusively(self, work: Callable[[], _T], *, despite_stall: bool = False, wait: bool = True) -> _T | None:
        """The result of `work`, with other threads excluded.

        None without it where the lock cannot be had: the writer stalls, or it is at work on this very thread, which runs a
        finalizer or a signal handler below.
        """
        if self._is_writing():
            return None
        has_lock: bool | None = None
        try:
            has_lock = self._lock.acquire(blocking=False) or (
                wait and self._backlog.pressure.retry_until_stalled(lambda seconds: self._lock.acquire(timeout=seconds),
                                                                    despite_stall=despite_stall))
            if has_lock:
                self._busy = True
                return work()
        # No caller can handle an error of the log, it may be a program's thread: report it and end the recording.
        # What a signal handler of that program raises meanwhile is the program's, and the log is whole.
        except Exception as error:
            raise_program_error(error)
            self._fail(error)
        finally:
            # No call of ours here: where one begins, and behind each of C, another handler may raise.
            if has_lock is None:
                has_lock = self._is_writing()
            if has_lock:
                self._busy = False
                self._lock.release()
        return None

    def _is_writing(self) -> bool:
        """Whether this very thread is writing, and runs a finalizer or a signal handler below."""
        return self._lock._is_owned()           # type: ignore[attr-defined,no-any-return]  # as `threading.Condition` asks it

    def _is_busy(self) -> bool:
        """Whether the writer will give memory back, for which this thread may wait."""
        if self.failed or self._is_writing():
            return False
        return self._busy or (self._worker is not None and bool(self._backlog.rows or self._backlog.ops))

    def _work(self, worker: BareThread) -> None:
        """Write now and then, until another thread is to do so or none: one that did not end in time ends here."""
        wake = self._backlog.wake
        while self._worker is worker and not self.failed:
            wake.wait(_INTERVAL)
            self.flush(wait=False)
        if not self.failed:                     # what came since: not for who ends this thread, as a device may hang
            self.flush(wait=False)

    def _finish(self) -> None:
        if not self.failed:
            self._journal.report_losses(last=True)
            self._journal.finish()
            self.failed = True

    def _fail(self, error: Exception) -> None:
        """The log cannot be written any more: count what is lost, tell the user and stop."""
        if self.failed:
            return
        self.failed = True
        self._backlog.close(self._snapshots)
        with contextlib.suppress(OSError):      # record what was lost, if possible
            self._journal.report_losses(last=True)
        self._on_failure()
        self._notices.ended(self.folder, failure_reason(error))

    def _drain(self, everything: bool) -> None:
        if not self._journal.is_in_place():
            self.gone = True
            raise FileNotFoundError(self.folder)
        backlog = self._backlog
        self._journal.sources.renew()
        rows = backlog.rows
        left = len(rows)
        while True:
            count = min(left, self._batch_size())
            batch: list[QueuedCall] = []
            self._calls_at_work = count
            try:
                for _ in range(min(count, len(rows))):
                    batch.append(rows.popleft())
                self._announce()
                lost = self._journal.write_calls(batch, log_file.CALLS) if batch else {}
            except BaseException:               # of a signal handler of the program; or they are counted by `_fail`
                rows.extendleft(reversed(batch))
                raise
            self._calls_at_work = 0
            self._give_back(batch, lost)
            backlog.pressure.report_written()
            left -= len(batch)
            if not batch or left <= 0:
                break
        self._write_ops()
        for _ in range(len(backlog.notes)):
            self._journal.put(log_file.NOTE, backlog.notes.popleft())
        self._journal.publish()
        self._write_running(everything)
        self._journal.report_losses()

    def _write_ops(self) -> None:
        """Write the ops of now, some at a time, so that memory comes back to those who wait for it."""
        backlog, snapshots = self._backlog, self._snapshots
        left, largest = len(backlog.ops), min(_LARGEST_BATCH, snapshots.allowance.limit // 8)
        while left > 0 and backlog.ops:
            batch: list[QueuedOps] = []
            size = rows = 0
            try:
                while left > 0 and backlog.ops and (not batch or (size < largest and rows < MOST_ROWS)):
                    batch.append(backlog.ops.popleft())
                    self._calls_at_work += len(batch[-1].batch)
                    left, size, rows = left - 1, size + batch[-1].charge, rows + len(batch[-1].batch)
                self._announce()
                lost = self._journal.write_ops(batch)
            except BaseException:               # as of `_drain`
                backlog.ops.extendleft(reversed(batch))
                raise
            self._calls_at_work = 0
            backlog.losses.add(lost)
            for ops in batch:
                release_ops(ops, snapshots)
            backlog.pressure.report_written()

    def _batch_size(self) -> int:
        """Rows of one batch: fewer when they are heavy, so that memory comes back to those who wait for it."""
        allowance = self._snapshots.allowance
        size = min(_LARGEST_BATCH, allowance.limit // 8)
        return min(max(size * len(self._backlog.rows) // max(allowance.used, 1), 1), MOST_ROWS)

    def _announce(self) -> None:
        """Write the announcements of now, not of those that keep coming; a run is counted before its plan and its sites."""
        backlog, journal = self._backlog, self._journal
        runs, plans, sites, states = len(backlog.runs), len(backlog.plans), len(backlog.sites), len(backlog.states)
        for _ in range(sites):
            record = backlog.sites[0].record(journal.sources)
            journal.put_sources()
            journal.put(log_file.SITE, record)
            backlog.sites.popleft()             # not before: a signal handler of the program may raise anywhere
        for _ in range(plans):
            number, run, site_ids = backlog.plans[0]
            journal.put(log_file.PLAN, plan_record(number, run, site_ids))
            backlog.plans.popleft()
        for _ in range(states):
            journal.put(log_file.STATE, state := backlog.states[0])
            backlog.states.popleft()
            self._snapshots.allowance.give(len(state[2]))
        for start in range(0, runs, MOST_ROWS):
            some = [backlog.runs.popleft() for _ in range(min(runs - start, MOST_ROWS))]
            journal.put(log_file.RUNS, run_batch.encode(some), len(some))

    def _give_back(self, rows: list[QueuedCall], lost: dict[str, int]) -> None:
        """Release the memory that calls held until they were in the log."""
        self._backlog.losses.add(lost)
        size, snapshots = held_by(rows)
        self._snapshots.allowance.give(size)
        for snapshot in snapshots:
            self._snapshots.release(snapshot)
        for row in rows:
            if row.output is not None or row.error is not None:
                release_output(row, self._snapshots)
        if self._output_lengths:
            for row in rows:
                self._output_lengths.pop(row.id, None)

    def _write_running(self, everything: bool) -> None:
        """Calls that have been running for long, so that one that never returns is in the trace with what it said."""
        if self._segment != self._journal.segment:
            self._segment = self._journal.segment
            self._output_lengths.clear()        # the segment that has them may be removed
        now = time.perf_counter_ns()
        rows: list[QueuedCall] = []
        running = self._backlog.running_calls()
        for call, inputs, _, state in running:
            if not everything and now - call.started < _LONG_RUNNING:
                continue
            entries = call.output.entries if call.output is not None else ()
            length = sum([len(entry.text) for entry in entries])
            if self._output_lengths.get(call.id) == length:
                continue
            self._output_lengths[call.id] = length
            output = QueuedOutput(entries, 0, self._snapshots.allowance.take)
            self._snapshots.allowance.give(output.charge)
            row = queued_call(call, inputs, (), 0, self._backlog.recorded_forward(call.forward), False)
            row.output = output if entries else None
            row.state = state
            rows.append(row)
        for start in range(0, len(rows), MOST_ROWS):
            self._announce()
            self._journal.write_calls(rows[start:start + MOST_ROWS], log_file.RUNNING)
        if len(self._output_lengths) > 2 * len(running) + 100:
            ids = {call.id for call, *_ in running}
            self._output_lengths = {i: n for i, n in self._output_lengths.items() if i in ids}


def failure_reason(error: Exception) -> str:
    """The reason why a trace cannot be written, for the notice.

    Args:
        error: Of the log.

    Returns:
        A clause without a full stop.
    """
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return 'the trace was removed or moved'
    why = (error.strerror if isinstance(error, OSError) else None) or f'{type(error).__name__}: {error}'
    return f'cannot write the trace: {why}; what was written can be read'
