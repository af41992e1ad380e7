"""Nested structures that TensorFlow's script ops refuse: mappings, dataclasses, and lists with them.

Used for `inp`, `Tout` and results of py_function and the like. Unlike `types.nest` it
flattens dataclasses. No state: any thread may call it.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.composite import components, is_composite, is_composite_spec, spec_of
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType


def is_keyed(value: Any) -> bool:
    """Whether a value is a mapping, a dataclass or an attrs object: a structure that no tensor can be made of."""
    kind = type(value)
    if hasattr(kind, '__array__') or kind is DType:
        return False
    return isinstance(value, Mapping) or hasattr(kind, '__dataclass_fields__') or hasattr(kind, '__attrs_attrs__')


def holds_keyed(value: Any) -> bool:
    """Whether a value is keyed, or a list or tuple with such a value in it at any depth."""
    if isinstance(value, (list, tuple)):
        return any(holds_keyed(item) for item in value)
    return is_keyed(value)


def is_row(value: Any) -> bool:
    """Whether a value is a structure: a list, a tuple, or keyed."""
    return isinstance(value, (list, tuple)) or is_keyed(value)


def _parts(structure: Any) -> dict[Any, Any]:
    """The values one level down, by key, index or field name."""
    if isinstance(structure, Mapping):
        return dict(structure)
    if isinstance(structure, (list, tuple)):
        return dict(enumerate(structure))
    return {name: getattr(structure, name) for name in _fields(structure)}


def _fields(value: Any) -> list[str]:
    declared = getattr(type(value), '__attrs_attrs__', None)
    return [field.name for field in (dataclasses.fields(value) if declared is None else declared)]


def leaves(structure: Any, split: Callable[[Any], bool] = is_row) -> list[Any]:
    """The leaves, depth first in insertion order of keys; what `split` denies is a leaf. A composite gives its tensors,
    the spec of one their specs."""
    if is_composite(structure) or is_composite_spec(structure):
        return components(structure)
    if not split(structure):
        return [structure]
    return [leaf for part in _parts(structure).values() for leaf in leaves(part, split)]


def filled(structure: Any, values: Iterator[Any], split: Callable[[Any], bool] = is_row) -> Any:
    """A structure of the same form and types with other leaves."""
    spec = spec_of(structure)
    if spec is not None:
        return spec._from_components([next(values) for _ in components(structure)])
    if not split(structure):
        return next(values)
    return _rebuilt(structure, {key: filled(part, values, split) for key, part in _parts(structure).items()})


def _rebuilt(structure: Any, parts: Mapping[Any, Any]) -> Any:
    """A structure of the same form and types with other values one level down."""
    if isinstance(structure, Mapping):
        make: Any = type(structure)
        return make(structure.default_factory, parts) if hasattr(structure, 'default_factory') else make(parts)
    if isinstance(structure, tuple) and hasattr(structure, '_fields'):
        return type(structure)(*parts.values())
    if isinstance(structure, (list, tuple)):
        return type(structure)(parts.values())
    return _renewed(structure, parts)


def _renewed(thing: Any, parts: Mapping[str, Any]) -> Any:
    """A dataclass or attrs object with other field values; its `__init__` is not run, as it may check plain values."""
    new = object.__new__(type(thing))
    for name, value in parts.items():
        object.__setattr__(new, name, value)
    return new


def outlined(structure: Any, split: Callable[[Any], bool] = is_row) -> Any:
    """A structure with None for each leaf, the spec for a composite."""
    spec = spec_of(structure)
    if spec is not None or not split(structure):
        return spec
    return _rebuilt(structure, {key: outlined(part, split) for key, part in _parts(structure).items()})


def matched(structure: Any, value: Any) -> list[Any]:
    """The parts of `value` at the leaves of `structure`.

    Raises:
        ValueError: `value` has another form; the message has the path.
    """
    if not is_row(structure):
        return [value]
    expected = _parts(structure)
    parts = _parts(value) if is_row(value) else None
    if parts is None or set(parts) != set(expected):
        raise ValueError(f'the function returned {value!r} where Tout has {structure!r}: expected '
                         + (f'{len(expected)} values' if isinstance(structure, (list, tuple)) else
                            'the keys ' + ', '.join(repr(key) for key in expected)))
    return [leaf for key, part in expected.items() for leaf in matched(part, parts[key])]
