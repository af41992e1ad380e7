"""Composite values: values of several tensors that programs treat as one, such as a `RaggedTensor`.

A composite has components, and a spec that unpacks and packs them. `nest`, sessions, traced functions and
script ops use this interface and know no kind of composite. No state: any thread may call it.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeGuard, TypeVar

P = ParamSpec('P')
R = TypeVar('R')

ABSENT: Any = object()
"""Spec of a missing part of a composite: its value is None."""


class CompositeSpec(Protocol):
    """Spec of a composite, with the conversion to and from its tensors."""

    @property
    def _component_specs(self) -> Sequence[Any]:
        """The `TensorSpec` of each component."""

    def _to_components(self, value: Any) -> list[Any]:
        """The component tensors of a value of this spec."""

    def _from_components(self, components: Sequence[Any]) -> Any:
        """The value with these component tensors."""

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether the value, or a value of that spec, can be of this spec."""


class CompositeTensor(Protocol):
    """Interface of a value of several tensors."""

    @property
    def _type_spec(self) -> CompositeSpec:
        """Its spec."""


class Ascribed:
    """A composite with a wider spec, as argument of a traced function with a signature."""

    __slots__ = ('_type_spec', 'value')

    def __init__(self, value: Any, spec: CompositeSpec) -> None:
        self.value = value
        self._type_spec = spec


def is_composite(value: Any) -> TypeGuard[CompositeTensor]:
    """Whether a value consists of several tensors."""
    return hasattr(type(value), '_type_spec')


def is_composite_spec(value: Any) -> TypeGuard[CompositeSpec]:
    """Whether a value is the spec of a composite."""
    return hasattr(type(value), '_component_specs')


def spec_of(value: Any) -> CompositeSpec | None:
    """The spec of a composite, a spec itself, None for anything else."""
    if is_composite(value):
        return value._type_spec
    return value if is_composite_spec(value) else None


def components(value: Any) -> list[Any]:
    """The tensors of a composite, or the specs of the tensors of a spec."""
    if is_composite(value):
        return value._type_spec._to_components(value.value if isinstance(value, Ascribed) else value)
    return list(value._component_specs)


# ---------------------------------------------------------------- ops on composites
_overrides: dict[str, list[tuple[type, Callable[..., Any]]]] = {}


def overridable(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of tensors overridable by kinds of composites.

    The function is tried first, at no cost for tensors; its exception is raised again if no argument is a composite.
    """
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            override = _override(function.__name__, args, kwargs)
            if override is None:
                raise
        return override(*args, **kwargs)  # type: ignore[no-any-return]
    return call


def override(name: str, kind: type, function: Callable[..., Any]) -> None:
    """Register the implementation of a function for a kind of composite among its arguments."""
    _overrides.setdefault(name, []).append((kind, function))


def _override(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[..., Any] | None:
    values = [*args, *kwargs.values()]
    values += [item for value in values if isinstance(value, (list, tuple)) for item in value]
    for kind, function in _overrides.get(name, ()):
        if any(isinstance(value, kind) for value in values):
            return function
    return None
