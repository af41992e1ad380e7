"""Reading and writing elements by integer index: gather, scatter, and masks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, reshape, shape as shape_of, size
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, axis_in, check_least, int_attr, ints, invalid
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- gather along an axis
def _check_range(indices: Any, size: int) -> None:
    bad = (indices < 0) | (indices >= size)
    if np.any(bad):
        where = [] if not indices.ndim else np.argwhere(bad)[0].tolist()
        value = indices[tuple(where)] if where else indices
        place = f'[{",".join(map(str, where))}]' if where else ''
        raise invalid(f'indices{place} = {value} is not in [0, {size})')


def _grid(shape: Sequence[int], extra: int) -> tuple[Any, ...]:
    """Index arrays of each batch element, with `extra` trailing axes of size 1."""
    return tuple(grid.reshape(grid.shape + (1,) * extra) for grid in np.indices(shape, sparse=True)) if shape else ()


def _gather(params: Any, indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    least = int(axis) + 1 if axis >= 0 else -int(axis)
    if least > params.ndim:
        raise invalid(f'Shape must be at least rank {least} but is rank {params.ndim}')
    at = int(axis) % params.ndim
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    _check_range(indices, params.shape[at])
    if not batch:
        return params.take(indices, at)
    moved = np.moveaxis(params, at, batch)
    slices = moved[(*_grid(params.shape[:batch], indices.ndim - batch), indices)]
    # The axes are now: batch, indices, those between batch and `axis`, the rest. In TensorFlow those of the indices are
    # in place of `axis`.
    order = list(range(slices.ndim))
    index_axes = order[batch:indices.ndim]
    between = order[indices.ndim:indices.ndim + at - batch]
    return slices.transpose(order[:batch] + between + index_axes + order[indices.ndim + at - batch:])


def _gather_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    params, indices, axis = inputs
    at, sizes, index_sizes = ints(axis), params.shape.sizes, indices.shape.sizes
    if sizes is None or index_sizes is None:
        return [(params.dtype, UNKNOWN)]
    batch = attrs.get('batch_dims', 0)
    batch += len(index_sizes) if batch < 0 else 0
    if at is None:
        return [(params.dtype, unknown(len(sizes) - 1 + len(index_sizes) - batch))]
    if not sizes:
        raise ValueError('Shape must be at least rank 1 but is rank 0')
    place = axis_in(at[0], len(sizes))
    return [(params.dtype, TensorShape.of((*sizes[:place], *index_sizes[batch:], *sizes[place + 1:])))]


def _gather_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    params, indices, axis = node.inputs
    attrs = {'batch_dims': node.attrs.get('batch_dims', 0)}
    if not attrs['batch_dims'] and ints(axis) == [0]:
        return [_slices(params, indices, grad), None, None]
    return [apply('GatherV2Grad', (sizes_of(params), indices, axis, grad), attrs), None, None]


def _slices(params: Any, indices: Any, grad: Any) -> IndexedSlices:
    """Gradient by `params` indexed along the first axis: the gathered slices with their indices."""
    dense_shape = shape_of(params)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, dense_shape[1:]], 0))
    return IndexedSlices(values, reshape(indices, count), dense_shape)


def _gather_grad(shape: Any, indices: Any, axis: Any, grad: Any, batch_dims: int = 0) -> Any:
    total = np.zeros(shape.tolist(), grad.dtype)
    at = int(axis) % total.ndim
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    index_axes = list(range(at, at + indices.ndim - batch))
    rest = [i for i in range(grad.ndim) if i >= batch and i not in index_axes]
    moved = np.moveaxis(total, at, batch)
    np.add.at(moved, (*_grid(total.shape[:batch], indices.ndim - batch), indices),
              grad.transpose([*range(batch), *index_axes, *rest]))
    return total


register(OpDef('GatherV2', _gather, _gather_types, _gather_gradient, kernel_attrs=('batch_dims',)))
register(OpDef('GatherV2Grad', _gather_grad, lambda inputs, attrs: [(inputs[3].dtype, as_static_shape(inputs[0]))],
               lambda node, grad: [None, None, None, apply('GatherV2', (grad, *node.inputs[1:3]), dict(node.attrs))],
               kernel_attrs=('batch_dims',)))


@overridable
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
           name: str | None = None) -> Tensor:
    """The slices of `params` along `axis` (the first after the batch axes) that `indices` name."""
    batch_dims = int_attr(batch_dims, 'batch_dims')
    axis = batch_dims if axis is None else axis
    arguments = {'params': params, 'indices': indices, 'axis': axis}
    return call('GatherV2', arguments, {'batch_dims': batch_dims}, name, indices=dtypes.int32)


def embedding_lookup(params: Any, ids: Any, max_norm: float | None = None, name: str | None = None) -> Tensor:
    """The rows of `params` that `ids` name.

    Raises:
        ValueError: Several tensors, or `max_norm`: neither is supported.
    """
    if (isinstance(params, (list, tuple)) and len(params) != 1) or max_norm is not None:
        raise ValueError('embedding_lookup takes one tensor of parameters, and no max_norm')
    return gather(params[0] if isinstance(params, (list, tuple)) else params, ids, name=name or 'embedding_lookup')


# ---------------------------------------------------------------- gather and scatter by coordinates
def _coordinates(indices: Any, shape: Sequence[int], batch: int = 0, reads: bool = False) -> tuple[Any, ...]:
    """The index arrays for coordinates in the last axis of `indices`.

    Raises:
        InvalidArgumentError: One is out of the bounds of `shape`.
    """
    if not indices.ndim:
        raise invalid('indices must be at least a vector')
    inner = shape[batch:]
    depth = indices.shape[-1]
    if depth > len(inner):
        raise invalid(f'index innermost dimension length must be <= params rank; saw: {depth} vs. {len(inner)}')
    bad = np.any((indices < 0) | (indices >= np.array(inner[:depth], indices.dtype)), -1)
    if np.any(bad):
        at = np.argwhere(bad)[0].tolist()
        place, within = (','.join(map(str, v)) for v in (at, shape))
        value = (', ' if reads else ',').join(map(str, indices[tuple(at)].tolist()))
        into = f'param shape [{within}], node name: GatherNd' if reads else f'shape [{within}]'
        raise invalid(f'indices[{place}] = [{value}] does not index into {into}')
    return (*_grid(shape[:batch], indices.ndim - 1 - batch), *np.moveaxis(indices, -1, 0))


def _gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    if not params.ndim:
        raise invalid('params must be at least a vector')
    slices = params[_coordinates(indices, params.shape, batch_dims, reads=True)]
    return np.asarray(slices, object) if params.dtype == object else slices


def _gather_nd_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    params, indices = inputs
    sizes, index_sizes = params.shape.sizes, indices.shape.sizes
    if index_sizes == ():
        raise ValueError('Shape must be at least rank 1 but is rank 0')
    if sizes is None or index_sizes is None or index_sizes[-1] is None:
        return [(params.dtype, UNKNOWN)]
    depth = index_sizes[-1] + attrs.get('batch_dims', 0)
    if depth > len(sizes):
        raise ValueError(f'indices.shape[-1] must be <= params.rank, but saw indices shape: {list(index_sizes)} and params '
                         f'shape: {list(sizes)}')
    return [(params.dtype, TensorShape.of((*index_sizes[:-1], *sizes[depth:])))]


def _check_updates(indices: Any, updates: Any, shape: tuple[int, ...]) -> None:
    if not indices.ndim:
        raise invalid('Indices shape must have rank at least one. Found:[]')
    outer, depth = indices.ndim - 1, indices.shape[-1]
    if updates.shape[outer:] != shape[depth:] and updates.shape[:outer] == indices.shape[:-1]:
        raise invalid(f'Dimensions [{depth},{len(shape)}) of input[shape=[{",".join(map(str, shape))}]] must match '
                      f'dimensions [{outer},{updates.ndim}) of updates[shape=[{",".join(map(str, updates.shape))}]]')
    if updates.shape[:outer] != indices.shape[:-1]:
        shapes = [','.join(map(str, x.shape)) for x in (indices, updates)]
        raise invalid(f'Dimensions [0,{outer}) of indices[shape=[{shapes[0]}]] must match dimensions [0,{outer}) of '
                      f'updates[shape=[{shapes[1]}]]')


def _scatter_nd(indices: Any, updates: Any, shape: Any, batch_dims: int = 0) -> Any:
    if updates.dtype == object:
        total = np.full(shape.tolist(), b'', object)
        total[_coordinates(indices, total.shape, batch_dims)] = updates
        return total
    if shape.ndim != 1:
        raise invalid('Shape must be a vector')
    total = np.zeros(shape.tolist(), updates.dtype)
    if not batch_dims:
        _check_updates(indices, updates, total.shape)
    np.add.at(total, _coordinates(indices, total.shape, batch_dims), updates)
    return total


def _gather_nd_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    params, indices = node.inputs
    index_sizes = indices.shape.sizes
    if not node.attrs.get('batch_dims', 0) and index_sizes is not None and len(index_sizes) == 2 and index_sizes[1] == 1:
        return [IndexedSlices(grad, reshape(indices, [-1]), shape_of(params, out_type=indices.dtype)), None]
    return [apply('ScatterNd', (indices, grad, sizes_of(params)), dict(node.attrs)), None]


register(OpDef('GatherNd', _gather_nd, _gather_nd_types, _gather_nd_gradient, kernel_attrs=('batch_dims',)))
register(OpDef('ScatterNd', _scatter_nd, lambda inputs, attrs: [(inputs[1].dtype, as_static_shape(inputs[2]))],
               lambda node, grad: [None, apply('GatherNd', (grad, node.inputs[0]), dict(node.attrs)), None],
               kernel_attrs=('batch_dims',)))


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Tensor:
    """The elements or slices of `params` at the coordinates in the last axis of `indices`."""
    return call('GatherNd', {'params': params, 'indices': indices}, {'batch_dims': batch_dims}, name, indices=dtypes.int32)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at the coordinates in the last axis of `indices`."""
    if not isinstance(indices, Tensor) and not isinstance(shape, Tensor) and current_graph() is None:
        indices = convert_to_tensor(indices, dtype_hint=dtypes.int32)
        shape = convert_to_tensor(shape, indices.dtype)         # of one type
    return call('ScatterNd', {'indices': indices, 'updates': updates, 'shape': shape}, None, name,
                indices=dtypes.int32, shape=dtypes.int32)


