"""Backward steps of an observed program, as calls of kind 'gradient', and the gradients that it returns.

JAX writes the backward pass into the program itself: ops that compute gradients have 'transpose' in their name stack, and
the line of the op that they differentiate. Steps are found when the program is lowered; their calls are made on the thread
of the op's.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import CallSite, Frame, Run
from pyfuncdbg.hooks.chain import current_call, invoke
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.jax.graph_ops.dead_gradients import reason_of
from pyfuncdbg.hosts.jax.graph_ops.observed_program import ObservedProgram
from pyfuncdbg.hosts.jax.graph_ops.op_observer import OpObserver
from pyfuncdbg.hosts.jax.host import JaxHost

_ROOT = re.compile(r'^\w*')
_PATH = re.compile(r"\[[^]]*\]|\.\w+")
_ARGUMENT = 'Argument'
_FOREIGN = Traits(foreign=True, seen_afterwards=True)


class _Flow(NamedTuple):
    """A gradient that comes into a step: its place among the op's inputs, its maker, and the maker's slot."""

    place: int
    maker: OpObserver
    slot: int


class _Report(NamedTuple):
    """A gradient that the program returns: its site, and which output of the step it is."""

    site: CallSite
    slot: int
    is_dead: bool


class BackwardStep:
    """The part of an observed op that is a step of a backward pass.

    Attributes:
        site: Of the step.
        flows: The gradients that come in.
        reports: The gradients that the program returns from here.
    """

    __slots__ = ('flows', 'reports', 'site')

    def __init__(self, site: CallSite | None, flows: Sequence[_Flow]) -> None:
        self.site = site
        self.flows = flows
        self.reports: list[_Report] = []

    def make(self, run: Run, inputs: Sequence[Any], outputs: Sequence[Any], numbers: dict[OpObserver, int],
             observer: OpObserver) -> None:
        """Make the calls of the step and of what it returns.

        Args:
            run: The run.
            inputs, outputs: Of the op.
            numbers: Numbers of the gradient calls of this run so far, by op.
            observer: Of the op.
        """
        number = 0
        if self.site is not None:
            sources = [(flow, numbers[flow.maker]) for flow in self.flows if flow.maker in numbers]
            site = self.site

            def compute(*_: Any) -> Sequence[Any]:
                nonlocal number
                number = current_call(site)
                return outputs
            invoke(site, compute, run, [inputs[flow.place] for flow in self.flows], 0, [source for _, source in sources])
            numbers[observer] = number
        for report in self.reports:
            gradient = outputs[report.slot]
            invoke(report.site, lambda *given: list(given), run, [gradient], 0, [number] if number else [])


def add_steps(program: ObservedProgram, host: JaxHost, closed_jaxpr: Any, argument_names: Sequence[str],
              result_names: Sequence[str]) -> None:
    """Find the steps among the ops of a program, and give them to their observers.

    Args:
        program: The observed program.
        host: Of JAX.
        closed_jaxpr: The program as JAX made it.
        argument_names, result_names: Names of its arguments and results.
    """
    steps: dict[OpObserver, BackwardStep] = {}
    for observer in program.observers:
        if 'backward' not in observer.site.attrs:
            continue
        flows = [_Flow(place, maker, slot) for place, (maker, slot) in sorted(_makers(program, observer).items())
                 if maker in steps]
        if flows or _is_seed(program, observer):
            steps[observer] = observer.step = BackwardStep(_step_site(host, observer, flows), flows)
    if steps:
        _report_results(program, host, closed_jaxpr.jaxpr, argument_names, result_names, steps)


def _makers(program: ObservedProgram, observer: OpObserver) -> Mapping[int, tuple[OpObserver, int]]:
    """The ops that make the inputs of an op, and which of their outputs those are, by place."""
    makers = {}
    for place, name in enumerate(observer.site.inputs):
        maker = program.by_output.get(name)
        if maker is not None and observer.inputs[place] >= 0:
            makers[place] = maker, list(maker.site.outputs).index(name)
    return makers


def _is_seed(program: ObservedProgram, observer: OpObserver) -> bool:
    """Whether a pass begins at an op: it computes the gradient of the loss by itself, of constants only; zeros are none."""
    return bool(observer.constants) and all(place < 0 for place in observer.inputs) and any(
        value.any() for value in observer.constants.values())


def _step_site(host: JaxHost, observer: OpObserver, flows: Sequence[_Flow]) -> CallSite:
    site = observer.site
    return CallSite(f'{site.name}_grad', site.op_type, 'gradient', host, stack=site.stack,
                    attrs={'forward': site.name, 'slots': [flow.slot for flow in flows], 'inputs': list(site.outputs)},
                    inputs=[site.inputs[flow.place] for flow in flows], outputs=site.outputs, traits=_FOREIGN)


def _report_results(program: ObservedProgram, host: JaxHost, jaxpr: Any, argument_names: Sequence[str],
                    result_names: Sequence[str], steps: Mapping[OpObserver, BackwardStep]) -> None:
    """Let the results that are gradients be reported: those that a step makes, and zeros in their place."""
    shapes = {name: _shape(variable) for name, variable in zip(argument_names, jaxpr.invars, strict=False)}
    taken: set[str] = set()
    for variable, result in zip(jaxpr.outvars, result_names, strict=False):
        maker = program.makers.get(variable) if not program.is_literal(variable) else None
        if maker is None or ('backward' not in maker.site.attrs and not _makes_zeros(maker)):
            continue
        argument = _argument_of(result, _shape(variable), shapes, taken)
        step = steps.get(maker)
        if step is None and (not argument or not _makes_zeros(maker)):
            continue
        attrs: dict[str, Any] = {'source': True}
        slots = [list(maker.site.outputs).index(program.names[variable])]
        if argument:
            taken.add(argument)
        if step is None:
            reason = reason_of(program, argument)
            attrs |= {'dead': reason.text, 'fix': reason.fix, 'culprit': reason.line and tuple(reason.line)}
            step = maker.step = maker.step or BackwardStep(None, ())
        name = argument or result
        site = CallSite(f'{name}_grad', _ARGUMENT, 'gradient', host, stack=_stack(attrs),
                        attrs={'forward': name, 'slots': slots, **attrs}, traits=_FOREIGN)
        step.reports.append(_Report(site, slots[0], 'dead' in attrs))


def _stack(attrs: Mapping[str, Any]) -> tuple[Frame, ...]:
    culprit = attrs.get('culprit')
    return (Frame(*culprit),) if culprit else ()


def _makes_zeros(observer: OpObserver) -> bool:
    """Whether an op makes an array of zeros, of nothing else."""
    return all(place < 0 for place in observer.inputs) and bool(observer.constants) and not any(
        value.any() for value in observer.constants.values())


def _shape(variable: Any) -> tuple[Any, ...]:
    aval = variable.aval
    return getattr(aval, 'dtype', None), getattr(aval, 'shape', None)


def _argument_of(result: str, shape: tuple[Any, ...], shapes: Mapping[str, tuple[Any, ...]], taken: set[str]) -> str:
    """The argument whose gradient a result is: of its shape, and at the same place within its container; '' if unclear.

    The gradients of `w['a']` and `w['b']` are returned at `result[1]['a']` and `result[1]['b']`.
    """
    fitting = [name for name, other in shapes.items() if other == shape and name not in taken]
    path = _PATH.findall(_ROOT.sub('', result))
    scores = {name: _common_end(path, _PATH.findall(_ROOT.sub('', name))) for name in fitting}
    best = max(scores.values(), default=0)
    chosen = [name for name, score in scores.items() if score == best]
    if best == 0:
        chosen = [name for name in chosen if not _PATH.search(name)] or chosen
    return chosen[0] if len(chosen) == 1 else ''


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count
