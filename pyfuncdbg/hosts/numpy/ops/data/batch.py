"""Several elements as one, and one as several: batch, padded_batch, unbatch, window."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.errors import DataLossError
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.source import (
    UNKNOWN,
    DatasetReading,
    Element,
    ElementSource,
    EndOfSequence,
    Pull,
    dataset_op,
    row,
)
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, get_static_value
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


def _size_and_flag(batch_size: Any, drop_remainder: Any) -> tuple[Any, Any, int | None]:
    """The two as tensors, and the size of batches where it is known."""
    size = convert_to_tensor(batch_size, dtypes.int64, name='batch_size')
    flag = convert_to_tensor(drop_remainder, dtypes.bool, name='drop_remainder')
    known = get_static_value(size) if get_static_value(flag) else None
    return size, flag, None if known is None else int(known)


def batch(dataset: Any, batch_size: Any, drop_remainder: Any, name: str | None) -> Any:
    """Elements stacked."""
    size, flag, known = _size_and_flag(batch_size, drop_remainder)
    spec = structure.reshaped(dataset.element_spec, lambda shape: TensorShape([known]).concatenate(shape), 'batch')
    return dataset._derived('BatchDatasetV2', spec, '_BatchDataset', size, flag, name=name, parallel_copy=False)


def padded_batch(dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any,
                 name: str | None) -> Any:
    """Elements filled up and stacked.

    Raises:
        ValueError: A shape does not fit, or has no rank.
        TypeError: A value is of another dtype, or something in an element is no tensor.
    """
    specs = structure.leaves(dataset.element_spec)
    for leaf in specs:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f'padded_batch is not supported for elements of {leaf}')
    if padded_shapes is None:
        padded_shapes = structure.map_structure(lambda leaf: leaf.shape, dataset.element_spec)
        for leaf in specs:
            if leaf.shape.rank is None:
                raise ValueError(f'You must provide `padded_shapes` argument because component {specs.index(leaf)} has '
                                 'unknown rank.')
    given_shapes, given_values = _at(dataset.element_spec, padded_shapes), _at(dataset.element_spec, padding_values)
    shapes = [_padded_shape(given, leaf) for given, leaf in zip(given_shapes, specs, strict=True)]
    values = [_padding(given, leaf) for given, leaf in zip(given_values, specs, strict=True)]
    size, flag, known = _size_and_flag(batch_size, drop_remainder)
    spec = structure.packed(dataset.element_spec, iter(
        [TensorSpec(TensorShape([known, *shape.as_list()]), leaf.dtype) for shape, leaf in zip(shapes, specs, strict=True)]))
    flat = [constant(np.array([-1 if n is None else n for n in shape.as_list()], np.int64)) for shape in shapes]
    return dataset._derived('PaddedBatchDatasetV2', spec, '_PaddedBatchDataset', size, *flat, *values, flag, name=name,
                            N=len(specs), parallel_copy=False)


def _at(spec: Any, given: Any) -> list[Any]:
    """The value for each leaf: from a structure of values, or one for all."""
    if not structure.is_row(spec):
        return [given]
    if isinstance(spec, dict) and isinstance(given, dict):
        return [value for key in sorted(spec) for value in _at(spec[key], given[key])]
    children = [spec[key] for key in sorted(spec)] if isinstance(spec, dict) else list(spec)
    if isinstance(given, (tuple, list)) and len(given) == len(children):
        return [value for inner, one in zip(children, given, strict=True) for value in _at(inner, one)]
    return [value for inner in children for value in _at(inner, given)]


def _padded_shape(given: Any, leaf: Any) -> TensorShape:
    if isinstance(given, (list, tuple, np.ndarray)):
        given = [None if n is not None and int(n) == -1 else n for n in given]
    shape = as_shape(given)
    if leaf.shape.rank is not None and shape.rank != leaf.shape.rank:
        raise ValueError(f'The padded shape {shape} is not compatible with the shape {leaf.shape} of the corresponding '
                         'input component.')
    for wanted, there in zip(shape.as_list(), leaf.shape.as_list() if leaf.shape.rank is not None else [], strict=False):
        if wanted is not None and there is not None and wanted < there:
            raise ValueError(f'The padded shape {shape} is not compatible with the shape {leaf.shape} of the corresponding '
                             'input component.')
    return shape


def _padding(given: Any, leaf: Any) -> Any:
    if given is None:
        return constant('' if leaf.dtype is dtypes.string else 0, leaf.dtype)
    value = convert_to_tensor(given, None if hasattr(given, 'dtype') else leaf.dtype, name='padding_value')
    if value.shape.rank != 0:
        raise ValueError(f'Invalid `padding_values`. `padding_values` values should be scalars, but got {value.shape}.')
    if value.dtype != leaf.dtype:
        raise TypeError(f'Invalid `padding_values`. `padding_values` values type {value.dtype} does not match type '
                        f'{leaf.dtype} of the corresponding input component.')
    return value


def unbatch(dataset: Any, name: str | None) -> Any:
    """The slices of each element."""
    def without_first(shape: TensorShape) -> TensorShape:
        if shape.rank == 0:
            raise ValueError('Cannot unbatch an input with scalar components.')
        return shape[1:]
    sizes = [leaf.shape[0] for leaf in structure.leaves(dataset.element_spec) if leaf.shape.rank]
    for size in sizes:
        if None not in (size, sizes[0]) and size != sizes[0]:
            raise ValueError('`unbatch()` is only supported for datasets of elements whose components have a matching '
                             f'leading dimension. Encountered both {sizes[0]} and {size}.')
    spec = structure.reshaped(dataset.element_spec, without_first, 'unbatch')
    return dataset._derived('UnbatchDataset', spec, '_UnbatchDataset', name=name)


def window(dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any, name: str | None) -> Any:
    """Datasets of several elements."""
    counts = [convert_to_tensor(value, dtypes.int64, name=word) for word, value in
              (('size', size), ('shift', size if shift is None else shift), ('stride', stride))]
    flag = convert_to_tensor(drop_remainder, dtypes.bool, name='drop_remainder')
    spec = structure.map_structure(lambda leaf: structure.VariantSpec(type(dataset), leaf, 'DatasetSpec'),
                                   dataset.element_spec)
    return dataset._derived('WindowDataset', spec, '_WindowDataset', *counts, flag, name=name)


@dataclass(frozen=True, slots=True, eq=False)
class BatchSource:
    """`size` elements stacked; a smaller rest at the end, or none of it with `whole_only`."""

    source: ElementSource
    size: int
    whole_only: bool
    depth: int
    padding: Padding | None = None

    def cardinality(self) -> int:
        count = self.source.cardinality()
        return count if count < 0 else count // self.size if self.whole_only else -(-count // self.size)

    def open(self, reading: DatasetReading, path: str) -> Pull:
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
    """Padding of elements to one shape: shapes (-1: as large as the largest) and fill values."""

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
class UnbatchSource:
    """The slices of each element along its first axis."""

    source: ElementSource
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality() if self.source.cardinality() <= 0 else UNKNOWN

    def open(self, reading: DatasetReading, path: str) -> Pull:
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


def _padded(source: ElementSource, batch_size: Any, *rest: Any, N: int) -> BatchSource:
    shapes = [np.asarray(shape).tolist() for shape in rest[:N]]
    return BatchSource(source, _size(batch_size), bool(rest[2 * N]), source.depth + 1, Padding(shapes, rest[N:2 * N]))


@dataclass(frozen=True, slots=True, eq=False)
class WindowSource:
    """Windows of `size` elements, as datasets; the next one begins `shift` elements later and takes every `stride`-th."""

    source: ElementSource
    size: int
    shift: int
    stride: int
    whole_only: bool
    depth: int

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count < 0:
            return count
        span = (self.size - 1) * self.stride + 1 if self.whole_only else 1
        return max(0, (count - span) // self.shift + 1) if count >= span else 0

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Window')
        span = (self.size - 1) * self.stride + 1
        kept: deque[Element] = deque()
        skipping = 0
        over = False

        def fill() -> None:
            nonlocal skipping, over
            while not over and len(kept) < span:
                try:
                    element = upstream()
                except EndOfSequence:
                    over = True
                    return
                if skipping:
                    skipping -= 1
                else:
                    kept.append(element)

        def pull() -> Element:
            nonlocal skipping
            fill()
            if not kept or (self.whole_only and len(kept) < span):
                raise EndOfSequence
            rows = list(kept)[:span:self.stride]
            for _ in range(min(self.shift, len(kept))):
                kept.popleft()
            skipping += max(0, self.shift - span)
            return tuple(ElementRows(tuple((row[i],) for row in rows)) for i in range(len(rows[0])))
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class ElementRows:
    """Elements that are there."""

    rows: Sequence[Element]
    depth: int = 0

    def cardinality(self) -> int:
        return len(self.rows)

    def open(self, reading: DatasetReading, path: str) -> Pull:
        rows = iter(self.rows)

        def pull() -> Element:
            for found in rows:
                return found
            raise EndOfSequence
        return pull


def _window(source: ElementSource, size: Any, shift: Any, stride: Any, drop: Any) -> WindowSource:
    for name, value in (('size', size), ('shift', shift), ('stride', stride)):
        if int(value) < 1:
            raise invalid(f'Window {name} must be greater than zero.')
    return WindowSource(source, int(size), int(shift), int(stride), bool(drop), source.depth + 1)


dataset_op('BatchDatasetV2', lambda source, size, drop: BatchSource(source, _size(size), bool(drop), source.depth + 1))
dataset_op('PaddedBatchDatasetV2', _padded, 'N')
dataset_op('UnbatchDataset', lambda source: UnbatchSource(source, source.depth + 1))
dataset_op('WindowDataset', _window)
