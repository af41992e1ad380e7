"""The steps of one backward pass as gradient calls, by hooks of its nodes. On the thread of the pass.

Each node of the graph has a hook while the pass is under way: one after the node, where its gradients are known and it can
still be computed again, because PyTorch frees what it has kept only when the hooks have returned. A node that adds to the
gradient of a leaf has one before it: with one after it, PyTorch would copy the gradient.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, current
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.python_calls.gradient_links import CALL, ForwardCall
from pyfuncdbg.hosts.torch.tapes.gradient_graph import GradientGraph
from pyfuncdbg.hosts.torch.tapes.step_sites import StepSites

_Flow = tuple[int, int]
"""Id of a gradient call, and index of its output."""


class PassSteps:
    """Gradient calls of one pass.

    Attributes:
        reached: Ids of the leaves that have got a gradient.
    """

    def __init__(self, run: Run, graph: GradientGraph, sites: StepSites, name_leaf: Callable[[Any], str]) -> None:
        self._run = run
        self._graph = graph
        self._sites = sites
        self._name_leaf = name_leaf
        self._calls: dict[Any, int] = {}
        self._handles: list[Any] = []
        self._made: set[Any] = set()         # by `make_step`
        self._ended = 0
        self.reached: set[int] = set()

    def install(self) -> None:
        """Hook the nodes."""
        leaves = {id(node) for node in self._graph.leaves.values()}
        for node in self._graph.incoming:
            self._handles.append(node.register_prehook(self._before_leaf(node)) if id(node) in leaves else
                                 node.register_hook(self._after_step(node)))
        self._ended = perf_counter_ns()

    def remove(self) -> None:
        """Take the hooks off; the graph may be kept for another pass."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def sources_of(self, node: Any) -> list[_Flow]:
        """The calls so far that add to the gradient which a node gets."""
        calls, made = self._calls, self._made
        return [(calls[source], slot if source not in made else argument_place(source, slot))
                for source, slot in self._graph.incoming.get(node, ()) if source in calls]

    @transparent
    def make_step(self, node: Any, gradients: Sequence[Any], compute: Callable[..., Any]) -> Any:
        """Make the step of a node in Python, around the call of its function.

        Args:
            node: A node of the graph, or of another one.
            gradients: Of the outputs.
            compute: Computes those of the inputs, which it returns.
        """
        if node not in self._graph.incoming or not hooks.gradient:
            return compute(*gradients)
        flows = self.sources_of(node)
        site, forward = self._sites.step_site(node, tuple([slot for _, slot in flows]))

        def differentiated(*inputs: Any) -> Sequence[Any]:
            call = current.get()
            if call is not None and call.site is site:
                self._calls[node] = call.id
            return output_list(compute(*inputs))

        self._made.add(node)
        outputs = invoke(site, differentiated, self._run, list(gradients), forward, [call for call, _ in flows])
        self._ended = perf_counter_ns()
        return outputs.raw if type(outputs) is ResultList else tuple(outputs)

    @transparent
    def _after_step(self, node: Any) -> Callable[..., Any]:
        def step(gradients: Any, incoming: Any) -> Any:
            if node in self._made:
                return None
            flows = self.sources_of(node)
            site, forward = self._sites.step_site(node, tuple([slot for _, slot in flows]))
            if hooks.is_ignored(site):
                return None
            started = self._ended

            def differentiated(*inputs: Any) -> Sequence[Any]:
                call = current.get()
                if call is not None and call.site is site:
                    self._calls[node] = call.id
                    call.started = started
                if all(map(_is_same, inputs, incoming)):
                    return list(gradients)
                again = node(*inputs)
                return list(again) if isinstance(again, tuple) else [again]

            outputs = invoke(site, differentiated, self._run, list(incoming), forward, [call for call, _ in flows])
            self._ended = perf_counter_ns()
            return None if all(map(_is_same, outputs, gradients)) else tuple(outputs)
        return step

    def _before_leaf(self, node: Any) -> Callable[..., Any]:
        def leaf(incoming: Any) -> Any:
            variable = node.variable
            self.reached.add(id(variable))
            outputs = self.report_source(self._name_leaf(variable), variable, self.sources_of(node), incoming[0], {})
            return None if outputs[0] is incoming[0] else tuple(outputs)
        return leaf

    def report_source(self, name: str, tensor: Any, flows: Sequence[_Flow], gradient: Any,
                      attrs: dict[str, Any]) -> Sequence[Any]:
        """Make the call that reports the gradient of a source; gives it back, or what a hook has put in its place."""
        site: CallSite = self._sites.source_site(name, tensor, tuple([slot for _, slot in flows]), attrs)
        return invoke(site, _unchanged, self._run, [gradient], 0, [call for call, _ in flows])


def argument_place(node: Any, slot: int) -> int:
    """The argument of a function whose gradient is an output of its node."""
    forward: ForwardCall | None = node.metadata.get(CALL)
    places = forward.places if forward is not None else None
    return places[slot] if places is not None and slot < len(places) else slot


def _is_same(one: Any, other: Any) -> bool:
    return one is other


def _unchanged(*gradients: Any) -> Sequence[Any]:
    return list(gradients)
