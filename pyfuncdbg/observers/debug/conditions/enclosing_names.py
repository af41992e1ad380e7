"""Names that a function has beside its parameters when it begins: its object, its closure's, its module's.

Asked when a condition meets a site for the first time; the getters run on the thread of each call, and give the value that
a name has then.
"""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from pyfuncdbg.hooks.call import Call

_DEEPEST = 10


@dataclass(frozen=True, slots=True)
class EnclosingNames:
    """The names, without their values.

    Attributes:
        own: The first parameter of a bound method, and the names of a closure.
        module: The name of the function's module; '' if it has none, None if its variables are not those of a module.
    """

    own: tuple[str, ...]
    module: str | None

    def by_now(self) -> tuple[str, ...] | None:
        """All of them, with the variables that the module has by now; None if they are not known."""
        return None if self.module is None else (*self.own, *map(str, list(_variables(self.module))))


def enclosing_names(function: Any) -> EnclosingNames:
    """The names of a wrapped function."""
    python, objects = _underlying(function)
    if python is None:
        return EnclosingNames((), '')
    module = python.__module__ if isinstance(python.__module__, str) else ''
    return EnclosingNames((*objects, *python.__code__.co_freevars),
                          module if _variables(module) is python.__globals__ else None)


def enclosing_getter(function: Any, name: str) -> Callable[[Call], Any]:
    """A getter of the value of a name that is no parameter of a wrapped function.

    Returns:
        It raises KeyError where the name has none.
    """
    python, objects = _underlying(function)
    if python is None or name in objects:
        return lambda call: objects[name]
    if name not in python.__code__.co_freevars or python.__closure__ is None:
        variables = python.__globals__
        return lambda call: variables[name]
    cell = python.__closure__[python.__code__.co_freevars.index(name)]

    def content(call: Call) -> Any:
        try:
            return cell.cell_contents
        except ValueError:                      # it has no value yet
            raise KeyError(name) from None
    return content


def _underlying(function: Any) -> tuple[FunctionType | None, dict[str, Any]]:
    """The function whose parameters a wrapped one has, and the object that it is bound to, by the name of its parameter."""
    bound: list[Any] = []
    for _ in range(_DEEPEST):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            bound, function = [function.__self__], function.__func__
        elif callable(wrapped := getattr(function, '__dict__', {}).get('__wrapped__')):
            function = wrapped                  # by functools.wraps, or in a cache
        elif isinstance(function, FunctionType):
            code = function.__code__
            return function, dict(zip(code.co_varnames[:code.co_argcount], bound, strict=False))
        else:
            method = type(function).__call__ if callable(function) else None
            if not isinstance(method, FunctionType):
                break
            bound, function = [function], method
    return None, {}


def _variables(module: str) -> dict[str, Any]:
    """The variables of a loaded module; none of another."""
    found = sys.modules.get(module)
    try:
        return object.__getattribute__(found, '__dict__')  # type: ignore[no-any-return]  # loads no lazy module
    except AttributeError:
        return {}