def _scatter_slices(tensor: Any, indices: Any, updates: Any, write: Any) -> Any:
    result = tensor.copy()
    if not indices.ndim:
        raise invalid('Indices shape must have rank at least one. Found:[]')
    index = _coordinates(indices, result.shape)
    if updates.shape[:indices.ndim - 1] != indices.shape[:-1]:
        raise invalid('Outer dimensions of indices and update must match. Indices shape: '
                      f'[{",".join(map(str, indices.shape))}], updates shape:[{",".join(map(str, updates.shape))}]')
    if updates.shape[indices.ndim - 1:] != result.shape[indices.shape[-1]:]:
        raise invalid('Inner dimensions of output shape must match inner dimensions of updates shape. Output: '
                      f'[{",".join(map(str, result.shape))}] updates: [{",".join(map(str, updates.shape))}]')
    if write is None:
        result[index] = updates
    else:
        write(result, index, updates)
    return result


def _first_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(inputs[0].dtype, inputs[0].shape)]


def _update_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    _, indices, updates = node.inputs
    tensor_gradient = apply('TensorScatterUpdate', (grad, indices, apply('ZerosLike', (updates,))))
    return [tensor_gradient, None, apply('GatherNd', (grad, indices), {'batch_dims': 0})]


register(OpDef('TensorScatterUpdate', lambda t, i, u: _scatter_slices(t, i, u, None), _first_types, _update_gradient))
register(OpDef('TensorScatterAdd', lambda t, i, u: _scatter_slices(t, i, u, np.add.at), _first_types,
               lambda node, grad: [grad, None, apply('GatherNd', (grad, node.inputs[1]), {'batch_dims': 0})]))
