"""Values of tensors: those of a run under way, and the last ones of a graph in one run.

Of a run under way it is known which are there, which come later and which were dropped. Asked by the commands about nodes
and tensors; at a stop on the stopped thread.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.observers.debug.inspecting.recorded_graph import RecordedGraph, RecordedNode, owner
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import describe_tensor
from pyfuncdbg.observers.record.array_bytes import packed_text
from pyfuncdbg.observers.record.dtypes import little_endian
from pyfuncdbg.observers.record.record_contents import load_few
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace


Standing = Literal['fed', 'here', 'dropped', 'next', 'later']


@dataclass(frozen=True, slots=True)
class LiveTensor:
    """One tensor of a run under way.

    Attributes:
        name: 'mm:0'.
        op_type: Of its node; '' for a feed.
        state: Fed; computed and here; computed and dropped; made by the node that is next or runs now; made later.
        tensor: Its summary, if it is here.
    """

    name: str
    op_type: str
    state: Standing
    tensor: TensorRecord | None


@dataclass(frozen=True, slots=True)
class LiveNode:
    """One node of a run under way; `silent` if it has no outputs. It ran, is next or runs now, or comes later."""

    name: str
    op_type: str
    state: Literal['here', 'next', 'later']
    silent: bool


def view_of(stop: Stop | None) -> RunView | None:
    """The state of the run at a stop, None outside of a run that can be inspected."""
    control: Any = stop.run.control if stop is not None and stop.run is not None else None
    look = getattr(control, 'look', None)
    return look() if look is not None else None


def live_tensors(stop: Stop, view: RunView, site: str | None = None) -> list[LiveTensor]:
    """Feeds and outputs of the run, in order; `site` is a glob over node names, op types and function names."""
    run: Any = stop.run
    tensors = [LiveTensor(name, '', 'fed', _summary(view.value(name), run, name)) for name in view.feeds
               if view.holds(name) and (site is None or fnmatchcase(name.rpartition(':')[0], site))]
    fresh = dict(zip(stop.call.site.outputs, stop.outputs, strict=False)) if stop.call is not None and stop.outputs else {}
    for index, one in enumerate(view.sites):
        names = (one.name, one.op_type, getattr(one.function, '__name__', ''))
        if site is not None and not any(fnmatchcase(name, site) for name in names):
            continue
        for output in one.outputs:
            if output in fresh:
                tensors.append(LiveTensor(output, one.op_type, 'here', _summary(fresh[output], run, output)))
            elif output not in view.feeds:
                is_here = view.holds(output)
                standing: Standing = 'here' if is_here else 'dropped' if index < view.position else (
                    'next' if index == view.position else 'later')
                tensors.append(LiveTensor(output, one.op_type, standing,
                                        _summary(view.value(output), run, output) if is_here else None))
    return tensors


def live_nodes(view: RunView) -> tuple[LiveNode, ...]:
    """All nodes of the run, in order."""
    return tuple(LiveNode(one.name, one.op_type, 'here' if index < view.position else
                          'next' if index == view.position else 'later', not one.outputs)
                 for index, one in enumerate(view.sites))


def _summary(value: Any, run: Any, name: str) -> TensorRecord | None:
    tensor = describe_tensor(value, run.host, copied=False).tensor
    return tensor and replace(tensor, name=name)


_SMALL = 1024
"""Bytes of a value up to which its elements are loaded."""
_HERE = b'here'


class NodeValues:
    """Look-up of values, each once.

    Args:
        trace: Where calls are recorded.
        graph: Whose tensors.
        stop: Whose run gives the values that it holds; None without one.
        node: Of whose newest call the run is, where the graph is of several; '' for the newest run of all.

    Attributes:
        repeats: Whether a node that was asked for has several calls: the newest of each may be of another iteration.
    """

    def __init__(self, trace: Trace, graph: RecordedGraph, stop: Stop | None = None, node: str = '') -> None:
        self._trace = trace
        self._graph = graph
        self._stop = stop
        self._view: RunView | None = view_of(stop)
        self._in_view = frozenset(site.id for site in self._view.sites) if self._view is not None else frozenset()
        self._calls: dict[str, CallRecord | None] = {}
        self._given: dict[str, TensorRecord] | None = None
        self._node = node
        self._chosen: int | None = graph.run
        self.repeats = False

    @property
    def run(self) -> int | None:
        """The run whose values these are: a value of another run beside them would not be of one state. None if none ran."""
        if self._chosen is None:
            node = self._graph.nodes.get(self._node)
            newest = self._newest(node, None) if node is not None else None
            plan = self._graph.plan
            self._chosen = newest.run if newest is not None else plan.newest if plan is not None else None
        return self._chosen

    def call(self, node: RecordedNode) -> CallRecord | None:
        """The call of the stop, or its newest one, of the graph's run if it is of one; None if there is none."""
        if node.name not in self._calls:
            self._calls[node.name] = self._newest(node, self.run)
        return self._calls[node.name]

    def _newest(self, node: RecordedNode, run: int | None) -> CallRecord | None:
        here = call_at(self._trace, self._stop)
        if here is not None and run in (None, here.run) and here.site.id in (site.id for site in node.sites):
            return here
        found = []
        for site in node.sites:
            newest = self._trace.newest_calls(site, run=run, limit=2)
            self.repeats |= run is not None and len({call.ordinal for call in newest}) > 1
            found += newest[:1]
        return max(found, key=lambda call: (call.started, bool(call.site.function)), default=None)

    def tensor(self, name: str) -> TensorRecord | None:
        """The last value of a tensor; None if unknown."""
        live = self.live(name)
        if live is not None:
            return live
        node = self._graph.nodes.get(owner(name))
        if node is None:
            fed = self._fed().get(name)
            return fed and load_few(fed)
        call = self.call(node)
        slot = node.site.outputs.index(name) if name in node.site.outputs else -1
        if call is None or not 0 <= slot < len(call.outputs) or call.outputs[slot].absent:
            return None
        return load_few(replace(call.outputs[slot], name=name))

    def live(self, name: str) -> TensorRecord | None:
        """The value of a tensor in the stopped run, if this is the graph of that run."""
        stop, view = self._stop, self._view
        if stop is None or view is None or stop.run is None or stop.run.id != self._graph.run:
            return None
        node = self._graph.nodes.get(owner(name))
        # Inside of a function the view is about that, whose tensors may have the names of others.
        is_here = self._shows(node) if node is not None else name in view.feeds and any(
            map(self._shows, self._graph.nodes.values()))
        if not is_here or not view.holds(name):
            return None
        value = describe_tensor(view.value(name), stop.run.host)
        if value.tensor is None or value.array is None:
            return value.tensor
        stored = _stored(value.array)
        if stored is None:
            return replace(value.tensor, name=name)
        return load_few(replace(value.tensor, name=name, level='full', key=_HERE, _read=lambda key: stored))

    def _shows(self, node: RecordedNode) -> bool:
        """Whether the view of the stopped run is about a node."""
        return any(site.id in self._in_view for site in node.sites)

    def _fed(self) -> dict[str, TensorRecord]:
        """Feeds of the run, by name."""
        if self._given is None:
            plan, self._given = self._graph.plan, {}
            if plan is not None:
                run = self.run or plan.newest
                self._given = {tensor.name: tensor for tensor in self._trace.run(run, plan.process).feeds
                               if not tensor.absent}
        return self._given


def _stored(array: np.ndarray) -> bytes | None:
    """A small array as a trace stores it; None of one that is large or holds other objects than text."""
    if array.nbytes > _SMALL:
        return None
    if not array.dtype.hasobject:
        return little_endian(array).tobytes()
    elements = array.ravel().tolist()
    return packed_text(elements) if elements and all(isinstance(each, bytes | str) for each in elements) and sum(
        map(len, elements)) <= _SMALL else None


def call_at(trace: Trace, stop: Stop | None) -> CallRecord | None:
    """The record of the call that a thread is stopped at; None if it is in none, or that was not recorded."""
    if stop is None or stop.call is None or not stop.call.id:
        return None
    call = stop.call
    try:
        record = trace.call(call.id)
    except CommandError:
        return None
    # Of a forked process the parent's call may have the number.
    same = (record.site.name, record.ordinal, record.thread) == (call.site.name, call.ordinal, call.thread)
    return record if same else None
