"""Axes known only at run time: softmax along one, products over such axes or of unknown rank.

Builds the nodes that TensorFlow builds, and they refuse the same axes. In graphs only: eager code knows every value.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import range as range_of
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat, stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_prod
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import rank, reshape, transpose
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

Integers = (int, np.integer)


# ---------------------------------------------------------------- along one axis
def along(op: str, x: Tensor, axis: Tensor, name: str | None) -> Tensor:
    """Apply an op of the last axis along another one."""
    count = x.shape.rank
    if count is None:
        raise TypeError("unsupported operand type(s) for -: 'NoneType' and 'int'")
    axis = where(axis < 0, axis + rank(x), axis)
    last = rank(x) - 1
    place = axis % count
    result: Any = _swapped(apply(op, (_swapped(x, place, last),)), place, last, name)
    result.set_shape(x.shape)
    return result


def _swapped(x: Tensor, place: Tensor, last: Tensor, name: str | None = None) -> Tensor:
    order = concat([range_of(place), [last], range_of(place + 1, last), [place]], 0)
    return transpose(x, order, name=name or 'transpose')


# ---------------------------------------------------------------- products
def tensordot(a: Tensor, b: Tensor, axes: Any, product: Any, name: str) -> Tensor:
    """Sum of products over axes of `a` and `b`.

    Args:
        axes: A number, two lists, or a tensor with two rows.
        product: That of two matrices.
        name: Of the node.

    Raises:
        ValueError: The numbers of axes differ.
    """
    axes_a, axes_b = _contracted(a, axes)
    (matrix_a, free_a, free_shape_a), (matrix_b, free_b, free_shape_b) = _as_matrix(a, axes_a, False), _as_matrix(b, axes_b,
                                                                                                                  True)
    result: Any = reshape(product(matrix_a, matrix_b), concat([free_a, free_b], 0), name)
    if free_shape_a is not None and free_shape_b is not None:
        result.set_shape(TensorShape([*free_shape_a, *free_shape_b]))
    return result


def _contracted(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, Integers):
        if a.shape.rank is not None:
            return list(range(a.shape.rank - int(axes), a.shape.rank)), list(range(int(axes)))
        count = rank(a)
        return range_of(count - axes, count), range_of(axes)
    if not isinstance(axes, (list, tuple)):
        both = convert_to_tensor(axes, dtypes.int32, name='axes')
        return both[0], both[1]
    if len(axes) != 2:
        raise ValueError(f'`axes` must be an integer or have length 2. Received {axes}.')
    axes_a, axes_b = axes
    if isinstance(axes_a, Integers) and isinstance(axes_b, Integers):
        axes_a, axes_b = [axes_a], [axes_b]
    if len(axes_a) != len(axes_b):
        raise ValueError(f'Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}.')
    return axes_a, axes_b


def _as_matrix(x: Tensor, axes: Any, flipped: bool) -> tuple[Tensor, Tensor, Sequence[int | None] | None]:
    """`x` as a matrix, with the sizes of its other axes: as a tensor, and as far as they are static."""
    sizes, count, free_shape = sizes_of(x), x.shape.rank, None
    if count is not None and isinstance(axes, (list, tuple)) and all(isinstance(one, Integers) for one in axes):
        places = [int(one) % count for one in axes]
        others = [i for i in range(count) if i not in places]
        free_shape = [x.shape[i] for i in others]
        contracted, free = constant(np.array(places, np.int32)), constant(np.array(others, np.int32))
    else:
        contracted = convert_to_tensor(axes, dtypes.int32, name='axes')
        contracted = where(contracted >= 0, contracted, contracted + rank(x))
        free = apply('ListDiff', (range_of(rank(x)), contracted), {'out_idx': dtypes.int32})[0]
    free_sizes, contracted_sizes = _gathered(sizes, free), _gathered(sizes, contracted)
    lengths = [reduce_prod(free_sizes), reduce_prod(contracted_sizes)]
    order = [free, contracted]
    if flipped:
        lengths.reverse()
        order.reverse()
    return reshape(transpose(x, concat(order, 0)), stack(lengths)), free_sizes, free_shape


def _gathered(sizes: Tensor, axes: Tensor) -> Tensor:
    return apply('GatherV2', (sizes, axes, constant(np.int32(0))), {'batch_dims': 0})
