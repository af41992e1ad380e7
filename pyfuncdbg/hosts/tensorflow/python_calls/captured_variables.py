"""Captured objects of a function: its closure, module, defaults and the object it is a method of.

Asked at the end of a pass and when facts are gathered, on any thread. It only looks: no code of the program runs.
"""
from __future__ import annotations

import contextlib
from types import FunctionType
from typing import Any

_FRAMEWORKS = ('tensorflow', 'keras', 'tf_keras')


def closed_over(function: FunctionType) -> list[tuple[str, Any]]:
    """The variables that a function closes over, but for those that have no value yet."""
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):
            found.append((name, cell.cell_contents))
    return found


def reached_as(function: Any, tensor: Any) -> str:
    """The name under which a function gets at a tensor that it is not given; '' if it does not.

    Args:
        function: Any callable; methods and `functools.partial` are looked through.
        tensor: A tensor; for a variable its handle.
    """
    for _ in range(4):
        owner = getattr(function, '__self__', None)
        for name, value in list(getattr(owner, '__dict__', {}).items()):
            if _is(value, tensor):
                return f'self.{name}'
        function = getattr(function, '__func__', None) or getattr(function, 'func', None) or function
    if not isinstance(function, FunctionType):
        return ''
    held = [(name, function.__globals__[name]) for name in function.__code__.co_names if name in function.__globals__]
    held += closed_over(function)
    held += [('', value) for value in function.__defaults__ or ()]
    for name, value in held:
        if any(_is(item, tensor) for item in (value if isinstance(value, (list, tuple)) else [value])):
            return name or 'a default'
    return ''


def _is(value: Any, tensor: Any) -> bool:
    """Whether it is the tensor, or the variable of that handle; an attribute is asked of a framework's class only."""
    if value is tensor:
        return True
    kinds = type(value).__mro__
    return any(kind.__module__.partition('.')[0] in _FRAMEWORKS for kind in kinds) and _handle(value) is tensor


def _handle(value: Any) -> Any:
    try:
        return getattr(value, 'handle', None)
    except Exception:                           # an object of the framework's that has none may say so in its own way
        return None
