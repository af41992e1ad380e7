"""The user's own function behind a callback, which JAX wraps to take flat arguments."""
from __future__ import annotations

import functools
from types import CodeType
from typing import Any

from pyfuncdbg.hooks.own_files import is_machinery

_MOST_WRAPPERS = 8
_FLAT = '_flat_callback'
"""Name of the function that JAX makes of one for `debug.callback`."""


def user_function(callback: Any) -> Any:
    """The function that the program passed to a callback; None for one of JAX's own, such as that of `debug.print`."""
    return _unwrap(callback)[0]


def flat_caller(callback: Any) -> Any:
    """JAX's function of flat arguments that calls the program's own; None where a method of JAX's does, or nothing."""
    function, caller = _unwrap(callback)
    return caller if function is not None else None


def _unwrap(callback: Any) -> tuple[Any, Any]:
    """The program's function behind a callback, and JAX's innermost one of flat arguments around it; None if none."""
    function, caller = getattr(callback, 'callback_func', callback), None
    for _ in range(_MOST_WRAPPERS):
        inner = function
        while isinstance(inner, functools.partial):
            inner = inner.func
        code = getattr(inner, '__code__', None)
        if not isinstance(code, CodeType) or not is_machinery(code.co_filename):
            return function, caller
        if code.co_name == _FLAT:
            wrapped, caller = closure_variable(inner, 'callback'), inner
        else:
            wrapped = getattr(inner, '__wrapped__', None)
        if wrapped is None:
            break
        function = wrapped
    return None, None


def is_breakpoint(callback: Any) -> bool:
    """Whether a callback is that of `debug.breakpoint`, whose arguments are variables of the traced function."""
    function = closure_variable(callback, 'callback') or getattr(callback, 'callback_func', None)
    code = getattr(function, '__code__', None)
    return isinstance(code, CodeType) and code.co_name.startswith('_breakpoint_callback') and is_machinery(code.co_filename)


def closure_variable(function: Any, name: str) -> Any:
    """A variable that a function closes over; None if it has none of that name."""
    code, closure = getattr(function, '__code__', None), getattr(function, '__closure__', None) or ()
    if not isinstance(code, CodeType):
        return None
    for variable, cell in zip(code.co_freevars, closure, strict=False):
        if variable == name:
            try:
                return cell.cell_contents
            except ValueError:                  # not assigned yet
                return None
    return None
