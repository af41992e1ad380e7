"""Methods of `RaggedTensor` over functions of other modules, bound when the package is imported."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, int64
from pyfuncdbg.hosts.numpy.ops.ragged import arithmetic, dense, indexing
from pyfuncdbg.hosts.numpy.ops.ragged.spec import RaggedTensorSpec
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor


def bounding_shape(self: RaggedTensor, axis: Any = None, name: Any = None, out_type: Any = None) -> Tensor:
    """The shape of the smallest tensor that holds all rows."""
    return dense.bounding_shape(self, axis, self.row_splits.dtype if out_type is None else as_dtype(out_type))


def merge_dims(self: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """A ragged tensor with some axes merged into one."""
    return dense.merged(self, outer_axis, inner_axis)


def to_tensor(self: RaggedTensor, default_value: Any = None, name: Any = None, shape: Any = None) -> Tensor:
    """A tensor with short rows padded."""
    return dense.to_tensor(self, default_value, shape)


def to_sparse(self: RaggedTensor, name: Any = None) -> Any:
    """The sparse tensor of these rows."""
    return dense.to_sparse(self)


def from_tensor(cls: type[RaggedTensor], tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: Any = 1,
                name: Any = None, row_splits_dtype: Any = int64) -> RaggedTensor:
    """The rows of a tensor: cut to `lengths`, or without trailing `padding`."""
    return dense.from_tensor(tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))


def from_sparse(cls: type[RaggedTensor], st_input: Any, name: Any = None, row_splits_dtype: Any = int64) -> RaggedTensor:
    """The rows of a sparse matrix without gaps between elements."""
    return dense.from_sparse(st_input, as_dtype(row_splits_dtype))


def combined(self: RaggedTensor, function: Callable[[Any, Any], Any], x: Any, y: Any) -> RaggedTensor:
    """An elementwise function of two operands, at least one ragged, with broadcasting."""
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
