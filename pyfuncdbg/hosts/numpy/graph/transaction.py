"""All or nothing: nodes that are made together are all in the graph, or none is. On the thread that builds."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyfuncdbg.hosts.numpy.graph.graph import Graph


@contextmanager
def all_or_nothing(graph: Graph) -> Iterator[None]:
    """Take back every node that was made inside if an exception comes out; no other thread builds meanwhile."""
    with graph._lock:
        count, used = len(graph._ops), dict(graph._names._used)
        resources, sites = len(graph.resources), set(graph.sites)
        try:
            yield
        except BaseException:
            for op in graph._ops[count:]:
                del graph._by_name[op.name]
                for group in graph._control.groups:
                    group.made.discard(op)
            del graph._ops[count:], graph.resources[resources:]
            graph._names._used.clear()
            graph._names._used.update(used)
            for serial in graph.sites.keys() - sites:
                del graph.sites[serial]
            graph.changed()
            raise
