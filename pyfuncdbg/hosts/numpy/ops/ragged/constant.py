"""`tf.ragged.constant`, `constant_value` and `placeholder`: ragged tensors of nested lists, and placeholders."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant as tensor_constant
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor, is_ragged
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue
from pyfuncdbg.hosts.numpy.ops.variables.handles import placeholder as tensor_placeholder

Inner = Callable[[Any, tuple[int, ...] | None], Any]


def constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None, name: Any = None,
             row_splits_dtype: Any = int64) -> Any:
    """A ragged tensor of nested lists; a tensor where they are not deep enough for rows.

    Args:
        pylist: The lists.
        dtype: Of the elements; by default inferred.
        ragged_rank: Number of levels of rows; by default the depth of the lists less one.
        inner_shape: The shape of the innermost values.
        name: Not used.
        row_splits_dtype: Of the row splits.

    Raises:
        ValueError: The lists are not equally deep, or contradict `ragged_rank` and `inner_shape`.
        TypeError: `pylist` is ragged already.
    """
    splits_dtype = as_dtype(row_splits_dtype)

    def inner(values: Any, shape: tuple[int, ...] | None) -> Any:
        return tensor_constant(values, dtype=dtype, shape=shape, name='Const')

    def rows(values: Any, splits: list[int]) -> Any:
        return RaggedTensor(values, tensor_constant(splits, splits_dtype), internal=True)
    with scope(name, 'RaggedConstant'):
        return _build(pylist, ragged_rank, inner_shape, inner, rows)


def constant_value(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None,
                   row_splits_dtype: Any = 'int64') -> Any:
    """A `RaggedTensorValue` of nested lists; see `constant`."""
    kind = dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype
    splits_dtype = as_dtype(row_splits_dtype).array

    def inner(values: Any, shape: tuple[int, ...] | None) -> Any:
        array = np.array(values, dtype=kind) if kind is object or kind is None else np.array(values).astype(kind)
        return array if shape is None else array.reshape(shape)

    def rows(values: Any, splits: list[int]) -> Any:
        return RaggedTensorValue(values, np.array(splits, splits_dtype))
    return _build(pylist, ragged_rank, inner_shape, inner, rows)


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: Any = None) -> Any:
    """A ragged tensor to be fed (TensorFlow 1)."""
    if ragged_rank == 0:
        return tensor_placeholder(dtype, value_shape, name)
    with scope(name, 'RaggedPlaceholder'):
        flat_shape = TensorShape([None]).concatenate(TensorShape(value_shape))
        result = tensor_placeholder(dtype, flat_shape, 'flat_values')
        for level in reversed(range(ragged_rank)):
            splits = tensor_placeholder(int64, [None], f'row_splits_{level}')
            result = RaggedTensor(result, splits, internal=True)
        return result


def _build(pylist: Any, ragged_rank: Any, inner_shape: Any, inner: Inner, rows: Callable[[Any, list[int]], Any]) -> Any:
    if is_ragged(pylist):
        raise TypeError('pylist may not be a RaggedTensor or RaggedTensorValue.')
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f'Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}')
        if inner_shape:
            raise ValueError(f'Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}')
        return inner(pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f'Invalid ragged_rank={ragged_rank!r}: must be nonnegative')
    scalars, deepest = _depths(pylist)
    _check_depths(pylist, scalars, deepest, ragged_rank, inner_shape)
    if ragged_rank == 0 or (ragged_rank is None and (
            deepest < 2 or (inner_shape is not None and deepest - len(inner_shape) < 2))):
        return inner(pylist, inner_shape)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1 if scalars is None else scalars - 1 - len(inner_shape))
    nested: list[list[int]] = []
    values = list(pylist)
    for _ in range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(splits)
        values = [item for row in values for item in row]
    result = inner(values, (len(values), *inner_shape))
    for splits in reversed(nested):
        result = rows(result, splits)
    return result


def _check_depths(pylist: Any, scalars: int | None, deepest: int, ragged_rank: Any, inner_shape: Any) -> None:
    if scalars is not None:
        if deepest > scalars:
            raise ValueError(f'Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting')
        if ragged_rank is not None and deepest < ragged_rank:
            raise ValueError(f'Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}')
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if (scalars is not None and expected != scalars) or (scalars is None and expected < deepest):
            raise ValueError(f'Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and '
                             f'dim(inner_shape)={len(inner_shape)}')


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) != 0


def _depths(value: Any) -> tuple[int | None, int]:
    """The depth of the elements (None if there are none), and of the deepest list.

    Raises:
        ValueError: Elements are of different depth.
    """
    if not _is_list(value):
        return 0, 0
    scalars: int | None = None
    deepest = 1
    for child in value:
        inner, depth = _depths(child)
        if inner is not None:
            if scalars is not None and scalars != inner + 1:
                raise ValueError('all scalar values must have the same nesting depth')
            scalars = inner + 1
        deepest = max(deepest, depth + 1)
    return scalars, deepest


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values below the rows; ValueError if there is none."""
    flat = list(pylist)
    for level in range(ragged_rank):
        if not all(map(_is_list, flat)):
            raise ValueError(f'pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} requires scalar '
                             f'value depth greater than {ragged_rank}')
        flat = [item for row in flat for item in row]
    shape: tuple[int, ...] = ()
    item: Any = flat
    while _is_list(item):
        shape += (len(item),)
        if not len(item):
            break
        item = item[0]
    _check_shape(flat, shape)
    return shape[1:]


def _check_shape(item: Any, shape: tuple[int, ...]) -> None:
    if _is_list(item) is not bool(shape) or (shape and len(item) != shape[0]):
        raise ValueError('inner values have inconsistent shape')
    if shape:
        for child in item:
            _check_shape(child, shape[1:])
