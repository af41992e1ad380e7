"""Storage of tensor bytes: few in the record of the call, others once each in a blob under their hash.

Used by the writer of one log, one thread at a time.
"""
from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pyfuncdbg.hooks.value_placeholders import LaterSummary
from pyfuncdbg.observers.record.array_bytes import digest, packed_text
from pyfuncdbg.observers.record.dtypes import STRING, dtype_name, little_endian
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.key_cache import KeyCache
from pyfuncdbg.observers.record.log.ledger import Ledger
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, Copied, Snapshot
from pyfuncdbg.observers.record.snapshots.statistics import all_finite, stats_of, stats_of_later
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

TENSOR_SHARE = 0.8
"""Of the disk budget may be used up when tensor bytes are still written; the rest is for prints and calls."""

_INLINE = 64
_SOON = 512
"""Up to this many bytes go into the record of the call when they are seen for the first time: most never come again, and a
blob of their own costs the writer three times as much."""
_LARGE = 64 << 10
_LITTLE = sys.byteorder == 'little'
_SOON_SLOTS = 1 << 17
_MOST_SUMMARIES = 4096
_ATTEMPTS = 3
LONGEST_WAIT = 60.0
"""Seconds for which a device may make the statistics of one tensor, and the writer has not stalled."""


class BlobStore:
    """Store of tensor bytes: describes snapshots and puts their bytes in front of the record that names them.

    Args:
        ledger: Grants the bytes.
        add: Takes the pieces of a blob record.

    Attributes:
        missed: Tensors, and their bytes, that had no room since `count_missed`.
    """

    __slots__ = ('_add', '_awaited', '_began', '_ledger', '_seen_once', '_stored', '_summaries', 'missed')

    def __init__(self, ledger: Ledger, add: Callable[[list[Any]], None]) -> None:
        self._ledger = ledger
        self._add = add
        self._stored = KeyCache()
        self._seen_once = KeyCache(_SOON_SLOTS)
        self._summaries: dict[Any, Stats | None] = {}
        self._awaited = 0
        self._began: float | None = None
        self.missed = {'tensors': 0, 'bytes': 0}

    @property
    def awaited(self) -> int:
        """A number that grows with each wait for statistics that a device makes, and while one lasts: compiling takes long.

        Not while one lasts longer than `LONGEST_WAIT`.
        """
        began = self._began                     # read once: another thread waits
        lasts = min(time.monotonic() - began, LONGEST_WAIT) if began is not None else 0
        return self._awaited + int(10 * lasts)

    def count_missed(self) -> dict[str, int]:
        """Count the tensors that had no room since the last call.

        Returns:
            'tensors', and their 'bytes'.
        """
        missed, self.missed = self.missed, {'tensors': 0, 'bytes': 0}
        return missed

    def begin_segment(self) -> None:
        """Store blobs once more from now on: the segment that has them may be removed before the calls that name them."""
        self._stored.clear()
        self._seen_once.clear()

    def describe(self, snapshot: Copied | Snapshot) -> list[Any]:
        """Describe a snapshot and store its bytes where they are kept.

        Args:
            snapshot: One value of a call.

        Returns:
            [dtype, shape, bytes, level, inline data or key, changed, note, stats, bad]. `bad` says whether a number is NaN
            or infinite.
        """
        if isinstance(snapshot, tuple):
            dtype, shape, data, changed = snapshot
            if dtype.kind in 'biufc' and dtype.isnative and _LITTLE:
                where = self.place_bytes(data)
                if where is not None:
                    bad = dtype.kind in 'fc' and len(data) > 0 and not all_finite(np.frombuffer(data, dtype))
                    return [dtype_name(dtype), shape, len(data), 2, where, changed, '', None, bad]
            whole = Snapshot(dtype, shape, len(data))
            whole.data, whole.keep, whole.changed = data, True, changed
            return self._describe(whole)
        if snapshot.described is None and not snapshot.owner:
            return self._describe(snapshot)
        if snapshot.described is None:
            if snapshot.data is None and not snapshot.note:
                snapshot.note = OVER_BUDGET        # the queue had no room for its call
            snapshot.described = self._describe(snapshot)
        elif snapshot.described[6] == OVER_BUDGET:
            self.miss(snapshot.nbytes)
        elif type(key := snapshot.described[4]) is bytes and key not in self._stored and snapshot.data is not None:
            snapshot.described = self._describe(snapshot)
        return snapshot.described

    def write_through(self, content: TensorContent, append: Callable[[bytes, int, Iterable[bytes]],
                                                                     bool]) -> list[Any] | None:
        """Store the bytes of a tensor at once and describe it.

        Args:
            content: In memory that another thread may be writing to.
            append: Appends a blob, and is False if its bytes are no longer those of its key.

        Returns:
            The description; None if there is no room for the bytes, or they keep changing.
        """
        for _ in range(_ATTEMPTS):
            key, length = content.measure()
            size = length + log_file.KEY_SIZE + log_file.FRAME_SIZE
            is_stored = key in self._stored
            if not is_stored and not self._ledger.afford(size, TENSOR_SHARE):
                return None
            is_written = False
            try:
                # Between two hashes of the bytes: else they might be statistics of other bytes.
                stats, bad = _stats_if_large(content.array, length)
                is_written = content.measure()[0] == key if is_stored else append(key, length, content.chunks())
            finally:
                if not is_written and not is_stored:
                    self._ledger.refund(size)
            if is_written:
                self._stored.add(key)
                return [content.dtype, [int(size) for size in content.shape], int(content.nbytes), 2, key, False, '',
                        _pack_stats(stats), bad]
        return None

    def roll_back(self, rows: Iterable[QueuedCall]) -> None:
        """Undo the descriptions of calls that were not written after all.

        Args:
            rows: The calls.
        """
        self.begin_segment()                    # a blob may be written twice, which readers do not mind
        self.count_missed()
        for row in rows:
            for value in itertools.chain(row.inputs, row.outputs):
                if type(value) is Snapshot and value.data is not None:
                    value.described = None

    def place_array(self, array: np.ndarray) -> Any:
        """Store the bytes of an array that nothing writes to.

        Args:
            array: Of a type that has a row of statistics.

        Returns:
            [The bytes] if they are few, the key of their blob, or None if there is no room for it.
        """
        if array.nbytes <= _INLINE:
            return [array.tobytes()]
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        return self.place_bytes(array.data.cast('B') if array.dtype.kind != 'c' else array.reshape(-1).view(np.uint8))

    def place_bytes(self, data: Any) -> Any:
        """Store bytes.

        Args:
            data: The bytes.

        Returns:
            As `place_array`.
        """
        if len(data) <= _INLINE:
            return [bytes(data)]
        key = digest(data)
        if key in self._stored:
            return key
        if len(data) <= _SOON and key not in self._seen_once and self._ledger.fits(len(data), TENSOR_SHARE):
            self._seen_once.add(key)
            return [bytes(data)]
        return key if self._store(key, data) else None

    def _describe(self, snapshot: Snapshot) -> list[Any]:
        shape = [int(size) for size in snapshot.shape]
        name = dtype_name(snapshot.dtype)
        raw = snapshot.data                        # once: the thread of a call that is dropped releases it
        if raw is None:
            if snapshot.note == OVER_BUDGET:
                self.miss(snapshot.nbytes)
            stats = snapshot.stats if snapshot.later is None else self._await(snapshot.later)
            bad = stats is not None and stats.bad > 0
            return [name, shape, int(snapshot.nbytes), 0 if stats is None else 1, None, False, snapshot.note,
                    _pack_stats(stats), bad]
        changed = snapshot.changed or (snapshot.after is not None and digest(raw) != snapshot.after)
        array: np.ndarray | None = None
        data: Any
        if type(raw) is np.ndarray:
            raw = raw.reshape(-1).view(np.uint8)
        if name == STRING:
            elements = raw if isinstance(raw, list) else _elements(raw, snapshot.dtype).tolist()
            data = packed_text(elements)
        else:
            array = _elements(raw, snapshot.dtype).reshape(snapshot.shape)
            native = little_endian(array)
            data = raw if native is array else native.tobytes()
        note = snapshot.note
        if snapshot.keep:
            where = self.place_bytes(data)
            if where is not None:
                # Readers compute the statistics of small tensors; of large ones they should not need the bytes.
                stats, bad = _stats_if_large(array, len(data))
                return [name, shape, int(snapshot.nbytes), 2, where, changed, note, _pack_stats(stats), bad]
            note = OVER_BUDGET
            self.miss(snapshot.nbytes)
            # Of what goes over budget only a NaN or infinity is worth the 50 µs and 150 bytes of statistics.
            if array is None or all_finite(array):
                return [name, shape, int(snapshot.nbytes), 0, None, changed, note, None, False]
        stats = self._summary(array, data) if array is not None else None
        return [name, shape, int(snapshot.nbytes), 1, None, changed, note, _pack_stats(stats),
                stats is not None and stats.bad > 0]

    def _await(self, later: LaterSummary) -> Stats | None:
        """The statistics that a device makes; None where it has failed to."""
        self._began = time.monotonic()
        try:
            return stats_of_later(later)
        finally:
            self._awaited, self._began = self.awaited + 1, None

    def _summary(self, array: np.ndarray, data: Any) -> Stats | None:
        """Statistics; what comes again, such as constants and weights in every run, is known by its hash."""
        if array.nbytes <= _INLINE:
            return stats_of(array)
        key = digest(data), array.dtype, array.shape
        if key not in self._summaries:
            if len(self._summaries) >= _MOST_SUMMARIES:
                self._summaries.clear()
            self._summaries[key] = stats_of(array)
        return self._summaries[key]

    def miss(self, nbytes: int) -> None:
        """Count a tensor that had no room.

        Args:
            nbytes: Of its elements.
        """
        self.missed['tensors'] += 1
        self.missed['bytes'] += nbytes

    def _store(self, key: bytes, data: Any) -> bool:
        if not self._ledger.afford(len(data) + log_file.KEY_SIZE + log_file.FRAME_SIZE, TENSOR_SHARE):
            return False
        self._stored.add(key)
        self._add(log_file.frame(log_file.BLOB, key, memoryview(data)))
        return True


def _stats_if_large(array: np.ndarray | None, length: int) -> tuple[Stats | None, bool]:
    """Statistics of a large tensor, and whether it has a NaN or infinity."""
    stats = stats_of(array) if array is not None and length > _LARGE else None
    return stats, array is not None and (stats.bad > 0 if stats is not None else not all_finite(array))


def _pack_stats(stats: Stats | None) -> list[Any] | None:
    return None if stats is None else [getattr(stats, slot) for slot in Stats.__slots__]


def _elements(raw: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """The flat array behind raw bytes; `frombuffer` refuses empty ones."""
    return np.frombuffer(raw, dtype) if len(raw) else np.empty(0, dtype)
