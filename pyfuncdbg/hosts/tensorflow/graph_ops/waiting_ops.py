"""Ops of traced functions whose values wait in observer kernels, and their delivery to hooks.

`op_calls` delivers on whichever thread makes it necessary: that of a run at its end, or one of TensorFlow's. A sequence is
made once for each order of ops that a function runs in.
"""
from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from pyfuncdbg.hooks import op_cost
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.op_batch import OpBatch, OpSequence, deliver
from pyfuncdbg.hosts.tensorflow.graph_ops.observer_ops import Observer

kernel: Any
try:
    from pyfuncdbg.hosts.tensorflow.graph_ops import observer_kernel  # type: ignore[attr-defined,unused-ignore]
except ImportError:                             # no C compiler
    kernel = None
else:
    kernel = observer_kernel
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=kernel.discard)

_MOST_SEQUENCES = 256
_LIBRARY = 'libtensorflow_framework'


class _Section:
    """Constant part of a section: of the same ops in the same order.

    Attributes:
        sequence: Of the ops.
        rows: Indices of the ops whose observers are alive.
        is_whole: Whether these are all.
        has_unread: Whether some values cannot be read: they have the last place.
    """

    __slots__ = ('has_unread', 'is_whole', 'rows', 'sequence')

    def __init__(self, places: Sequence[int], observers: weakref.WeakValueDictionary[int, Observer]) -> None:
        sites: list[CallSite] = []
        inputs: list[list[int]] = []
        outputs: list[list[int]] = []
        ops = list(_ops(places))
        unread = 1 + max((place for _, here in ops for place in here), default=-1)
        self.has_unread = False
        self.rows: list[int] = []
        for row, (number, here) in enumerate(ops):
            observer = observers.get(number)
            if observer is not None:
                self.rows.append(row)
                sites.append(observer.site)
                for sides, indices in ((inputs, observer.inputs), (outputs, observer.outputs)):
                    sides.append([here[index] if index >= 0 else unread for index in indices])
                self.has_unread = self.has_unread or -1 in observer.inputs or -1 in observer.outputs
        self.is_whole = len(self.rows) == len(ops)
        self.sequence = OpSequence(sites, inputs, outputs)


class WaitingOps:
    """Ops that have run and that no hook has seen yet.

    Args:
        run_of: Gives the run that the ops of a traced function belong to, by the id of its outermost graph.
        make_call: Makes the call of one op, given its observer and its values: where another hook than a recorder has come
            since it ran.
    """

    def __init__(self, run_of: Callable[[int], Run], make_call: Callable[[Observer, Sequence[Any]], None]) -> None:
        self._run_of = run_of
        self._make_call = make_call
        self._numbers = itertools.count(1)
        self._observers: weakref.WeakValueDictionary[int, Observer] = weakref.WeakValueDictionary()
        self._sections: dict[bytes, _Section] = {}
        self._lock = new_rlock()
        self._delivering = 0                    # the thread that is at it

    def number(self, observer: Observer) -> int:
        """Number an observer for its kernel."""
        number = next(self._numbers)
        self._observers[number] = observer
        return number

    def observer(self, number: int) -> Observer | None:
        """The observer of a number; None if its graph is gone."""
        return self._observers.get(number)

    def deliver(self) -> None:
        """Deliver what waits; nothing where this thread is at it already."""
        if kernel is None or not kernel.has_waiting():
            return
        with self._lock:
            if self._delivering == threading.get_ident():
                return
            self._delivering = threading.get_ident()
            try:
                began = perf_counter_ns()
                sections, nbytes = kernel.take(self._run_of, began)
                count = sum(len(section.times) for section in sections)
                for section in sections:
                    self._deliver_section(section)
                op_cost.add((perf_counter_ns() - began) / 1e9, nbytes, count)
            finally:
                self._delivering = 0

    def _deliver_section(self, taken: Any) -> None:
        if hooks.op_recorder is None:
            for number, places in _ops(np.frombuffer(taken.places, np.int64).tolist()):
                observer = self._observers.get(number)
                if hooks.op and observer is not None:
                    self._make_call(observer, [taken.values[place] for place in places])
            return
        section = self._sections.get(taken.places)
        if section is None:
            if len(self._sections) >= _MOST_SEQUENCES:
                self._sections.clear()
            section = _Section(np.frombuffer(taken.places, np.int64).tolist(), self._observers)
            if section.is_whole:
                self._sections[taken.places] = section
        times = taken.times if section.is_whole else [taken.times[row] for row in section.rows]
        if not times:
            return
        batch = OpBatch(section.sequence, taken.run, [*taken.values, None] if section.has_unread else taken.values)
        batch.times = [times[0], *times]
        batch.thread, batch.owns_values = taken.thread, True
        deliver(hooks.op_recorder, batch)


def _ops(places: Sequence[int]) -> Any:
    """For each op in the places of a section: the number of its observer, and the places of its values."""
    at = 0
    while at < len(places):
        end = at + 2 + places[at + 1]
        yield places[at], places[at + 2:end]
        at = end


def install_kernel(package: str) -> bool:
    """Register the op of observers with TensorFlow.

    Args:
        package: Path of TensorFlow's `__init__`.

    Returns:
        Whether it was; where it was not compiled, or TensorFlow's library has no such functions, nothing has happened.
    """
    for library in sorted(Path(package).parent.glob(f'{_LIBRARY}.*')) if kernel is not None else ():
        try:
            kernel.install(str(library))
        except OSError:
            continue
        return True
    return False
