"""Element sources: datasets at run time, read element by element.

Kernels of datasets make sources; iterators open them. A reading is pulled by one thread at a time.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Kernel, OpDef, register
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


class DatasetReading:
    """State shared by all transformations while one iterator reads: resources, NumPy's error state, clean-up.

    Args:
        execution: Of the session or eager code that creates the iterator.
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
        """A nested reading, which ends with this one at the latest."""
        inner = DatasetReading(self)
        self._closers.append(inner.close)
        return inner

    def forget(self, inner: DatasetReading) -> None:
        """End a nested reading."""
        self._closers.remove(inner.close)
        inner.close()

    def close(self) -> None:
        """End its worker threads. Takes no lock: a finalizer calls it, on any thread."""
        self.closed = True
        while self._closers:
            self._closers.pop()()


@dataclass(frozen=True, slots=True, eq=False)
class ElementSource:
    """Immutable source of elements, which can be read any number of times.

    Attributes:
        cardinality: The number of elements; INFINITE or UNKNOWN.
        open: Begins to read. Takes the reading that this is part of, and the names of the transformations after this one,
            'Iterator::Root::Batch', for messages.
        depth: The number of transformations before this one.
    """

    cardinality: int
    open: Callable[[DatasetReading, str], Pull]
    depth: int = 0


def transformed(source: ElementSource, name: str, begin: Callable[[Pull, DatasetReading, str], Pull],
                cardinality: int | None = None) -> ElementSource:
    """A source that reads another one.

    Args:
        source: The other.
        name: Of the transformation, for messages.
        begin: From the `Pull` of the other, the reading and the path with `name` to the `Pull` of this one.
        cardinality: The number of elements; by default that of the other.
    """
    def start(reading: DatasetReading, path: str) -> Pull:
        path = f'{path}::{name}'
        return begin(source.open(reading, path), reading, path)
    return ElementSource(source.cardinality if cardinality is None else cardinality, start, source.depth + 1)


def source_of(elements: Collection[Element], depth: int = 0) -> ElementSource:
    """A source of elements in memory."""
    def start(reading: DatasetReading, path: str) -> Pull:
        return pull_from(iter(elements))
    return ElementSource(len(elements), start, depth)


def pull_from(elements: Iterator[Element]) -> Pull:
    """The `Pull` of a Python iterator that does not raise."""
    def pull() -> Element:
        for element in elements:
            return element
        raise EndOfSequence
    return pull


DATASET = [(dtypes.variant, TensorShape(()))]


def dataset_op(name: str, *attrs: str, stateful: bool = False) -> Callable[[Kernel], Kernel]:
    """Define an op that gives a dataset, by its kernel: a decorator."""
    def define(kernel: Kernel) -> Kernel:
        register(OpDef(name, kernel, lambda inputs, given: DATASET, kernel_attrs=attrs, stateful=stateful, retains=True))
        return kernel
    return define


def seeded_generator(seeds: tuple[int, int]) -> np.random.Generator:
    """A generator of random numbers; for seeds (0, 0) a random one."""
    return np.random.Generator(np.random.Philox([seed % 2**64 for seed in seeds] if any(seeds) else None))


def row(value: Any, index: int) -> Any:
    """One slice along the first axis as a kernel value."""
    element = value[index]
    if value.dtype.hasobject and value.ndim == 1:
        element = np.array(element, object)
    return element
