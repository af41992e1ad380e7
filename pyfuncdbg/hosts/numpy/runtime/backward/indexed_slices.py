"""`tf.IndexedSlices`: slices of a larger tensor with their indices, such as the gradient of `gather`.

Backward passes make and add them; converted to a tensor, they are the sum of the slices in a tensor of zeros.
"""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.public_function import stack_level
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CAST, CONCAT, CONSTANT, RANGE, READ, SEGMENT_SUM, SHAPE, ZEROS
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.composite import ABSENT
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, float32, int32, int64, resource
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, as_shape, unknown
from pyfuncdbg.hosts.numpy.graph.types.spec import CompositeTypeSpec, TensorSpec
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_LARGE = 100_000_000
"""Number of elements from which a conversion logs a warning."""


class IndexedSlicesValue(NamedTuple):
    """The fetched value of an `IndexedSlices`."""

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices:
    """Slices along the first axis of a tensor.

    Args:
        values: The slices, of shape [n, ...].
        indices: Row of each, of shape [n]; slices of one row are added.
        dense_shape: The shape of the dense tensor, None if unknown.
    """

    __slots__ = ('__weakref__', 'dense_shape', 'indices', 'values')

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> DType:
        """That of the slices."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        return UNKNOWN if self.dense_shape is None else _static(self.dense_shape)

    @property
    def name(self) -> str:
        """The name of the slices' tensor."""
        return self.values.name  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """That of the slices."""
        return self.values.device  # type: ignore[no-any-return]

    @property
    def op(self) -> Any:
        """The operation of the slices."""
        return self.values.op

    @property
    def graph(self) -> Any:
        """The graph of the slices."""
        return self.values.graph

    def consumers(self) -> list[Any]:
        """The operations that use the slices or indices."""
        return [*self.values.consumers(), *self.indices.consumers()]

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self) -> str:
        shape = '' if self.dense_shape is None else f', dense_shape={self.dense_shape!s}'
        return f'IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape})'

    def fetched(self) -> IndexedSlicesValue:
        """The structure that `Session.run` fetches instead of it."""
        return IndexedSlicesValue(self.values, self.indices, ABSENT if self.dense_shape is None else self.dense_shape)

    def fed(self, value: Any) -> list[tuple[Any, Any]]:
        """Feeds of its tensors where a run is fed `value` for it."""
        tensors = [tensor for tensor in (self.values, self.indices, self.dense_shape) if tensor is not None]
        return list(zip(tensors, value, strict=False))

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        sizes = None if self.dense_shape is None else self.dense_shape.dtype
        return IndexedSlicesSpec(self.shape, self.dtype, self.indices.dtype, sizes, self.indices.shape)

    def _as_tensor(self) -> Any:
        """The dense tensor, zero where there are no slices.

        Raises:
            ValueError: Its shape is unknown.
        """
        if self.dense_shape is None:
            raise ValueError('Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: '
                             f'{self}')
        self._warn()
        return apply(SEGMENT_SUM, (self.values, self.indices, self.dense_shape[0]))

    def _warn(self) -> None:
        if not isinstance(self.values, SymbolicTensor):
            return
        count = self.shape.num_elements()
        if count is not None and count >= _LARGE:
            warnings.warn(f'Converting sparse IndexedSlices to a dense Tensor with {count} elements. This may consume a '
                          'large amount of memory.', stacklevel=stack_level())


