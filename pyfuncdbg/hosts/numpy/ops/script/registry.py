"""Tokens, by which nodes of an imported GraphDef find their Python function.

A token lives as long as its record, which lives with its graph. The function may live longer; then a few facts
stored by token suffice to restore the record. Any thread may call it.
"""
from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

from pyfuncdbg.hooks.locks import new_lock

_REMEMBERED = 4096
"""Most tokens of dead graphs that can be restored, at about 200 bytes each."""


class Record(Protocol):
    """A Python function as nodes refer to it; `function.PythonFunction` is one."""

    func: Any

    @property
    def token(self) -> str:
        """The token that a node has in its attrs."""

    def facts(self) -> tuple[Any, ...]:
        """The arguments after the function that restore this record."""


numbers = itertools.count()
"""Token numbers, one per public call."""
_living: weakref.WeakValueDictionary[str, Record] = weakref.WeakValueDictionary()
_remembered: OrderedDict[str, Callable[[], Record | None]] = OrderedDict()
_lock = new_lock()


def register(function: Record) -> None:
    """Register a record by its token, as long as it or the user's function lives."""
    token = function.token
    revive = _reviver(function)
    with _lock:
        _living[token] = function
        if revive is not None:
            _remembered[token] = revive
            while len(_remembered) > _REMEMBERED:
                _remembered.popitem(last=False)


def _reviver(function: Record) -> Callable[[], Record | None] | None:
    """A restorer of the record if the user's function still lives; None for a bound method, a new object each time."""
    try:
        reference: Callable[[], Any] = weakref.ref(function.func)
    except TypeError:
        return None
    make: Callable[..., Record] = type(function)
    facts = function.facts()                    # not the record: this must not keep it alive

    def revive() -> Record | None:
        func = reference()
        return None if func is None else make(func, *facts)
    return revive


def find_record(token: bytes) -> Any:
    """The record of a token.

    Raises:
        ValueError: Its graph and its function are gone, or of another process.
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
