"""Nodes in a trace that was not asked for nodes: of runs that were stepped through. Any thread may ask."""
from __future__ import annotations

from pyfuncdbg.observers.debug.queries import Queries


def were_stepped(trace: Queries, run: int | None = None) -> bool:
    """Whether nodes of the graph, or of one run, were recorded although the recording does not have all of them."""
    return not trace.info().ops and trace.count(kind='op', run=run) > 0
