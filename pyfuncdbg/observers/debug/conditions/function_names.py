"""The names of a function that a breakpoint or a condition may mean it by."""
from __future__ import annotations

import functools
from typing import Any

from pyfuncdbg.hooks.patched_code import name_of, qualified_name_of


def function_names(function: Any) -> tuple[str, ...]:
    """`__qualname__` and `__name__` of what the user wrote, below partials; of a callable object its class."""
    for _ in range(10):
        if not isinstance(function, functools.partial):
            break
        function = function.func
    if function is None:
        return ()
    name = name_of(function)
    if not isinstance(name, str):
        function = type(function)
        name = function.__name__
    qualified = qualified_name_of(function) or name
    return (name,) if qualified == name or not isinstance(qualified, str) else (name, qualified)
