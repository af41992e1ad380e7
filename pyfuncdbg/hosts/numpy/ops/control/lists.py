"""Ops on lists of tensors, the basis of TensorArrays in graphs. A cell without a value counts as zero.

A gradient of a list is a list, cell by cell.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, ints, invalid
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_LIST: list[Output] = [(dtypes.variant, TensorShape(()))]


# ---------------------------------------------------------------- cells
def sizes(shape: Any) -> Any:
    """A shape as the input `element_shape`: -1 for an unknown size. A tensor for the shape of a scalar, as
    in TensorFlow."""
    if isinstance(shape, Tensor):
        return shape
    static_sizes = None if shape is None else TensorShape(shape).sizes
    if static_sizes == ():
        return constant(np.zeros(0, np.int32))
    return -1 if static_sizes is None else [-1 if n is None else n for n in static_sizes]


def sizes_tensor(shape: Any) -> Tensor:
    """The same as a tensor."""
    static_sizes = sizes(shape)
    return static_sizes if isinstance(static_sizes, Tensor) else constant(np.array(static_sizes, np.int32))


def _cell_shape(sizes: TypedInput) -> TensorShape:
    """The static shape of cells."""
    return UNKNOWN if sizes.shape.rank == 0 else as_static_shape(sizes)


def _zeros(cells: TensorList, sizes: Any, dtype: DType) -> Any:
    """The value read from an empty cell: zeros in the declared shape of cells, or in that of another cell."""
    shape = None if np.ndim(sizes) == 0 or (np.asarray(sizes) < 0).any() else tuple(np.asarray(sizes).tolist())
    if shape is None:
        shape = next((np.shape(value) for value in cells.items() if value is not None), None)
    if shape is None:
        raise invalid('Trying to read an uninitialized element of a list whose element_shape is not fully defined: '
                      f'{np.asarray(sizes).tolist()}')
    if dtype.array.hasobject:
        return np.full(shape, b'', object)
    return np.zeros(shape, dtype.array) if shape else dtype.array.type(0)


def _all(cells: TensorList, sizes: Any, dtype: DType) -> list[Any]:
    return [_zeros(cells, sizes, dtype) if value is None else value for value in cells.items()]


def _rows(x: Any) -> list[Any]:
    """The slices along the first axis."""
    return [np.asarray(row, object) for row in x] if x.dtype.hasobject else list(x)


def _stacked(values: Sequence[Any], sizes: Any, dtype: DType) -> Any:
    if not values:
        inner = [] if np.ndim(sizes) == 0 else [max(n, 0) for n in np.asarray(sizes).tolist()]
        if np.ndim(sizes) == 0 or (np.asarray(sizes) < 0).any():
            raise invalid('Tried to stack elements of an empty list with non-fully-defined element_shape: '
                          f'{_unknown_text(sizes)}')
        return np.zeros([0, *inner], dtype.array)
    shapes = {np.shape(value) for value in values}
    if len(shapes) > 1:
        first, other = np.shape(values[0]), next(np.shape(v) for v in values if np.shape(v) != np.shape(values[0]))
        raise invalid(f'Tried to stack list which only contains elements of different shapes: {list(first)} and '
                      f'{list(other)}')
    return np.stack(values) if not dtype.array.hasobject else np.array(
        [value[()] if not np.ndim(value) else value for value in values], object)


def _unknown_text(sizes: Any) -> str:
    if np.ndim(sizes) == 0:
        return '<unknown>'
    return '[' + ','.join('?' if n < 0 else str(n) for n in np.asarray(sizes).tolist()) + ']'


def _place(index: Any, cells: TensorList, what: str) -> int:
    place = int(index)
    if not 0 <= place < cells.size:
        raise invalid(f'Trying to {what} element {place} in a list with {cells.size} elements.')
    return place


# ---------------------------------------------------------------- kernels
def _reserve(sizes: Any, count: Any) -> TensorList:
    if int(count) < 0:
        raise invalid(f'The num_elements to reserve must be a non negative number, but got {int(count)}')
    return TensorList([None] * int(count))


def _get(cells: TensorList, index: Any, sizes: Any, element_dtype: Any) -> Any:
    value = cells.get(_place(index, cells, 'access'))
    return _zeros(cells, sizes, element_dtype) if value is None else value


def _set(cells: TensorList, index: Any, item: Any, resize_if_index_out_of_bounds: bool = False) -> TensorList:
    if resize_if_index_out_of_bounds and int(index) >= cells.size:
        cells = cells.pushed([None] * (int(index) + 1 - cells.size))
    return cells.replaced(_place(index, cells, 'modify'), item)


def _stack(cells: TensorList, sizes: Any, element_dtype: Any, num_elements: int = -1) -> Any:
    if num_elements not in (-1, cells.size):
        raise invalid(f'Operation expected a list with {num_elements} elements but got a list with {cells.size} elements.')
    return _stacked(_all(cells, sizes, element_dtype), sizes, element_dtype)


def _gather(cells: TensorList, indices: Any, sizes: Any, element_dtype: Any) -> Any:
    return _stacked([_get(cells, i, sizes, element_dtype) for i in indices], sizes, element_dtype)


def _scatter(cells: TensorList, tensor: Any, indices: Any) -> TensorList:
    for index, row in zip(indices.tolist(), _rows(tensor), strict=True):
        if index >= cells.size:
            cells = cells.pushed([None] * (index + 1 - cells.size))
        cells = cells.replaced(_place(index, cells, 'modify'), row)
    return cells


def _concat(cells: TensorList, sizes: Any, leading: Any, element_dtype: Any) -> tuple[Any, Any]:
    inner = [] if np.ndim(sizes) == 0 else np.asarray(sizes)[1:].tolist()
    values = []
    for i, value in enumerate(cells.items()):
        if value is None:
            length = int(leading[i]) if len(leading) > i else int(np.asarray(sizes).reshape(-1)[0])
            value = _zeros(cells, np.array([length, *inner], np.int32), element_dtype)
        if not np.ndim(value):
            raise invalid(f'Concat saw a scalar shape at index {i} but requires at least vectors.')
        values.append(value)
    lengths = np.array([len(value) for value in values], np.int64)
    if not values:
        return np.zeros([0, *(max(n, 0) for n in inner)], element_dtype.array), lengths
    return np.concatenate(values), lengths


def _split(tensor: Any, sizes: Any, lengths: Any) -> TensorList:
    if not tensor.ndim:
        raise invalid(f'Tensor must be at least a vector, but saw shape: {list(tensor.shape)}')
    if int(lengths.sum()) != len(tensor):
        raise invalid('Expected sum of lengths to be equal to values.shape[0], but sum of lengths is '
                      f"{int(lengths.sum())} and value's shape is: {list(tensor.shape)}")
    ends = np.cumsum(lengths).tolist()
    return TensorList([tensor[end - length:end] for end, length in zip(ends, lengths.tolist(), strict=True)])


def _resize(cells: TensorList, size: Any) -> TensorList:
    new_size = int(size)
    return cells if new_size == cells.size else TensorList(
        [*cells.items(), *[None] * (new_size - cells.size)] if new_size > cells.size else cells.items()[:new_size])


# ---------------------------------------------------------------- types
def _list_type(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return _LIST


def _item_type(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(attrs['element_dtype'], _cell_shape(inputs[2]))]


def _stack_type(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    count = attrs.get('num_elements', -1)
    return [(attrs['element_dtype'], TensorShape([None if count < 0 else count]).concatenate(_cell_shape(inputs[1])))]


def _gather_type(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(attrs['element_dtype'], inputs[1].shape.concatenate(_cell_shape(inputs[2])))]


def _concat_type(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    cell = _cell_shape(inputs[1])
    shape = UNKNOWN if cell.sizes is None else TensorShape([None, *cell.sizes[1:]])
    return [(attrs['element_dtype'], shape), (dtypes.int64, TensorShape([None]))]


# ---------------------------------------------------------------- gradients
def _length(cells: Any) -> Any:
    return apply('TensorListLength', (cells,))


def _inner(x: Any) -> Any:
    """The sizes of a tensor without the first."""
    if x.shape.sizes is not None and x.shape[1:].is_fully_defined():
        return sizes_tensor(x.shape[1:])
    return shape_of(x)[1:]


def _get_gradient(node: Node, grad: Any) -> Sequence[Any]:
    cells, index, _ = node.inputs
    attrs = {'element_dtype': grad.dtype}
    empty = apply('TensorListReserve', (sizes_tensor(None), _length(cells)), attrs)
    return [apply('TensorListSetItem', (empty, index, grad), attrs), None, None]


def _set_gradient(node: Node, grad: Any) -> Sequence[Any]:
    cells, index, item = node.inputs
    attrs = {'element_dtype': item.dtype}
    rest = apply('TensorListSetItem', (grad, index, apply('ZerosLike', (item,))), attrs)
    if node.attrs.get('resize_if_index_out_of_bounds'):
        rest = apply('TensorListResize', (rest, _length(cells)))
    return [rest, None, apply('TensorListGetItem', (grad, index, shape_of(item)), attrs)]


def _from_gradient(node: Node, grad: Any) -> Sequence[Any]:
    tensor = node.inputs[0]
    first = tensor.shape.sizes and tensor.shape.sizes[0]
    return [apply('TensorListStack', (grad, _inner(tensor)), {'element_dtype': tensor.dtype,
                                                             'num_elements': -1 if first is None else first}), None]


def _stack_gradient(node: Node, grad: Any) -> Sequence[Any]:
    return [apply('TensorListFromTensor', (grad, sizes_tensor(grad.shape[1:])), {'element_dtype': grad.dtype}), None]


def _gather_gradient(node: Node, grad: Any) -> Sequence[Any]:
    cells, indices, _ = node.inputs
    total: Any = apply('TensorListReserve', (sizes_tensor(None), _length(cells)), {'element_dtype': grad.dtype})
    return [apply('TensorListScatterAdd', (total, grad, indices), {'element_dtype': grad.dtype}), None, None]


def _scatter_gradient(node: Node, grad: Any) -> Sequence[Any]:
    cells, tensor, indices = node.inputs
    attrs = {'element_dtype': tensor.dtype}
    part = apply('TensorListGather', (grad, indices, _inner(tensor)), attrs)
    rest = apply('TensorListScatterIntoExistingList', (grad, apply('ZerosLike', (tensor,)), indices), attrs)
    return [apply('TensorListResize', (rest, _length(cells))), part, None]


def _concat_gradient(node: Node, grad: Any, _: Any) -> Sequence[Any]:
    return [apply('TensorListSplit', (grad, node.inputs[1], node.outputs[1]), {'element_dtype': grad.dtype}), None, None]


def _split_gradient(node: Node, grad: Any) -> Sequence[Any]:
    tensor, _, lengths = node.inputs
    sizes = sizes_tensor(None) if tensor.shape.sizes is None else sizes_tensor([None, *tensor.shape.sizes[1:]])
    return [apply('TensorListConcatV2', (grad, sizes, lengths), {'element_dtype': tensor.dtype})[0], None, None]


def _scatter_add(cells: TensorList, tensor: Any, indices: Any) -> TensorList:
    """Rows added to cells: indices may repeat."""
    for index, row in zip(indices.tolist(), _rows(tensor), strict=True):
        row_before = cells.get(index)
        cells = cells.replaced(index, row if row_before is None else row_before + row)
    return cells


def _scatter_add_gradient(node: Node, grad: Any) -> Sequence[Any]:
    _, tensor, indices = node.inputs
    return [grad, apply('TensorListGather', (grad, indices, _inner(tensor)), {'element_dtype': tensor.dtype}), None]


_ITEM = ('element_dtype',)
for _op in (
    OpDef('TensorListReserve', _reserve, _list_type, no_gradient, retains=True),
    OpDef('TensorListGetItem', _get, _item_type, _get_gradient, kernel_attrs=_ITEM, retains=True),
    OpDef('TensorListSetItem', _set, _list_type, _set_gradient, kernel_attrs=('resize_if_index_out_of_bounds',),
          retains=True),
    OpDef('TensorListStack', _stack, _stack_type, _stack_gradient, kernel_attrs=('element_dtype', 'num_elements')),
    OpDef('TensorListFromTensor', lambda tensor, sizes: TensorList(_rows(tensor)), _list_type, _from_gradient, retains=True),
    OpDef('TensorListLength', lambda cells: np.int32(cells.size), lambda inputs, attrs: [(dtypes.int32, TensorShape(()))],
          no_gradient),
    OpDef('TensorListGather', _gather, _gather_type, _gather_gradient, kernel_attrs=_ITEM),
    OpDef('TensorListScatterIntoExistingList', _scatter, _list_type, _scatter_gradient, retains=True),
    OpDef('TensorListScatterAdd', _scatter_add, _list_type, _scatter_add_gradient, retains=True),
    OpDef('TensorListConcatV2', _concat, _concat_type, _concat_gradient, outputs=2, kernel_attrs=_ITEM),
    OpDef('TensorListSplit', _split, _list_type, _split_gradient, retains=True),
    OpDef('TensorListResize', _resize, _list_type,
          lambda node, grad: [apply('TensorListResize', (grad, _length(node.inputs[0]))), None], retains=True),
):
    register(_op)


def static_size(size: Any) -> int | None:
    """A size that is known before the run."""
    sizes = ints(size) if isinstance(size, Tensor) else [int(size)]
    return None if sizes is None else sizes[0]
