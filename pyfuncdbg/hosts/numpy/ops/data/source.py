"""Element sources: datasets at run time, read element by element.

Kernels of datasets make sources; iterators open them. A reading is pulled by one thread at a time.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef, register
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution

INFINITE, UNKNOWN = -1, -2
"""Cardinalities that are no numbers, as in TensorFlow."""
AUTOTUNE = -1
"""A number of threads, or a length, that the runtime chooses."""
Element = tuple[Any, ...]
"""The kernel values of one element, flattened."""
Pull = Callable[[], Element]
"""Gives the next element; raises `EndOfSequence` after the last one. After another error, the next call goes on."""


class EndOfSequence(Exception):  # noqa: N818  the end is no error
    """There are no more elements."""


class ElementSource(Protocol):
    """Something to read elements from, any number of times. It never changes."""

    @property
    def depth(self) -> int:
        """The number of transformations before this one."""

    def cardinality(self) -> int:
        """The number of elements; INFINITE or UNKNOWN."""

    def open(self, reading: DatasetReading, path: str) -> Pull:
        """Begin to read.

        Args:
            reading: What this is part of.
            path: Names of the transformations after this one, 'Iterator::Root::Batch', for messages.
        """


class DatasetReading:
    """State shared by all transformations while one iterator reads: resources, NumPy's error state, clean-up.

    Args:
        execution: Where the iterator is made: of a session, or of eager code.
    """

    __slots__ = ('_closers', 'closed', 'errstate', 'resources')

    def __init__(self, execution: Execution | DatasetReading) -> None:
        self.resources: dict[Any, Any] = execution.resources
        self.errstate: Any = execution.errstate
        self.closed = False
        self._closers: list[Callable[[], None]] = []

    def at_end(self, close: Callable[[], None]) -> None:
        """Call `close` when the reading ends."""
        self._closers.append(close)

    def within(self) -> DatasetReading:
        """A reading that ends with this one, if not before."""
        inner = DatasetReading(self)
        self._closers.append(inner.close)
        return inner

    def forget(self, inner: DatasetReading) -> None:
        """End a reading within this one."""
        self._closers.remove(inner.close)
        inner.close()

    def close(self) -> None:
        """End the threads that work for it. Takes no lock: a finalizer calls it, on whichever thread."""
        self.closed = True
        while self._closers:
            self._closers.pop()()


DATASET = [(dtypes.variant, TensorShape(()))]


def dataset_op(name: str, kernel: Callable[..., Any], *attrs: str, stateful: bool = False) -> None:
    """Define an op that gives a dataset."""
    register(OpDef(name, kernel, lambda inputs, given: DATASET, kernel_attrs=attrs, stateful=stateful,
                   retains=True))


def row(value: Any, index: int) -> Any:
    """One slice along the first axis as a kernel value."""
    found = value[index]
    if value.dtype.hasobject and value.ndim == 1:
        found = np.array(found, object)
    return found
