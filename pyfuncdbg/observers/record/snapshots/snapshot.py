# cython: annotation_typing=False, auto_pickle=False
"""Snapshot of a host value: nothing, statistics, or the bytes.

`Snapshots` copies on the thread of the call, before the user's function can change anything; what costs more than a copy
is left to the writer thread. Compiled by `snapshot.pxd`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from pyfuncdbg.hooks.host import READERS, Host
from pyfuncdbg.hooks.unknown_value import NOT_KNOWN, UnknownValue
from pyfuncdbg.hooks.value_summary import ValueSummary
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.records import ABSENT, Level, Stats
from pyfuncdbg.observers.record.snapshots.snapshot_memory import Allowance, BufferPool
from pyfuncdbg.observers.record.snapshots.statistics import all_finite, stats_of
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

SCALARS: dict[type, np.dtype[Any]] = {kind: np.dtype(kind) for kind in (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128)}
SCALARS |= {float: np.dtype(np.float64), bool: np.dtype(np.bool_)}
"""Types of immutable values that are queued as they are. Their order is part of the trace format."""

OVER_BUDGET = 'over budget'
"""Note of a tensor that was to be kept but did not fit."""

LARGEST = 1 << 30
"""Bytes of the largest tensor that can be kept in full."""

# Freed and taken again often enough that malloc hands out warm memory; larger copies use the pool.
_SMALL = 16 << 10
_WIDEST = 16                                    # a complex128
_NEWEST = 64
TINY = 64
"""Bytes of an array not worth accounting for: the queue's estimate for a call covers it."""


class Snapshot:
    """The copy of one value on its way to the log. Plain slots: one is made for every array of every call.

    Attributes:
        data: The bytes in C order and the array's own byte order; a list for text; None if nothing was copied.
        buffer: The pool's buffer that `data` is a view of, or None.
        dtype, shape, nbytes: Of the array.
        keep: Whether `data` shall be kept in full; otherwise it is there for the statistics only.
        after: For an input: hash of the bytes after the call.
        changed: For an input of text: it differed after the call.
        charge: Bytes taken from the allowance.
        note: Why it is not kept in full.
        stats: Statistics of an array too large to be copied for the writer.
        owner: Id of the call it was taken in, if calls after that may share it, else 0.
        described: How it was written, of one that is shared or was written at once.
    """

    __slots__ = ('after', 'buffer', 'changed', 'charge', 'data', 'described', 'dtype', 'keep', 'nbytes', 'note', 'owner',
                 'shape', 'stats')

    data: bytes | np.ndarray | list[bytes | str] | None
    buffer: np.ndarray | None
    after: bytes | None
    stats: Stats | None
    described: list[Any] | None

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], nbytes: int, note: str = '') -> None:
        self.dtype = dtype
        self.shape = shape
        self.nbytes = nbytes
        self.note = note
        self.data = self.buffer = self.after = self.stats = self.described = None
        self.keep = self.changed = False
        self.charge = self.owner = 0


Copied = tuple[np.dtype[Any], tuple[int, ...], bytes, bool]
"""A small array kept in full: type, shape, bytes in its own order, and whether the call changed it.

A tuple, for the garbage collector stops looking at tuples of such things; thousands of queued objects that it walks
again and again cost 2 to 4 µs a call.
"""

Taken = Any
"""A value as it is queued: an immutable scalar itself, a `Copied`, otherwise a `Snapshot`."""


