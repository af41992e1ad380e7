"""Reads of device arrays by the program, by line: bytes copied, seconds waited.

For `pyfuncdbg doctor` only: JAX's property is its own otherwise. On the thread that reads. An array on the CPU is read where
it is, and counts not.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames

_MOST = 1 << 12
"""Lines that are told apart."""


class _Reads:
    """The reads at one line.

    Attributes:
        count, nbytes: How many, and the bytes of all.
        largest: The most bytes of one.
        nanoseconds: What they took, waiting included.
    """

    __slots__ = ('count', 'largest', 'nanoseconds', 'nbytes')

    def __init__(self) -> None:
        self.count = self.nbytes = self.largest = self.nanoseconds = 0


class HostReads:
    """The reads of one process that copied."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._lines: dict[tuple[str, int], _Reads] = {}

    def install(self, patches: Patches, kind: type) -> None:
        """Replace the property by which each way of reading gets the elements.

        Args:
            patches: Undo it.
            kind: JAX's class of arrays.
        """
        original: Any = vars(kind)['_value'].fget

        def _value(array: Any) -> Any:
            had_copy = array._npy_value is not None
            began = perf_counter_ns()
            try:
                value = original(array)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            if not had_copy and array._npy_value is not None:      # else the elements are where they were
                self._note(array, perf_counter_ns() - began)
            return value
        patches.replace(kind, '_value', property(_value))

    def _note(self, array: Any, nanoseconds: int) -> None:
        line = program_line(sys._getframe(2))
        if line is None:
            return
        with self._lock:
            if len(self._lines) >= _MOST and (line.filename, line.line) not in self._lines:
                return
            reads = self._lines.setdefault((line.filename, line.line), _Reads())
            reads.count += 1
            reads.nanoseconds += nanoseconds
            reads.nbytes += array.nbytes
            reads.largest = max(reads.largest, array.nbytes)

    def facts(self) -> Iterator[Fact]:
        """One fact for each line."""
        with self._lock:
            lines = dict(self._lines)
        for (filename, line), reads in lines.items():
            yield Fact('jax reads', 0, filename, line, {
                'copies': reads.count, 'bytes': reads.nbytes, 'largest': reads.largest,
                'milliseconds': reads.nanoseconds // 1_000_000})
