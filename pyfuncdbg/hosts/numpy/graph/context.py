"""What is current in this thread: the graph that ops are added to (or eager mode), the session, the device.

Native threads that come and go start in the process default; a body of a wrapped function runs under `eager()`.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.public_function import context_for_program

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.graph.graph import Graph


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph | None] = []        # None: eager
        self.sessions: list[Any] = []


class _Process:
    """Defaults that every thread starts from."""

    def __init__(self) -> None:
        self.eager = True
        self.graph: Graph | None = None
        self.mixed = False                          # nodes were made in eager mode: a program of TensorFlow 1
        self.lock = new_rlock()


state = _ThreadState()
process = _Process()


def current_graph() -> Graph | None:
    """The graph to which ops are added now, None in eager mode."""
    graphs = state.graphs
    if graphs:
        return graphs[-1]
    return None if process.eager else global_graph()


def global_graph() -> Graph:
    """The process's default graph, made at first use."""
    with process.lock:
        if process.graph is None:
            from pyfuncdbg.hosts.numpy.graph.graph import Graph
            process.graph = Graph()
        return process.graph


def get_default_graph() -> Graph:
    """The innermost graph of this thread, else the process's default graph (also in eager mode)."""
    for graph in reversed(state.graphs):
        if graph is not None:
            return graph
    return global_graph()


def graph_for_nodes() -> Graph:
    """The graph for what can only be a node: the current one; in eager mode the process's default graph."""
    graph = current_graph()
    if graph is None:
        process.mixed = True
        graph = get_default_graph()
    return graph


def reset_default_graph() -> None:
    """Forget the process's default graph.

    Raises:
        AssertionError: This thread is inside a `graph.as_default()`.
    """
    if state.graphs:
        raise AssertionError('Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, '
                             'exit the nesting and create a new graph.')
    process.graph = None
    process.mixed = False


def executing_eagerly() -> bool:
    """Whether an op called now would be computed at once."""
    return current_graph() is None


def executing_eagerly_outside_functions() -> bool:
    """Whether the outermost context is eager: a function being traced does not count as a graph."""
    for graph in reversed(state.graphs):
        if graph is None:
            return True
        if graph.outer_is_graph:
            return False
    return process.eager


@context_for_program
def under(graph: Graph | None) -> Iterator[None]:
    """Make `graph` (None: eager mode) current in this thread."""
    graphs = state.graphs
    graphs.append(graph)
    try:
        yield
    finally:
        graphs.pop()


def default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return state.sessions[-1] if state.sessions else None


def enable_eager_execution() -> None:
    """Compute ops at once by default."""
    if process.graph is not None and process.graph.version and not process.eager:
        raise ValueError('tf.enable_eager_execution must be called at program startup.')
    process.eager = True


def disable_eager_execution() -> None:
    """Add ops to the process's default graph by default, as TensorFlow 1 did."""
    process.eager = False
