"""Putting tensors together and taking them apart along an axis: concat, stack, split, tile, pad, reverse."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, as_shape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, graph_of_inputs, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import axis_in, check_attr_type, ints, invalid, merged, text
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- concat
def _concat(*values: Any) -> Any:
    *parts, axis = values
    try:
        return np.concatenate(parts, int(axis))
    except ValueError:
        raise invalid(_concat_fault([as_shape(v.shape) for v in parts], int(axis))) from None


def _concat_fault(shapes: list[TensorShape], axis: int) -> str:
    first = shapes[0].as_list()
    for k, other in enumerate(shapes[1:], 1):
        pair = f'shape[0] = {text(shapes[0])} vs. shape[{k}] = {text(other)}'
        if len(other.as_list()) != len(first):
            return f'ConcatOp : Ranks of all input tensors should match: {pair}'
        for i, (m, n) in enumerate(zip(first, other.as_list(), strict=True)):
            if m != n and i != axis % max(len(first), 1):
                return f'ConcatOp : Dimension {i} in both shapes must be equal: {pair}'
    return f'ConcatOp : Expected concatenating dimensions in the range [{-len(first)}, {len(first)}), but got {axis}'


def _check_one_dtype(op: str, inputs: Sequence[TypedInput]) -> None:
    if any(x.dtype is not inputs[0].dtype for x in inputs):
        raise TypeError(f"Tensors in list passed to 'values' of '{op}' Op have types "
                        f"[{', '.join(x.dtype.name for x in inputs)}] "
                        "that don't all match.")


def _concat_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    *parts, axis = inputs
    _check_one_dtype('ConcatV2', parts)
    dtype, at = parts[0].dtype, ints(axis)
    count = next((x.shape.rank for x in parts if x.shape.rank is not None), None)
    if count == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    if count is None or at is None:
        return [(dtype, unknown(count))]
    place = axis_in(at[0], count)
    rest, total = unknown(count - 1), 0
    static = True
    for x in parts:
        if x.shape.sizes is None:
            static = False
            continue
        if len(x.shape.sizes) != count:
            raise ValueError(f'Shape must be rank {count} but is rank {len(x.shape.sizes)}')
        rest = merged(rest, TensorShape.of(x.shape.sizes[:place] + x.shape.sizes[place + 1:]))
        length = x.shape.sizes[place]
        static, total = static and length is not None, total + (length or 0)
    assert rest.sizes is not None
    return [(dtype, TensorShape.of((*rest.sizes[:place], total if static else None, *rest.sizes[place:])))]


def _concat_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    *parts, axis = node.inputs
    at = ints(axis)
    if len(parts) == 1:
        return [grad, None]
    if at is not None and all(x.shape.sizes is not None and x.shape.sizes[at[0]] is not None for x in parts):
        lengths = constant(np.array([x.shape.sizes[at[0]] for x in parts], np.int32))
    else:
        lengths = apply('Pack', [apply('GatherV2', (sizes_of(x), axis % _rank_of(x), constant(np.int32(0))),
                                       {'batch_dims': 0})
                                 for x in parts], {'axis': 0, 'N': len(parts)})
    return [*apply('SplitV', (grad, lengths, axis), {'num_split': len(parts)}), None]


def _rank_of(x: Tensor) -> Tensor:
    return apply('Rank', (x,))


register(OpDef('ConcatV2', _concat, _concat_types, _concat_gradient, alias='concat'))


@overridable
def concat(values: Any, axis: Any, name: str = 'concat') -> Tensor:
    """Tensors one after the other along an existing axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    other = graph_of_inputs(values)
    if other is not None:
        with other.as_default():
            return concat(values, axis, name)
    with scope(name, 'concat') as full:
        parts = _convert_alike(values)
        if not parts and current_graph() is None:
            raise invalid("OpKernel 'ConcatV2' has constraint on attr 'T' not in NodeDef '[N=0, Tidx=DT_INT32]', KernelDef: "
                          '\'op: "ConcatV2" device_type: "CPU" constraint { name: "T" allowed_values { list { type: '
                          'DT_QINT32 } } } host_memory_arg: "axis"\' [Op:ConcatV2] name: concat')
        if not parts:
            raise ValueError("List argument 'values' to 'ConcatV2' Op with length 0 shorter than minimum length 2.")
        if len(parts) == 1:
            at = convert_to_tensor(axis, dtypes.int32, name='axis')
            if at.shape.rank not in (None, 0):
                raise ValueError(f'Shape {at.shape} must have rank 0')
            return apply('Identity', parts)
        if current_graph() is not None:
            _check_one_dtype('ConcatV2', parts)         # before the axis becomes a node
        axis = convert_to_tensor(axis, dtype_hint=dtypes.int32, name='axis')
        check_attr_type('ConcatV2', 'Tidx', axis.dtype)
        return apply('ConcatV2', (*parts, axis), {'N': len(parts)}, full or name)


