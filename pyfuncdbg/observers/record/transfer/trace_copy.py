"""Copy of a trace, record by record: some of its calls, or all without what is private.

On the thread of the command. The trace may be hostile: damaged records are left out, and counted.
"""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.array_bytes import digest, packed_text
from pyfuncdbg.observers.record.index.process_tree import process_lines
from pyfuncdbg.observers.record.log import columns, log_file, log_names, run_batch
from pyfuncdbg.observers.record.log.batch_rows import HIDDEN, state_numbers, take_rows, tensor_keys
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack, summary_of
from pyfuncdbg.observers.record.log.log_file import LogFrame
from pyfuncdbg.observers.record.log.log_names import ProcessLog
from pyfuncdbg.observers.record.log.log_segments import LogSegments
from pyfuncdbg.observers.record.log.segmented_log import SegmentedLog, removed_segments
from pyfuncdbg.observers.record.log.trace_folder import LEDGER, LEDGER_CONTENT, read_manifest
from pyfuncdbg.observers.record.processes.followed_process import LIST
from pyfuncdbg.observers.record.records import OLDEST, TRIMMED
from pyfuncdbg.observers.record.transfer.new_trace import new_trace
from pyfuncdbg.observers.record.transfer.redaction import NO_REDACTION, PathRedaction, RecordRedaction, Redaction

_CHUNK = 1 << 20
_CALLS = (log_file.CALLS, log_file.RUNNING)
_WRONG = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class CopiedTrace:
    """A copy that was made.

    Attributes:
        path: Of its folder.
        calls: In it, without the runs' own.
        left_out: Calls of the original that are not.
        nbytes: Of its logs.
        damage: Records that could not be read, one line each.
    """

    path: str
    calls: int
    left_out: int
    nbytes: int
    damage: tuple[str, ...]


def copy_trace(source: Path, target: Path, ids: Mapping[int, np.ndarray] | None = None,
               redaction: Redaction = NO_REDACTION) -> CopiedTrace:
    """Copy a trace.

    Args:
        source: Its folder.
        target: The folder of the copy, which must not exist; on failure nothing is left of it.
        ids: By process the sorted numbers of the calls to copy, and of runs -number; None for all.
        redaction: What to remove.

    Returns:
        What was copied.

    Raises:
        TraceError: The trace cannot be read, or the copy not be made.
    """
    manifest, logs = read_manifest(source), log_names.logs(source)
    if not logs:
        raise TraceError(f'{source}: holds no log: there is nothing to copy')
    with new_trace(target, [source], manifest.budget, manifest.created, manifest.parts):
        copy = _Copy(ids, redaction)
        for log in logs:
            copy.look_at(log)
        copy.write_processes(source, target)
        for log in logs:
            copy.write(log, target / f'{log.path.name.partition(".")[0]}.log')
        nbytes = sum(log.nbytes for log in log_names.logs(target))
        (target / LEDGER).write_bytes(LEDGER_CONTENT.pack(nbytes, max(log.process for log in logs)))
    return CopiedTrace(str(target), copy.calls, copy.left_out, nbytes, tuple(copy.damage))


