"""Slices: `tf.slice`, and `tensor[...]` with everything that Python allows there."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, graph_of_inputs, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, ints, invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

MASKS = ('begin_mask', 'end_mask', 'ellipsis_mask', 'new_axis_mask', 'shrink_axis_mask')
Index = tuple[Any, ...]


# ---------------------------------------------------------------- strided_slice
def _index(begin: Sequence[int], end: Sequence[int], strides: Sequence[int], sizes: Sequence[int | None],
           begin_mask: int = 0,
           end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> Index:
    """The index that NumPy understands.

    Raises:
        ValueError: An index is out of bounds, there are too many, or a stride is 0.
    """
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError('Multiple ellipses in slice spec not allowed')
    index: list[Any] = []
    axis = 0
    count = len(begin)
    for i in range(count):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
            axis = len(sizes) - sum(1 for j in range(i + 1, count) if not new_axis_mask & (1 << j))
            continue
        if new_axis_mask & bit:
            index.append(None)
            continue
        if not sizes:
            raise ValueError('Attempting to slice scalar input.')
        if axis >= len(sizes):
            raise ValueError(f'Index out of range using input dim {axis}; input has only {len(sizes)} dims')
        size = sizes[axis]
        if shrink_axis_mask & bit:
            if size is not None and not -size <= begin[i] < size:
                raise ValueError(f'slice index {begin[i]} of dimension {axis} out of bounds.')
            index.append(begin[i])
        else:
            if not strides[i]:
                raise ValueError(f'strides[{i}] must be non-zero')
            index.append(slice(None if begin_mask & bit else begin[i], None if end_mask & bit else end[i], strides[i]))
        axis += 1
    return tuple(index)


def numpy_index(shape: Sequence[int], begin: Any, end: Any, strides: Any, masks: dict[str, int]) -> Index:
    """The index that NumPy understands."""
    try:
        return _index(begin.tolist(), end.tolist(), strides.tolist(), shape, **masks)
    except ValueError as error:
        raise invalid(str(error)) from None


def _strided_slice(x: Any, begin: Any, end: Any, strides: Any, **masks: int) -> Any:
    result = x[numpy_index(x.shape, begin, end, strides, masks)]
    return np.asarray(result, object) if x.dtype == object else result


def _strided_slice_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x = inputs[0]
    sizes = x.shape.sizes
    begin, end, strides = (ints(t) for t in inputs[1:])
    masks = {key: attrs.get(key, 0) for key in MASKS}
    if sizes is None or strides is None:
        return [(x.dtype, UNKNOWN)]
    if begin is None or end is None:
        count = inputs[1].shape.num_elements()
        if count is None:
            return [(x.dtype, UNKNOWN)]
        # The positions are not known, but which axes stay is, and a full slice keeps its size.
        begin, end = begin or [0] * count, end or [0] * count
        static_sizes = _static_sizes(_index(begin, end, strides, [None] * len(sizes), **masks), sizes)
        return [(x.dtype, TensorShape.of(tuple([n if full else None for n, full in static_sizes])))]
    static_sizes = _static_sizes(_index(begin, end, strides, sizes, **masks), sizes)
    return [(x.dtype, TensorShape.of(tuple([n for n, _ in static_sizes])))]


def _static_sizes(index: Index, sizes: Sequence[int | None]) -> list[tuple[int | None, bool]]:
    """(size, whether the whole axis is kept) of each axis of `x[index]`."""
    result: list[tuple[int | None, bool]] = []
    axis = 0
    indexed_axes = sum(1 for item in index if item is not None and item is not Ellipsis)
    for item in index:
        if item is None:
            result.append((1, True))
        elif item is Ellipsis:
            result += [(n, True) for n in sizes[axis:axis + len(sizes) - indexed_axes]]
            axis += len(sizes) - indexed_axes
        else:
            if isinstance(item, slice):
                result.append(_slice_size(item, sizes[axis]))
            axis += 1
    return result + [(n, True) for n in sizes[axis:]]


def _slice_size(item: slice, size: int | None) -> tuple[int | None, bool]:
    full = item.start is None and item.stop is None and item.step in (1, -1)
    if size is not None:
        return len(range(*item.indices(size))), full
    if full:
        return None, True
    start, stop = item.start or 0, item.stop
    same_side = stop is not None and item.step > 0 and (start < 0) == (stop < 0) and stop <= start
    return (0 if same_side else None), False


def _strided_slice_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, begin, end, strides = node.inputs
    shape = apply('Cast', (sizes_of(x),), {'DstT': begin.dtype})
    return [apply('StridedSliceGrad', (shape, begin, end, strides, grad), dict(node.attrs)), None, None, None]


def _strided_slice_grad(shape: Any, begin: Any, end: Any, strides: Any, grad: Any, **masks: int) -> Any:
    result = np.zeros(shape.tolist(), grad.dtype)
    result[numpy_index(result.shape, begin, end, strides, masks)] = grad
    return result


register(OpDef('StridedSlice', _strided_slice, _strided_slice_types, _strided_slice_gradient, kernel_attrs=MASKS, free=True,
               alias='strided_slice/'))
register(OpDef('StridedSliceGrad', _strided_slice_grad, lambda inputs, attrs: [(inputs[4].dtype,
                                                                                as_static_shape(inputs[0]))],
               lambda node, grad: [None, None, None, None, apply('StridedSlice', (grad, *node.inputs[1:4]),
                                                                 dict(node.attrs))],
               kernel_attrs=MASKS))


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Tensor:
    """`input_[begin:end:strides]` along every axis named; bit i of a mask changes the meaning of position i."""
    if strides is None:
        strides = apply('OnesLike', (convert_to_tensor(begin),))
    masks = dict(zip(MASKS, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    arguments = {'input': input_, 'begin': begin, 'end': end, 'strides': strides}
    return call('StridedSlice', arguments, masks, name)


def getitem(tensor: Any, key: Any) -> Tensor:
    """`tensor[key]`: integers, slices, ellipsis, newaxis, and integer tensors, alone or in a tuple; or a mask of bools.

    Raises:
        TypeError: Anything else.
        ValueError: More than one ellipsis, or a mask that does not fit.
    """
    if type(key) is not int and type(key) is not slice and _is_mask(key):
        from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask
        return boolean_mask(tensor, key)
    other = graph_of_inputs((tensor,))
    with other.as_default() if other is not None else nullcontext(), scope(None, 'strided_slice') as full:
        places, masks = stacked_specification(key)
        return apply('StridedSlice', (tensor, *places), masks, full or 'strided_slice')


def stacked_specification(key: Any) -> tuple[list[Tensor], dict[str, int]]:
    """The items between the brackets as tensors (begin, end, strides) and masks."""
    *positions, masks = _specification(key if isinstance(key, (tuple, list)) else (key,))
    stacked = [_positions(part, label) for part, label in zip(positions, ('stack', 'stack_1', 'stack_2'), strict=True)]
    return _of_one_dtype(stacked), masks


def _specification(keys: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    """(begin, end, strides, masks) for the items between the brackets."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(MASKS, 0)
    for i, item in enumerate(keys):
        first, last, step = 0, 0, 1
        if isinstance(item, slice):
            for part, mask in ((item.start, 'begin_mask'), (item.stop, 'end_mask'), (item.step, '')):
                if part is not None:
                    _check(part)
                elif mask:
                    masks[mask] |= 1 << i
            first, last, step = (default if part is None else part for part, default in
                                 ((item.start, 0), (item.stop, 0), (item.step, 1)))
        elif item is Ellipsis:
            masks['ellipsis_mask'] |= 1 << i
        elif item is None:
            masks['new_axis_mask'] |= 1 << i
        else:
            _check(item)
            masks['shrink_axis_mask'] |= 1 << i
            first, last = item, item + 1
        begin.append(first)
        end.append(last)
        strides.append(step)
    return begin, end, strides, masks