def _convert_alike(values: Sequence[Any]) -> list[Tensor]:
    """Tensors of one dtype: that of the first tensor among them."""
    first = next((v.dtype for v in values if isinstance(v, Tensor) or hasattr(v, '_as_tensor')), None)
    return [convert_to_tensor(v, dtype_hint=first, name=f'values_{i}') for i, v in enumerate(values)]


# ---------------------------------------------------------------- stack, unstack
def _pack(*values: Any, axis: int = 0) -> Any:
    first = values[0].shape
    for k, value in enumerate(values):
        if value.shape != first:
            raise invalid(f'Shapes of all inputs must match: values[0].shape = {text(as_shape(first))} != '
                            f'values[{k}].shape = {text(as_shape(value.shape))}')
    return np.stack(values, axis) if values[0].dtype != object or first else np.array([v[()] for v in values], object)


def _pack_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    _check_one_dtype('Pack', inputs)
    shape = inputs[0].shape
    for k, other in enumerate(inputs[1:]):
        try:
            shape = merged(shape, other.shape)
        except ValueError as error:
            raise ValueError(f'{error}\n\tFrom merging shape {k} with other shapes.') from None
    if shape.sizes is None:
        return [(inputs[0].dtype, UNKNOWN)]
    at = axis_in(attrs.get('axis', 0), len(shape.sizes) + 1)
    return [(inputs[0].dtype, TensorShape.of((*shape.sizes[:at], len(inputs), *shape.sizes[at:])))]


register(OpDef('Pack', _pack, _pack_types,
               lambda node, grad: apply('Unpack', (grad,), {'num': len(node.inputs), 'axis': node.attrs.get('axis', 0)},
                                        'unstack'),
               kernel_attrs=('axis',), alias='stack'))


@overridable
def stack(values: Any, axis: int = 0, name: str = 'stack') -> Tensor:
    """Tensors of one shape side by side along a new axis."""
    if isinstance(values, Tensor):
        values = unstack(values)
    parts = _convert_alike(list(values))
    if not parts:
        return convert_to_tensor(parts, name=name)
    rank = parts[0].shape.rank
    if rank is not None and (axis < -rank - 1 or axis > rank):
        raise ValueError(f'Argument `axis` = {axis} not in range [{-rank - 1}, {rank + 1})')
    return apply('Pack', parts, {'axis': axis, 'N': len(parts)}, name)


def _unpack(x: Any, num: int, axis: int = 0) -> Any:
    if x.shape[axis] != num:
        raise invalid(f'Input shape axis {axis} must equal {num}, got shape {text(as_shape(x.shape))}')
    moved = np.moveaxis(x, axis, 0)
    return tuple(np.asarray(part, object) for part in moved) if x.dtype == object else tuple(moved)


def _unpack_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, num = inputs[0], attrs['num']
    sizes = x.shape.sizes
    if sizes is None:
        return [(x.dtype, UNKNOWN)] * num
    at = axis_in(attrs.get('axis', 0), len(sizes))
    if sizes[at] not in (None, num):
        raise ValueError(f'Dimension must be {num} but is {sizes[at]}')
    return [(x.dtype, TensorShape.of(sizes[:at] + sizes[at + 1:]))] * num


