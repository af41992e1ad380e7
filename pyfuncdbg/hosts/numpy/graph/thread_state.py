"""Thread state of graph construction: the stacks of default graphs and sessions, and the process's defaults.

`context` has the queries that need `Graph`. The scopes in which a graph or a session is the default one
end in reverse order.
"""
from __future__ import annotations

import threading
from typing import Any

from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Any | None] = []        # None: eager
        self.sessions: list[Any] = []


class _Process:
    """Defaults of new threads."""

    def __init__(self) -> None:
        self.eager = True
        self.graph: Any | None = None
        self.mixed = False                          # nodes are made in eager mode: a program of TensorFlow 1
        self.lock = new_rlock()


state = _ThreadState()
process = _Process()


def executing_eagerly() -> bool:
    """Whether ops are computed at once."""
    return state.graphs[-1] is None if state.graphs else process.eager


def executing_eagerly_outside_functions() -> bool:
    """Whether the outermost context is eager: a function being traced does not count as a graph."""
    for graph in reversed(state.graphs):
        if graph is None:
            return True
        if graph.outer_is_graph:
            return False
    return process.eager


def default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return state.sessions[-1] if state.sessions else None


@hide_own_frames_in_methods
class DefaultScope:
    """Context manager with one entry on a stack of defaults.

    Args:
        stack: Of this thread.
        thing: The default graph or session.

    Attributes:
        enforce_nesting: Whether it is an error to leave it before a later entry.
    """

    __slots__ = ('_stack', '_thing', 'enforce_nesting')

    def __init__(self, stack: list[Any], thing: Any) -> None:
        self._stack, self._thing = stack, thing
        self.enforce_nesting = True

    def __enter__(self) -> Any:
        self._stack.append(self._thing)
        return self._thing

    def __exit__(self, *exception: object) -> None:
        stack = self._stack
        if not stack:
            return
        if not self.enforce_nesting:
            last = max((i for i, thing in enumerate(stack) if thing is self._thing), default=None)
            if last is not None:
                del stack[last]
        elif stack[-1] is not self._thing:
            raise AssertionError(f'Nesting violated for default stack of {type(self._thing)} objects')
        else:
            stack.pop()
