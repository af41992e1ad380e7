"""Nested `with` blocks of one session: only the outermost one ends it.

All on the threads that enter and leave the blocks.
"""
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from types import MethodType, TracebackType
from typing import Any

from pyfuncdbg.hooks.live_objects import referrers


class WithBlocks:
    """The open blocks of one wrapper.

    Args:
        wrapped: A session.
    """

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped
        self._open: list[ExitStack | None] = []

    def enter(self, wrapper: Any) -> Any:
        """Enter a block of the wrapper: as one of the session, unless it has one that is open.

        Raises:
            TypeError: The session has no blocks, as an InteractiveSession.
        """
        if not hasattr(type(self._wrapped), '__enter__'):
            raise TypeError(f'{type(self._wrapped).__name__!r} object does not support the context manager protocol')
        if in_a_block(self._wrapped) or any(other._wrapped is self._wrapped for other in list(_ending)):
            self._open.append(self._inner(wrapper))
            return wrapper
        entered = bound_to(wrapper, self._wrapped, '__enter__')()
        self._open.append(None)
        _ending.add(self)
        return entered

    def leave(self, wrapper: Any, kind: type[BaseException] | None, error: BaseException | None,
              trace: TracebackType | None) -> Any:
        """Leave the newest block; what the session's own `__exit__` says, if it is that which ends it."""
        inner = self._open.pop() if self._open else None
        if inner is not None:
            return inner.__exit__(kind, error, trace)
        _ending.discard(self)
        return bound_to(wrapper, self._wrapped, '__exit__')(kind, error, trace)

    def _inner(self, wrapper: Any) -> ExitStack:
        """A copy of the context that the open block has entered, with the wrapper instead of the session. It ends
        nothing."""
        block = ExitStack()
        if hasattr(self._wrapped, 'as_default'):                # a MonitoredSession is never the default
            block.enter_context(self._wrapped.graph.as_default())
            block.enter_context(wrapper.as_default())
        return block


_ending: weakref.WeakSet[WithBlocks] = weakref.WeakSet()
"""Objects with an open block that is going to end what they wrap."""


def in_a_block(managed: Any) -> bool:
    """Whether an open `with` block, or an `ExitStack`, holds this object: both keep its bound `__exit__` until their end.

    A block that was entered before it was watched has left no other sign.
    """
    end = getattr(type(managed), '__exit__', None)
    return end is not None and any(method.__func__ is end for method in referrers(managed, MethodType))


def bound_to(wrapper: Any, wrapped: Any, name: str) -> Callable[..., Any]:
    """A method of what is wrapped with the wrapper in its place: so a wrapper becomes the default session."""
    method: Any = getattr(wrapped, name)
    function = getattr(method, '__func__', None)
    return method if function is None else functools.partial(function, wrapper)
