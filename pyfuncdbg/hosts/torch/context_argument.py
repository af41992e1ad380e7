"""The `ctx` argument of a function, which is no input of a call. Any thread."""
from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

_CONTEXT = 'ctx'
"""Object of the method that is a site's function where PyTorch passes a `ctx`. A trace can hold a text."""


def without_context(function: Callable[..., Any]) -> MethodType:
    """A site's function, whose parameters are the inputs of a call."""
    return MethodType(function, _CONTEXT)


def takes_context(function: Any) -> bool:
    """Whether the function of a site, perhaps made of a trace, is called with a `ctx` before the inputs of a call."""
    return isinstance(function, MethodType) and function.__self__ == _CONTEXT


def with_context(function: Any) -> Any:
    """The program's function behind that of a site."""
    return function.__func__ if takes_context(function) else function
