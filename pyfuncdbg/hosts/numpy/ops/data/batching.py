"""Several elements as one: batch, padded_batch; and one as several: unbatch."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.errors import DataLossError
from pyfuncdbg.hosts.numpy.ops.data.source import UNKNOWN, Element, EndOfSequence, Pull, Reading, Source
from pyfuncdbg.hosts.numpy.ops.data.sources import dataset_op, row
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


@dataclass(frozen=True, slots=True, eq=False)
class Batched:
    """`size` elements stacked; a smaller rest at the end, or none of it with `whole_only`."""

    source: Source
    size: int
    whole_only: bool
    depth: int
    padding: Padding | None = None

    def cardinality(self) -> int:
        count = self.source.cardinality()
        return count if count < 0 else count // self.size if self.whole_only else -(-count // self.size)

    def open(self, reading: Reading, path: str) -> Pull:
        upstream = self.source.open(reading, path + ('::BatchV2' if self.padding is None else '::PaddedBatchV2'))
        over = False

        def pull() -> Element:
            nonlocal over
            rows: list[Element] = []
            while not over and len(rows) < self.size:
                try:
                    rows.append(upstream())
                except EndOfSequence:
                    over = True
            if not rows or (self.whole_only and len(rows) < self.size):
                raise EndOfSequence
            columns = list(zip(*rows, strict=True))
            if self.padding is not None:
                return tuple([self.padding.stacked(i, column) for i, column in enumerate(columns)])
            return tuple([_stacked(i, column) for i, column in enumerate(columns)])
        return pull


def _stacked(place: int, values: Sequence[Any]) -> Any:
    if not isinstance(values[0], (np.ndarray, np.generic)):
        raise invalid('Batching of variants is not supported')
    shapes = [np.shape(value) for value in values]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise invalid(f'Cannot batch tensors with different shapes in component {place}. First element had shape '
                          f'{_text(shapes[0])} and element {index} had shape {_text(shape)}.')
    return _array(values, shapes[0])


def _array(values: Sequence[Any], shape: Sequence[int]) -> Any:
    dtype = values[0].dtype
    if not dtype.hasobject:
        return np.stack(values) if shape else np.array(values, dtype)
    result = np.empty((len(values), *shape), object)
    for i, value in enumerate(values):
        result[i] = value[()] if not shape else value
    return result


def _text(shape: Sequence[int]) -> str:
    return f'[{",".join(map(str, shape))}]'


@dataclass(frozen=True, slots=True, eq=False)
class Padding:
    """How elements of different shapes are made equal: shapes (-1: as large as the largest) and values."""

    shapes: Sequence[Sequence[int]]
    values: Sequence[Any]

    def stacked(self, place: int, rows: Sequence[Any]) -> Any:
        wanted = self.shapes[place]
        found = [np.asarray(value) for value in rows]
        rank = found[0].ndim
        if any(value.ndim != rank for value in found):
            raise invalid(f'All elements in a batch must have the same rank as the padded shape for component{place}: '
                          f'expected rank {len(wanted)} but got element with rank {next(v.ndim for v in found)}')
        if rank != len(wanted):
            raise invalid(f'All elements in a batch must have the same rank as the padded shape for component{place}: '
                          f'expected rank {len(wanted)} but got element with rank {rank}')
        sizes = []
        for axis, size in enumerate(wanted):
            largest = max(value.shape[axis] for value in found)
            if 0 <= size < largest:
                raise DataLossError(None, None, 'Attempted to pad to a smaller size than the input element.')
            sizes.append(largest if size < 0 else size)
        fill = self.values[place]
        result = np.full((len(found), *sizes), fill[()] if isinstance(fill, np.ndarray) else fill, found[0].dtype)
        for i, value in enumerate(found):
            corner: Any = (i, *map(slice, value.shape))
            result[corner] = value[()] if not rank else value
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Unbatched:
    """The slices of each element along its first axis."""

    source: Source
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality() if self.source.cardinality() <= 0 else UNKNOWN

    def open(self, reading: Reading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Unbatch')
        element: Element = ()
        place = count = 0

        def pull() -> Element:
            nonlocal element, place, count
            while place >= count:
                element = upstream()
                sizes = {len(tensor) for tensor in element}
                if len(sizes) != 1:
                    raise invalid('Input element must have the same batch size in each component.')
                place, count = 0, sizes.pop()
            place += 1
            return tuple([row(tensor, place - 1) for tensor in element])
        return pull


def _size(batch_size: Any) -> int:
    if np.ndim(batch_size):
        raise invalid('batch_size must be a scalar')
    if int(batch_size) < 1:
        raise invalid('Batch size must be greater than zero.')
    return int(batch_size)


def _padded(source: Source, batch_size: Any, *rest: Any, N: int) -> Batched:
    shapes = [np.asarray(shape).tolist() for shape in rest[:N]]
    return Batched(source, _size(batch_size), bool(rest[2 * N]), source.depth + 1, Padding(shapes, rest[N:2 * N]))


dataset_op('BatchDatasetV2', lambda source, size, drop: Batched(source, _size(size), bool(drop), source.depth + 1))
dataset_op('PaddedBatchDatasetV2', _padded, 'N')
dataset_op('UnbatchDataset', lambda source: Unbatched(source, source.depth + 1))
