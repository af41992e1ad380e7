"""Rearrangement of elements: rolls, repeats, partitions, blocks to axes and back; and bit casts."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import count, range as range_to, sequence_mask
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask, dynamic_stitch
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_max
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, reshape
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    check_attr_type,
    check_least,
    int_attr,
    invalid,
    same_rule,
    text,
    with_rank,
)
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- roll
def _roll(x: Any, shift: Any, axis: Any) -> Any:
    if not x.ndim:
        raise invalid('input must be 1-D or higher')
    if shift.ndim > 1 or axis.ndim > 1:
        raise invalid('shift must be a scalar or a 1-D vector. Found: ' if shift.ndim > 1 else
                      'axis must be a scalar or a 1-D vector. Found: ')
    if shift.shape != axis.shape:
        raise invalid('shift and axis must have the same size')
    shifts, axes = np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist()
    if any(not -x.ndim <= a < x.ndim for a in axes):
        raise invalid(f'axis {next(a for a in axes if not -x.ndim <= a < x.ndim)} is out of range')
    return np.roll(x, shifts, axes)


register(OpDef('Roll', _roll, same_rule('Roll', None, 'input'),
               lambda node, grad: [apply('Roll', (grad, -node.inputs[1], node.inputs[2])), None, None]))


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Elements moved along `axis` by `shift` places; with wrap-around."""
    return call('Roll', {'input': input, 'shift': shift, 'axis': axis}, None, name, shift=dtypes.int32, axis=dtypes.int32)


