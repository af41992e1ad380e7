"""Names of eager ops, which no run announces: declared by the hosts that have such ops, for breakpoints on them.

Hosts declare when they attach; observers ask where a breakpoint is set and when the program is over, on any thread.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class NamedOp(NamedTuple):
    """An op that a name means.

    Attributes:
        stops: Whether hooks on ops are called before it runs, where one wants them.
        limit: The reason why a breakpoint on it may stop nothing, as a clause.
    """

    stops: bool
    limit: str


Lookup = Callable[[str], NamedOp | None]
"""Gives the op that a name means, None if it means none."""

_lookups: dict[str, Lookup] = {}
_listeners: tuple[Callable[[], None], ...] = ()


def declare(host: str, lookup: Lookup) -> None:
    """Declare the ops of a host, which is attached to now.

    Args:
        host: Its name.
        lookup: Called for each name that is asked for.
    """
    _lookups[host] = lookup
    for listener in _listeners:
        listener()


def withdraw(host: str) -> None:
    """Withdraw the ops of a host, by its name."""
    _lookups.pop(host, None)


def watch(listener: Callable[[], None]) -> None:
    """Call a function, the `listener`, after each declaration, on its thread."""
    global _listeners
    _listeners = (*_listeners, listener)


def named_op(name: str) -> NamedOp | None:
    """The eager op that a name means, of the host whose ops breakpoints stop at where there are several."""
    ops = [op for lookup in list(_lookups.values()) if (op := lookup(name)) is not None]
    return next((op for op in ops if op.stops), ops[0] if ops else None)
