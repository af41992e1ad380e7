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

Known = dict[int, tuple[Taken, 'weakref.ref[np.ndarray]']]


class _Arrays:
    """Arrays captured in one run, by id.

    Attributes:
        made: Made by steady ops, and never written to.
        given: Fed values, constants and variables: what they hold may change in a Python call.
    """

    __slots__ = ('given', 'made', 'run')

    def __init__(self, run: int) -> None:
        self.run = run
        self.made: Known = {}
        self.given: Known = {}


class SharedArrays:
    """Captured arrays of the run being recorded; of runs on several threads, of the one with the last call."""

    __slots__ = ('_arrays', '_scalars', '_snapshots')

    def __init__(self, snapshots: Snapshots, scalars: frozenset[type]) -> None:
        self._snapshots = snapshots
        self._scalars = scalars
        self._arrays = _Arrays(0)

    def forget_given(self) -> None:
        """User code runs: it may write to what it fed."""
        self._arrays.given.clear()

    def inputs(self, call: Call) -> list[Taken]:
        """Snapshots of a call's inputs, those of known arrays shared."""
        arrays = self._arrays
        if arrays.run != call.run.id:
            arrays = self._arrays = _Arrays(call.run.id)
        scalars, made, given = self._scalars, arrays.made, arrays.given
        steady = call.site.steady
        taken: list[Taken] = []
        for value in call.inputs:
            if type(value) in scalars:
                taken.append(value)
                continue
            entry = made.get(id(value)) or (given.get(id(value)) if steady else None)
            if entry is not None and entry[1]() is value and _stands(entry[0]):
                taken.append(entry[0])
            elif steady and type(value) is np.ndarray and value.nbytes > TINY:
                taken.append(self._remember(given, value, self._copied(value, call)))
            else:
                taken.append(self._snapshots.take(value, call.site.host))
        return taken

    def outputs(self, call: Call, values: Sequence[object]) -> list[Taken]:
        """Snapshots of a call's outputs; an array that a steady op has made is taken as it is, without a copy."""
        scalars, arrays = self._scalars, self._arrays
        steady = call.site.steady and arrays.run == call.run.id
        taken: list[Taken] = []
        for value in values:
            if type(value) in scalars:
                taken.append(value)
            elif not steady or type(value) is not np.ndarray or (size := value.nbytes) <= TINY:
                taken.append(self._snapshots.take(value, call.site.host))
            else:
                entry = arrays.made.get(id(value)) or arrays.given.get(id(value))
                if entry is not None and entry[1]() is value and _stands(entry[0]):
                    taken.append(entry[0])      # passed through
                    continue
                own = value.base is None and not any(value is given for given in call.inputs)
                held = self._snapshots.hold(value, size) if own else None
                if held is None:
                    taken.append(self._copied(value, call))
                else:
                    held.owner = call.id
                    taken.append(self._remember(arrays.made, value, held))
        return taken

    def _copied(self, value: np.ndarray, call: Call) -> Taken:
        taken = self._snapshots.take(value, call.site.host)
        if isinstance(taken, tuple):
            dtype, shape, data, _ = taken
            taken = Snapshot(dtype, shape, len(data))
            taken.data, taken.keep, taken.charge = data, True, len(data)
        taken.owner = call.id
        return taken

    def _remember(self, known: Known, value: np.ndarray, taken: Taken) -> Taken:
        if len(known) >= _MOST:
            known.clear()
        known[id(value)] = taken, weakref.ref(value)
        return taken


def _stands(taken: Snapshot) -> bool:
    """Whether its bytes wait to be written or have been; what found no room is tried again."""
    return taken.data is not None or taken.described is not None