# ---------------------------------------------------------------- repeat
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each element (slice along `axis`) as often as `repeats` says: one number, or one for each.

    Raises:
        ValueError: The number of repeats is not that of the elements.
    """
    with scope(name, 'Repeat'):
        x = convert_to_tensor(input)
        counts = cast(count(repeats, 'repeats', dtypes.int32), dtypes.int32)
        if (counts.shape.rank or 0) > 1:
            raise ValueError(f'Shape {counts.shape} must have rank at most 1')
        if axis is None or x.shape.rank == 0:
            x, axis = apply('Reshape', (x, vector([-1]))), 0
        rank = x.shape.rank
        if rank is None:
            raise ValueError('repeat along an axis needs a tensor of known rank')
        if not -rank <= axis < rank:
            raise ValueError(f'axis={axis} out of bounds: expected {-rank}<=axis<{rank}')
        axis %= rank
        sizes = sizes_of(x)
        length = sizes[axis:axis + 1]
        if counts.shape.num_elements() == 1:
            times = reshape(counts, [-1])
            ones = vector([1] * (axis + 1)), vector([1] * (rank - axis - 1))
            tiled = apply('Tile', (expand_dims(x, axis + 1), concat([ones[0], times, ones[1]], 0)))
            return reshape(tiled, concat([sizes[:axis], times * length, sizes[axis + 1:]], 0))
        if counts.shape.sizes is not None and not counts.shape.is_compatible_with(x.shape[axis:axis + 1]):
            raise ValueError(f'Dimensions {x.shape[axis]} and {counts.shape[0]} are not compatible')
        numbers = range_to(length[0])
        most = apply('Maximum', (constant(np.int32(0)), reduce_max(counts)))
        tiled = apply('Tile', (expand_dims(numbers, 1), concat([vector([1]), expand_dims(most, 0)], 0)))
        places = boolean_mask(tiled, sequence_mask(counts, most))
        return apply('GatherV2', (x, places, constant(np.int32(axis))), {'batch_dims': 0})


# ---------------------------------------------------------------- dynamic partition
def _partition(data: Any, partitions: Any, num_partitions: int) -> Any:
    if data.shape[:partitions.ndim] != partitions.shape:
        raise invalid(f'data.shape must start with partitions.shape, got data.shape = {text(TensorShape(data.shape))}, '
                      f'partitions.shape = {text(TensorShape(partitions.shape))}')
    bad = (partitions < 0) | (partitions >= num_partitions)
    if np.any(bad):
        at = np.argwhere(bad)[0].tolist() if partitions.ndim else []
        place = f'[{",".join(map(str, at))}]' if at else ''
        raise invalid(f'partitions{place} = {np.asarray(partitions)[tuple(at)]} is not in [0, {num_partitions})')
    return tuple(data[partitions == k] for k in range(num_partitions))


def _partition_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    data, partitions = inputs
    inner = UNKNOWN
    if data.shape.sizes is not None and partitions.shape.sizes is not None:
        inner = TensorShape.of((None, *data.shape.sizes[len(partitions.shape.sizes):]))
    return [(data.dtype, inner)] * attrs['num_partitions']


def _partition_gradient(node: Node, *grads: Tensor) -> Sequence[Any]:
    data, partitions = node.inputs
    sizes = sizes_of(partitions)
    count = apply('Prod', (sizes, constant(np.int32(0))), {'keep_dims': False})
    numbers = reshape(range_to(count), sizes)
    places = apply('DynamicPartition', (numbers, partitions), {'num_partitions': len(grads)})
    places = list(places) if isinstance(places, (list, tuple)) else [places]
    return [reshape(dynamic_stitch(places, list(grads)), sizes_of(data)), None]


register(OpDef('DynamicPartition', _partition, _partition_types, _partition_gradient, outputs=-1,
               kernel_attrs=('num_partitions',)))


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """The slices of `data` distributed over `num_partitions` tensors by their number in `partitions`."""
    num_partitions = int_attr(num_partitions, 'num_partitions')
    check_least('DynamicPartition', 'num_partitions', num_partitions)
    parts = call('DynamicPartition', {'data': data, 'partitions': partitions}, {'num_partitions': num_partitions}, name,
                 partitions=dtypes.int32)
    return list(parts)


# ---------------------------------------------------------------- bits
def _bitcast(x: Any, type: DType) -> Any:
    old, new = x.dtype.itemsize, type.array.itemsize
    array = np.ascontiguousarray(x).reshape(x.shape)
    if old == new:
        return array.view(type.array)[()].copy()
    if old > new:
        return np.ascontiguousarray(array.reshape(*x.shape, 1)).view(type.array)
    if not x.ndim or x.shape[-1] != new // old:
        raise invalid(f'Cannot bitcast from {as_dtype(x.dtype).as_datatype_enum} to {type.as_datatype_enum}')
    return array.view(type.array)[..., 0].copy()


def _bitcast_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, kind = inputs[0], attrs['type']
    old, new = x.dtype.size, kind.size
    if x.shape.sizes is None or old == new:
        return [(kind, x.shape)]
    if old > new:
        return [(kind, TensorShape.of((*x.shape.sizes, old // new)))]
    if not x.shape.sizes:
        raise ValueError('Shape must be at least rank 1 but is rank 0')
    if x.shape.sizes[-1] not in (None, new // old):
        raise ValueError(f'Cannot bitcast due to shape. {x.shape.sizes[-1]} does not match {new // old}')
    return [(kind, TensorShape.of(x.shape.sizes[:-1]))]


register(OpDef('Bitcast', _bitcast, _bitcast_types, kernel_attrs=('type',), free=True))


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits read as another dtype; with one axis more for a smaller dtype, one less for a larger one."""
    check_attr_type('Bitcast', 'type', as_dtype(type))
    return call('Bitcast', {'input': input}, {'type': as_dtype(type)}, name)


# ---------------------------------------------------------------- places
def _unravel(indices: Any, dims: Any) -> Any:
    if np.any(dims <= 0):
        raise invalid('Input dims cannot contain a dim of zero or negative.')
    total = int(np.prod(dims, dtype=np.int64))
    if np.any(indices < 0) or np.any(indices >= total):
        raise invalid('index is out of bound as with dims')
    coordinates = np.array(np.unravel_index(np.asarray(indices), dims.tolist()), indices.dtype)
    return coordinates.reshape(len(dims), *np.shape(indices))


def _unravel_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    indices, dims = inputs
    count = with_rank(dims.shape, 1)[0]
    if indices.shape.sizes is None:
        return [(indices.dtype, UNKNOWN)]
    return [(indices.dtype, TensorShape.of((count, *indices.shape.sizes)))]


register(OpDef('UnravelIndex', _unravel, _unravel_types, no_gradient))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, one row for each axis, of row-major element numbers in a tensor of sizes `dims`."""
    return call('UnravelIndex', {'indices': indices, 'dims': dims}, None, name)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The inverse of a permutation."""
    return call('InvertPermutation', {'x': x}, None, name)


