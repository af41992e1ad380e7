"""The records of one process, as many as have room: within the trace's budget, and on its disk.

Used by the writer of that process, one thread at a time. Where room is short, values go first, then prints, then whole
calls; the record of what was lost has room reserved.
"""
# long: what has room is decided in one order for calls and ops, values and prints, segments and losses
from __future__ import annotations

import functools
import os
import platform
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgpack

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.program_arguments import program_arguments
from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.record.log import log_file, op_columns
from pyfuncdbg.observers.record.log.blob_store import TENSOR_SHARE, BlobStore
from pyfuncdbg.observers.record.log.call_batch import MOST_TENSORS
from pyfuncdbg.observers.record.log.call_encoder import encode
from pyfuncdbg.observers.record.log.disk_room import FULL
from pyfuncdbg.observers.record.log.ledger import Ledger
from pyfuncdbg.observers.record.log.log_names import log_path
from pyfuncdbg.observers.record.log.log_segments import LogLimits, LogSegments, fair_segment
from pyfuncdbg.observers.record.log.notice import Notices
from pyfuncdbg.observers.record.log.op_columns import QueuedOps
from pyfuncdbg.observers.record.log.queue import Backlog, QueuedOutput, losses_of
from pyfuncdbg.observers.record.log.queued_call import QueuedCall, is_plain
from pyfuncdbg.observers.record.snapshots.error_capture import Failure
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent
from pyfuncdbg.observers.record.sources.loaded_source import LoadedSources

_PRINT_SHARE = 0.9
_CLOSING = 2048
_END_SIZE = 64
_FIRST_REPORT = 0.1
_SLOWEST_REPORT = 60.0

CUT = 'output bytes'
"""Output of one call that the capture left out, by its own limit and not for the budget."""

_NAMES = {
    log_file.SITE: 'sites', log_file.PLAN: 'runs', log_file.RUNS: 'runs', log_file.NOTE: 'notes', log_file.PROCESS:
    'processes', log_file.SOURCE: 'source lines', log_file.STATE: 'states'}


def _add(total: dict[str, int], counts: dict[str, int]) -> dict[str, int]:
    """The total of losses with these added to it."""
    for what, count in counts.items():
        total[what] = total.get(what, 0) + count
    return total


