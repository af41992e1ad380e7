"""Datasets whose elements are several of another's, or parts of them: batch, padded_batch, unbatch, window."""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, get_static_value


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
        padded_shapes = structure.mapped(lambda leaf: leaf.shape, dataset.element_spec)
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
    """What is given for each leaf: a structure of it, or one for all."""
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
    spec = structure.mapped(lambda leaf: structure.VariantSpec(type(dataset), leaf, 'DatasetSpec'), dataset.element_spec)
    return dataset._derived('WindowDataset', spec, '_WindowDataset', *counts, flag, name=name)
