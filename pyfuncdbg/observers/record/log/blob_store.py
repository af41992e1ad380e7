"""Storage of tensor bytes: few in the record of the call, others once each in a blob under their hash.

Used by the writer of one log, one thread at a time.
"""
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.array_bytes import digest, packed_text
from pyfuncdbg.observers.record.dtypes import STRING, dtype_name, little_endian
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.log.trace_folder import Ledger
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, Copied, Snapshot
from pyfuncdbg.observers.record.snapshots.statistics import all_finite, stats_of
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

TENSOR_SHARE = 0.8
"""Of the disk budget may be used up when tensor bytes are still written; the rest is for prints and calls."""

_INLINE = 64
_SOON = 512
"""Up to this many bytes go into the record of the call when they are seen for the first time: most never come again, and a
blob of their own costs the writer three times as much."""
_LARGE = 64 << 10
_LITTLE = sys.byteorder == 'little'
_MOST_KEYS = 200_000
_MOST_SUMMARIES = 4096
_ATTEMPTS = 3


class BlobStore:
    """Store of tensor bytes: describes snapshots and puts their bytes in front of the record that names them."""

    __slots__ = ('_add', '_ledger', '_once', '_stored', '_summaries', 'missed')

    def __init__(self, ledger: Ledger, add: Callable[[list[Any]], None]) -> None:
        """Make an empty one; `add` takes the pieces of a blob record."""
        self._ledger = ledger
        self._add = add
        self._stored: set[bytes] = set()
        self._once: set[bytes] = set()
        self._summaries: dict[Any, Stats | None] = {}
        self.missed = {'tensors': 0, 'bytes': 0}

    def count_missed(self) -> dict[str, int]:
        """Counts of the tensors, and of their bytes, that had no room since the last call."""
        missed, self.missed = self.missed, {'tensors': 0, 'bytes': 0}
        return missed

    def forget(self) -> None:
        """Bound the memory for the hashes; a blob may then be written once more, which readers do not mind."""
        for keys in (self._stored, self._once):
            if len(keys) > _MOST_KEYS:
                keys.clear()

    def describe(self, taken: Copied | Snapshot) -> list[Any]:
        """[dtype, shape, bytes, level, inline data or key, changed, note, stats, bad]; stores the bytes where they are kept.

        `bad` says whether a number is NaN or infinite, None if not tested: then the bytes are inline, of a native type.
        """
        if isinstance(taken, tuple):
            dtype, shape, data, changed = taken
            if dtype.kind in 'biufc' and dtype.isnative and _LITTLE:
                where = self._where(data)
                if where is not None:
                    bad = False if dtype.kind in 'biu' else None if type(where) is list else \
                        not all_finite(np.frombuffer(data, dtype))
                    return [dtype_name(dtype), shape, len(data), 2, where, changed, '', None, bad]
            whole = Snapshot(dtype, shape, len(data))
            whole.data, whole.keep, whole.changed = data, True, changed
            return self._described(whole)
        if taken.described is None and not taken.owner:
            return self._described(taken)
        if taken.described is None:
            if taken.data is None and not taken.note:
                taken.note = OVER_BUDGET        # the queue had no room for its call
            taken.described = self._described(taken)
        elif taken.described[6] == OVER_BUDGET:
            self._miss(taken)
        return taken.described

    def write_through(self, content: TensorContent, append: Callable[[bytes, int, Iterable[bytes]],
                                                                     bool]) -> list[Any] | None:
        """The description of a tensor, whose bytes are stored now; None if there is no room for them.

        Args:
            content: In memory that another thread may be writing to.
            append: Appends a blob, and is False if its bytes are no longer those of its key.
        """
        for _ in range(_ATTEMPTS):
            key, length = content.measured()
            size = length + log_file.KEY_SIZE + log_file.FRAME_SIZE
            known = key in self._stored
            if not known and not self._ledger.afford(size, TENSOR_SHARE):
                return None
            written = False
            try:
                # Between two looks at the bytes: else they might be statistics of others.
                stats, bad = _summed(content.array, length)
                written = content.measured()[0] == key if known else append(key, length, content.chunks())
            finally:
                if not written and not known:
                    self._ledger.refund(size)
            if written:
                self._stored.add(key)
                return [content.dtype, [int(size) for size in content.shape], int(content.nbytes), 2, key, False, '',
                        _packed_stats(stats), bad]
        return None

    def roll_back(self, rows: Iterable[QueuedCall]) -> None:
        """Undo the descriptions of calls that were not written after all."""
        self._stored.clear()                    # a blob may be written twice, which readers do not mind
        self._once.clear()
        self.count_missed()
        for row in rows:
            for value in itertools.chain(row.inputs, row.outputs):
                if type(value) is Snapshot and value.data is not None:
                    value.described = None

    def _where(self, data: Any) -> Any:
        """[the bytes] if they are few, the key of their blob, or None if there is no room for it."""
        if len(data) <= _INLINE:
            return [bytes(data)]
        key = digest(data)
        if key in self._stored:
            return key
        if len(data) <= _SOON and key not in self._once and self._ledger.fits(len(data), TENSOR_SHARE):
            self._once.add(key)
            return [bytes(data)]
        return key if self._store(key, data) else None

    def _described(self, taken: Snapshot) -> list[Any]:
        shape = [int(size) for size in taken.shape]
        name = dtype_name(taken.dtype)
        raw = taken.data                        # once: the thread of a call that is dropped releases it
        if raw is None:
            if taken.note == OVER_BUDGET:
                self._miss(taken)
            level = 0 if taken.stats is None else 1
            bad = taken.stats is not None and taken.stats.bad > 0
            return [name, shape, int(taken.nbytes), level, None, False, taken.note, _packed_stats(taken.stats), bad]
        changed = taken.changed or (taken.after is not None and digest(raw) != taken.after)
        array: np.ndarray | None = None
        data: Any
        if type(raw) is np.ndarray:
            raw = raw.reshape(-1).view(np.uint8)
        if name == STRING:
            elements = raw if isinstance(raw, list) else _elements(raw, taken.dtype).tolist()
            data = packed_text(elements)
        else:
            array = _elements(raw, taken.dtype).reshape(taken.shape)
            native = little_endian(array)
            data = raw if native is array else native.tobytes()
        note = taken.note
        if taken.keep:
            where = self._where(data)
            if where is not None:
                # Readers compute the statistics of small tensors; of large ones they should not need the bytes.
                stats, bad = _summed(array, len(data))
                return [name, shape, int(taken.nbytes), 2, where, changed, note, _packed_stats(stats), bad]
            note = OVER_BUDGET
            self._miss(taken)
            # Of what goes over budget only a NaN or infinity is worth the 50 µs and 150 bytes of statistics.
            if array is None or all_finite(array):
                return [name, shape, int(taken.nbytes), 0, None, changed, note, None, False]
        stats = self._summary(array, data) if array is not None else None
        return [name, shape, int(taken.nbytes), 1, None, changed, note, _packed_stats(stats),
                stats is not None and stats.bad > 0]

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

    def _miss(self, taken: Snapshot) -> None:
        self.missed['tensors'] += 1
        self.missed['bytes'] += taken.nbytes

    def _store(self, key: bytes, data: Any) -> bool:
        if not self._ledger.afford(len(data) + log_file.KEY_SIZE + log_file.FRAME_SIZE, TENSOR_SHARE):
            return False
        self._stored.add(key)
        self._add(log_file.frame(log_file.BLOB, key, memoryview(data)))
        return True


def _summed(array: np.ndarray | None, length: int) -> tuple[Stats | None, bool]:
    """Statistics of a large tensor, and whether it has a NaN or infinity."""
    stats = stats_of(array) if array is not None and length > _LARGE else None
    return stats, array is not None and (stats.bad > 0 if stats is not None else not all_finite(array))


def _packed_stats(stats: Stats | None) -> list[Any] | None:
    return None if stats is None else [getattr(stats, slot) for slot in Stats.__slots__]


def _elements(raw: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """The flat array behind raw bytes; `frombuffer` refuses empty ones."""
    return np.frombuffer(raw, dtype) if len(raw) else np.empty(0, dtype)