def _reverse_sequence(x: Any, lengths: Any, seq_dim: int, batch_dim: int = 0) -> Any:
    if len(lengths) != x.shape[batch_dim]:
        raise invalid(f'Length of seq_lengths != input.dims({batch_dim}), ({len(lengths)} vs. {x.shape[batch_dim]})')
    if np.any(lengths < 0) or np.any(lengths > x.shape[seq_dim]):
        raise invalid('seq_lens(0) < 0' if np.any(lengths < 0) else
                      f'seq_lens({int(np.argmax(lengths > x.shape[seq_dim]))}) > input.dims({seq_dim})')
    result = np.moveaxis(x.copy(), (batch_dim, seq_dim), (0, 1))
    for row, n in zip(result, lengths.tolist(), strict=True):
        row[:n] = row[:n][::-1].copy()
    return np.ascontiguousarray(np.moveaxis(result, (0, 1), (batch_dim, seq_dim)))


register(OpDef('ReverseSequence', _reverse_sequence, same_rule('ReverseSequence', None, 'input'),
               lambda node, grad: [apply('ReverseSequence', (grad, node.inputs[1]), dict(node.attrs)), None],
               kernel_attrs=('seq_dim', 'batch_dim')))


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
                     name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None) -> Tensor:
    """For each slice along `batch_axis`, the first `seq_lengths` elements along `seq_axis` backwards."""
    first = seq_axis if seq_axis is not None else seq_dim
    attrs = {'seq_dim': first, 'batch_dim': (batch_axis if batch_axis is not None else batch_dim) or 0}
    return call('ReverseSequence', {'input': input, 'seq_lengths': seq_lengths}, attrs, name)


# ---------------------------------------------------------------- blocks of images
def _to_depth(x: Any, block_size: int, data_format: str = 'NHWC') -> Any:
    n, h, w, c = x.shape
    if h % block_size or w % block_size:
        raise invalid(f'Image width {w} and height {h} should be divisible by block_size: {block_size}')
    parts = x.reshape(n, h // block_size, block_size, w // block_size, block_size, c)
    return np.array(parts.transpose(0, 1, 3, 2, 4, 5), order='C').reshape(n, h // block_size, w // block_size, -1)


def _to_space(x: Any, block_size: int, data_format: str = 'NHWC') -> Any:
    n, h, w, c = x.shape
    if c % block_size**2:
        raise invalid(f'Input depth dimension {c} should be divisible by: {block_size**2}')
    parts = x.reshape(n, h, w, block_size, block_size, c // block_size**2)
    return np.array(parts.transpose(0, 1, 3, 2, 4, 5), order='C').reshape(n, h * block_size, w * block_size, -1)


def _block_types(deeper: bool) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        sizes, size = with_rank(inputs[0].shape, 4).sizes, attrs['block_size']
        assert sizes is not None
        n, h, w, c = sizes

        def scaled(value: int | None, up: bool, by: int) -> int | None:
            return None if value is None else value * by if up else value // by
        return [(inputs[0].dtype, TensorShape.of((n, scaled(h, not deeper, size), scaled(w, not deeper, size),
                                                  scaled(c, deeper, size**2))))]
    return infer


register(OpDef('SpaceToDepth', _to_depth, _block_types(True),
               lambda node, grad: [apply('DepthToSpace', (grad,), dict(node.attrs))],
               kernel_attrs=('block_size', 'data_format')))
register(OpDef('DepthToSpace', _to_space, _block_types(False),
               lambda node, grad: [apply('SpaceToDepth', (grad,), dict(node.attrs))],
               kernel_attrs=('block_size', 'data_format')))


def space_to_depth(input: Any, block_size: int, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Blocks of an image as channels.

    Raises:
        ValueError: Another data format than 'NHWC'.
    """
    return _blocks('SpaceToDepth', input, block_size, data_format, name)


def depth_to_space(input: Any, block_size: int, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Channels of an image as blocks.

    Raises:
        ValueError: Another data format than 'NHWC'.
    """
    return _blocks('DepthToSpace', input, block_size, data_format, name)


def _blocks(op: str, x: Any, block_size: int, data_format: str, name: str | None) -> Tensor:
    if data_format != 'NHWC':
        raise invalid(f'Only NHWC data_format supported on CPU. Got {data_format}')
    return call(op, {'input': x}, {'block_size': block_size, 'data_format': data_format}, name)


# ---------------------------------------------------------------- as it is
register(OpDef('GuaranteeConst', lambda x: x, same_rule('GuaranteeConst', None, 'input'), free=True))


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """The tensor itself; in TensorFlow a promise that it never changes."""
    return call('GuaranteeConst', {'input': input}, None, name)
