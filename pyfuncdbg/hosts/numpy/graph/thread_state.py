"""Thread state of graph building: the stacks of graphs and sessions; and the process's defaults.

`context` answers questions about it that concern whole graphs.
"""
from __future__ import annotations

import threading
from typing import Any

from pyfuncdbg.hooks.locks import new_rlock


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Any | None] = []        # None: eager
        self.sessions: list[Any] = []


class _Process:
    """Defaults that every thread starts from."""

    def __init__(self) -> None:
        self.eager = True
        self.graph: Any | None = None
        self.mixed = False                          # nodes were made in eager mode: a program of TensorFlow 1
        self.lock = new_rlock()


state = _ThreadState()
process = _Process()


def executing_eagerly() -> bool:
    """Whether an op called now would be computed at once."""
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
