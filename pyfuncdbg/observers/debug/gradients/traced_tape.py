"""Values for a backward pass that was traced into a graph. Its steps have none, but their nodes have when the graph runs.

Those of wrapped functions are always recorded, those of other nodes with `--ops`; in a pass that goes back through a traced
function they are parts of that step. `observers/debug/gradients/tape.py` asks, on any thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyfuncdbg.observers.debug.inspecting.recorded_graph import site_graph
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

TRACED = ' is traced'
"""Suffix of the label of such a run."""


def fill_values(trace: Trace, own_steps: Sequence[CallRecord], steps: Sequence[CallRecord], graph: int) -> list[CallRecord]:
    """The steps of a traced pass with the values of their nodes when the graph ran last.

    Args:
        trace: Where they were recorded.
        own_steps: The steps.
        steps: All of the trace.
        graph: The number of the graph that they were traced into; 0 if unknown.
    """
    latest = _latest_executions(steps, {_forward(step) for step in own_steps if step.site.traits.wraps_python}, graph)
    names = {tensor.name for step in own_steps for tensor in (*step.inputs, *step.outputs) if tensor.name}
    nodes = _nodes(trace, names, graph)
    executions = {step.number: last for step in own_steps
                  if step.site.traits.wraps_python and (last := latest.get(_forward(step))) is not None}
    for step in own_steps:                      # what a Python function gave is no output of an op
        if last := executions.get(step.number):
            nodes.update((tensor.name, value) for tensor, value in zip(step.outputs, last.outputs, strict=False)
                         if tensor.name and value.stats is not None)
    filled = []
    for step in own_steps:
        last = executions.get(step.number)
        if last is None:
            filled.append(replace(step, inputs=_fill(step.inputs, nodes), outputs=_fill(step.outputs, nodes)))
        else:
            filled.append(replace(step, inputs=last.inputs, outputs=last.outputs, forward=last.forward))
    return filled


def traced_graph(steps: Sequence[CallRecord]) -> int:
    """The number of the graph that a pass was traced into; 0 if no step tells it."""
    return next((number for step in steps if (number := site_graph(step.site))), 0)


def _latest_executions(steps: Sequence[CallRecord], names: set[str], graph: int) -> dict[str, CallRecord]:
    """By name of the node: the last backward step of each of these functions that had values."""
    return {_forward(step): step for step in steps if step.site.traits.wraps_python and _forward(step) in names
            and graph in (0, site_graph(step.site)) and has_values(step.inputs)}


def enclosing_calls(steps: Sequence[CallRecord]) -> dict[str, str]:
    """By number, the steps that were made while another went back through a traced function: on a thread of its graph, where
    no gradient tells what it came from. A pass makes one step after the other."""
    function_steps = [step for step in steps if step.site.traits.calls_function and step.duration is not None]
    enclosing_by_number = {}
    for step in steps if function_steps else ():
        ended = step.started + (step.duration or 0.0)
        enclosing = None if step.sources else next((one for one in function_steps if one is not step
                                                    and one.started <= step.started
                                                    and ended <= one.started + (one.duration or 0.0)), None)
        if enclosing is not None:
            enclosing_by_number[step.number] = enclosing.number
    return enclosing_by_number


def is_symbolic(call: CallRecord, tensor: TensorRecord, trace: Trace) -> bool:
    """Whether a recorded tensor is a node of a pass that was traced: a name without a value."""
    if call.site.kind != 'run':
        return is_traced_value(call, tensor)
    return _is_without_value(tensor) and trace.run(call.run, call.process).label.endswith(TRACED)


def is_traced_value(step: CallRecord, tensor: TensorRecord) -> bool:
    """Whether a tensor of a backward step is a node of the graph that the step was traced into."""
    return _is_without_value(tensor) and step.site.attrs.get('traced') is True


def _is_without_value(tensor: TensorRecord) -> bool:
    return tensor.dtype == 'object' and tensor.stats is None


def has_values(tensors: Sequence[TensorRecord]) -> bool:
    """Whether there are values."""
    return any(tensor.stats is not None for tensor in tensors)


def _nodes(trace: Trace, names: set[str], graph: int) -> dict[str, TensorRecord]:
    """The last outputs of nodes of a graph, by the name of the tensor."""
    tensors: dict[str, TensorRecord] = {}
    for site in trace.sites():
        if site.kind == 'op' and not names.isdisjoint(site.outputs) and graph in (0, site_graph(site)):
            for call in trace.newest_calls(site):
                tensors.update((tensor.name, tensor) for tensor in call.outputs if tensor.name)
    return tensors


def _fill(tensors: tuple[TensorRecord, ...], nodes: dict[str, TensorRecord]) -> tuple[TensorRecord, ...]:
    return tuple(nodes.get(tensor.name, tensor) if tensor.name else tensor for tensor in tensors)


def _forward(step: CallRecord) -> str:
    return str(step.site.attrs.get('forward', ''))
