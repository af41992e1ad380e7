"""A pass that was traced into a graph: its steps have no values then, but the wrapped functions among them have some later.

`debug/tape.py` asks, on any thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyfuncdbg.record.records import CallRecord, TensorRecord

TRACED = ' is traced'
"""How the label of such a run ends."""
_PYTHON = 'EagerPyFunc'


def with_values(mine: Sequence[CallRecord], steps: Sequence[CallRecord]) -> list[CallRecord]:
    """The steps of a traced pass, each of a wrapped function with what it had when the graph ran last.

    Args:
        mine: The steps.
        steps: All of the trace.
    """
    latest = {_forward(step): step for step in steps if step.site.op_type == _PYTHON and known(step.inputs)}
    found = []
    for step in mine:
        seen = latest.get(_forward(step)) if step.site.op_type == _PYTHON else None
        if seen is None:
            found.append(step)
        else:
            found.append(replace(step, inputs=seen.inputs, outputs=seen.outputs, forward=seen.forward))
    return found


def known(tensors: Sequence[TensorRecord]) -> bool:
    """Whether there are values."""
    return any(tensor.stats is not None for tensor in tensors)


def _forward(step: CallRecord) -> str:
    return str(step.site.attrs.get('forward', ''))
