"""Type texts of arguments and results in signatures and messages: `List[TensorSpec(...), Literal[5]]`."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec, TypeSpec


def type_text(value: Any) -> str:
    """The type of a structure of specs and Python values, as TensorFlow shows it; names of specs are left out."""
    if isinstance(value, TensorSpec):
        return str(TensorSpec(value.shape, value.dtype))
    if isinstance(value, TypeSpec):
        return repr(value)
    if not nest.is_nested(value):
        return f'Literal[{value!r}]'
    if isinstance(value, Mapping):
        return f'Dict[{", ".join(f"[{key!r}, {type_text(one)}]" for key, one in value.items())}]'
    inner = ', '.join(type_text(one) for one in value)
    return f'List[{inner}]' if isinstance(value, list) else f'Tuple[{inner}]'


def misfit(expected: Any, given: Any) -> str | None:
    """The mismatch of a value with the structure of a spec, in TensorFlow's words; None if it fits."""
    if not nest.is_nested(expected):
        return None
    if isinstance(expected, Mapping):
        if not isinstance(given, Mapping):
            return f'Can not cast {given!r} to a Dict type.'
        if set(expected) != set(given):
            return f'{given!r} has different keys with the TraceType {type_text(expected)}.'
        return next((found for key in expected if (found := misfit(expected[key], given[key])) is not None), None)
    kind = list if isinstance(expected, list) else tuple
    if not isinstance(given, kind):
        return f'Can not cast {given!r} to {kind.__name__} type.'
    if len(given) != len(expected):
        return f'Can not cast {given!r} to {type_text(expected)}'
    return next((found for a, b in zip(expected, given, strict=True) if (found := misfit(a, b)) is not None), None)
