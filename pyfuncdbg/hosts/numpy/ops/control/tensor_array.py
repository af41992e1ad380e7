"""`tf.TensorArray`: tensors of one dtype that a loop writes and reads one by one.

In graphs every write gives a new array over a new list of tensors (`lists`); in eager mode the array is changed.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError, OpError, OutOfRangeError
from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IDENTITY
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat, split, stack, unstack
from pyfuncdbg.hosts.numpy.ops.control.lists import sizes, static_size
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope_v1
from pyfuncdbg.hosts.numpy.ops.variables.handles import no_op
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_INTEGERS: Any = {'element_shape': dtypes.int32, 'num_elements': dtypes.int32, 'index': dtypes.int32,
             'indices': dtypes.int32}


class TensorArray:
    """An array of tensors, of a fixed size or one that grows with what is written.

    Args:
        dtype: Of the tensors.
        size: The initial number of tensors.
        dynamic_size: Whether writes beyond its end enlarge it.
        clear_after_read: In eager mode: a tensor can be read once only; the default is True.
        tensor_array_name: Accepted.
        handle: Not supported.
        flow: The list tensor of an array in a graph, for another array over it.
        infer_shape: Whether all tensors have one shape, known from the first.
        element_shape: Their shape, as far as it is known.
        colocate_with_first_write_call: Accepted.
        name: The name scope of its node.
    """

    _dtype: DType
    _dynamic: bool | None
    _shape: list[TensorShape]

    def __new__(cls, dtype: Any = None, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None,
                tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
                element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None) -> Any:
        """A `GraphArray` over a list in graphs, an `EagerArray` in eager mode."""
        eager = context.current_graph() is None and not isinstance(size, SymbolicTensor) and (
            flow is None or flow.dtype is not dtypes.variant)
        return object.__new__(EagerArray if eager else GraphArray)

    def _begin(self, dtype: Any, dynamic_size: Any, infer_shape: bool, element_shape: Any) -> None:
        """Set the attributes of both kinds."""
        self._dtype = as_dtype(dtype)
        self._dynamic = dynamic_size
        self._infer_shape = infer_shape
        self._shape = [TensorShape(element_shape)]      # shared by all arrays that writes derive from this one

    @property
    def dtype(self) -> DType:
        """The dtype of the tensors."""
        return self._dtype

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the tensors, as far as it is known."""
        return self._shape[0]

    @property
    def dynamic_size(self) -> bool | None:
        """Whether writes beyond its end enlarge it."""
        return self._dynamic

    @property
    def handle(self) -> None:
        """None: it has no handle."""
        return None

    @property
    def flow(self) -> Any:
        """The tensor that represents it."""
        raise NotImplementedError

    def _with_flow(self, flow: Tensor) -> Any:
        """An array like this over another list."""
        raise NotImplementedError

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> Any:
        """Not needed for gradients.

        Raises:
            NotImplementedError: Always, as in TensorFlow 2.
        """
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not use/need "
            'this function to compute gradients of operations that use TensorArrays.'
            if context.current_graph() is None else '')


