"""Public functions show TensorFlow's signatures: names and defaults, without the annotations of this package.

Called where a namespace of `tf` is made, and for what is loaded later, on the thread that loads it.
"""
from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any


def plain(values: Iterable[Any]) -> None:
    """Take the annotations off functions of this package, and off the methods of its classes."""
    for value in values:
        if isinstance(value, FunctionType):
            _strip(value)
        elif isinstance(value, type) and value.__module__.startswith('pyfuncdbg.'):
            for one in value.__mro__[:-1]:
                for method in vars(one).values():
                    if isinstance(method, FunctionType):
                        _strip(method)


def _strip(function: Any) -> None:
    while isinstance(function, FunctionType) and function.__module__.startswith('pyfuncdbg.'):
        function.__annotations__ = {}
        function = getattr(function, '__wrapped__', None)
