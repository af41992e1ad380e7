"""Conversion of objects of a program's own classes to tensors: `tf.register_tensor_conversion_function`.

`convert_to_tensor` asks here about what is no tensor or number, on the thread of the call. The table is the process's.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

Conversion = Callable[..., Any]

registered: list[tuple[int, type | tuple[type, ...], Conversion]] = []


def register_tensor_conversion_function(base_type: Any, conversion_func: Conversion, priority: int = 100) -> None:
    """Convert objects of a class by a function `(value, dtype=None, name=None, as_ref=False)`.

    Args:
        base_type: The class, or a tuple of them.
        conversion_func: Gives a tensor, or NotImplemented to leave it to the next function.
        priority: Functions of lower numbers are asked first; those of equal numbers in the order of registration.

    Raises:
        TypeError: No class, a class that is converted otherwise, or no function.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(one, type) for one in types):
        raise TypeError(f'Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}')
    if any(issubclass(one, (int, float)) for one in types):
        raise TypeError('Cannot register conversions for Python numeric types and NumPy scalars and arrays.')
    if not callable(conversion_func):
        raise TypeError(f'Argument `conversion_func` must be callable. Received {conversion_func}.')
    registered.append((priority, base_type, conversion_func))
    registered.sort(key=lambda row: row[0])


def converted(value: Any, dtype: Any, name: str | None) -> Any:
    """The tensor that a registered function makes; NotImplemented where there is none for such an object."""
    for _, types, function in registered:
        if isinstance(value, types):
            found = function(value, dtype=dtype, name=name, as_ref=False)
            if found is not NotImplemented:
                return found
    return NotImplemented
