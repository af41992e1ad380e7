"""Tokens: how a node of an imported GraphDef finds the Python function it was written for.

A token lives as long as its record: the graph it was made for. The function itself may live longer; then a few facts
remembered by token are enough to make the record again. Any thread may call it.
"""
from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

from pyfuncdbg.hooks.locks import new_lock

_REMEMBERED = 4096
"""So many tokens of dead graphs can be revived, at about 200 bytes each."""


class Record(Protocol):
    """A Python function as nodes refer to it; `function.PythonFunction` is one."""

    func: Any

    @property
    def token(self) -> str:
        """The token that a node has in its attrs."""

    def facts(self) -> tuple[Any, ...]:
        """The arguments that make this record again, after the function."""


numbers = itertools.count()
"""Numbers of tokens, one per public call."""
_living: weakref.WeakValueDictionary[str, Record] = weakref.WeakValueDictionary()
_remembered: OrderedDict[str, Callable[[], Record | None]] = OrderedDict()
_lock = new_lock()


def register(function: Record) -> None:
    """Let nodes find a record by its token, while it lives or its user's function does."""
    token = function.token
    revive = _reviver(function)
    with _lock:
        _living[token] = function
        if revive is not None:
            _remembered[token] = revive
            while len(_remembered) > _REMEMBERED:
                _remembered.popitem(last=False)


def _reviver(function: Record) -> Callable[[], Record | None] | None:
    """Makes the record again if the user's function still lives. A bound method is a new object each time: none."""
    try:
        reference: Callable[[], Any] = weakref.ref(function.func)
    except TypeError:
        return None
    make: Callable[..., Record] = type(function)
    facts = function.facts()                    # not the record itself: it may not live for this

    def revive() -> Record | None:
        func = reference()
        return None if func is None else make(func, *facts)
    return revive


def find_record(token: bytes) -> Any:
    """The record of a token.

    Raises:
        ValueError: Its graph, and its function, are gone or were of another process.
    """
    key = token.decode()
    function = _living.get(key)
    if function is None:
        with _lock:
            revive = _remembered.get(key)
        function = revive() if revive is not None else None
        if function is None:
            raise ValueError(f'Could not find callback with key={key} in the registry.')
        with _lock:
            function = _living.setdefault(key, function)
    return function


def size() -> int:
    """The number of living records."""
    return len(_living)
