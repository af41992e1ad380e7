"""Several elements as one, and one as several: batch, padded_batch, unbatch, window."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
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
    source_of,
    transformed,
)
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, get_static_value
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


def _size_and_flag(batch_size: Any, drop_remainder: Any) -> tuple[Any, Any, int | None]:
    """The two as tensors, and the size of batches where it is known."""
    size = convert_to_tensor(batch_size, dtypes.int64, name='batch_size')
    flag = convert_to_tensor(drop_remainder, dtypes.bool, name='drop_remainder')
    static_size = get_static_value(size) if get_static_value(flag) else None
    return size, flag, None if static_size is None else int(static_size)


def batch(self: Any, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None,
          deterministic: bool | None = None, name: str | None = None) -> Any:
    """`batch_size` elements stacked into one."""
    size, flag, static_size = _size_and_flag(batch_size, drop_remainder)
    spec = structure.reshaped(self.element_spec, lambda shape: TensorShape([static_size]).concatenate(shape), 'batch')
    return self._derived('BatchDatasetV2', spec, '_BatchDataset', size, flag, name=name, parallel_copy=False)


def padded_batch(self: Any, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                 drop_remainder: Any = False, name: str | None = None) -> Any:
    """Batches of elements of different shapes, padded to one shape.

    Raises:
        ValueError: A shape does not fit, or has no rank.
        TypeError: A padding value has another dtype, or part of an element is no tensor.
    """
    specs = structure.leaves(self.element_spec)
    for leaf in specs:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f'padded_batch is not supported for elements of {leaf}')
    if padded_shapes is None:
        padded_shapes = structure.map_structure(lambda leaf: leaf.shape, self.element_spec)
        for leaf in specs:
            if leaf.shape.rank is None:
                raise ValueError(f'You must provide `padded_shapes` argument because component {specs.index(leaf)} has '
                                 'unknown rank.')
    given_shapes, given_values = _at(self.element_spec, padded_shapes), _at(self.element_spec, padding_values)
    shapes = [_padded_shape(value, leaf) for value, leaf in zip(given_shapes, specs, strict=True)]
    values = [_padding(value, leaf) for value, leaf in zip(given_values, specs, strict=True)]
    size, flag, static_size = _size_and_flag(batch_size, drop_remainder)
    spec = structure.packed(self.element_spec, iter(
        [TensorSpec(TensorShape([static_size, *shape.as_list()]), leaf.dtype) for shape,
         leaf in zip(shapes, specs, strict=True)]))
    flat = [constant(np.array([-1 if n is None else n for n in shape.as_list()], np.int64)) for shape in shapes]
    return self._derived('PaddedBatchDatasetV2', spec, '_PaddedBatchDataset', size, *flat, *values, flag, name=name,
                            N=len(specs), parallel_copy=False)


def _at(spec: Any, values: Any) -> list[Any]:
    """The value for each leaf of a spec, from a structure of values or from one value for all."""
    if not structure.is_row(spec):
        return [values]
    if isinstance(spec, dict) and isinstance(values, dict):
        return [value for key in sorted(spec) for value in _at(spec[key], values[key])]
    children = [spec[key] for key in sorted(spec)] if isinstance(spec, dict) else list(spec)
    if isinstance(values, (tuple, list)) and len(values) == len(children):
        return [value for inner, one in zip(children, values, strict=True) for value in _at(inner, one)]
    return [value for inner in children for value in _at(inner, values)]


def _padded_shape(padded_shape: Any, leaf: Any) -> TensorShape:
    if isinstance(padded_shape, (list, tuple, np.ndarray)):
        padded_shape = [None if n is not None and int(n) == -1 else n for n in padded_shape]
    shape = as_shape(padded_shape)
    if leaf.shape.rank is not None and shape.rank != leaf.shape.rank:
        raise ValueError(f'The padded shape {shape} is not compatible with the shape {leaf.shape} of the corresponding '
                         'input component.')
    for padded_size, size in zip(shape.as_list(), leaf.shape.as_list() if leaf.shape.rank is not None else [], strict=False):
        if padded_size is not None and size is not None and padded_size < size:
            raise ValueError(f'The padded shape {shape} is not compatible with the shape {leaf.shape} of the corresponding '
                             'input component.')
    return shape


def _padding(padding_value: Any, leaf: Any) -> Any:
    if padding_value is None:
        return constant('' if leaf.dtype is dtypes.string else 0, leaf.dtype)
    value = convert_to_tensor(padding_value, None if hasattr(padding_value, 'dtype') else leaf.dtype, name='padding_value')
    if value.shape.rank != 0:
        raise ValueError(f'Invalid `padding_values`. `padding_values` values should be scalars, but got {value.shape}.')
    if value.dtype != leaf.dtype:
        raise TypeError(f'Invalid `padding_values`. `padding_values` values type {value.dtype} does not match type '
                        f'{leaf.dtype} of the corresponding input component.')
    return value


def unbatch(self: Any, name: str | None = None) -> Any:
    """The slices of each element along its first axis."""
    def without_first(shape: TensorShape) -> TensorShape:
        if shape.rank == 0:
            raise ValueError('Cannot unbatch an input with scalar components.')
        return shape[1:]
    sizes = [leaf.shape[0] for leaf in structure.leaves(self.element_spec) if leaf.shape.rank]
    for size in sizes:
        if None not in (size, sizes[0]) and size != sizes[0]:
            raise ValueError('`unbatch()` is only supported for datasets of elements whose components have a matching '
                             f'leading dimension. Encountered both {sizes[0]} and {size}.')
    spec = structure.reshaped(self.element_spec, without_first, 'unbatch')
    return self._derived('UnbatchDataset', spec, '_UnbatchDataset', name=name)


def window(self: Any, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False,
           name: str | None = None) -> Any:
    """Windows of `size` elements, each `stride` after the last, as datasets; each begins `shift` after the one before."""
    counts = [convert_to_tensor(value, dtypes.int64, name=word) for word, value in
              (('size', size), ('shift', size if shift is None else shift), ('stride', stride))]
    flag = convert_to_tensor(drop_remainder, dtypes.bool, name='drop_remainder')
    spec = structure.map_structure(lambda leaf: structure.VariantSpec(type(self), leaf, 'DatasetSpec'),
                                   self.element_spec)
    return self._derived('WindowDataset', spec, '_WindowDataset', *counts, flag, name=name)


@dataset_op('BatchDatasetV2')
def _batch(source: ElementSource, size: Any, whole_only: Any) -> ElementSource:
    """`size` elements stacked; the last batch may be smaller, with `whole_only` it is dropped."""
    return _batched(source, 'BatchV2', size, whole_only, _stacked)


@dataset_op('PaddedBatchDatasetV2', 'N')
def _padded_batch(source: ElementSource, size: Any, *rest: Any, N: int) -> ElementSource:
    """Padded batches: shapes (-1: the largest size in the batch), padding values, and `whole_only`."""
    shapes, values = [np.asarray(shape).tolist() for shape in rest[:N]], rest[N:2 * N]
    return _batched(source, 'PaddedBatchV2', size, rest[2 * N],
                    lambda place, rows: _padded(place, rows, shapes[place], values[place]))


def _batched(source: ElementSource, name: str, batch_size: Any, whole_only: Any,
             stack: Callable[[int, Sequence[Any]], Any]) -> ElementSource:
    if np.ndim(batch_size):
        raise invalid('batch_size must be a scalar')
    size, count = int(batch_size), source.cardinality
    if size < 1:
        raise invalid('Batch size must be greater than zero.')

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        over = False

        def pull() -> Element:
            nonlocal over
            rows: list[Element] = []
            while not over and len(rows) < size:
                try:
                    rows.append(upstream())
                except EndOfSequence:
                    over = True
            if not rows or (whole_only and len(rows) < size):
                raise EndOfSequence
            return tuple([stack(place, column) for place, column in enumerate(zip(*rows, strict=True))])
        return pull
    return transformed(source, name, begin, count if count < 0 else count // size if whole_only else -(-count // size))


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


def _padded(place: int, rows: Sequence[Any], sizes_wanted: Sequence[int], fill: Any) -> Any:
    """Rows stacked in a shape (-1: the largest size among them), with a padding value around them."""
    arrays = [np.asarray(value) for value in rows]
    if any(value.ndim != len(sizes_wanted) for value in arrays):
        raise invalid(f'All elements in a batch must have the same rank as the padded shape for component{place}: '
                      f'expected rank {len(sizes_wanted)} but got element with rank {arrays[0].ndim}')
    sizes = []
    for axis, size in enumerate(sizes_wanted):
        largest = max(value.shape[axis] for value in arrays)
        if 0 <= size < largest:
            raise DataLossError(None, None, 'Attempted to pad to a smaller size than the input element.')
        sizes.append(largest if size < 0 else size)
    result = np.full((len(arrays), *sizes), fill[()] if isinstance(fill, np.ndarray) else fill, arrays[0].dtype)
    for i, value in enumerate(arrays):
        corner: Any = (i, *map(slice, value.shape))
        result[corner] = value if sizes_wanted else value[()]
    return result


@dataset_op('UnbatchDataset')
def _unbatch(source: ElementSource) -> ElementSource:
    """The slices of each element along its first axis."""
    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
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
    return transformed(source, 'Unbatch', begin, source.cardinality if source.cardinality <= 0 else UNKNOWN)


@dataset_op('WindowDataset')
def _window(source: ElementSource, size: Any, shift: Any, stride: Any, whole_only: Any) -> ElementSource:
    """Windows of `size` elements, each `stride` after the last, as datasets; each begins `shift` after the one before."""
    for name, value in (('size', size), ('shift', shift), ('stride', stride)):
        if int(value) < 1:
            raise invalid(f'Window {name} must be greater than zero.')
    span, count = (int(size) - 1) * int(stride) + 1, source.cardinality
    least = span if whole_only else 1
    total = count if count < 0 else max(0, (count - least) // int(shift) + 1) if count >= least else 0
    return transformed(source, 'Window', lambda upstream, reading, path: _Windows(
        upstream, span, int(shift), int(stride), bool(whole_only)).pull, total)


class _Windows:
    """Reading of windows: elements are buffered until no later window needs them."""

    def __init__(self, upstream: Pull, span: int, shift: int, stride: int, whole_only: bool) -> None:
        self._upstream = upstream
        self._span, self._shift, self._stride, self._whole_only = span, shift, stride, whole_only
        self._window: deque[Element] = deque()
        self._skipping = 0
        self._over = False

    def pull(self) -> Element:
        """The next window: a dataset for each part of an element."""
        self._fill()
        elements = self._window
        if not elements or (self._whole_only and len(elements) < self._span):
            raise EndOfSequence
        rows = list(elements)[:self._span:self._stride]
        for _ in range(min(self._shift, len(elements))):
            elements.popleft()
        self._skipping += max(0, self._shift - self._span)
        return tuple(source_of([(row[i],) for row in rows]) for i in range(len(rows[0])))

    def _fill(self) -> None:
        while not self._over and len(self._window) < self._span:
            try:
                element = self._upstream()
            except EndOfSequence:
                self._over = True
                return
            if self._skipping:
                self._skipping -= 1
            else:
                self._window.append(element)