register(OpDef('TensorScatterSub', lambda t, i, u: _scatter_slices(t, i, u, np.subtract.at), _first_types,
               lambda node, grad: [grad, None, -apply('GatherNd', (grad, node.inputs[1]), {'batch_dims': 0})]))
def _extreme_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    """The elements that equal the result share the gradient."""
    tensor, indices, updates = node.inputs
    result = node.outputs[0]
    chosen_of_tensor, chosen_of_updates = (cast(apply('Equal', (part, extreme)), grad.dtype)
                     for part, extreme in ((tensor, result), (updates, apply('GatherNd', (result, indices)))))
    share = grad / (chosen_of_tensor + apply('ScatterNd', (indices, chosen_of_updates, sizes_of(tensor))))
    return [share * chosen_of_tensor, None, apply('GatherNd', (share, indices)) * chosen_of_updates]


register(OpDef('TensorScatterMax', lambda t, i, u: _scatter_slices(t, i, u, np.maximum.at), _first_types,
               _extreme_gradient))
register(OpDef('TensorScatterMin', lambda t, i, u: _scatter_slices(t, i, u, np.minimum.at), _first_types,
               _extreme_gradient))


def _scatter(op: str, tensor: Any, indices: Any, updates: Any, name: str | None) -> Tensor:
    tensor = convert_to_tensor(tensor)
    updates = convert_to_tensor(updates, None if isinstance(updates, Tensor) else tensor.dtype)
    return call(op, {'tensor': tensor, 'indices': indices, 'updates': updates}, None, name, indices=dtypes.int32)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` at the coordinates in the last axis of `indices`."""
    return _scatter('TensorScatterUpdate', tensor, indices, updates, name)


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` added at the coordinates."""
    return _scatter('TensorScatterAdd', tensor, indices, updates, name)


def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` subtracted at the coordinates."""
    return _scatter('TensorScatterSub', tensor, indices, updates, name)


