"""Coordinates of sparse elements as row-major numbers, and sorting by them."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.dtypes import int64
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import floordiv, floormod
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argsort, cumprod


def _strides(sizes: Any) -> Any:
    """Row-major strides."""
    return cumprod(concat([sizes[1:], constant([1], int64)], 0), reverse=True)


def numbers_of(sparse: SparseTensor) -> Any:
    """The row-major number of each element."""
    return reduce_sum(sparse.indices * expand_dims(_strides(sparse.dense_shape), 0), 1)


def by_number(numbers: Any, sizes: Any) -> Any:
    """The coordinates of row-major numbers."""
    return floormod(floordiv(expand_dims(numbers, 1), expand_dims(_strides(sizes), 0)), expand_dims(sizes, 0))


def in_order(sparse: SparseTensor) -> SparseTensor:
    """The same elements in row-major order."""
    order = argsort(numbers_of(sparse), stable=True)
    result = SparseTensor(gather(sparse.indices, order), gather(sparse.values, order), sparse.dense_shape)
    result.shape = result.shape.merge_with(sparse.shape)
    return result
