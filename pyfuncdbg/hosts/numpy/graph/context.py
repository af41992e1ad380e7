"""Current context of a thread: its graph (or eager mode), session and device.

New native threads start in the process default; a body of a wrapped function runs under `eager()`.
"""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.thread_state import (
    default_session,
    executing_eagerly,
    executing_eagerly_outside_functions,
    process,
    state,
)

__all__ = ['current_graph', 'default_session', 'disable_eager_execution', 'enable_eager_execution', 'executing_eagerly',
           'executing_eagerly_outside_functions', 'get_default_graph', 'global_graph', 'graph_for_nodes', 'process',
           'reset_default_graph', 'state', 'under']


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
            process.graph = Graph()
        graph: Graph = process.graph
        return graph


def get_default_graph() -> Graph:
    """The innermost graph of this thread, else the process's default graph (also in eager mode)."""
    graph: Graph | None
    for graph in reversed(state.graphs):
        if graph is not None:
            return graph
    return global_graph()


def graph_for_nodes() -> Graph:
    """The graph for ops that are never eager: the current one; in eager mode the process's default graph."""
    graph = current_graph()
    if graph is None:
        process.mixed = True
        graph = get_default_graph()
    return graph


def reset_default_graph() -> None:
    """Discard the process's default graph.

    Raises:
        AssertionError: This thread is inside a `graph.as_default()`.
    """
    if state.graphs:
        raise AssertionError('Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, '
                             'exit the nesting and create a new graph.')
    process.graph = None
    process.mixed = False


@context_hiding_own_frames
def under(graph: Graph | None) -> Iterator[None]:
    """Make `graph` (None: eager mode) current in this thread."""
    graphs = state.graphs
    graphs.append(graph)
    try:
        yield
    finally:
        graphs.pop()


def enable_eager_execution() -> None:
    """Compute ops at once by default."""
    if process.graph is not None and process.graph.version and not process.eager:
        raise ValueError('tf.enable_eager_execution must be called at program startup.')
    process.eager = True


def disable_eager_execution() -> None:
    """Add ops to the process's default graph by default, as TensorFlow 1 did."""
    process.eager = False