class Snapshots:
    """Takes snapshots by one policy, for one recorder. Any thread."""

    __slots__ = ('_newest', '_small', '_wait_for', '_write_through', 'allowance', 'full_limit', 'level', 'pool')

    def __init__(self, level: Level, full_limit: int, allowance: Allowance, pool: BufferPool,
                 wait_for: Callable[[Callable[[], bool]], bool],
                 write_through: Callable[[TensorContent], list[Any] | None]) -> None:
        """Set the policy.

        Args:
            level: What is kept of each tensor.
            full_limit: At level 'stats', bytes up to which one is kept whole.
            allowance: Memory for copies.
            pool: Buffers for large ones.
            wait_for: Waits for the writer until a condition is met; False if it will not be.
            write_through: Writes a tensor at once and describes it; None if it has no room on disk.
        """
        self._wait_for = wait_for
        self._write_through = write_through
        self.level = level
        self.full_limit = LARGEST if level == 'full' else full_limit
        self._small = -1 if level == 'none' else min(self.full_limit, _SMALL)
        self.allowance = allowance
        self.pool = pool
        self._newest: list[Copied | None] = [None] * _NEWEST

    def whole(self) -> Snapshots:
        """The same with another policy: every value is kept whole."""
        return Snapshots('full', 0, self.allowance, self.pool, self._wait_for, self._write_through)

    def take_all(self, values: Sequence[Any], host: Host, scalars: frozenset[type]) -> Sequence[Taken]:
        """Snapshots of one side of a call, in which values of the types in `scalars` are kept as they are: a tuple if all
        are, else a list."""
        taken: list[Taken] = []
        total, plain = 0, True
        for value in values:
            kind = type(value)
            if kind in scalars:
                taken.append(value)
                continue
            plain = False
            if kind is not ndarray and kind in READERS:
                try:
                    value = READERS[kind](value)
                except Exception:               # it has no readable elements; `take` reports that
                    break
                kind = type(value)
                if kind in scalars:
                    taken.append(value)
                    continue
            if kind is ndarray:
                size, dtype = value.nbytes, value.dtype
                if size > self._small or dtype.hasobject:
                    break
                if size <= _WIDEST and not value.ndim and dtype.isnative and type(scalar := value[()]) in scalars:
                    taken.append(scalar)        # ten times less work for the writer
                    continue
                if size > TINY:
                    total += size
                taken.append(self._shared(value, dtype, size))
            elif value is None:                 # no gradient: said once more it would cost the others their short way
                taken.append(self.take(None, host))
            else:
                break
        else:
            if plain:
                return tuple(taken)
            if not total or self.allowance.take(total):
                return taken
        return [value if type(value) in scalars else self.take(value, host) for value in values]

    def _shared(self, array: np.ndarray, dtype: np.dtype[Any], size: int) -> Copied:
        """A copy; that of the newest array of this size if it is the same: what a session is fed its function gets, what
        that gives is fetched, and a backward step sees it all again."""
        data = array.tobytes()
        if size <= TINY or not dtype.isbuiltin:     # another dtype may hold objects of the program
            return dtype, array.shape, data, False
        known = self._newest[(size >> 2) % _NEWEST]
        if known is not None and known[2] == data and known[0] is dtype and known[1] == array.shape:
            return known
        known = self._newest[(size >> 2) % _NEWEST] = (dtype, array.shape, data, False)
        return known

    def take(self, value: Any, host: Host) -> Copied | Snapshot:
        """A snapshot of one host value that is no plain scalar."""
        if value is None:
            return Snapshot(np.dtype(object), (), 0, ABSENT)
        if type(value) is ValueSummary:
            return self._summarized(value)
        if type(value) is UnknownValue:
            return Snapshot(value.dtype, value.shape, 0, f'{NOT_KNOWN}: {value.reason}')
        if type(value) is np.ndarray and value.nbytes <= self._small and not value.dtype.hasobject:
            size = value.nbytes
            if size <= TINY or self.allowance.take(size):
                return value.dtype, value.shape, value.tobytes(), False
        try:
            array = value if type(value) is np.ndarray else host.to_numpy(value)
        # A deleted buffer or an object that is not a tensor must not end the recording.
        except Exception as error:
            return Snapshot(np.dtype(object), (), 0, f'unreadable: {type(error).__name__}')
        size = array.nbytes
        if size <= self._small and type(value) is not np.ndarray and not array.dtype.hasobject and (
                size <= TINY or self.allowance.take(size)):
            return array.dtype, array.shape, array.tobytes(), False     # a host's tensor: programs do not write to those
        return self.take_array(array)

    def _summarized(self, value: ValueSummary) -> Snapshot:
        """A snapshot of the counts that the host has made of a value."""
        taken = Snapshot(value.dtype, value.shape, value.size * value.dtype.itemsize)
        if self.level != 'none':
            taken.stats = Stats(value.size, value.nan, value.neg_inf, value.neg, value.zero, value.pos, value.pos_inf)
        return taken

    def take_array(self, array: np.ndarray) -> Snapshot:
        """A snapshot of a plain array, whatever it holds."""
        if array.dtype.hasobject:
            return self._take_objects(array)
        taken = Snapshot(array.dtype, array.shape, array.nbytes)
        if self.level != 'none':
            self._copy(array, taken)
        return taken

    def hold(self, array: np.ndarray, size: int) -> Snapshot | None:
        """A snapshot of an array of numbers in a warm buffer, to be shared; None where it must be taken otherwise."""
        dtype = array.dtype
        if self.level == 'none' or dtype.kind not in 'biufc' or not dtype.isnative or not array.flags.c_contiguous or (
                size > self.allowance.limit // 4):
            return None
        taken = Snapshot(dtype, array.shape, size)
        taken.keep = size <= self.full_limit
        if not self.charge(size):
            return None
        taken.charge = size
        taken.buffer = self.pool.take(size)
        taken.data = taken.buffer[:size]
        np.copyto(taken.data.view(dtype), array.reshape(-1))
        if not taken.keep and self.full_limit:
            taken.note = f'more than {self.full_limit} bytes'
        return taken

    def _copy(self, array: np.ndarray, taken: Snapshot) -> None:
        size = taken.nbytes
        taken.keep = size <= self.full_limit
        if not taken.keep:
            taken.note = f'more than {self.full_limit} bytes' if self.full_limit else ''
        if size <= TINY:
            taken.data = array.tobytes()
        elif (taken.keep or size <= self.allowance.limit // 4) and self.charge(size):
            taken.charge = size
            if size <= _SMALL:
                taken.data = array.tobytes()
            else:
                taken.buffer = self.pool.take(size)
                taken.data = taken.buffer[:size]
                np.copyto(taken.data.view(array.dtype).reshape(array.shape), array)
        elif not taken.keep:
            taken.stats = stats_of(array)       # there is no room for a copy
        else:
            self._store(array, taken)

    def charge(self, size: int) -> bool:
        """Take memory for `size` bytes, waiting for the writer if need be; False if there will not be that much."""
        allowance = self.allowance
        return allowance.take(size) or (size <= allowance.limit and self._wait_for(lambda: allowance.take(size)))

    def _store(self, value: np.ndarray | list[bytes | str], taken: Snapshot) -> None:
        """Write what has no room in memory at once, on this thread."""
        taken.described = self._write_through(TensorContent(value, taken.dtype, taken.shape, taken.nbytes))
        if taken.described is None:
            taken.note = OVER_BUDGET
            if type(value) is np.ndarray and not all_finite(value):
                taken.stats = stats_of(value)

    def _take_objects(self, array: np.ndarray) -> Snapshot:
        """Text is copied by reference, for bytes and str are immutable; of other objects only the shape is taken."""
        taken = Snapshot(array.dtype, array.shape, array.nbytes)
        if self.level == 'none' or array.size > self.full_limit or array.dtype.names is not None:
            return taken
        elements = array.ravel().tolist()
        if set(map(type, elements)) <= {bytes, str}:
            taken.dtype = np.dtype('S')
            taken.nbytes = sum(map(len, elements))
            taken.keep = taken.nbytes <= self.full_limit
            if taken.keep:
                charge = taken.nbytes + 8 * len(elements)
                if self.charge(charge):
                    taken.charge = charge
                    taken.data = elements
                else:
                    self._store(elements, taken)
        return taken

    def note_changes(self, taken: list[Taken], values: Sequence[Any], host: Host) -> None:
        """After the call: remember what its inputs hold now, so that the writer can tell whether they were written to."""
        for place in range(min(len(taken), len(values))):
            before, value = taken[place], values[place]
            if type(before) is tuple:
                # Comparing with a second copy takes as long as hashing, and the writer need not hash the first.
                if type(value) is ndarray and value.tobytes() != before[2]:
                    taken[place] = (*before[:3], True)
            elif type(value) is ndarray and not value.ndim and isinstance(before, np.generic):
                if value.tobytes() != (data := before.tobytes()):
                    taken[place] = before.dtype, (), data, True
            elif type(before) is Snapshot:
                self._note_change(before, value, host)

    def _note_change(self, before: Snapshot, value: Any, host: Host) -> None:
        written = before.described if before.data is None and not before.owner else None
        if before.data is None and written is None:
            return
        try:
            array = value if type(value) is np.ndarray else host.to_numpy(value)
        # As in `take`: the value may have been deleted under the call.
        except Exception:
            return
        if written is not None:
            content = TensorContent(array.ravel().tolist() if array.dtype.hasobject else array, before.dtype, array.shape, 0)
            written[5] = content.measured()[0] != written[4]
        elif type(before.data) is list:
            before.changed = array.ravel().tolist() != before.data
        elif array.nbytes == before.nbytes:
            before.after = digest(array if array.flags.c_contiguous else array.tobytes())

    def release(self, taken: Snapshot) -> None:
        """Give back what a snapshot holds; called by the writer when it is written, or when it is dropped."""
        if taken.charge:
            self.allowance.give(taken.charge)
            taken.charge = 0
        if taken.buffer is not None:
            self.pool.give(taken.buffer)
            taken.buffer = None
        taken.data = None


__all__ = ['LARGEST', 'OVER_BUDGET', 'SCALARS', 'TINY', 'Copied', 'Snapshot', 'Snapshots', 'Taken']