def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with the larger of it and `updates` at the coordinates."""
    return _scatter('TensorScatterMax', tensor, indices, updates, name)


def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with the smaller of it and `updates` at the coordinates."""
    return _scatter('TensorScatterMin', tensor, indices, updates, name)


# ---------------------------------------------------------------- masks and stitching
@overridable
def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = 'boolean_mask') -> Tensor:
    """The elements or slices of `tensor` where `mask` is True; the axes of `mask`, from `axis` on, become one.

    Raises:
        ValueError: The mask has no static rank, or rank 0, or does not fit.
    """
    with scope(name, 'boolean_mask'):
        tensor, mask = convert_to_tensor(tensor), convert_to_tensor(mask, dtype_hint=dtypes.bool)
        count = mask.shape.rank
        if count is None:
            raise ValueError('Number of mask dimensions must be specified, even if some dimensions are None.  E.g. '
                             'shape=[None] is ok, but shape=None is not.')
        if count == 0:
            raise ValueError('mask cannot be scalar.')
        at = axis or 0
        at += tensor.shape.rank if at < 0 else 0
        tensor.shape[at:at + count].assert_is_compatible_with(mask.shape)
        sizes = sizes_of(tensor)
        merged = apply('ConcatV2', (sizes[:at], vector([-1]), sizes[at + count:], constant(np.int32(0))))
        rows = apply('Squeeze', (apply('Where', (apply('Reshape', (mask, vector([-1]))),)),), {'squeeze_dims': [1]})
        return gather(apply('Reshape', (tensor, merged)), rows, axis=at)


def _dynamic_stitch(*values: Any) -> Any:
    half = len(values) // 2
    indices, data = values[:half], values[half:]
    rest = data[0].shape[indices[0].ndim:]
    size = max((int(i.max()) + 1 for i in indices if i.size), default=0)
    for index in indices:
        if index.size and index.min() < 0:
            raise invalid(f'indices[{int(np.argmin(index))}] is out of range')
    result = np.zeros((size, *rest), data[0].dtype)
    for index, value in zip(indices, data, strict=True):
        result[index] = value
    return result


def _dynamic_stitch_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    half = len(inputs) // 2
    first = inputs[0].shape.rank
    return [(inputs[half].dtype,
             UNKNOWN if first is None else TensorShape.of((None,)).concatenate(inputs[half].shape[first:]))]


def _dynamic_stitch_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    half = len(node.inputs) // 2
    return [*[None] * half, *(gather(grad, index, axis=0) for index in node.inputs[:half])]


# Of repeated indices the last value wins, but each gets its gradient, as in TensorFlow.
register(OpDef('DynamicStitch', _dynamic_stitch, _dynamic_stitch_types, _dynamic_stitch_gradient))


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """One tensor with `data[k]` at the indices `indices[k]`; of repeated indices the last wins."""
    if len(indices) != len(data):
        raise ValueError(f"List argument 'data' to 'dynamic_stitch' Op with length {len(data)} must match length "
                         f"{len(indices)} of argument 'indices'.")
    if not indices:
        check_least('DynamicStitch', 'N', 0)
    return apply('DynamicStitch', [*(convert_to_tensor(i) for i in indices), *(convert_to_tensor(d) for d in data)],
                 {'N': len(indices)}, name)


