"""A pass that was traced into a graph: its steps have no values then, but their nodes have some when the graph runs.

Those of wrapped functions are always recorded, those of other nodes with `--ops`. `debug/tape.py` asks, on any thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyfuncdbg.debug.queries import Queries
from pyfuncdbg.record.records import CallRecord, TensorRecord

TRACED = ' is traced'
"""How the label of such a run ends."""
_PYTHON = 'EagerPyFunc'


def with_values(trace: Queries, mine: Sequence[CallRecord], steps: Sequence[CallRecord]) -> list[CallRecord]:
    """The steps of a traced pass with the values of their nodes when the graph ran last.

    Args:
        trace: Where they were recorded.
        mine: The steps.
        steps: All of the trace.
    """
    latest = {_forward(step): step for step in steps if step.site.op_type == _PYTHON and known(step.inputs)}
    nodes = _nodes(trace, {tensor.name for step in mine for tensor in (*step.inputs, *step.outputs) if tensor.name})
    found = []
    for step in mine:
        seen = latest.get(_forward(step)) if step.site.op_type == _PYTHON else None
        if seen is None:
            found.append(replace(step, inputs=_filled(step.inputs, nodes), outputs=_filled(step.outputs, nodes)))
        else:
            found.append(replace(step, inputs=seen.inputs, outputs=seen.outputs, forward=seen.forward))
    return found


def known(tensors: Sequence[TensorRecord]) -> bool:
    """Whether there are values."""
    return any(tensor.stats is not None for tensor in tensors)


def _nodes(trace: Queries, wanted: set[str]) -> dict[str, TensorRecord]:
    """What nodes gave last, by the name of the tensor."""
    found: dict[str, TensorRecord] = {}
    for site in trace.sites():
        if site.kind == 'op' and not wanted.isdisjoint(site.outputs):
            name = site.name.replace('[', '[[]')
            for call in trace.calls(kind='op', site=name, newest_first=True, limit=1):
                found.update((tensor.name, tensor) for tensor in call.outputs if tensor.name)
    return found


def _filled(tensors: tuple[TensorRecord, ...], nodes: dict[str, TensorRecord]) -> tuple[TensorRecord, ...]:
    return tuple(nodes.get(tensor.name, tensor) if tensor.name else tensor for tensor in tensors)


def _forward(step: CallRecord) -> str:
    return str(step.site.attrs.get('forward', ''))
