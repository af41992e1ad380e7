"""Results that JAX gives to a program, for `pyfuncdbg verify`: what it reads of arrays, and what its callbacks return.

A compiled function is called by C++ alone; how often Python sees that depends on who watches.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import ResultSource

_READERS = ('tolist', 'item', '__float__', '__int__', '__bool__', '__format__', '__str__', '__repr__')


def _reader(name: str) -> ResultSource:
    return ResultSource('jax._src.array', f'ArrayImpl.{name}', lambda args: (f'Array.{name}', ()))


def _callback_name(args: tuple[Any, ...]) -> tuple[str, Sequence[str]]:
    return str(getattr(args[0].callback_func, '__name__', 'callback')), ()


RESULT_SOURCES = (*map(_reader, _READERS), ResultSource('jax._src.callback', '_FlatCallback.__call__', _callback_name))


def leaves(value: Any) -> Iterable[Any] | None:
    """The array behind a JAX array; None for any other value."""
    kind = type(value)
    if kind.__name__ == 'ArrayImpl' and kind.__module__.startswith('jax'):
        return (np.asarray(value),)
    if kind.__name__ == 'PRNGKeyArray' and hasattr(value, '_base_array'):
        return (value._base_array,)
    return None
