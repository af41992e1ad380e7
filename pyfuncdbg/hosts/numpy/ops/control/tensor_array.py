"""`tf.TensorArray`: tensors of one dtype that a loop writes and reads one by one.

In graphs every write gives a new array over a new list of tensors (`lists`); in eager mode the array is changed.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import SymbolicTensor, Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


class TensorArray:
    """An array of tensors, of a fixed size or one that grows with what is written.

    Args:
        dtype: Of the tensors.
        size: How many there are at first.
        dynamic_size: Whether it grows.
        clear_after_read: In eager mode: a tensor can be read once only; the default is True.
        tensor_array_name: Accepted.
        handle: Not supported.
        flow: The list of an array in a graph, to make another over it.
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
        """The kind of array that fits: over a list in graphs, plain tensors in eager mode."""
        from pyfuncdbg.hosts.numpy.ops.control.array_kinds import EagerArray, GraphArray
        eager = context.current_graph() is None and not isinstance(size, SymbolicTensor) and (
            flow is None or flow.dtype is not dtypes.variant)
        return object.__new__(EagerArray if eager else GraphArray)

    def _begin(self, dtype: Any, dynamic_size: Any, infer_shape: bool, element_shape: Any) -> None:
        """What both kinds have."""
        self._dtype = as_dtype(dtype)
        self._dynamic = dynamic_size
        self._infer_shape = infer_shape
        self._shape = [TensorShape(element_shape)]      # one for all arrays that writes have made of this one

    @property
    def dtype(self) -> DType:
        """Of the tensors."""
        return self._dtype

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the tensors, as far as it is known."""
        return self._shape[0]

    @property
    def dynamic_size(self) -> bool | None:
        """Whether it grows, as it was given."""
        return self._dynamic

    @property
    def handle(self) -> None:
        """There is none."""
        return None

    @property
    def flow(self) -> Any:
        """The tensor that stands for it."""
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