def _positions(values: list[Any], name: str) -> Tensor:
    for value in values:
        if isinstance(value, Tensor):
            return apply('Pack', [convert_to_tensor(v, value.dtype) for v in values], {'axis': 0, 'N': len(values)}, name)
    array = np.array(values, np.int32 if all(-2**31 <= value < 2**31 for value in values) else np.int64)
    return EagerTensor(array) if current_graph() is None else constant(array, name=name)


def _of_one_dtype(parts: list[Tensor]) -> list[Tensor]:
    if any(part.dtype == dtypes.int64 for part in parts):
        return [part if part.dtype == dtypes.int64 else apply('Cast', (part,), {'DstT': dtypes.int64}) for part in parts]
    return parts


def _is_mask(key: Any) -> bool:
    return isinstance(key, bool) or getattr(key, 'dtype', None) in (dtypes.bool, np.dtype(bool))


def _check(item: Any) -> None:
    if type(item) is int or (isinstance(item, (int, np.integer)) and not isinstance(item, bool)):
        return
    dtype = getattr(item, 'dtype', None)
    if dtype is not None and dtypes.as_dtype(dtype).is_integer and len(getattr(item, 'shape', ())) == 0:
        return
    raise TypeError('Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 '
                    f'tensors are valid indices, got {item!r}')


