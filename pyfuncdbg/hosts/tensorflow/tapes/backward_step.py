"""One backward step of a tape as a call: its site, its links, its gradients. Runs on the thread of the pass."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.chain import current_call, invoke
from pyfuncdbg.hooks.traits import backward_step_traits
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import names_of
from pyfuncdbg.hosts.tensorflow.tapes.backward_pass import BackwardPass
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp, attr_text
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients

_MOST = 1 << 12
_TRACED = re.compile(r'__(?:inference|forward|backward)_(?:__?(?:inference|forward|backward)_)?(.+?)_\d+$')


class GradientRequest(NamedTuple):
    """Facts of an op that TensorFlow passes to ask for its gradient.

    Attributes:
        inputs, outputs: Its tensors that TensorFlow has kept, None for each other.
        made: The op itself, where that is known.
    """

    type: str
    attrs: Any
    scope: str | None
    inputs: Any
    outputs: Any
    made: LoggedOp | None = None


class BackwardSteps:
    """Maker of backward steps; those of one line and op are one site."""

    def __init__(self, host: TensorFlowHost, gradients: PyFunctionGradients) -> None:
        self._host = host
        self._gradients = gradients
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._usual: dict[tuple[Any, ...], CallSite] = {}

    def make(self, going: BackwardPass, rule: GradientRequest, gradients: Sequence[Any], compute: Callable[..., Any]) -> Any:
        """One step.

        Args:
            going: The pass that it is a part of.
            rule: What it differentiates.
            gradients: Of the outputs of that.
            compute: Works out those of its inputs, from those of its outputs.
        """
        made, flows = going.incoming(rule.type, rule.inputs, rule.outputs, gradients, rule.made)
        forward, name = going.forward, ''
        if made is not None and made.call:
            forward = made.call
        elif rule.type == 'EagerPyFunc' and going.eager:
            forward, name = self._gradients.known(attr_text(rule.attrs, 'token'))
        slots = tuple([slot for _, slot in flows])
        number = 0

        def applied(*given: Any) -> ResultList:
            nonlocal number
            number = current_call(site)
            return result_list(compute(*given))

        inputs, sources = list(gradients), [call for call, _ in flows]
        if going.eager:
            where, own = (made.where, made.name) if made is not None else (None, '')
            key = rule.type, rule.scope, where, slots, name or own
            site = self._usual.get(key) or self._eager_site(key, rule, made, name, slots, going.log)
        else:                                   # a node that is made under a hook would show the hook in its stack
            raw = compute(*gradients)
            site = self._site(rule, made, name, slots, going.log, node_names(gradients), node_names(result_list(raw)))

            def compute(*_: Any) -> Any:
                return raw
        found = invoke(site, applied, going.run, inputs, forward, sources)
        going.gave(number, made, found)
        return found.raw if type(found) is ResultList else list(found)

    def _eager_site(self, key: tuple[Any, ...], rule: GradientRequest, made: LoggedOp | None, name: str,
                    slots: tuple[int, ...],
                    log: ForwardLog | None) -> CallSite:
        """As `_site`; of an op without a name of its own, as most are, it is remembered by the little that matters."""
        site = self._site(rule, made, name, slots, log)
        if not key[-1]:
            if len(self._usual) > _MOST:
                self._usual.clear()
            self._usual[key] = site
        return site

    def _site(self, rule: GradientRequest, made: LoggedOp | None, name: str, slots: tuple[int, ...], log: ForwardLog | None,
              given: tuple[str, ...] = (), made_names: tuple[str, ...] = ()) -> CallSite:
        where = made.where if made is not None else None
        kind = rule.type
        if kind.startswith('__') and (traced := _TRACED.match(kind)) is not None:
            kind, name = 'PartitionedCall', traced[1]
        name = name or (made.name if made is not None else '') or (f'{rule.scope}/{kind}' if rule.scope else kind)
        names = input_names(made, log) if made is not None and made.name else ()
        key = kind, name, where, slots, names, given, made_names
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            site = self._sites[key] = step_site(
                self._host, name, kind, where, slots, _attrs(names, bool(given)), given, made_names)
        return site


def _attrs(names: Sequence[str], traced: bool) -> dict[str, Any]:
    return ({'inputs': names} if names else {}) | ({'traced': True} if traced else {})


def step_site(host: TensorFlowHost, name: str, kind: str, where: Frame | None, slots: Sequence[int],
              attrs: dict[str, Any], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> CallSite:
    """The site of a backward step; `slots` are the outputs of its sources that come in, in their order; `inputs` and
    `outputs` are names of gradients in a graph."""
    return CallSite(f'{name}_grad', kind, 'gradient', host, stack=(where,) if where is not None else (),
                    attrs={'forward': name, 'slots': list(slots), **attrs}, inputs=inputs, outputs=outputs,
                    traits=backward_step_traits(kind))


def node_names(gradients: Sequence[Any]) -> tuple[str, ...]:
    """Names of gradients in a graph, as its observed nodes have them; '' for others."""
    tensors = [getattr(gradient, 'values', gradient) for gradient in gradients]
    return tuple(names_of([tensor])[0] if hasattr(tensor, 'op') else '' for tensor in tensors)


def input_names(made: LoggedOp, log: ForwardLog | None) -> tuple[str, ...]:
    """'mm:0' for each input of a node, '' for one that was made before."""
    makers = [(log.by_output.get(tensor) if log is not None else None, tensor) for tensor in made.inputs]
    return tuple(f'{maker.name}:{maker.outputs.index(tensor)}' if maker is not None and maker.name else ''
                 for maker, tensor in makers)


class ResultList(list[Any]):
    """The values of a result for hooks; the result itself is handed on unless a hook changes them. Made by `result_list`.

    Attributes:
        raw: The result itself.
    """

    __slots__ = ('raw',)

    raw: Any


def result_list(raw: Any) -> ResultList:
    """The values of a result; a function, for calling an `__init__` costs more."""
    values = ResultList(raw if isinstance(raw, (list, tuple)) else [raw])
    values.raw = raw
    return values
