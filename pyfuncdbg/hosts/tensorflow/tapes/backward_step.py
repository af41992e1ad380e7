"""One backward step of a tape as a call: its site, its links, its gradients. Runs on the thread of the pass."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.chain import current_call, invoke
from pyfuncdbg.hooks.graph_context import GRAPH, graph_number
from pyfuncdbg.hooks.traits import backward_step_traits
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.interception.result_list import ResultList, result_list
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import names_of, outermost
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp, attr_text
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients

_MOST = 1 << 12
_TRACED = re.compile(r'__(?:inference|forward|backward)_(?:__?(?:inference|forward|backward)_)?(.+?)_\d+$')


class GradientRequest(NamedTuple):
    """An op whose gradient TensorFlow asks for.

    Attributes:
        inputs, outputs: Its tensors that TensorFlow has kept, None for each other.
        op: The op itself, if known.
    """

    type: str
    attrs: Any
    scope: str | None
    inputs: Any
    outputs: Any
    op: LoggedOp | None = None


@transparent
class BackwardSteps:
    """Maker of backward steps; those of one line and op are one site."""

    def __init__(self, host: TensorFlowHost, gradients: PyFunctionGradients) -> None:
        self._host = host
        self._gradients = gradients
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._simple_sites: dict[tuple[Any, ...], CallSite] = {}

    def make(self, backward_pass: BackwardPass, rule: GradientRequest, gradients: Sequence[Any],
             compute: Callable[..., Any]) -> Any:
        """Make one step.

        Args:
            backward_pass: The pass that it is part of.
            rule: The op that it differentiates.
            gradients: Of the op's outputs.
            compute: Computes those of its inputs.
        """
        op, flows = backward_pass.step_sources(rule.type, rule.inputs, rule.outputs, gradients, rule.op)
        forward, name = backward_pass.forward, ''
        if op is not None and op.call:
            forward = op.call
        elif rule.type == 'EagerPyFunc' and backward_pass.eager:
            forward, name = self._gradients.last_call_of(attr_text(rule.attrs, 'token'))
        slots = tuple([slot for _, slot in flows])
        number = 0

        def applied(*gradients: Any) -> ResultList:
            nonlocal number
            number = current_call(site)
            return result_list(compute(*gradients))

        inputs, sources = list(gradients), [call for call, _ in flows]
        if backward_pass.eager:
            where, own = (op.where, op.name) if op is not None else (None, '')
            key = rule.type, rule.scope, where, slots, name or own
            site = self._simple_sites.get(key) or self._eager_site(key, rule, op, name, slots, backward_pass.log)
        else:                                   # nodes made inside of a hook would have it in their stacks
            raw = compute(*gradients)
            given = result_list(raw)
            site = self._site(rule, op, name, slots, backward_pass.log, node_names(gradients), node_names(given),
                              _graph_of([*gradients, *given]))

            def compute(*_: Any) -> Any:
                return raw
        outputs = invoke(site, applied, backward_pass.run, inputs, forward, sources)
        backward_pass.note_step(number, op, outputs)
        return outputs.raw if type(outputs) is ResultList else list(outputs)

    def _eager_site(self, key: tuple[Any, ...], rule: GradientRequest, op: LoggedOp | None, name: str,
                    slots: tuple[int, ...],
                    log: ForwardLog | None) -> CallSite:
        """As `_site`; for an op without a name of its own, as most are, it is cached by a short key."""
        site = self._site(rule, op, name, slots, log)
        if not key[-1]:
            if len(self._simple_sites) > _MOST:
                self._simple_sites.clear()
            self._simple_sites[key] = site
        return site

    def _site(self, rule: GradientRequest, op: LoggedOp | None, name: str, slots: tuple[int, ...], log: ForwardLog | None,
              gradient_names: tuple[str, ...] = (), output_names: tuple[str, ...] = (), graph: int = 0) -> CallSite:
        where = op.where if op is not None else None
        kind = rule.type
        if kind.startswith('__') and (traced := _TRACED.match(kind)) is not None:
            kind, name = 'PartitionedCall', traced[1]
        name = name or (op.name if op is not None else '') or (f'{rule.scope}/{kind}' if rule.scope else kind)
        names = input_names(op, log) if op is not None and op.name else ()
        key = kind, name, where, slots, names, gradient_names, output_names, graph
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            attrs = _attrs(names, bool(gradient_names), graph)
            site = self._sites[key] = step_site(self._host, name, kind, where, slots, attrs, gradient_names, output_names)
        return site


def _attrs(names: Sequence[str], traced: bool, graph: int) -> dict[str, Any]:
    return ({'inputs': names} if names else {}) | ({'traced': True} if traced else {}) | ({GRAPH: graph} if graph else {})


def _graph_of(gradients: Sequence[Any]) -> int:
    """The number of the graph that a step's nodes were made in; 0 if it made none."""
    tensors = [getattr(gradient, 'values', gradient) for gradient in gradients]
    return next((graph_number(outermost(tensor.graph)) for tensor in tensors if hasattr(tensor, 'op')), 0)


def step_site(host: TensorFlowHost, name: str, kind: str, line: Frame | None, slots: Sequence[int],
              attrs: dict[str, Any], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> CallSite:
    """The site of a backward step.

    Args:
        host, name, kind: As in `CallSite`.
        line: The program's line of the op.
        slots: Outputs of its source calls that it sums, in their order.
        attrs: More attributes.
        inputs, outputs: Names of gradients in a graph.
    """
    return CallSite(f'{name}_grad', kind, 'gradient', host, stack=(line,) if line is not None else (),
                    attrs={'forward': name, 'slots': list(slots), **attrs}, inputs=inputs, outputs=outputs,
                    traits=backward_step_traits(kind))


def node_names(gradients: Sequence[Any]) -> tuple[str, ...]:
    """Names of gradients in a graph, as its observed nodes have them; '' for others."""
    tensors = [getattr(gradient, 'values', gradient) for gradient in gradients]
    return tuple(names_of([tensor])[0] if hasattr(tensor, 'op') else '' for tensor in tensors)


def input_names(op: LoggedOp, log: ForwardLog | None) -> tuple[str, ...]:
    """'mm:0' for each input of a node, '' for one from before the log."""
    makers = [(log.by_output.get(tensor) if log is not None else None, tensor) for tensor in op.inputs]
    return tuple(f'{maker.name}:{maker.outputs.index(tensor)}' if maker is not None and maker.name else ''
                 for maker, tensor in makers)