@hide_own_frames_in_methods
class GraphArray(TensorArray):
    """An array in a graph: a list of tensors, their dtype and static shape."""

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None,
                 tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
                 element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None) -> None:
        if flow is not None and (not isinstance(flow, Tensor) or flow.dtype is not dtypes.variant):
            raise TypeError(f'Expected `flow` to be a variant tensor, but received `{flow.dtype}` instead.')
        if flow is None and size is None:
            raise ValueError('Argument `size` must be provided if argument `flow` is not provided.')
        if flow is not None and size is not None:
            raise ValueError('Cannot provide both `flow` and `size` arguments at the same time.')
        if flow is not None and element_shape is not None:
            raise ValueError('Cannot provide both `flow` and `element_shape` argumentsat the same time.')
        self._begin(dtype, dynamic_size, infer_shape, element_shape)
        self._size = size
        self._flow: Any = flow
        if flow is None:
            with name_scope_v1(name, 'TensorArrayV2', [size]) as scope:
                self._flow = call('TensorListReserve', {'element_shape': sizes(element_shape), 'num_elements': size},
                                  {'element_dtype': self._dtype}, scope or None, **_INTEGERS)

    @property
    def flow(self) -> Any:
        return self._flow

    def _with_flow(self, flow: Tensor) -> GraphArray:
        array: GraphArray = object.__new__(GraphArray)
        array._dtype, array._dynamic, array._infer_shape, array._shape = (self._dtype, self._dynamic, self._infer_shape,
                                                                          self._shape)
        array._size, array._flow = self._size, flow
        return array

    def _after_op(self, op: str, inputs: dict[str, Any], name: str | None, **attrs: Any) -> GraphArray:
        return self._with_flow(call(op, inputs, {'element_dtype': self._dtype, **attrs}, name, **_INTEGERS))

    def _value(self, value: Any, inner: bool) -> Any:
        """A value to write as a tensor; with `inner` its slices are written."""
        tensor = convert_to_tensor(value, dtype_hint=self._dtype, name='value')
        shape = tensor.shape[1:] if inner and tensor.shape.rank is not None else (
            TensorShape(None) if inner else tensor.shape)
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f'Inconsistent shapes: saw {shape} but expected {self.element_shape} ')
        if self._infer_shape:
            self._shape[0] = self.element_shape.merge_with(shape)
        return tensor

    # ------------------------------------------------------------------ reading
    def read(self, index: Any, name: str | None = None) -> Any:
        """The tensor at an index; zeros where none was written."""
        with name_scope_v1(name, 'TensorArrayV2Read'):
            return self._read_by('TensorListGetItem', name, index=index)

    def stack(self, name: str | None = None) -> Any:
        """All tensors along a new first axis."""
        count = None if self._dynamic or self._size is None else static_size(self._size)
        with name_scope_v1(name, 'TensorArrayV2Stack'):
            return call('TensorListStack', {'input_handle': self._flow, 'element_shape': sizes(self.element_shape)},
                        {'element_dtype': self._dtype, 'num_elements': -1 if count is None else count}, **_INTEGERS)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The tensors at some indices, stacked along a new first axis."""
        return self._read_by('TensorListGather', name, indices=indices)

    def _read_by(self, op: str, name: str | None, **where: Any) -> Any:
        return call(op, {'input_handle': self._flow, **where, 'element_shape': sizes(self.element_shape)},
                    {'element_dtype': self._dtype}, name, **_INTEGERS)

    def concat(self, name: str | None = None) -> Any:
        """All tensors concatenated along their first axis."""
        inner = self.element_shape.sizes
        return call('TensorListConcatV2', {
            'input_handle': self._flow, 'element_shape': sizes(None if inner is None else [None, *inner[1:]]),
            'leading_dims': np.zeros(0, np.int64)}, {'element_dtype': self._dtype}, name, **_INTEGERS)[0]

    def size(self, name: str | None = None) -> Any:
        """The number of elements."""
        if not self._dynamic and self._size is not None:
            return convert_to_tensor(self._size, dtypes.int32)
        return apply('TensorListLength', (self._flow,), None, name)

    def identity(self) -> GraphArray:
        """The same array as a new object."""
        return self._with_flow(apply(IDENTITY, (self._flow,)))

    # ------------------------------------------------------------------ writing
    def write(self, index: Any, value: Any, name: str | None = None) -> GraphArray:
        """The array with a tensor at an index."""
        with name_scope_v1(name, 'TensorArrayV2Write'):
            item = self._value(value, False)
            return self._after_op('TensorListSetItem', {'input_handle': self._flow, 'index': index, 'item': item},
                                  name, resize_if_index_out_of_bounds=bool(self._dynamic))

    def unstack(self, value: Any, name: str | None = None) -> GraphArray:
        """An array of the slices of a tensor along its first axis."""
        with name_scope_v1(name, 'TensorArrayUnstack'):
            tensor = self._value(value, True)
            shape = tensor.shape[1:] if tensor.shape.rank is not None else None
            return self._after_op('TensorListFromTensor', {'tensor': tensor, 'element_shape': sizes(shape)}, None)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> GraphArray:
        """The array with the slices of a tensor at some indices."""
        with name_scope_v1(name, 'TensorArrayScatter'):
            tensor = self._value(value, True)
            return self._after_op('TensorListScatterIntoExistingList',
                                  {'input_handle': self._flow, 'tensor': tensor, 'indices': indices}, None)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> GraphArray:
        """An array of the parts of a tensor along its first axis, of some lengths."""
        with name_scope_v1(name, 'TensorArraySplit'):
            tensor = convert_to_tensor(value, dtype_hint=self._dtype, name='value')
            return self._after_op('TensorListSplit', {'tensor': tensor, 'element_shape': sizes(self.element_shape),
                                                      'lengths': cast(lengths, dtypes.int64)}, name)

    def close(self, name: str | None = None) -> Any:
        """Do nothing: a list needs no release."""
        return no_op(name)


@hide_own_frames_in_methods
class EagerArray(TensorArray):
    """An array in eager mode."""

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None,
                 tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
                 element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None) -> None:
        if handle is not None:
            raise ValueError('TensorArray handles are not supported when eager execution is enabled.')
        if size is None:
            raise ValueError('Size must be declared for TensorArrays when eager execution is enabled.')
        self._begin(dtype, bool(dynamic_size), infer_shape, element_shape)
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._read: set[int] = set()
        self._tensors: list[Any] = [None] * int(size)

    @property
    def flow(self) -> Any:
        return constant(0)

    def _with_flow(self, flow: Tensor) -> Any:
        if context.current_graph() is not None:
            raise NotImplementedError(
                'Attempting to build a graph-mode TF2-style TensorArray from either an eager-mode TensorArray or a '
                'TF1-style TensorArray.  This is not currently supported.  You may be attempting to capture a TensorArray '
                'inside a tf.function or tf.data map function. Instead, construct a new TensorArray inside the function.')
        return self

    # ------------------------------------------------------------------ reading
    def read(self, index: Any, name: str | None = None) -> Any:
        """The tensor at an index; zeros where none was written.

        Raises:
            OutOfRangeError: There is no such index.
            InvalidArgumentError: It was read before, which cleared it.
        """
        place = int(index)
        if place < 0:
            raise OutOfRangeError(None, None, f'Reading from negative indices (index {place}) is not allowed.')
        if place >= len(self._tensors):
            raise OutOfRangeError(None, None, f'Tried to read from index {place} but array size is: {len(self._tensors)} ')
        if self._tensors[place] is None and place in self._read:
            raise InvalidArgumentError(None, None, f'Could not read index {place} twice because it was cleared after a '
                                                   'previous read (perhaps try setting clear_after_read = false?)')
        tensor = self._at(place)
        if self._clear_after_read:
            self._tensors[place] = None
            self._read.add(place)
        return tensor

    def _at(self, place: int) -> Any:
        if self._tensors[place] is None:
            self._tensors[place] = zeros(self.element_shape, self._dtype)
        return self._tensors[place]

    def stack(self, name: str | None = None) -> Any:
        """All tensors along a new first axis."""
        if not self._tensors and self.element_shape.is_fully_defined():
            return zeros([0, *self.element_shape.as_list()], self._dtype)
        tensors = [self._at(place) for place in range(len(self._tensors))]
        return stack(tensors) if tensors else convert_to_tensor([], self._dtype)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The tensors at some indices, stacked along a new first axis."""
        return stack([self._at(int(i)) for i in indices])

    def concat(self, name: str | None = None) -> Any:
        """All tensors concatenated along their first axis."""
        try:
            return concat([self._at(place) for place in range(len(self._tensors))], 0)
        except (OpError, ValueError):
            ranks = [tensor.shape.rank for tensor in self._tensors]
            if 0 not in ranks:
                raise
            raise InvalidArgumentError(None, None, f'Concat saw a scalar shape at index {ranks.index(0)} but requires at '
                                                   'least vectors.') from None

    def size(self, name: str | None = None) -> Any:
        """The number of elements."""
        return constant(len(self._tensors))

    def identity(self) -> EagerArray:
        """Itself."""
        return self

    # ------------------------------------------------------------------ writing
    def write(self, index: Any, value: Any, name: str | None = None) -> EagerArray:
        """Put a tensor at an index.

        Raises:
            OutOfRangeError: There is no such index, and the array does not grow.
            InvalidArgumentError: It is of another dtype.
            ValueError: It is of another shape.
        """
        place = int(index)
        if place < 0:
            raise OutOfRangeError(None, None, f'Writing to negative indices (index {place}) is not allowed.')
        count = len(self._tensors)
        if place >= count:
            if not self._dynamic:
                raise OutOfRangeError(None, None, f'Tried to write to index {place} but array is not resizeable and size '
                                                  f'is: {count} ')
            self._tensors += [None] * (place - count + 1)
        tensor = value if isinstance(value, EagerTensor) else convert_to_tensor(value, dtype_hint=self._dtype)
        if tensor.dtype != self._dtype:
            raise InvalidArgumentError(None, None, f'TensorArray dtype is {self._dtype.name} but Op is trying to write '
                                                   f'dtype {tensor.dtype.name} ')
        if not self.element_shape.is_compatible_with(tensor.shape):
            raise ValueError(f'Incompatible shape for value ({tensor.shape}), expected ({self.element_shape})')
        if self._infer_shape:
            self._shape[0] = self.element_shape.merge_with(tensor.shape)
        self._tensors[place] = tensor
        return self

    def unstack(self, value: Any, name: str | None = None) -> EagerArray:
        """Replace all tensors by the slices of one along its first axis.

        Raises:
            ValueError: There are more than the fixed size of the array.
        """
        tensors = unstack(value)
        if len(tensors) > len(self._tensors) and not self._dynamic:
            raise ValueError(f'Cannot unstack {len(tensors)} tensors into a TensorArray of static size '
                             f'{len(self._tensors)} ')
        self._tensors = list(tensors)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> EagerArray:
        """Put the slices of a tensor at some indices."""
        for index, tensor in zip(indices, unstack(value), strict=False):
            self.write(index, tensor)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> EagerArray:
        """Replace all tensors by parts of one along its first axis, of some lengths.

        Raises:
            InvalidArgumentError: The lengths are not those of the tensor or the array.
        """
        tensor, parts = convert_to_tensor(value, dtype_hint=self._dtype), np.asarray(lengths)
        total, shape = int(parts.sum()), tensor.shape.as_list()
        if parts.ndim != 1:
            raise InvalidArgumentError(None, None, f'Expected lengths to be a vector, received shape: {list(parts.shape)} ')
        if not shape:
            raise InvalidArgumentError(None, None, f'Expected value to be at least a vector, but received shape: {shape} ')
        if total != shape[0]:
            raise InvalidArgumentError(None, None, 'Expected sum of lengths to be equal to values.shape[0], but sum of '
                                                   f"lengths is {total} and value's shape is: {shape} ")
        if not self._dynamic and len(parts) != len(self._tensors):
            raise InvalidArgumentError(None, None, "TensorArray's size is not equal to the size of lengths "
                                                   f'({len(self._tensors)} vs. {len(parts)}), and the TensorArray is not '
                                                   'marked as dynamically resizeable.')
        self._tensors = list(split(tensor, parts.tolist()))
        return self

    def close(self, name: str | None = None) -> None:
        """Release all tensors."""
        self._tensors.clear()