class _Copy:
    """The two passes over the logs: one for what the copied calls name, one that writes."""

    def __init__(self, ids: Mapping[int, np.ndarray] | None, redaction: Redaction) -> None:
        self._ids = ids
        self._redaction = redaction
        self._paths = PathRedaction()
        self._keys: set[bytes] = set()
        self._blobs: dict[bytes, tuple[ProcessLog, int, int]] = {}
        self._states: dict[int, set[int]] = {}
        self._fresh: list[tuple[bytes, bytes]] = []
        """Text tensors with another content, to be written before the calls that name them."""
        self.calls = self.left_out = 0
        self.damage: list[str] = []

    def _kept(self, process: int, payload: bytes) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the calls of a record, and which of them are copied."""
        summary = summary_of(payload, lambda entry: False)
        ids = columns.unpack([summary.columns[0]], [summary.count])
        return ids, self._among(process, ids)

    def _among(self, process: int, ids: np.ndarray) -> np.ndarray:
        if self._ids is None:
            return np.ones(len(ids), np.bool_)
        numbers = self._ids.get(process)
        if numbers is None or not len(numbers):
            return np.zeros(len(ids), np.bool_)
        at = np.minimum(np.searchsorted(numbers, ids), len(numbers) - 1)
        return np.asarray(numbers[at] == ids)

    # ------------------------------------------------------------------ first pass
    def look_at(self, source: ProcessLog) -> None:
        """Note which blobs and states the copied calls of a log name, and private names."""
        reader = SegmentedLog(source)
        try:
            for frame in reader.frames(0, lambda position, what: None):
                try:
                    self._look_at_frame(source, frame)
                except _WRONG:                  # left out, and reported, by the second pass
                    continue
        finally:
            reader.close()

    def _look_at_frame(self, source: ProcessLog, frame: LogFrame) -> None:
        process = source.process
        if frame.kind in _CALLS:
            keep = self._kept(process, frame.payload)[1]
            if keep.any() and not self._redaction.values:
                self._states.setdefault(process, set()).update(state_numbers(frame.payload, keep))
                self._keys |= tensor_keys(frame.payload, keep, text=not self._redaction.paths)
        elif frame.kind == log_file.BLOB:
            self._blobs[frame.payload] = source, frame.position + log_file.KEY_SIZE, frame.length - log_file.KEY_SIZE
        elif self._redaction.paths and frame.kind in (log_file.PROCESS, log_file.SITE, log_file.SOURCE):
            fields = decode_msgpack(frame.payload)
            self._paths.learn(fields)
            if frame.kind == log_file.PROCESS:
                self._paths.add_name(str(fields[4]), 'host')

    # ------------------------------------------------------------------ second pass
    def write_processes(self, source: Path, target: Path) -> None:
        """Write the copy of the list of processes, if there is one."""
        redact = RecordRedaction(self._redaction, self._paths, self._text_tensor)
        lines = [json.dumps(redact.process_line(fields)) for fields in process_lines(source)]
        if lines:
            (target / LIST).write_text('\n'.join([*lines, '']), encoding='ascii')

    def write(self, source: ProcessLog, target: Path) -> None:
        """Write the copy of a log."""
        redact = RecordRedaction(self._redaction, self._paths, self._text_tensor)
        reader, log = SegmentedLog(source), LogSegments(target)
        losses: dict[str, int] = {}
        oldest: dict[str, int] = {}
        end: bytes | None = None
        before = self.left_out
        try:
            for frame in reader.frames(0, lambda position, what: self.damage.append(what)):
                if log.is_full:
                    log.begin_segment()
                try:
                    if frame.kind == log_file.DROPPED:
                        losses = _losses(decode_msgpack(frame.payload))
                    elif frame.kind == log_file.REMOVED:
                        oldest = {OLDEST: removed_segments(frame.payload)[1]}
                    elif frame.kind == log_file.END:
                        end = frame.payload
                    elif frame.kind == log_file.BLOB:
                        self._copy_blob(reader, frame, log)
                    else:
                        for kind, payload in self._copied(source.process, frame, redact):
                            log.file.append(log_file.frame(kind, payload))
                except _WRONG as error:
                    name, offset, _ = reader.locate(frame.start)
                    self.damage.append(f'{name}: record at byte {offset} cannot be read: {error}')
            if self.left_out > before:
                losses[TRIMMED] = losses.get(TRIMMED, 0) + self.left_out - before
            if losses := {**losses, **oldest}:
                log.file.append(log_file.frame(log_file.DROPPED, msgpack.packb(losses)))
            if end is not None:
                log.file.append(log_file.frame(log_file.END, end))
            if reader.stop_reason:
                self.damage.append(f'{source.path.name}: {reader.stop_reason}')
        finally:
            reader.close()
            log.file.close()

    def _copy_blob(self, reader: SegmentedLog, frame: LogFrame, log: LogSegments) -> None:
        if frame.payload in self._keys:
            length = frame.length - log_file.KEY_SIZE
            log.file.append_blob(frame.payload, length, _chunks(reader, frame.position + log_file.KEY_SIZE, length))

    def _copied(self, process: int, frame: LogFrame, redact: RecordRedaction) -> Iterator[tuple[int, bytes]]:
        """The records that a record becomes."""
        kind, payload = frame.kind, frame.payload
        if kind in _CALLS:
            yield from self._copied_calls(process, kind, payload, redact)
        elif kind == log_file.RUNS:
            yield from self._copied_runs(process, payload)
        elif kind == log_file.STATE:
            number, what, _ = decode_msgpack(payload)
            if number in self._states.get(process, ()) and redact.keeps_state(what):
                yield kind, payload
        elif not self._redaction:
            yield kind, payload
        else:
            change = {log_file.PROCESS: redact.process, log_file.SITE: redact.site, log_file.SOURCE: redact.source,
                      log_file.NOTE: redact.note}.get(kind, redact.plain)
            content = change(decode_msgpack(payload))
            if content is not None:
                yield kind, msgpack.packb(content, unicode_errors='surrogatepass')

    def _copied_calls(self, process: int, kind: int, payload: bytes, redact: RecordRedaction) -> Iterator[tuple[int, bytes]]:
        ids, keep = self._kept(process, payload)
        if kind == log_file.CALLS:
            self.calls += int(np.count_nonzero(keep & (ids > 0)))
            self.left_out += int(np.count_nonzero(~keep & (ids > 0)))
        if not keep.any():
            return
        body = payload if keep.all() and not self._redaction else take_rows(payload, keep, redact.content())
        for key, data in self._fresh:
            yield log_file.BLOB, key + data
        self._fresh.clear()
        yield kind, body

    def _copied_runs(self, process: int, payload: bytes) -> Iterator[tuple[int, bytes]]:
        count, packed = run_batch.decode(decode_msgpack(payload))
        table = [columns.unpack([column], [count]) for column in packed]
        keep = self._among(process, -table[0])
        if keep.any():
            rows = np.flatnonzero(keep).tolist()
            runs = [tuple(int(column[row]) for column in table) for row in rows]
            yield log_file.RUNS, msgpack.packb(run_batch.encode(runs))

    def _text_tensor(self, entry: list[Any]) -> list[Any]:
        """A text tensor without paths and names: its bytes have another key then."""
        place, elements = entry[4], None
        try:
            if isinstance(place, list):
                elements = msgpack.unpackb(place[0])
            elif isinstance(place, bytes) and place in self._blobs:
                source, position, length = self._blobs[place]
                reader = SegmentedLog(source)
                try:
                    elements = msgpack.unpackb(reader.read(position, length))
                finally:
                    reader.close()
        except (msgpack.UnpackException, ValueError):
            pass                                # damaged: what cannot be read is not copied
        if not isinstance(elements, list):
            return [*entry[:3], 0, None, entry[5], HIDDEN, None, False]
        data = packed_text([self._paths.bytes(one) if isinstance(one, bytes) else one for one in elements])
        if isinstance(place, list):
            return [*entry[:4], [data], *entry[5:]]
        key = digest(data)
        self._fresh.append((key, data))
        return [*entry[:4], key, *entry[5:]]


def _losses(content: Any) -> dict[str, int]:
    if not isinstance(content, dict) or not all(type(number) is int for number in content.values()):
        raise ValueError('wrong counts')
    return content


def _chunks(reader: SegmentedLog, position: int, length: int) -> Iterator[bytes]:
    for start in range(0, length, _CHUNK):
        yield reader.read(position + start, min(_CHUNK, length - start))