class Journal:
    """One log, its share of the budget, the blobs and the source lines in it.

    Attributes:
        sources: The texts that the program has loaded; records that name lines ask it for their numbers.
    """

    def __init__(self, folder: Path, limits: LogLimits, facts: dict[str, Any], backlog: Backlog, notices: Notices,
                 is_first: bool) -> None:
        """Create the log.

        Args:
            folder: The trace.
            limits: Of its size and of its files.
            facts: What the process record says beyond what can be found out here.
            backlog: Where the calls come from; what had no room is added to its losses.
            notices: For the notice to the user that the disk is full.
            is_first: This process has made the trace.

        Raises:
            OSError: It cannot be created, or the disk has no room for its first record; nothing is left of it.
        """
        self.folder = folder
        self._notices = notices
        self._limits = limits
        self._backlog = backlog
        self._losses = backlog.losses
        self._pending: list[tuple[int, bytes, int]] = []
        """Kind, content, and how much is lost if it has no room."""
        self._pieces: list[Any] = []
        self._reported_full = False
        self._reported: dict[str, int] = {}
        self._next_report = 0.0
        self._report_interval = _FIRST_REPORT
        self._ledger = Ledger(folder, limits.budget, is_first)
        try:
            self._segments = LogSegments(log_path(folder, self._ledger.process), limits.segment)
        except OSError:
            self._ledger.abandon()
            raise
        self._ledger.watch_disk(self._segments.largest_size)
        self._store = BlobStore(self._ledger, self._pieces.extend)
        self.sources = LoadedSources()
        self._reserve = _CLOSING if self._ledger.afford(_CLOSING + log_file.HEADER_SIZE) else 0
        self._process = _process_record(facts)
        self._named_states: dict[int, set[int]] = {}
        """By segment: the states that calls behind it may name."""
        self._cannot_remove = False
        self._smallest_refused = 0
        """Bytes of the smallest record of one call that had no room."""
        try:
            self.put(log_file.PROCESS, self._process)
            self.publish()
            if why := self._ledger.full:
                raise OSError(why, os.strerror(why))
        except OSError:
            self.abandon()
            self._segments.file.path.unlink(missing_ok=True)
            raise

    @property
    def progress(self) -> int:
        """A number that grows with each piece written, and with each value that was waited for."""
        return self._segments.written + self._store.awaited

    @property
    def segment(self) -> int:
        """Number of the segment that is being written."""
        return self._segments.number

    def is_in_place(self) -> bool:
        """Whether the log is where it was created.

        Returns:
            False if its folder was removed, moved or replaced.
        """
        return self._segments.file.is_in_place()

    def put(self, kind: int, content: Any, worth: int = 1) -> None:
        """Queue a record other than calls for the next `publish`.

        Args:
            kind: Of the record, as in `log_file`.
            content: What msgpack can write.
            worth: What it counts for where it has no room.
        """
        self._pending.append((kind, msgpack.packb(content, unicode_errors='surrogatepass'), worth))

    def publish(self) -> None:
        """Write the records that were put.

        Raises:
            OSError: The log cannot be written, for another reason than a full disk.
        """
        while self._pending:
            fitting = [each for each in self._pending if self._has_room(*each)]
            try:
                self._append([piece for kind, body, _ in fitting for piece in log_file.frame(kind, body)])
            except OSError as error:
                self._require_full(error)
                self._pending = fitting       # not all: it is known now how much has room
            else:
                self._pending = []

    def put_sources(self) -> None:
        """Queue the lines that the records to come name."""
        for record in self.sources.take_entries():
            self.put(log_file.SOURCE, record, sum(part.count('\n') for _, part in record[4]))

    def _has_room(self, kind: int, body: bytes, worth: int) -> bool:
        if self._ledger.afford(len(body) + log_file.FRAME_SIZE, _PRINT_SHARE if kind == log_file.SOURCE else 1.0):
            return True
        self._losses.add({_NAMES[kind]: worth})
        return False

    def write_calls(self, rows: list[QueuedCall], kind: int) -> dict[str, int]:
        """Write calls as one record, or as much of them as has room.

        Args:
            rows: The calls.
            kind: `CALLS` or `RUNNING` of `log_file`.

        Returns:
            Counts of what had no room.

        Raises:
            OSError: As `publish`.
        """
        self._begin_segment_if_full(rows)
        if self._limits.keep_newest:
            self._remove_oldest(self._segments.segment // 2)
        while True:
            plain = [row if is_plain(row, MOST_TENSORS) else self._to_plain_data(row) for row in rows]
            self.put_sources()
            self.publish()
            try:
                lost = self._add_fitting(plain, kind)
                self._append(self._pieces)
            except BaseException as error:      # a signal handler of the program may raise anywhere
                self._store.roll_back(rows)
                if not isinstance(error, OSError):
                    raise
                self._require_full(error)       # and once more: it is known now how much has room
            else:
                return lost
            finally:
                self._pieces.clear()

    def _add_fitting(self, rows: list[QueuedCall], kind: int) -> dict[str, int]:
        """The counts of what was lost. Rows that do not fit are halved until those that fit are found.

        That takes as long as ten records, so rows are lost at once while there is no room for the smallest that was refused.
        """
        if len(rows) > 1 and self._smallest_refused and not self._ledger.fits(self._smallest_refused):
            return functools.reduce(_add, map(losses_of, rows))
        body = encode(rows, self._store)
        missed = self._store.count_missed()
        if self._ledger.afford(len(body) + log_file.FRAME_SIZE):
            self._pieces += log_file.frame(kind, body)
            for losses in [row.lost for row in rows if row.lost]:
                _add(missed, losses)
            missed.pop(CUT, None)
            return missed
        if len(rows) == 1:
            size = len(body) + log_file.FRAME_SIZE
            self._smallest_refused = min(self._smallest_refused or size, size)
            return losses_of(rows[0])
        half = len(rows) // 2
        return _add(self._add_fitting(rows[:half], kind), self._add_fitting(rows[half:], kind))

    def write_ops(self, queued: list[QueuedOps]) -> dict[str, int]:
        """Write ops as records of calls, or as much of them as has room.

        Args:
            queued: The ops.

        Returns:
            Counts of what had no room.

        Raises:
            OSError: As `publish`.
        """
        self._begin_segment_if_full([])
        if self._limits.keep_newest:
            self._remove_oldest(self._segments.segment // 2)
        self.put_sources()
        while True:
            self.publish()
            lost: dict[str, int] = {}
            try:
                for part in op_columns.parts(queued):
                    _add(lost, self._add_fitting_ops(part))
                self._append(self._pieces)
            except BaseException as error:      # a signal handler of the program may raise anywhere
                self._store.roll_back(())
                if not isinstance(error, OSError):
                    raise
                self._require_full(error)       # and once more: it is known now how much has room
            else:
                return lost
            finally:
                self._pieces.clear()

    def _add_fitting_ops(self, queued: list[QueuedOps]) -> dict[str, int]:
        """As `_add_fitting`, with the ops of a run together."""
        body = op_columns.encode(queued, self._store)
        missed = self._store.count_missed()
        if self._ledger.afford(len(body) + log_file.FRAME_SIZE):
            self._pieces += log_file.frame(log_file.CALLS, body)
            return missed
        if len(queued) == 1:
            return queued[0].losses()
        half = len(queued) // 2
        return _add(self._add_fitting_ops(queued[:half]), self._add_fitting_ops(queued[half:]))

    def _begin_segment_if_full(self, rows: list[QueuedCall]) -> None:
        """Go on in the next segment, if this one has its size and another can be made."""
        if self._limits.keep_newest:            # on a disk with less room than the budget, segments are smaller
            self._segments.segment = fair_segment(self._ledger.limit, self._limits.segment)
        if not self._segments.is_full or not self._ledger.afford(log_file.HEADER_SIZE):
            return
        try:
            self._segments.begin_segment()
        except OSError as error:                # a full disk, too many open files: this one goes on
            raise_program_error(error)
            self._ledger.refund(log_file.HEADER_SIZE)
            return
        self.put(log_file.PROCESS, self._process)       # for readers that miss an earlier segment; its clocks are the same
        if self._limits.keep_newest:
            self._named_states[self._segments.number - 1] = self._backlog.named_states().union(*[row.state for row in rows])
            self._store.begin_segment()
            self._reported.clear()              # totals of losses are written once more
            self._cannot_remove = False

    def _remove_oldest(self, size: int) -> None:
        """Remove the oldest segments until so many bytes have room, as far as there are any."""
        ledger, full = self._ledger, self._ledger.full
        while self._segments.oldest is not None and not self._cannot_remove and not ledger.fits(size, TENSOR_SHARE):
            try:
                freed = self._segments.remove_oldest(self._named_states.pop(self._segments.oldest, None))
            except (OSError, TraceError, ValueError) as error:      # no room to write what stays of it, or damaged
                raise_program_error(error)
                self._cannot_remove = True
                return
            ledger.refund(freed)
            ledger.return_balance()
            ledger.full = full

    def _to_plain_data(self, row: QueuedCall) -> QueuedCall:
        """A row whose output, error and losses are plain data."""
        queued, failure = row.output, row.error
        lost: dict[str, int] = {}
        output = None
        if type(queued) is QueuedOutput:
            if queued.cut:
                lost[CUT] = queued.cut
            if queued.lost:
                lost['prints'] = queued.lost
            elif self._ledger.fits(2 * queued.charge, _PRINT_SHARE):
                output = [[e.kind, e.text, e.category, e.filename, e.line, e.function, e.offset,
                           self.sources.line(e.filename, e.line)] for e in queued.entries]
            else:
                lost['prints'] = len(queued.entries)
        inputs, outputs = row.inputs, row.outputs
        surplus = len(inputs) + len(outputs) - MOST_TENSORS
        if surplus > 0:
            lost['tensors'] = surplus
            inputs = inputs[:MOST_TENSORS]
            outputs = outputs[:MOST_TENSORS - len(inputs)]
        error = None
        if type(failure) is Failure:
            room = self._ledger.fits(2 * failure.charge, _PRINT_SHARE)
            error = failure.record(self._store.describe if room else None, self.sources)
            if missed := failure.lost + (0 if room else failure.count):
                lost['locals'] = missed
        return row.with_values(inputs, outputs, output, error, lost or None)

    def write_through(self, content: TensorContent) -> list[Any] | None:
        """Write the bytes of one tensor at once and describe it.

        Args:
            content: The tensor.

        Returns:
            The description; None if the bytes have no room.

        Raises:
            OSError: As `publish`.
        """
        if self._limits.keep_newest:
            self._remove_oldest(content.nbytes + self._segments.segment // 2)
        try:
            return self._store.write_through(content, self._segments.file.append_blob)
        except OSError as error:
            self._require_full(error)
            return None

    def report_losses(self, *, last: bool = False) -> None:
        """Write the total losses so far; rarer the longer the budget has been used up, for the reports take room themselves.

        Args:
            last: At the end: write them now.

        Raises:
            OSError: As `publish`.
        """
        if (why := self._ledger.full) and not self._reported_full:
            self._reported_full = True
            self._notices.disk_full(self.folder, os.strerror(why))
        totals = dict(self._losses.total)
        now = time.monotonic()
        if totals == self._reported or (not last and now < self._next_report):
            return
        pieces = log_file.frame(log_file.DROPPED, msgpack.packb(totals))
        size = sum(map(len, pieces))
        if not self._ledger.afford(size):
            if self._reserve - size < (_END_SIZE if last else _CLOSING // 2):
                return
            self._reserve -= size
        if self._append_small(pieces):
            self._reported = totals
        self._next_report = now + self._report_interval
        self._report_interval = min(self._report_interval * 1.5, _SLOWEST_REPORT)

    def finish(self) -> None:
        """Write the closing record.

        Raises:
            OSError: As `publish`.
        """
        self._append_small(log_file.frame(log_file.END, msgpack.packb([time.time(), time.perf_counter_ns()])))

    def close(self) -> None:
        """Close the files; closing twice is allowed."""
        self._segments.file.close()
        self._ledger.close()

    def abandon(self) -> None:
        """In a forked child: let go of the files without touching what the parent has in them."""
        self._segments.file.close()
        self._ledger.abandon()

    def _append(self, pieces: Sequence[Any]) -> None:
        """Write whole records that were afforded; all or none of them."""
        if pieces:
            try:
                self._segments.file.append(pieces)
            except OSError:
                self._ledger.refund(sum(map(len, pieces)))
                raise

    def _append_small(self, pieces: Sequence[Any]) -> bool:
        """Write a record that has room reserved; False on a disk that has none all the same."""
        try:
            self._segments.file.append(pieces)
        except OSError as error:
            self._require_full(error)
            return False
        return True

    def _require_full(self, error: OSError) -> None:
        """Note that the disk has no more room; any other error is raised again."""
        if error.errno not in FULL:
            raise error
        self._ledger.return_balance()
        self._ledger.full = error.errno


def _process_record(facts: dict[str, Any]) -> list[Any]:
    argv = [word[:1000] for word in program_arguments()[:100]]
    return [os.getpid(), os.getppid(), argv, platform.python_version(), socket.gethostname(), time.time(),
            time.perf_counter_ns(), facts]
