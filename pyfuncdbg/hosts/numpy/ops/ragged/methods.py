"""Methods of `RaggedTensor` built of its other functions, bound to it when the package is loaded."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, int64
from pyfuncdbg.hosts.numpy.ops.ragged import arithmetic, dense, indexing
from pyfuncdbg.hosts.numpy.ops.ragged.spec import RaggedTensorSpec
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor


def bounding_shape(self: RaggedTensor, axis: Any = None, name: Any = None, out_type: Any = None) -> Tensor:
    """The shape of the smallest tensor that the rows fit in."""
    return dense.bounding_shape(self, axis, self.row_splits.dtype if out_type is None else as_dtype(out_type))


def merge_dims(self: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """The same with some axes made one."""
    return dense.merged(self, outer_axis, inner_axis)


def to_tensor(self: RaggedTensor, default_value: Any = None, name: Any = None, shape: Any = None) -> Tensor:
    """A tensor that short rows are filled up in."""
    return dense.to_tensor(self, default_value, shape)


def to_sparse(self: RaggedTensor, name: Any = None) -> Any:
    """The values as those of a sparse tensor."""
    return dense.to_sparse(self)


def from_tensor(cls: type[RaggedTensor], tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: Any = 1,
                name: Any = None, row_splits_dtype: Any = int64) -> RaggedTensor:
    """The rows of a tensor: up to `lengths`, or without `padding` at their ends."""
    return dense.from_tensor(tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))


def from_sparse(cls: type[RaggedTensor], st_input: Any, name: Any = None, row_splits_dtype: Any = int64) -> RaggedTensor:
    """The rows of a sparse matrix whose elements stand at the beginning of their rows."""
    return dense.from_sparse(st_input, as_dtype(row_splits_dtype))


def combined(self: RaggedTensor, function: Callable[[Any, Any], Any], x: Any, y: Any) -> RaggedTensor:
    """An elementwise function of it and another operand, with broadcasting."""
    return arithmetic.binary(function, x, y)


def getitem(self: RaggedTensor, key: Any) -> Any:
    return indexing.getitem(self, key)


def _type_spec(self: RaggedTensor) -> Any:
    return RaggedTensorSpec.from_value(self)


getitem.__name__ = '__getitem__'


def _bind(function: Callable[..., Any], kind: Callable[[Any], Any] | None = None) -> None:
    function.__qualname__ = f'{RaggedTensor.__qualname__}.{function.__name__}'
    setattr(RaggedTensor, function.__name__, function if kind is None else kind(function))


for _method in (bounding_shape, merge_dims, to_tensor, to_sparse, combined, getitem):
    _bind(_method)
_bind(from_tensor, classmethod)
_bind(from_sparse, classmethod)
_bind(_type_spec, property)