# ---------------------------------------------------------------- slice
def _slice(x: Any, begin: Any, size: Any) -> Any:
    if not begin.shape == size.shape == (x.ndim,):
        shapes = ' and '.join(f'[{",".join(map(str, value.shape))}]' for value in (begin, size))
        raise invalid(f'Expected begin and size arguments to be 1-D tensors of size {x.ndim}, but got shapes {shapes} '
                      'instead.')
    index = []
    for axis, (start, length) in enumerate(zip(begin.tolist(), size.tolist(), strict=True)):
        length_of_axis = x.shape[axis]
        if not length_of_axis and (start or length not in (0, -1)):
            raise invalid(f'Expected begin[{axis}] == 0 (got {start}) and size[{axis}] == 0 (got {length}) when '
                          f'input.dim_size({axis}) == 0')
        if not 0 <= start <= length_of_axis:
            raise invalid(f'Expected begin[{axis}] in [0, {length_of_axis}], but got {start}')
        stop = length_of_axis if length == -1 else start + length
        if not start <= stop <= length_of_axis:
            raise invalid(f'Expected size[{axis}] in [0, {length_of_axis - start}], but got {length}')
        index.append(slice(start, stop))
    return x[tuple(index)] if index else x


def _slice_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, start, length = inputs[0], ints(inputs[1]), ints(inputs[2])
    sizes = x.shape.sizes
    if length is None:
        return [(x.dtype, unknown(None if sizes is None else len(sizes)))]
    if sizes is not None and len(sizes) != len(length):
        raise ValueError(f'Shape must be rank {len(length)} but is rank {len(sizes)}')
    result_sizes: list[int | None] = []
    for axis, n in enumerate(length):
        length_of_axis = None if sizes is None else sizes[axis]
        if n == -1:
            result_sizes.append(None if length_of_axis is None or start is None else length_of_axis - start[axis])
            continue
        if length_of_axis is not None and start is not None and start[axis] + n > length_of_axis:
            raise ValueError(f'Expected size[{axis}] in [0, {length_of_axis - start[axis]}], but got {n}')
        result_sizes.append(n)
    return [(x.dtype, TensorShape.of(tuple(result_sizes)))]


def _slice_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, begin = node.inputs[:2]
    begin = apply('Cast', (begin,), {'DstT': dtypes.int32})
    after = sizes_of(x) - begin - sizes_of(node.outputs[0])
    return [apply('Pad', (grad, apply('Pack', (begin, after), {'axis': 1, 'N': 2}))), None, None]


register(OpDef('Slice', _slice, _slice_types, _slice_gradient, free=True))


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size[i]` elements from `begin[i]` on along each axis i; -1 means all that follow."""
    if current_graph() is None and isinstance(begin, str):
        begin = convert_to_tensor(begin)
        size = convert_to_tensor(size, begin.dtype)     # of one type
    return call('Slice', {'input': input_, 'begin': begin, 'size': size}, None, name,
                begin=dtypes.int32, size=dtypes.int32)


