"""`tf.Tensor`, the base class of eager and symbolic tensors.

`ops.operators` installs its operators; `symbolic_tensor` has the edges of a graph, `execution.eager_tensor` tensors with
a value.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


class Tensor:
    """`tf.Tensor`: the common base of eager and symbolic tensors."""

    __slots__ = ('__weakref__',)
    __array_priority__ = 100
    compare: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {}
    """'equal' and 'not_equal', registered by `ops`."""

    dtype: DType

    if TYPE_CHECKING:                           # installed by `ops.operators`
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __getitem__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    @property
    def shape(self) -> TensorShape:
        raise AttributeError('shape')

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def ndim(self) -> int | None:
        """The static rank."""
        return self.shape.rank

    def ref(self) -> Reference:
        """A hashable reference to this tensor; its `deref()` returns the tensor."""
        return Reference(self)

    experimental_ref = ref

    def _elementwise(self) -> bool:
        """Whether `==` compares elements (eager, functions) or identity (graphs of TensorFlow 1)."""
        return True

    def __eq__(self, other: object) -> Any:
        if other is None:
            return False
        if self._elementwise():
            try:
                return self.compare['equal'](self, other)
            except (TypeError, ValueError):
                return False
        return self is other

    def __ne__(self, other: object) -> Any:
        if other is None:
            return True
        if self._elementwise():
            try:
                return self.compare['not_equal'](self, other)
            except (TypeError, ValueError):
                return True
        return self is not other

    def __hash__(self) -> int:
        if self._elementwise():
            raise TypeError('Tensor is unhashable. Instead, use tensor.ref() as the key.')
        return id(self)


class Reference:
    """Hashable reference to a tensor or variable, compared by identity."""

    __slots__ = ('_thing',)

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def deref(self) -> Any:
        """The tensor or variable itself."""
        return self._thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._thing is other._thing

    def __hash__(self) -> int:
        return id(self._thing)

    def __repr__(self) -> str:
        return f'<Reference wrapping {self._thing!r}>'
