"""What the site of a node says of it: TensorFlow's attrs as data, and what stands beside them in a NodeDef.

Asked once for each node, when something watches or is about to.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

_SHOWN = 6
"""Elements of a constant that are told."""
_LONGEST = 60
_TOLD = 20
"""Control inputs and constants of one node that are told."""


def is_constant(op: Operation) -> bool:
    """Whether its outputs are known before the run."""
    return not (op.inputs or op.definition.stateful or op.definition.in_execution or op.control_inputs)


def site_attrs(op: Operation) -> dict[str, Any]:
    """The attrs of a node for its site; '_device', '_control' (inputs by name), '_constants' and '_no_rank' (outputs) where
    it has some.

    A constant is no node of a run, so what it holds is told here: its tensor's name, dtype, shape and first elements.
    """
    found: dict[str, Any] = {name: str(value) if isinstance(value, TensorShape) else value
                             for name, value in op.shown_attrs().items()}
    if op.device:
        found['_device'] = op.device
    if op.control_inputs:
        found['_control'] = [other.name for other in op.control_inputs[:_TOLD]]
    rankless = [slot for slot, tensor in enumerate(op.outputs) if tensor.shape.rank is None]
    if rankless:
        found['_no_rank'] = rankless
    constants = [[tensor.name, *_content(tensor.op, tensor.op.attrs['value'])] for tensor in op.inputs[:_TOLD]
                 if is_constant(tensor.op) and isinstance(tensor.op.attrs.get('value'), np.ndarray | np.generic)]
    if constants:
        found['_constants'] = constants
    return found


def _content(op: Operation, value: Any) -> list[Any]:
    """[dtype, shape, first elements] of a constant."""
    first = [each[:_LONGEST] if isinstance(each, bytes | str) else each
             for each in value.flat[:_SHOWN].tolist()] if value.dtype.kind in 'biufSUO' else []
    return [op.outputs[0].dtype.name, list(value.shape), first]
