"""Captured objects of a function: its closure, module, defaults and the object it is a method of.

Called at the end of a pass and when facts are gathered, on any thread. No code of the program runs.
"""
from __future__ import annotations

import contextlib
from types import FunctionType
from typing import Any

_FRAMEWORKS = ('tensorflow', 'keras', 'tf_keras')


def closure_variables(function: FunctionType) -> list[tuple[str, Any]]:
    """The variables that a function closes over, except those that have no value yet."""
    variables = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):
            variables.append((name, cell.cell_contents))
    return variables


def captured_name(function: Any, tensor: Any) -> str:
    """The name by which a function uses a tensor that is not an argument; '' if it does not.

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
    variables = [(name, function.__globals__[name]) for name in function.__code__.co_names if name in function.__globals__]
    variables += closure_variables(function)
    variables += [('', value) for value in function.__defaults__ or ()]
    for name, value in variables:
        if any(_is(item, tensor) for item in (value if isinstance(value, (list, tuple)) else [value])):
            return name or 'a default'
    return ''


def _is(value: Any, tensor: Any) -> bool:
    """Whether it is the tensor, or the variable with that handle; attributes are read of a framework's classes only."""
    if value is tensor:
        return True
    kinds = type(value).__mro__
    return any(kind.__module__.partition('.')[0] in _FRAMEWORKS for kind in kinds) and _handle(value) is tensor


def _handle(value: Any) -> Any:
    try:
        return getattr(value, 'handle', None)
    except Exception:                           # a property of the framework's may raise anything
        return None
