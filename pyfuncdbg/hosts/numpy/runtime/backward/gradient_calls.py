"""Backward steps as calls of kind 'gradient'. Those of a tape are calls at once, those of a graph once their values are
there."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import current_call, hooks, invoke
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Node, differentiated
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import Step, plain_step
from pyfuncdbg.hosts.numpy.runtime.execution.host import host

_eager_sites: dict[tuple[str, str, str], CallSite] = {}


def watched_step(run: Run) -> Step:
    """A step that is a call of kind 'gradient', linked to the calls its gradients come from."""
    def step(node: Node, incoming: Sequence[Any], sources: Sequence[int],
             wanted: Sequence[bool]) -> tuple[Sequence[Any], int]:
        if not hooks.gradient:
            return plain_step(node, incoming, sources, wanted)
        return gradient_call(run, eager_gradient_site(node), lambda *dys: differentiated(node, dys, wanted),
                             incoming, getattr(node, 'call', 0), sources)
    return step


def gradient_site(node: Any) -> CallSite:
    """A site for one node's backward step."""
    attrs = {'forward': node.name}
    if isinstance(node, Operation):             # which the run may not need itself
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
    """The site of an eager node's backward step: nodes of one type and name share it, reads those of one variable."""
    key = node.type, node.name, _variable(node)
    site = _eager_sites.get(key)
    if site is None:
        site = _eager_sites[key] = gradient_site(node)
    return site


def gradient_call(run: Run, site: CallSite, rule: Callable[..., Sequence[Any]], incoming: Sequence[Any], forward: int,
                  sources: Sequence[int]) -> tuple[Sequence[Any], int]:
    """Run one backward step through the hooks: (its outputs, its call id)."""
    made: list[int] = []

    def compute(*dys: Any) -> Sequence[Any]:
        made.append(current_call(site))
        return rule(*dys)

    outputs = invoke(site, compute, run, list(incoming), forward, sources)
    return outputs, made[-1] if made else 0