register(OpDef('Unpack', _unpack, _unpack_types,
               lambda node, *grads: [apply('Pack', grads, {'axis': node.attrs.get('axis', 0), 'N': len(grads)}, 'stack')],
               outputs=-1, kernel_attrs=('num', 'axis'), free=True, alias='unstack'))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = 'unstack') -> list[Tensor]:
    """The slices of a tensor along `axis`, without that axis.

    Raises:
        ValueError: Their number is neither given nor known.
    """
    value = convert_to_tensor(value)
    if num is None:
        sizes = value.shape.sizes
        if sizes is not None and (axis < -len(sizes) or axis >= len(sizes)):
            raise ValueError(f'Argument `axis` = {axis} not in range [{-len(sizes)}, {len(sizes)})')
        num = None if sizes is None else sizes[axis]
        if num is None:
            raise ValueError(f'Cannot infer argument `num` from shape {value.shape}')
    return apply('Unpack', (value,), {'num': num, 'axis': axis}, name)


# ---------------------------------------------------------------- split
def _split(axis: Any, x: Any, num_split: int) -> Any:
    if x.shape[axis] % num_split:
        raise invalid('Number of ways to split should evenly divide the split dimension, but got split_dim '
                        f'{int(axis) % x.ndim} (size = {x.shape[axis]}) and num_split {num_split}')
    return tuple(np.split(x, num_split, int(axis)))


def _split_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    axis, x = inputs
    at, sizes, num = ints(axis), x.shape.sizes, attrs['num_split']
    if sizes is None or at is None:
        return [(x.dtype, unknown(None if sizes is None else len(sizes)))] * num
    place = axis_in(at[0], len(sizes))
    length = sizes[place]
    if length is not None and length % num:
        raise ValueError(f'Dimension size must be evenly divisible by {num} but is {length}\n\tNumber of ways to split '
                         'should evenly divide the split dimension')
    part = None if length is None else length // num
    return [(x.dtype, TensorShape.of((*sizes[:place], part, *sizes[place + 1:])))] * num


def _split_v(x: Any, lengths: Any, axis: Any, num_split: int) -> Any:
    sizes, at = lengths.tolist(), int(axis)
    if not -x.ndim <= at < x.ndim:
        raise invalid(f'-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {at}')
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[at] - sum(sizes) - 1
    if sum(sizes) != x.shape[at] or min(sizes, default=0) < 0:
        raise invalid('Determined shape must either match input shape along split_dim exactly if fully '
                                               f'specified, or be less than the size of the input along split_dim if not '
                                               f'fully specified.  Got: {sum(sizes)}')
    return tuple(np.split(x, np.cumsum(sizes[:-1]), at))


def _split_v_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, lengths, axis = inputs
    at, sizes, num, parts = ints(axis), x.shape.sizes, attrs['num_split'], ints(lengths)
    if sizes is None or at is None:
        return [(x.dtype, unknown(None if sizes is None else len(sizes)))] * num
    place = axis_in(at[0], len(sizes))
    length = sizes[place]
    if parts is not None and -1 in parts:
        rest = None if length is None else length - sum(parts) - 1
        static_lengths: list[int | None] = [rest if n == -1 else n for n in parts]
    else:
        static_lengths = [None] * num if parts is None else list(parts)
    return [(x.dtype, TensorShape.of((*sizes[:place], n, *sizes[place + 1:]))) for n in static_lengths]


register(OpDef('Split', _split, _split_types,
               lambda node, *grads: [None, apply('ConcatV2', (*grads, node.inputs[0]), {'N': len(grads)})],
               outputs=-1, kernel_attrs=('num_split',), free=True, alias='split'))
