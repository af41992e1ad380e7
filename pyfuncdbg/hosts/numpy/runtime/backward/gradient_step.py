"""Backward steps as calls of kind 'gradient'. Those of a tape are calls at once, those of a graph when they ran."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import current_call, hooks, invoke
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.numpy.graph.definitions.registry import GATE, IDENTITY, SUM, Node, apply_gradient
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource, variant
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import Step, plain_step
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.host import host


class GradientStep:
    """Backward step of one forward node: the nodes that one rule added.

    Attributes:
        forward: The node it differentiates: an operation, or a node of a tape.
        incoming: Gradients of the forward node's outputs, hidden ones included; None where there is none.
        outgoing: Gradients of its inputs.
        sources: Forward nodes whose backward steps the incoming gradients sum.
        record: The forward node's record, with its call; None if there is none.
    """

    __slots__ = ('_site', 'forward', 'incoming', 'outgoing', 'record', 'sources')

    def __init__(self, forward: Any, incoming: Sequence[Any], outgoing: Sequence[Any], sources: Sequence[Any],
                 record: SymbolicTensor | None) -> None:
        self.forward = forward
        self.incoming = tuple(incoming)
        self.outgoing = tuple(outgoing)
        self.sources = tuple(sources)
        self.record = record
        self._site: CallSite | None = None

    def report(self, execution: Execution, incoming: Sequence[Any], outgoing: Sequence[Any], record: Any) -> None:
        """Make it a call of kind 'gradient', now that its values are there."""
        if not hooks.gradient:
            return
        if self._site is None:
            self._site = gradient_site(self.forward)
        calls = execution.gradient_calls
        sources = [calls[op] for op in self.sources if op in calls]
        _, calls[self.forward] = gradient_call(execution.run, self._site, lambda *_: outgoing, incoming,
                                               getattr(record, 'call', 0), sources)


def graph_step(graph: Graph, gated: bool = False) -> Step:
    """A step that adds the rule's nodes to the current `graph`, in a name scope, and records the step there; if
    gated, its gradients are used only when all are computed."""
    step_of_tensor: dict[int, Any] = {}

    def step(node: Any, incoming: Sequence[Any], _: Sequence[int], needed: Sequence[bool]) -> tuple[Sequence[Any], int]:
        forward = getattr(node, 'op', None) or node
        graph.changed()
        with graph.name_scope(f'{forward.name}_grad'):
            outgoing = apply_gradient(node, incoming, needed)
            _fit(forward, outgoing)
            if gated and sum(gradient is not None for gradient in outgoing) > 1:
                outgoing = _gate(graph, outgoing)
        feeding = dict.fromkeys(step_of_tensor[id(g)] for g in _parts(incoming) if id(g) in step_of_tensor)
        for gradient in map(_tensor, outgoing):
            if isinstance(gradient, SymbolicTensor):
                step_of_tensor[id(gradient)] = forward
        record = graph.standing_for(node.hidden[0]) if node.hidden else None
        values = [*map(_tensor, incoming)], [*map(_tensor, outgoing)]
        graph.gradient_steps.append(GradientStep(forward, *values, list(feeding), record))
        return outgoing, 0
    return step


def _tensor(gradient: Any) -> Any:
    """The displayed tensor of a gradient: for `IndexedSlices` the values."""
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _fit(forward: Any, outgoing: Sequence[Any]) -> None:
    """Set the static shape of each gradient.

    Raises:
        ValueError: It is incompatible.
    """
    for i, (tensor, gradient) in enumerate(zip(forward.inputs, outgoing, strict=False)):
        if isinstance(gradient, SymbolicTensor) and tensor.dtype not in (resource, variant):
            try:
                gradient.set_shape(tensor.shape)
            except ValueError:
                raise ValueError(
                    'Incompatible shapes between op input and calculated input gradient. Forward operation: '
                    f'{forward.name}. Input index: {i}. Original input shape: {tensor.shape}. Calculated input gradient '
                    f'shape: {gradient.shape}') from None


def _gate(graph: Graph, outgoing: Sequence[Any]) -> list[Any]:
    """The gradients, each with a control dependency on all of them."""
    with graph.name_scope('tuple'):
        with graph.control_dependencies([_tensor(gradient) for gradient in outgoing if gradient is not None]):
            gate = apply(GATE, (), None, 'group_deps')
        gated = []
        for gradient in outgoing:
            tensor = _tensor(gradient)
            if tensor is not None:
                with graph.colocate_with(tensor), graph.control_dependencies([gate]):
                    tensor = apply(IDENTITY, (tensor,), None, 'control_dependency')
                if isinstance(gradient, IndexedSlices):
                    tensor = IndexedSlices(tensor, gradient.indices, gradient.dense_shape)
            gated.append(tensor)
        return gated


def _parts(tensors: Iterable[Any]) -> list[Any]:
    """Gradients, with the terms of sums."""
    parts = []
    for tensor in map(_tensor, tensors):
        if tensor is not None:
            parts.append(tensor)
            if isinstance(tensor, SymbolicTensor) and tensor.op.type == SUM:
                parts.extend(tensor.op.inputs)
    return parts


_eager_sites: dict[tuple[str, str, str], CallSite] = {}


def watched_step(run: Run) -> Step:
    """A step that is a call of kind 'gradient', linked to the calls that computed its gradients."""
    def step(node: Node, incoming: Sequence[Any], sources: Sequence[int],
             needed: Sequence[bool]) -> tuple[Sequence[Any], int]:
        if not hooks.gradient:
            return plain_step(node, incoming, sources, needed)
        return gradient_call(run, eager_gradient_site(node), lambda *dys: apply_gradient(node, dys, needed),
                             incoming, getattr(node, 'call', 0), sources)
    return step


def gradient_site(node: Any) -> CallSite:
    """A site for one node's backward step."""
    attrs = {'forward': node.name}
    if isinstance(node, Operation):             # which the run may not execute
        attrs['inputs'] = [tensor.name for tensor in node.inputs]
    elif variable := _variable(node):
        attrs['inputs'] = [variable]
    return CallSite(f'{node.name}_grad', node.type, 'gradient', host, attrs=attrs, traits=op_traits(node.type))


def _variable(node: Any) -> str:
    """'w:0' of the variable that an eager node reads, '' for other nodes."""
    storage: Any = getattr(node.inputs[0], '_value', None) if node.inputs else None
    variable = storage.variable() if hasattr(storage, 'variable') else None
    return str(variable.name) if variable is not None else ''


def eager_gradient_site(node: Any) -> CallSite:
    """The site of an eager node's backward step: shared by nodes of one type and name, and by reads of one variable."""
    key = node.type, node.name, _variable(node)
    site = _eager_sites.get(key)
    if site is None:
        site = _eager_sites[key] = gradient_site(node)
    return site


def gradient_call(run: Run, site: CallSite, rule: Callable[..., Sequence[Any]], incoming: Sequence[Any], forward: int,
                  sources: Sequence[int]) -> tuple[Sequence[Any], int]:
    """Run one backward step through the hooks: (its outputs, its call id)."""
    call_ids: list[int] = []

    def compute(*dys: Any) -> Sequence[Any]:
        call_ids.append(current_call(site))
        return rule(*dys)

    outputs = invoke(site, compute, run, list(incoming), forward, sources)
    return outputs, call_ids[-1] if call_ids else 0
