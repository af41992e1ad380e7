"""Type specs of tensors: `TensorSpec`, for input signatures and the output types of functions.

For signatures of `tf.function` and `Tout` of script ops. Immutable, so any thread may use them. Specs of composites
(`RaggedTensorSpec`, `SparseTensorSpec`, `IndexedSlicesSpec`) derive their algebra from their tuple of facts.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite, spec_of
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape


@runtime_checkable
class TypeSpec(Protocol):
    """Protocol of all specs; `isinstance` checks for these methods."""

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether the value, or a value of that spec, can be of this spec."""

    def is_subtype_of(self, other: Any, /) -> bool:
        """Whether every value of this spec is of the other."""

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> Any:
        """The narrowest spec that includes these specs, or None."""

    def most_specific_compatible_type(self, other: Any, /) -> Any:
        """The narrowest spec that includes both; ValueError if there is none."""


class TensorSpec:
    """The declared type, shape and name of a tensor.

    Args:
        shape: Anything that `TensorShape` takes.
        dtype: Anything that `as_dtype` takes.
        name: Name of the placeholder made from it.
    """

    __slots__ = ('dtype', 'name', 'shape')
    shape: TensorShape
    dtype: DType
    name: str | None

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        object.__setattr__(self, 'shape', as_shape(shape))
        object.__setattr__(self, 'dtype', as_dtype(dtype))
        object.__setattr__(self, 'name', name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TensorSpec does not change; cannot set '{name}'")

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor; of a symbolic one with its op's name.

        Raises:
            ValueError: `tensor` is no tensor.
        """
        if not _is_typed(tensor):
            raise ValueError(f'`tensor` should be a tf.Tensor, but got type {type(tensor)}.')
        op = None if hasattr(tensor, '_value') else getattr(tensor, 'op', None)
        return cls(tensor.shape, tensor.dtype, name or getattr(op, 'name', None))

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same spec under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @property
    def value_type(self) -> type:
        """The class of its values."""
        return Tensor

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether a tensor (not a NumPy or Python value) or spec has this type and can have this shape."""
        return (_is_typed(spec_or_value) and self.dtype is spec_or_value.dtype
                and self.shape.is_compatible_with(spec_or_value.shape))

    def is_subtype_of(self, other: Any, /) -> bool:
        return (isinstance(other, TensorSpec) and self.dtype is other.dtype
                and (not self.name or self.name == other.name) and self.shape.is_subtype_of(other.shape))

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> TensorSpec | None:
        if not all(isinstance(o, TensorSpec) and o.dtype is self.dtype and o.name == self.name for o in others):
            return None
        return TensorSpec(self.shape.most_specific_common_supertype([o.shape for o in others]), self.dtype, self.name)

    def most_specific_compatible_type(self, other: Any, /) -> TensorSpec:
        spec = self.most_specific_common_supertype([other])
        if spec is None:
            raise ValueError(f'No TypeSpec is compatible with both {self} and {other}')
        return spec

    def __eq__(self, other: object) -> bool:
        return (type(other) is TensorSpec and self.dtype is other.dtype and self.shape == other.shape
                and self.name == other.name)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f'TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})'

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSpec, (self.shape, self.dtype, self.name)


def type_spec_from_value(value: Any) -> Any:
    """The spec of a tensor, composite, array or Python value.

    Raises:
        TypeError: It has no spec.
    """
    spec = spec_of(value)
    if spec is not None:
        return spec
    if _is_typed(value):
        return TensorSpec(value.shape, value.dtype)
    try:
        if value is None or isinstance(value, type):
            raise TypeError
        array = np.asarray(to_array(value))
        return TensorSpec(array.shape, dtypes.of_value(array))
    except (TypeError, ValueError):
        raise TypeError(f'Could not build a TypeSpec for {value} of unsupported type {type(value)}.') from None


def _is_typed(value: Any) -> bool:
    return (isinstance(getattr(value, 'dtype', None), DType) and isinstance(getattr(value, 'shape', None), TensorShape)
            and spec_of(value) is None and not hasattr(value, 'standing_on'))


class CompositeTypeSpec:
    """A spec as a tuple of facts; shapes and specs among them may be partially known."""

    __slots__ = ()

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether the value, or a value of that spec, can be of this spec."""
        other = spec_or_value._type_spec if is_composite(spec_or_value) else spec_or_value
        return type(other) is type(self) and _all_hold(_compatible, self._serialize(), other._serialize())

    def is_subtype_of(self, other: Any, /) -> bool:
        """Whether every value of this spec is of the other."""
        return type(other) is type(self) and _all_hold(_is_subtype, self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> Any:
        """The narrowest spec that includes these specs, or None."""
        if any(type(other) is not type(self) for other in others):
            return None
        facts = []
        for fact, *other_facts in zip(self._serialize(), *(other._serialize() for other in others), strict=True):
            if hasattr(fact, 'most_specific_common_supertype'):
                fact = fact.most_specific_common_supertype(other_facts)
                if fact is None:
                    return None
            elif any(fact != its for its in other_facts):
                return None
            facts.append(fact)
        return type(self)(*facts)

    def most_specific_compatible_type(self, other: Any, /) -> Any:
        """The narrowest spec that includes both; ValueError if there is none."""
        spec = self.most_specific_common_supertype([other])
        if spec is None:
            raise ValueError(f'No TypeSpec is compatible with both {self} and {other}')
        return spec

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; cannot set '{name}'")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), self._serialize()))

    def __repr__(self) -> str:
        return f'{type(self).__name__}{self._serialize()!r}'

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()


def _all_hold(holds: Callable[[Any, Any], bool], facts: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(facts) == len(others) and all(holds(a, b) for a, b in zip(facts, others, strict=True))


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, TensorShape) or (hasattr(a, 'is_subtype_of') and hasattr(a, 'shape')):
        return bool(a.is_compatible_with(b))
    return bool(a == b)


def _is_subtype(a: Any, b: Any) -> bool:
    return bool(a.is_subtype_of(b)) if isinstance(a, TensorShape) else bool(a == b)
