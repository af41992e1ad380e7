"""The last value of each tensor of a graph: from the run that is stopped, else from the newest recorded calls.

Asked by the commands about nodes; at a stop on the stopped thread.
"""
from __future__ import annotations

from dataclasses import replace

from pyfuncdbg.debug.graph import Graph, Node, owner
from pyfuncdbg.debug.queries import Queries
from pyfuncdbg.debug.stop import Stop
from pyfuncdbg.debug.tensors import view_of
from pyfuncdbg.debug.value import described
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.record.records import CallRecord, TensorRecord


class NodeValues:
    """Looks up values, each once.

    Args:
        trace: Where calls are recorded.
        graph: Whose tensors.
        stop: Whose run gives the values that it holds; None without one.
    """

    def __init__(self, trace: Queries, graph: Graph, stop: Stop | None = None) -> None:
        self._trace = trace
        self._graph = graph
        self._stop = stop
        self._view: RunView | None = view_of(stop)
        self._calls: dict[str, CallRecord | None] = {}
        self._given: dict[str, TensorRecord] | None = None

    def call(self, node: Node) -> CallRecord | None:
        """Its newest call, of the graph's run if it is of one; None if none was recorded."""
        if node.name not in self._calls:
            found = [call for site in node.sites for call in self._trace.newest(site, run=self._graph.run)]
            self._calls[node.name] = max(found, key=lambda call: (call.started, bool(call.site.function)), default=None)
        return self._calls[node.name]

    def tensor(self, name: str) -> TensorRecord | None:
        """What a tensor held last; None if unknown."""
        live = self._live(name)
        if live is not None:
            return live
        node = self._graph.nodes.get(owner(name))
        if node is None:
            return self._fed().get(name)
        call = self.call(node)
        slot = node.site.outputs.index(name) if name in node.site.outputs else -1
        if call is None or not 0 <= slot < len(call.outputs) or call.outputs[slot].absent:
            return None
        return replace(call.outputs[slot], name=name)

    def _live(self, name: str) -> TensorRecord | None:
        if self._view is None or self._stop is None or self._stop.run is None or not self._view.holds(name):
            return None
        tensor = described(self._view.value(name), self._stop.run.host).tensor
        return tensor and replace(tensor, name=name)

    def _fed(self) -> dict[str, TensorRecord]:
        """Feeds of the run, by name."""
        if self._given is None:
            plan, self._given = self._graph.plan, {}
            if plan is not None:
                run = self._graph.run or plan.newest
                self._given = {tensor.name: tensor for tensor in self._trace.run(run, plan.process).feeds
                               if not tensor.absent}
        return self._given