class IndexedSlicesSpec(CompositeTypeSpec):
    """The type of `IndexedSlices`.

    Args:
        shape: The static shape of the dense tensor.
        dtype: Of the slices.
        indices_dtype: Of the indices.
        dense_shape_dtype: Of the dense shape, None without one.
        indices_shape: The static shape of the indices.
    """

    __slots__ = ('dense_shape_dtype', 'dtype', 'indices_dtype', 'indices_shape', 'shape')
    shape: TensorShape
    dtype: DType
    indices_dtype: DType
    dense_shape_dtype: DType | None
    indices_shape: TensorShape

    def __init__(self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64, dense_shape_dtype: Any = None,
                 indices_shape: Any = None) -> None:
        for name, value in (('shape', as_shape(shape)), ('dtype', as_dtype(dtype)),
                            ('indices_dtype', as_dtype(indices_dtype)),
                            ('dense_shape_dtype', None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)),
                            ('indices_shape', as_shape(indices_shape).with_rank(1))):
            object.__setattr__(self, name, value)

    @property
    def value_type(self) -> type:
        """The class of its values."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.indices_dtype, self.dense_shape_dtype, self.indices_shape

    @property
    def _component_specs(self) -> list[Any]:
        values = self.indices_shape.concatenate(self.shape[1:])
        specs = [TensorSpec(values, self.dtype), TensorSpec(self.indices_shape, self.indices_dtype)]
        if self.dense_shape_dtype is not None:
            specs.append(TensorSpec([self.shape.rank], self.dense_shape_dtype))
        return specs

    def _to_components(self, value: Any) -> list[Any]:
        return [tensor for tensor in (value.values, value.indices, value.dense_shape) if tensor is not None]

    def _from_components(self, components: Sequence[Any]) -> Any:
        return IndexedSlices(*components)


def _static(tensor: Any) -> TensorShape:
    """The static shape for a shape tensor."""
    if not isinstance(tensor, SymbolicTensor):
        return TensorShape(tensor.numpy().tolist())
    if tensor.op.type == CONSTANT:
        return TensorShape(tensor.op.attrs['value'].tolist())
    if tensor.op.type == SHAPE:
        return TensorShape(tensor.op.inputs[0].shape)
    return unknown(tensor.shape.num_elements()) if tensor.shape.rank == 1 else UNKNOWN


def dense(gradient: Any) -> Any:
    """A gradient as a tensor; None stays."""
    return gradient._as_tensor() if isinstance(gradient, IndexedSlices) else gradient


class SlicesType(NamedTuple):
    """Static type of `IndexedSlices`: dtype and shape of the whole tensor, dtype of the indices."""

    dtype: DType
    shape: TensorShape
    indices: DType


def as_slices(gradient: Any, kind: SlicesType, source: Any) -> Any:
    """A gradient (None: zeros) of a tensor or variable's handle as slices; a dense one as slices of all rows."""
    if gradient is None:
        if source.dtype is resource:
            source = apply(READ, (source,), {'dtype': kind.dtype, 'shape': kind.shape})
        gradient = apply(ZEROS, (source,))
    if not isinstance(gradient, IndexedSlices):
        dense_shape, rows = apply(SHAPE, (gradient,), {'out_type': int32}), gradient.shape[0]
        limit = dense_shape[0] if rows is None else _number(rows)
        gradient = IndexedSlices(gradient, apply(RANGE, (_number(0), limit, _number(1))), dense_shape)
    if gradient.indices.dtype is kind.indices:
        return gradient
    return IndexedSlices(gradient.values, apply(CAST, (gradient.indices,), {'DstT': kind.indices}), gradient.dense_shape)


def join_slices(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    """The sum of several `IndexedSlices`: the slices of all."""
    indices = [part.indices for part in parts]
    if any(tensor.dtype is int64 for tensor in indices) and any(tensor.dtype is not int64 for tensor in indices):
        indices = [tensor if tensor.dtype is int64 else apply(CAST, (tensor,), {'DstT': int64}) for tensor in indices]
    return IndexedSlices(_concatenate([part.values for part in parts]), _concatenate(indices), parts[0].dense_shape)


def _concatenate(tensors: Sequence[Tensor]) -> Any:
    return apply(CONCAT, (*tensors, _number(0)), {'N': len(tensors)})


def _number(value: int) -> Any:
    return apply(CONSTANT, (), {'dtype': int32, 'value': to_array(value, int32)})
