# cython: annotation_typing=False, auto_pickle=False
"""Snapshot of a host value: nothing, statistics, or the bytes.

`Snapshots` copies on the thread of the call, before the user's function can change anything; what costs more than a copy
is left to the writer thread. Compiled by `snapshot.pxd`.
"""
# long: the ways of a value into the queue call each other once a value, as C functions of one module
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from numpy import int64, ndarray

from pyfuncdbg.hooks.host import COPIERS, READERS, SUMMARIES, Host
from pyfuncdbg.hooks.value_placeholders import (
    NOT_COMPUTED,
    NOT_KNOWN,
    LaterSummary,
    UnknownValue,
    ValueNotKnown,
    ValueSummary,
)
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.dtypes import STRING, dtype_name
from pyfuncdbg.observers.record.records import ABSENT, Level, Stats
from pyfuncdbg.observers.record.snapshots.snapshot_memory import Allowance, BufferPool
from pyfuncdbg.observers.record.snapshots.statistics import all_finite, stats_of, stats_of_summary
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

_copy_of: Callable[[np.ndarray, bytes | None], bytes]
_holds: Callable[[np.ndarray, bytes], bool]
try:
    from pyfuncdbg.observers.record.snapshots import array_copy  # type: ignore[attr-defined,unused-ignore]
except ImportError:                             # no C compiler
    def _copy_of(array: np.ndarray, like: bytes | None) -> bytes:
        data = array.tobytes()
        return like if like == data else data

    def _holds(array: np.ndarray, data: bytes) -> bool:
        return array.tobytes() == data
else:
    _copy_of, _holds = array_copy.copy_of, array_copy.holds

SCALARS: dict[type, np.dtype[Any]] = {kind: np.dtype(kind) for kind in (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128)}
SCALARS |= {float: np.dtype(np.float64), bool: np.dtype(np.bool_)}
"""Types of immutable values that are queued as they are. Their order is part of the trace format."""

OVER_BUDGET = 'over budget'
"""Note of a tensor that was to be kept but did not fit."""

_LATE = f'{NOT_KNOWN}: {NOT_COMPUTED}'

LARGEST = 1 << 30
"""Bytes of the largest tensor that can be kept in full."""

