"""Traced arguments: those of a call of a `jit` function that are inputs of its program.

Asked at the end of a dispatch from C++, on its thread.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def traced_arguments(function: Any, args: Sequence[Any], settings: Mapping[str, Any]) -> Any:
    """The arguments of a call without the static ones.

    Args:
        function: JAX's object that was called.
        args, settings: What it was called with.

    Returns:
        A container of the others.
    """
    info = getattr(function, '_jit_info', None)
    numbers, names = getattr(info, 'static_argnums', None) or (), getattr(info, 'static_argnames', None) or ()
    if not numbers and not names:
        return args, settings
    static = {number % len(args) if -len(args) <= number < len(args) else number for number in numbers} if args else set()
    return ([value for place, value in enumerate(args) if place not in static],
            {name: value for name, value in settings.items() if name not in names})
