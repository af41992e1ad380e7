"""Where elements come from: tensors, their slices, ranges, random numbers."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef, register
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE, Element, EndOfSequence, Pull, Reading
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid

DATASET = [(dtypes.variant, TensorShape(()))]


def dataset_op(name: str, kernel: Callable[..., Any], *attrs: str, stateful: bool = False) -> None:
    """Define an op that gives a dataset."""
    register(OpDef(name, kernel, lambda inputs, given: DATASET, kernel_attrs=attrs, stateful=stateful,
                   retains=True))


@dataclass(frozen=True, slots=True, eq=False)
class Once:
    """One element."""

    element: Element
    depth: int = 0

    def cardinality(self) -> int:
        return 1

    def open(self, reading: Reading, path: str) -> Pull:
        given = iter((self.element,))

        def pull() -> Element:
            for element in given:
                return element
            raise EndOfSequence
        return pull


def row(value: Any, index: int) -> Any:
    """One slice along the first axis as a kernel value."""
    found = value[index]
    if value.dtype.hasobject and value.ndim == 1:
        found = np.array(found, object)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """The slices of tensors along their first axis."""

    tensors: Element
    depth: int = 0

    def cardinality(self) -> int:
        return len(self.tensors[0])

    def open(self, reading: Reading, path: str) -> Pull:
        indices = iter(range(self.cardinality()))
        tensors = self.tensors

        def pull() -> Element:
            for index in indices:
                return tuple([row(tensor, index) for tensor in tensors])
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """Numbers from `start` to before `stop`."""

    numbers: range
    dtype: Any
    depth: int = 0

    def cardinality(self) -> int:
        return len(self.numbers)

    def open(self, reading: Reading, path: str) -> Pull:
        numbers, dtype = iter(self.numbers), self.dtype

        def pull() -> Element:
            for number in numbers:
                return (dtype(number),)
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Random:
    """Integers below 2**32 without end; the same in each reading unless `again` is False."""

    seeds: tuple[int, int]
    depth: int = 0

    def cardinality(self) -> int:
        return INFINITE

    def open(self, reading: Reading, path: str) -> Pull:
        generator = np.random.Generator(np.random.Philox([seed % 2**64 for seed in self.seeds] if any(self.seeds) else None))
        return lambda: (np.int64(generator.integers(0, 2**32)),)


def _slices(*tensors: Any) -> Slices:
    sizes = {len(tensor) for tensor in tensors}
    if len(sizes) > 1:
        raise invalid(f'All components must have the same size in the 0th dimension, but got {sorted(sizes)}')
    return Slices(tensors)


def _range(start: Any, stop: Any, step: Any, output_types: Any) -> Range:
    if not int(step):
        raise invalid('step must be a non-zero integer.')
    return Range(range(int(start), int(stop), int(step)), output_types[0].array.type)


dataset_op('TensorDataset', lambda *tensors: Once(tensors))
dataset_op('TensorSliceDataset', _slices)
dataset_op('RangeDataset', _range, 'output_types')
dataset_op('RandomDatasetV2', lambda seed, seed2: Random((int(seed), int(seed2))), stateful=True)
