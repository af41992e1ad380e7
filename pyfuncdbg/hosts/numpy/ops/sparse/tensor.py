"""`tf.SparseTensor`: coordinates and values of the stored elements, and the dense shape."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import evaluate
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, float32, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape
from pyfuncdbg.hosts.numpy.graph.types.spec import CompositeTypeSpec, TensorSpec
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather_nd
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_to
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import truediv


class SparseTensorValue(NamedTuple):
    """The value of a `SparseTensor`, as fetch or feed."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """A tensor of stored elements with their coordinates.

    Args:
        indices: The coordinates of each, of shape [n, rank] and type int64.
        values: The elements, of shape [n].
        dense_shape: The dense shape, of type int64.

    Raises:
        ValueError: Their shapes contradict each other.
    """

    __slots__ = ('__weakref__', 'dense_shape', 'indices', 'shape', 'values')
    __array_priority__ = 200

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with scope(None, 'SparseTensor'):
            self.indices = convert_to_tensor(indices, int64, name='indices')
            self.values = convert_to_tensor(values, name='values')
            self.dense_shape = convert_to_tensor(dense_shape, int64, name='dense_shape')
        self.shape = as_static_shape(self.dense_shape, captures=True)
        places, values_shape = self.indices.shape.with_rank(2), self.values.shape.with_rank(1)
        sizes = self.dense_shape.shape.with_rank(1)
        places.dims[0].assert_is_compatible_with(values_shape.dims[0])
        places.dims[1].assert_is_compatible_with(sizes.dims[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor from another one, or from a fetched value."""
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f'Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor '
                            'SparseTensorValue.')
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.values.dtype

    def get_shape(self) -> TensorShape:
        """The static dense shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merge the static shape with `shape`."""
        self.shape = self.shape.merge_with(as_shape(shape))

    @property
    def op(self) -> Any:
        """The operation of the values."""
        return self.values.op

    @property
    def graph(self) -> Any:
        """The graph of its tensors."""
        return self.indices.graph

    @property
    def name(self) -> str:
        """The name of the values' tensor."""
        return self.values.name

    def consumers(self) -> list[Any]:
        """The operations that use its tensors."""
        return [op for tensor in (self.indices, self.values, self.dense_shape) for op in tensor.consumers()]

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same coordinates."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value, computed in `session` or the default session."""
        return evaluate(self, 'Cannot evaluate tensor using `eval()`', feed_dict, session)

    def __repr__(self) -> str:
        return f'SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})'

    # ------------------------------------------------------------------ as a composite
    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def _as_tensor(self) -> Any:
        raise ValueError(f'Attempt to convert a value ({self}) with an unsupported type ({type(self)}) to a Tensor.')

    def printed(self, hole: str) -> tuple[str, list[Any]]:
        """The form for `tf.print`: a text with holes, and the tensors to fill in."""
        form = f"'SparseTensor(indices={hole}, values={hole}, shape={hole})'"
        return form, [self.indices, self.values, self.dense_shape]

    def fetched(self) -> SparseTensorValue:
        """The structure that `Session.run` fetches instead of it."""
        return SparseTensorValue(self.indices, self.values, self.dense_shape)

    def fed(self, value: Any) -> list[tuple[Any, Any]]:
        """Feeds of its tensors where a run is fed `value` for it."""
        return list(zip((self.indices, self.values, self.dense_shape), value, strict=False))

    def __mul__(self, other: Any) -> SparseTensor:
        """The stored elements times those of a tensor at their coordinates."""
        return self._with_dense(lambda x, y: x * y, other)

    def __truediv__(self, other: Any) -> SparseTensor:
        """The stored elements divided by those of a tensor at their coordinates."""
        return self._with_dense(truediv, other)

    __div__ = __truediv__

    def _with_dense(self, function: Callable[[Any, Any], Any], other: Any) -> SparseTensor:
        dense = convert_to_tensor(other, dtype_hint=self.dtype)
        dense_values = dense if not dense.shape.rank else gather_nd(broadcast_to(dense, self.dense_shape), self.indices)
        return SparseTensor(self.indices, function(self.values, dense_values), self.dense_shape)

    def map_values(self, function: Callable[[Any], Any]) -> SparseTensor:
        """An elementwise function of the stored elements."""
        return self.with_values(function(self.values))


class SparseTensorSpec(CompositeTypeSpec):
    """The type of a sparse tensor.

    Args:
        shape: The static dense shape.
        dtype: Of its elements.
    """

    __slots__ = ('dtype', 'shape')
    shape: TensorShape
    dtype: DType

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        object.__setattr__(self, 'shape', as_shape(shape))
        object.__setattr__(self, 'dtype', as_dtype(dtype))

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor, or of the value of one."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(value.dense_shape, value.values.dtype)
        raise TypeError(f'Expected SparseTensor or SparseTensorValue. Received: {value} of type {type(value).__name__}.')

    @property
    def value_type(self) -> type:
        """The class of its values."""
        return SparseTensor

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        if isinstance(spec_or_value, SparseTensorValue):
            spec_or_value = SparseTensorSpec.from_value(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype

    @property
    def _component_specs(self) -> list[Any]:
        rank = self.shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self.dtype), TensorSpec([rank], int64)]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> Any:
        sparse = SparseTensor(*components)
        sparse.shape = sparse.shape.merge_with(self.shape)
        return sparse


def is_sparse(x: Any) -> bool:
    """Whether it is a sparse tensor or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def as_sparse(value: Any) -> SparseTensor:
    """Convert a sparse tensor or the value of one to a sparse tensor.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError('Input must be a SparseTensor.')
    return value
