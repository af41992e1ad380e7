"""Algebra of composite specs, from the facts that make up each.

`RaggedTensorSpec`, `SparseTensorSpec` and `IndexedSlicesSpec` derive from it. Values are immutable.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


class CompositeTypeSpec:
    """A spec as a tuple of facts; shapes and specs among them may be known in part."""

    __slots__ = ()

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether the value, or a value of that spec, could be of this spec."""
        other = spec_or_value._type_spec if is_composite(spec_or_value) else spec_or_value
        return type(other) is type(self) and _all(_compatible, self._serialize(), other._serialize())

    def is_subtype_of(self, other: Any, /) -> bool:
        """Whether every value of this spec is of the other."""
        return type(other) is type(self) and _all(_is_subtype, self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any], /) -> Any:
        """The narrowest spec that all values of these specs have, or None."""
        if any(type(other) is not type(self) for other in others):
            return None
        facts = []
        for fact, *theirs in zip(self._serialize(), *(other._serialize() for other in others), strict=True):
            if hasattr(fact, 'most_specific_common_supertype'):
                fact = fact.most_specific_common_supertype(theirs)
                if fact is None:
                    return None
            elif any(fact != its for its in theirs):
                return None
            facts.append(fact)
        return type(self)(*facts)

    def most_specific_compatible_type(self, other: Any, /) -> Any:
        """The narrowest spec that values of either have; ValueError if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f'No TypeSpec is compatible with both {self} and {other}')
        return found

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


def _all(holds: Callable[[Any, Any], bool], facts: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(facts) == len(others) and all(holds(a, b) for a, b in zip(facts, others, strict=True))


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, TensorShape) or (hasattr(a, 'is_subtype_of') and hasattr(a, 'shape')):
        return bool(a.is_compatible_with(b))
    return bool(a == b)


def _is_subtype(a: Any, b: Any) -> bool:
    return bool(a.is_subtype_of(b)) if isinstance(a, TensorShape) else bool(a == b)