register(OpDef('SplitV', _split_v, _split_v_types,
               lambda node, *grads: [apply('ConcatV2', (*grads, node.inputs[2]), {'N': len(grads)}), None, None],
               outputs=-1, kernel_attrs=('num_split',), free=True))


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = 'split') -> list[Tensor]:
    """Cut a tensor along `axis` into a number of equal parts, or into parts of the given sizes (one may be -1).

    Raises:
        ValueError: The number of parts is not known.
    """
    if current_graph() is None and not isinstance(axis, Tensor):
        axis = convert_to_tensor(axis, dtypes.int32)
    if isinstance(num_or_size_splits, (int, np.integer)):
        attrs = {'num_split': int(num_or_size_splits)}
        return call('Split', {'split_dim': axis, 'value': value}, attrs, name)
    lengths = convert_to_tensor(num_or_size_splits, dtype_hint=dtypes.int32)
    if lengths.shape.rank == 0:
        raise ValueError('Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: '
                         f'{num_or_size_splits}')
    num = lengths.shape.num_elements() if num is None else num
    if num is None:
        raise ValueError(f'Cannot infer argument `num` from shape {num_or_size_splits}')
    arguments = {'value': value, 'size_splits': lengths, 'split_dim': axis}
    return call('SplitV', arguments, {'num_split': num}, name)


# ---------------------------------------------------------------- tile
def _tile(x: Any, multiples: Any) -> Any:
    if multiples.size != x.ndim:
        raise invalid(f'Expected multiples argument to be a vector of length {x.ndim} but got length {multiples.size}')
    if multiples.size and multiples.min() < 0:
        place = int(np.argmax(multiples < 0))
        raise invalid(f'Expected multiples[{place}] >= 0, but got {multiples[place]}')
    return np.tile(x, multiples) if x.ndim else x


def _tile_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, multiples = inputs
    sizes, times = x.shape.sizes, ints(multiples)
    if sizes is None or times is None:
        return [(x.dtype, unknown(len(times) if times is not None else None if sizes is None else len(sizes)))]
    if len(times) != len(sizes):
        raise ValueError(f'Shape must be rank {len(times)} but is rank {len(sizes)}')
    return [(x.dtype, TensorShape.of(tuple([None if n is None else n * t for n, t in zip(sizes, times, strict=True)])))]


def _tile_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    """Split each axis into (repetition, element) and sum the repetitions."""
    x, multiples = node.inputs
    shape, times = sizes_of(x), apply('Cast', (multiples,), {'DstT': dtypes.int32})
    pairs = apply('Reshape', (apply('Pack', (times, shape), {'axis': 1, 'N': 2}), constant(np.array([-1], np.int32))))
    axes = call('Range', {'start': 0, 'limit': apply('Size', (pairs,), {'out_type': dtypes.int32}), 'delta': 2})
    summed = apply('Sum', (apply('Reshape', (grad, pairs)), axes), {'keep_dims': False})
    return [apply('Reshape', (summed, shape)), None]


register(OpDef('Tile', _tile, _tile_types, _tile_gradient))


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Repeat the whole tensor `multiples[i]` times along axis i."""
    return call('Tile', {'input': input, 'multiples': multiples}, None, name, multiples=dtypes.int32)


# ---------------------------------------------------------------- reverse
def _reverse(x: Any, axis: Any) -> Any:
    axes = set()
    for place, at in enumerate(axis.tolist()):
        if not -x.ndim <= at < x.ndim:
            raise invalid(f"'axis'[{place}] = {at} is out of valid range [0, {x.ndim - 1}")
        if at % x.ndim in axes:
            raise invalid(f'axis {at % x.ndim} specified more than once.')
        axes.add(at % x.ndim)
    return np.flip(x, tuple(axis.tolist())) if x.ndim else x


register(OpDef('ReverseV2', _reverse, lambda inputs, attrs: [(inputs[0].dtype, inputs[0].shape)],
               lambda node, grad: [apply('ReverseV2', (grad, node.inputs[1])), None], free=True))


@overridable
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The tensor backwards along each of the axes in the list `axis`."""
    return call('ReverseV2', {'tensor': tensor, 'axis': axis}, None, name, axis=dtypes.int32)