_SMALL, _NEWEST = 16 << 10, 64                  # malloc hands out warm memory up to here; larger copies use the pool
_MOST_SHAPES = 1 << 10
_WIDEST, _LARGEST_INT = 16, 1 << 63             # bytes of a complex128
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
        later: Of a value on a device, its counts, which the writer waits for.
        owner: Id of the call it was taken in, if calls after that may share it, else 0.
        described: How it was written, of one that is shared or was written at once.
    """

    __slots__ = ('after', 'buffer', 'changed', 'charge', 'data', 'described', 'dtype', 'keep', 'later', 'nbytes', 'note',
                 'owner', 'shape', 'stats')

    data: bytes | np.ndarray | list[bytes | str] | None
    buffer: np.ndarray | None
    after: bytes | None
    stats: Stats | None
    later: LaterSummary | None
    described: list[Any] | None

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], nbytes: int, note: str = '') -> None:
        self.dtype = dtype
        self.shape = shape
        self.nbytes = nbytes
        self.note = note
        self.data = self.buffer = self.after = self.stats = self.later = self.described = None
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

    __slots__ = ('_newest', '_small', '_unkept', '_wait_for', '_write_through', 'allowance', 'full_limit', 'level',
                 'limits', 'pool')

    def __init__(self, level: Level, full_limit: int, allowance: Allowance, pool: BufferPool,
                 wait_for: Callable[[Callable[[], bool]], bool],
                 write_through: Callable[[TensorContent], list[Any] | None], limits: dict[str, int] | None = None) -> None:
        """Set the policy.

        Args:
            level: What is kept of each tensor.
            full_limit: At level 'stats', bytes up to which one is kept whole.
            allowance: Memory for copies.
            pool: Buffers for large ones.
            wait_for: Waits for the writer until a condition is met; False if it will not be.
            write_through: Writes a tensor at once and describes it; None if it has no room on disk.
            limits: By name of an element type, bytes up to which a tensor of it is kept whole; -1 to keep nothing of it.
        """
        self._wait_for = wait_for
        self._write_through = write_through
        self.level = level
        self.full_limit = LARGEST if level == 'full' else full_limit
        self.limits = limits
        self._small = -1 if level == 'none' or limits else min(self.full_limit, _SMALL)
        self.allowance = allowance
        self.pool = pool
        self._newest: list[Copied | None] = [None] * _NEWEST
        self._unkept: dict[tuple[np.dtype[Any], tuple[int, ...]], Snapshot] = {}

    def keeping_all(self) -> Snapshots:
        """The same with another policy: every value is kept whole.

        Returns:
            It shares the memory of this one.
        """
        return Snapshots('full', 0, self.allowance, self.pool, self._wait_for, self._write_through)

    def at_level(self, level: Level, full_limit: int, limits: dict[str, int] | None) -> Snapshots:
        """The same with another policy.

        Args:
            level, full_limit, limits: As at the start.

        Returns:
            It shares the memory of this one.
        """
        return Snapshots(level, full_limit, self.allowance, self.pool, self._wait_for, self._write_through, limits)

    def take_all(self, values: Sequence[Any], host: Host, scalars: frozenset[type]) -> Sequence[Taken]:
        """Take snapshots of one side of a call.

        Args:
            values: Inputs or outputs.
            host: Reads tensors.
            scalars: Types of the values that are queued as they are.

        Returns:
            One snapshot for each value: a tuple if all are scalars, else a list.
        """
        # long: one loop over the kinds of values; a function for each kind would be called once a value
        snapshots: list[Taken] = []
        total, plain = 0, True
        for value in values:
            kind = type(value)
            if kind is int and int64 in scalars and -_LARGEST_INT <= value < _LARGEST_INT:
                value, kind = int64(value), int64   # as NumPy reads it
            if kind in scalars:
                snapshots.append(value)
                continue
            plain = False
            if kind in COPIERS and (taken := self._take_copy(COPIERS[kind](value, self._small), scalars)) is not None:
                snapshots.append(taken)
                if type(taken) is tuple and (size := len(taken[2])) > TINY:
                    total += size
                continue
            if kind is not ndarray and kind in READERS:
                try:
                    value = READERS[kind](value)
                except Exception:               # it has no readable elements; `take` reports that
                    break
                kind = type(value)
                if kind in scalars:
                    snapshots.append(value)
                    continue
            if kind is ndarray:
                size, dtype = value.nbytes, value.dtype
                if size > self._small or dtype.hasobject:
                    break
                if size <= _WIDEST and not value.ndim and dtype.isnative and type(scalar := value[()]) in scalars:
                    snapshots.append(scalar)        # ten times less work for the writer
                    continue
                if size > TINY:
                    total += size
                snapshots.append(self._copy_small(value, dtype, size))
            elif value is None:                 # no gradient: said once more it would cost the others their short way
                snapshots.append(self.take(None, host))
            else:
                break
        else:
            if plain or not total or self.allowance.take(total):
                return tuple(snapshots) if plain else snapshots
        return [value if type(value) in scalars else self.take(value, host) for value in values]

    def _copy_small(self, array: np.ndarray, dtype: np.dtype[Any], size: int) -> Copied:
        """A copy; that of the newest array of this size if it is the same: what a session is fed its function gets, what
        that gives is fetched, and a backward step sees it all again."""
        if size <= TINY or not dtype.isbuiltin:     # another dtype may hold objects of the program
            return dtype, array.shape, array.tobytes(), False
        place = (size >> 2) % _NEWEST
        shape, newest = array.shape, self._newest[place]
        if newest is None or newest[0] is not dtype or newest[1] != shape:
            data = _copy_of(array, None)
        elif (data := _copy_of(array, newest[2])) is newest[2]:
            return newest
        copied = self._newest[place] = (dtype, shape, data, False)
        return copied

    def _take_copy(self, copied: Any, scalars: frozenset[type]) -> Taken | None:
        """The snapshot of a value by what a host's copier has made of it; None where it has to be read."""
        if type(copied) is not tuple:
            return copied if type(copied) in scalars else None
        if copied[2] is not None:
            return copied if (size := len(copied[2])) <= TINY else self._newest_like(copied, size)
        return self._without_bytes(copied[0], copied[1]) if self.level == 'none' else None

    def _without_bytes(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Snapshot:
        """The snapshot of all values of a type and shape: nothing is kept of any."""
        snapshot = self._unkept.get((dtype, shape))
        if snapshot is None:
            if len(self._unkept) >= _MOST_SHAPES:
                self._unkept.clear()
            snapshot = self._unkept[dtype, shape] = Snapshot(dtype, shape, prod(shape) * dtype.itemsize)
        return snapshot

    def _newest_like(self, copied: Copied, size: int) -> Copied:
        """The newest copy of this size if it is the same, else this one."""
        place = (size >> 2) % _NEWEST
        newest = self._newest[place]
        if newest is not None and newest[0] is copied[0] and newest[1] == copied[1] and newest[2] == copied[2]:
            return newest
        self._newest[place] = copied
        return copied

    def take(self, value: Any, host: Host) -> Copied | Snapshot:
        """Take a snapshot of one value.

        Args:
            value: Of the host; no plain scalar.
            host: Reads tensors.

        Returns:
            The snapshot.
        """
        if value is None:
            return Snapshot(np.dtype(object), (), 0, ABSENT)
        if self.full_limit < LARGEST and (summary := SUMMARIES.get(host.name)) is not None:
            value = summary(value, self.level != 'none') or value      # on a device: the user has not asked for it
        if type(value) is LaterSummary:
            snapshot = self._take_summary(value.summary, counted=False)
            snapshot.later = value
            return snapshot
        if type(value) is ValueSummary:
            return self._take_summary(value)
        if type(value) is UnknownValue:
            return Snapshot(value.dtype, value.shape, 0, f'{NOT_KNOWN}: {value.reason}')
        if type(value) is np.ndarray and value.nbytes <= self._small and not value.dtype.hasobject:
            size = value.nbytes
            if size <= TINY or self.allowance.take(size):
                return value.dtype, value.shape, value.tobytes(), False
        try:
            array = value if type(value) is np.ndarray else _array_of(value, host)
        except ValueNotKnown as error:
            return self.take(error.value, host)
        # A deleted buffer or an object that is not a tensor must not end the recording.
        except Exception as error:
            return Snapshot(np.dtype(object), (), 0, f'unreadable: {type(error).__name__}')
        size = array.nbytes
        if size <= self._small and type(value) is not np.ndarray and not array.dtype.hasobject and (
                size <= TINY or self.allowance.take(size)):
            return array.dtype, array.shape, array.tobytes(), False     # a host's tensor: programs do not write to those
        return self.take_array(array)

    def _take_summary(self, value: ValueSummary, *, counted: bool = True) -> Snapshot:
        """A snapshot of the counts that the host has made of a value."""
        snapshot = Snapshot(value.dtype, value.shape, value.size * value.dtype.itemsize, value.note)
        if counted and self.level != 'none':
            snapshot.stats = stats_of_summary(value)
        return snapshot

    def take_array(self, array: np.ndarray) -> Snapshot:
        """Take a snapshot of a plain array.

        Args:
            array: Of any type.

        Returns:
            The snapshot.
        """
        if array.dtype.hasobject:
            return self._take_objects(array)
        snapshot = Snapshot(array.dtype, array.shape, array.nbytes)
        limit = self._limit_of(dtype_name(array.dtype))
        if limit >= 0:
            self._copy(array, snapshot, limit)
        return snapshot

    def _limit_of(self, dtype: str) -> int:
        """Bytes up to which a tensor of a type is kept whole; -1 if nothing is kept of it."""
        limit = -1 if self.level == 'none' else self.full_limit
        return limit if self.limits is None else self.limits.get(dtype, limit)

    def take_shared(self, array: np.ndarray, size: int) -> Snapshot | None:
        """Take a snapshot that calls share, in a pooled buffer.

        Args:
            array: The array.
            size: Its bytes.

        Returns:
            The snapshot; None where `take` must do it: the array is no contiguous one of numbers, or there is no room.
        """
        dtype = array.dtype
        if self.level == 'none' or dtype.kind not in 'biufc' or not dtype.isnative or not array.flags.c_contiguous or (
                size > self.allowance.limit // 4):
            return None
        snapshot = Snapshot(dtype, array.shape, size)
        snapshot.keep = size <= self.full_limit
        if not self.charge(size):
            return None
        snapshot.charge = size
        snapshot.buffer = self.pool.take(size)
        snapshot.data = snapshot.buffer[:size]
        np.copyto(snapshot.data.view(dtype), array.reshape(-1))
        if not snapshot.keep and self.full_limit:
            snapshot.note = f'more than {self.full_limit} bytes'
        return snapshot

    def _copy(self, array: np.ndarray, snapshot: Snapshot, limit: int) -> None:
        size = snapshot.nbytes
        snapshot.keep = size <= limit
        if not snapshot.keep:
            snapshot.note = f'more than {limit} bytes' if limit else ''
        if size <= TINY:
            snapshot.data = array.tobytes()
        elif (snapshot.keep or size <= self.allowance.limit // 4) and self.charge(size):
            snapshot.charge = size
            if size <= _SMALL:
                snapshot.data = array.tobytes()
            else:
                snapshot.buffer = self.pool.take(size)
                snapshot.data = snapshot.buffer[:size]
                np.copyto(snapshot.data.view(array.dtype).reshape(array.shape), array)
        elif not snapshot.keep:
            snapshot.stats = stats_of(array)       # there is no room for a copy
        else:
            self._store(array, snapshot)

    def charge(self, size: int) -> bool:
        """Take memory, waiting for the writer if need be.

        Args:
            size: How many bytes.

        Returns:
            False if there will not be that much.
        """
        allowance = self.allowance
        return allowance.take(size) or (size <= allowance.limit and self._wait_for(lambda: allowance.take(size)))

    def _store(self, value: np.ndarray | list[bytes | str], snapshot: Snapshot) -> None:
        """Write what has no room in memory at once, on this thread."""
        snapshot.described = self._write_through(TensorContent(value, snapshot.dtype, snapshot.shape, snapshot.nbytes))
        if snapshot.described is None:
            snapshot.note = OVER_BUDGET
            if type(value) is np.ndarray and not all_finite(value):
                snapshot.stats = stats_of(value)

    def _take_objects(self, array: np.ndarray) -> Snapshot:
        """Text is copied by reference, for bytes and str are immutable; of other objects only the shape is taken."""
        snapshot = Snapshot(array.dtype, array.shape, array.nbytes)
        limit = self._limit_of(STRING)
        if array.size > limit or array.dtype.names is not None:
            return snapshot
        elements = array.ravel().tolist()
        if set(map(type, elements)) <= {bytes, str}:
            snapshot.dtype = np.dtype('S')
            snapshot.nbytes = sum(map(len, elements))
            snapshot.keep = snapshot.nbytes <= limit
            if snapshot.keep:
                charge = snapshot.nbytes + 8 * len(elements)
                if self.charge(charge):
                    snapshot.charge = charge
                    snapshot.data = elements
                else:
                    self._store(elements, snapshot)
        return snapshot

    def note_changes(self, snapshots: list[Taken], values: Sequence[Any], host: Host) -> None:
        """Note after the call what its inputs hold now, so that the writer can tell whether they were written to.

        What was not computed before the call is taken now.

        Args:
            snapshots: Of the inputs, taken before the call.
            values: The inputs.
            host: Reads tensors.
        """
        for place in range(min(len(snapshots), len(values))):
            before, value = snapshots[place], values[place]
            if type(before) is tuple:
                # Comparing takes less than hashing, and the writer need not hash the first.
                if type(value) is ndarray and not _holds(value, before[2]):
                    snapshots[place] = (*before[:3], True)
            elif type(value) is ndarray and not value.ndim and isinstance(before, np.generic):
                if value.tobytes() != (data := before.tobytes()):
                    snapshots[place] = before.dtype, (), data, True
            elif type(before) is Snapshot:
                if before.note == _LATE:        # the function has waited for it, mostly
                    snapshots[place] = self.take(value, host)
                else:
                    self._note_change(before, value, host)

    def _note_change(self, before: Snapshot, value: Any, host: Host) -> None:
        description = before.described if before.data is None and not before.owner else None
        if before.data is None and description is None:
            return
        try:
            array = value if type(value) is np.ndarray else host.to_numpy(value)
        # As in `take`: the value may have been deleted under the call.
        except Exception:
            return
        if description is not None:
            content = TensorContent(array.ravel().tolist() if array.dtype.hasobject else array, before.dtype, array.shape, 0)
            description[5] = content.measure()[0] != description[4]
        elif type(before.data) is list:
            before.changed = array.ravel().tolist() != before.data
        elif array.nbytes == before.nbytes:
            before.after = digest(array if array.flags.c_contiguous else array.tobytes())

    def release(self, snapshot: Snapshot) -> None:
        """Free the memory of a snapshot that is written or dropped.

        Args:
            snapshot: The snapshot.
        """
        if snapshot.charge:
            self.allowance.give(snapshot.charge)
            snapshot.charge = 0
        if snapshot.buffer is not None:
            self.pool.give(snapshot.buffer)
            snapshot.buffer = None
        snapshot.data = None


def _array_of(value: Any, host: Host) -> np.ndarray:
    """The array behind a tensor, to be copied at once."""
    if type(value) in READERS:
        with suppress(Exception):               # it has no elements to read: the host says what it is
            array = READERS[type(value)](value)
            if type(array) is ndarray:
                return array
    return host.to_numpy(value)


__all__ = ['LARGEST', 'OVER_BUDGET', 'SCALARS', 'TINY', 'Copied', 'Snapshot', 'Snapshots', 'Taken']
