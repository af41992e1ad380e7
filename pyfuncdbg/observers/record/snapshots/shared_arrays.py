"""Arrays that a graph passes from op to op are taken once: each op's input is an earlier op's output.

Used by the recorder when it records ops, on the thread of the call. Only where the host promises it (`CallSite.steady`);
arrays are known by identity, through weak references, so nothing lives longer than in the program.
"""
from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.record.snapshots.snapshot import TINY, Snapshot, Snapshots, Taken

_MOST = 4096

ArrayTable = dict[int, tuple[Taken, 'weakref.ref[np.ndarray]']]


class _Arrays:
    """Arrays captured in one run, by id.

    Attributes:
        produced: Made by steady ops, and never written to.
        fed: Fed values, constants and variables: what they hold may change in a Python call.
    """

    __slots__ = ('fed', 'produced', 'run')

    def __init__(self, run: int) -> None:
        self.run = run
        self.produced: ArrayTable = {}
        self.fed: ArrayTable = {}


class SharedArrays:
    """Captured arrays of the run being recorded; of runs on several threads, of the one with the last call.

    Args:
        snapshots: Takes the copies.
        scalars: Types of the values that are queued as they are.

    Attributes:
        has_arrays: Whether any array was shared so far: of a host without steady ops, none is.
    """

    __slots__ = ('_arrays', '_scalars', '_snapshots', 'has_arrays')

    def __init__(self, snapshots: Snapshots, scalars: frozenset[type]) -> None:
        self._snapshots = snapshots
        self._scalars = scalars
        self._arrays = _Arrays(0)
        self.has_arrays = False

    def forget_fed(self) -> None:
        """Forget what was fed: user code runs, which may write to it."""
        self._arrays.fed.clear()

    def inputs(self, call: Call) -> list[Taken]:
        """Take snapshots of a call's inputs, those of known arrays shared.

        Args:
            call: Of an op.

        Returns:
            One snapshot for each input.
        """
        arrays = self._arrays
        if arrays.run != call.run.id:
            arrays = self._arrays = _Arrays(call.run.id)
        scalars, produced, fed = self._scalars, arrays.produced, arrays.fed
        steady = call.site.steady
        if not steady and not produced:         # of a host whose values may change at any time
            return list(self._snapshots.take_all(call.inputs, call.site.host, scalars))
        snapshots: list[Taken] = []
        for value in call.inputs:
            if type(value) in scalars:
                snapshots.append(value)
                continue
            entry = produced.get(id(value)) or (fed.get(id(value)) if steady else None)
            if entry is not None and entry[1]() is value and _is_available(entry[0]):
                snapshots.append(entry[0])
            elif steady and type(value) is np.ndarray and value.nbytes > TINY:
                snapshots.append(self._remember(fed, value, self._copy_to_share(value, call)))
            else:
                snapshots.append(self._snapshots.take(value, call.site.host))
        return snapshots

    def outputs(self, call: Call, values: Sequence[object]) -> list[Taken]:
        """Take snapshots of a call's outputs; an array that a steady op has made is copied into a pooled buffer and shared.

        Args:
            call: Of an op.
            values: Its outputs.

        Returns:
            One snapshot for each output.
        """
        scalars, arrays = self._scalars, self._arrays
        if not call.site.steady:
            return list(self._snapshots.take_all(values, call.site.host, scalars))
        steady = arrays.run == call.run.id
        snapshots: list[Taken] = []
        for value in values:
            if type(value) in scalars:
                snapshots.append(value)
            elif not steady or type(value) is not np.ndarray or (size := value.nbytes) <= TINY:
                snapshots.append(self._snapshots.take(value, call.site.host))
            else:
                entry = arrays.produced.get(id(value)) or arrays.fed.get(id(value))
                if entry is not None and entry[1]() is value and _is_available(entry[0]):
                    snapshots.append(entry[0])      # passed through
                    continue
                own = value.base is None and not any(value is given for given in call.inputs)
                snapshot = self._snapshots.take_shared(value, size) if own else None
                if snapshot is None:
                    snapshots.append(self._copy_to_share(value, call))
                else:
                    snapshot.owner = call.id
                    snapshots.append(self._remember(arrays.produced, value, snapshot))
        return snapshots

    def _copy_to_share(self, value: np.ndarray, call: Call) -> Taken:
        snapshot = self._snapshots.take(value, call.site.host)
        if isinstance(snapshot, tuple):
            dtype, shape, data, _ = snapshot
            snapshot = Snapshot(dtype, shape, len(data))
            snapshot.data, snapshot.keep, snapshot.charge = data, True, len(data)
        snapshot.owner = call.id
        return snapshot

    def _remember(self, table: ArrayTable, value: np.ndarray, snapshot: Taken) -> Taken:
        if len(table) >= _MOST:
            table.clear()
        table[id(value)] = snapshot, weakref.ref(value)
        self.has_arrays = True
        return snapshot


def _is_available(snapshot: Snapshot) -> bool:
    """Whether its bytes wait to be written or have been; what found no room is tried again."""
    return snapshot.data is not None or snapshot.described is not None
