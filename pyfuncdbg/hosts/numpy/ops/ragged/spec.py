"""`tf.RaggedTensorSpec`: the type of ragged tensors."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, float32, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape
from pyfuncdbg.hosts.numpy.graph.types.spec import CompositeTypeSpec, TensorSpec
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue


class RaggedTensorSpec(CompositeTypeSpec):
    """The type of a ragged tensor.

    Args:
        shape: Its static shape, None in ragged dimensions.
        dtype: Of its elements.
        ragged_rank: Number of levels of rows; by default all axes but the first are ragged.
        row_splits_dtype: Of its row splits.
        flat_values_spec: The spec of its innermost values, where they are composite.

    Raises:
        ValueError: The arguments contradict each other.
        TypeError: `ragged_rank` is no int.
    """

    __slots__ = ('dtype', 'flat_values_spec', 'ragged_rank', 'row_splits_dtype', 'shape')
    shape: TensorShape
    dtype: DType
    ragged_rank: int
    row_splits_dtype: DType
    flat_values_spec: Any

    def __init__(self, shape: Any = None, dtype: Any = float32, ragged_rank: Any = None, row_splits_dtype: Any = int64,
                 flat_values_spec: Any = None) -> None:
        static_shape = as_shape(shape)
        if flat_values_spec is not None and dtype is not None and as_dtype(dtype) != flat_values_spec.dtype:
            raise ValueError('dtype must be the same as flat_values_spec.dtype')
        if dtype is None and flat_values_spec is None:
            raise ValueError('At least one of dtype or flat_values_spec must be provided')
        if ragged_rank is None:
            if static_shape.rank is None:
                raise ValueError('Must specify ragged_rank or a shape with a known rank.')
            ragged_rank = static_shape.rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f'Argument `ragged_rank` must be an int. Received {ragged_rank}.')
        if static_shape.rank is not None and ragged_rank >= static_shape.rank:
            raise ValueError(f'Argument `ragged_rank` ({ragged_rank}) must be less than rank ({static_shape.rank}).')
        for name, value in (('shape', static_shape), ('dtype', as_dtype(flat_values_spec.dtype if dtype is None else dtype)),
                            ('ragged_rank', ragged_rank), ('row_splits_dtype', as_dtype(row_splits_dtype)),
                            ('flat_values_spec', flat_values_spec)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor, or of the value of one."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def value_type(self) -> type:
        """The class of its values."""
        return RaggedTensor if self.ragged_rank > 0 else Tensor

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        if self.ragged_rank == 0 and isinstance(spec_or_value, (Tensor, TensorSpec)):
            return TensorSpec(self.shape, self.dtype).is_compatible_with(spec_or_value)
        if isinstance(spec_or_value, RaggedTensorValue):
            spec_or_value = RaggedTensorSpec.from_value(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        facts = self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype
        return facts if self.flat_values_spec is None else (*facts, self.flat_values_spec)

    @property
    def _component_specs(self) -> list[Any]:
        if self.ragged_rank <= 0:
            return [self.flat_values_spec or TensorSpec(self.shape, self.dtype)]
        flat = TensorShape([None]).concatenate(self.shape[self.ragged_rank + 1:])
        first = self.shape[0]
        outer = TensorSpec([None if first is None else first + 1], self.row_splits_dtype)
        inner = TensorSpec([None], self.row_splits_dtype)
        return [self.flat_values_spec or TensorSpec(flat, self.dtype), outer, *[inner] * (self.ragged_rank - 1)]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        result = components[0]
        if isinstance(result, np.ndarray):
            components = [convert_to_tensor(part) for part in components]
            result = components[0]
        sizes = self.shape.sizes
        for level, splits in reversed(list(enumerate(components[1:], 1))):
            size = None if sizes is None else sizes[level]
            uniform = None if size is None or not isinstance(splits, Tensor) else constant(size, splits.dtype)
            result = RaggedTensor(result, splits, True, uniform)
        if sizes is not None:
            self._tell(components)
        return result

    def _tell(self, components: Sequence[Any]) -> None:
        """Set the static shapes of symbolic components."""
        for tensor, spec in zip(components, self._component_specs, strict=True):
            if isinstance(tensor, SymbolicTensor):
                tensor.set_shape(spec.shape)
