"""The forward nodes of backward steps: their names, functions and inputs. Read from a trace, on any thread."""
from __future__ import annotations

from collections.abc import Sequence

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.inspecting.recorded_graph import site_graph
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.trace import Trace


def forward_name(step: CallRecord) -> str:
    """The name of the node that a gradient call differentiates.

    Args:
        step: The call.
    """
    return str(step.site.attrs.get('forward', step.site.name.removesuffix('_grad')))


def input_names(site: SiteRecord) -> tuple[str, ...]:
    """Names of the forward node's inputs, as a gradient site tells them; a trace may be hostile.

    Args:
        site: Of a gradient call.
    """
    names = site.attrs.get('inputs')
    return tuple([name if isinstance(name, str) else '' for name in names]) if isinstance(names, list | tuple) else ()


class ForwardNames:
    """Look-up of forward nodes' functions and input names.

    Args:
        trace: Has the steps.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._inputs: dict[tuple[int, str], Sequence[str]] = {}
        self._functions: dict[tuple[int, str], str] = {}
        self._graphs: dict[str, set[int]] = {}
        for site in trace.sites():
            if site.kind == 'gradient' and 'forward' in site.attrs:
                self._inputs.setdefault(self._key(site, str(site.attrs['forward'])), input_names(site))
            elif site.kind in ('op', 'python'):
                key = self._key(site, site.name)
                if any(site.inputs):
                    self._inputs[key] = site.inputs
                if site.function:
                    self._functions[key] = site.function

    def _key(self, site: SiteRecord, name: str) -> tuple[int, str]:
        self._graphs.setdefault(name, set()).add(site_graph(site))
        return site_graph(site), name

    def _known(self, step: CallRecord) -> tuple[int, str]:
        """The key of the node that a step differentiates: a step may be of no graph, and its node of the only one."""
        name, graph = forward_name(step), site_graph(step.site)
        graphs = self._graphs.get(name, set()) - {0}
        return (graph if graph or len(graphs) != 1 else next(iter(graphs))), name

    def function(self, step: CallRecord) -> str:
        """The user's function of a step's node, by its call if that is known: eager calls of many functions have one name.

        Args:
            step: A gradient call.
        """
        key = self._known(step)
        name = key[1]
        if not any((graph, name) in self._functions for graph in self._graphs.get(name, ())):
            return ''
        try:
            site = self._trace.call(step.forward).site if step.forward else None
        except CommandError:                    # dropped
            site = None
        known = self._functions.get(key) or self._functions.get((0, name), '')
        return known if site is None or site.name != name else site.function

    def input(self, step: CallRecord, slot: int) -> str:
        """The name of an input of a step's node.

        Args:
            step: A gradient call.
            slot: Which input.

        Returns:
            Such as 'mm:0'; '' if unknown.
        """
        key = self._known(step)
        inputs = self._inputs.get(key) or self._inputs.get((0, key[1]), ())
        return inputs[slot] if slot < len(inputs) else ''
