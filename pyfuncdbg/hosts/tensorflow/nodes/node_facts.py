"""Facts of a node for its call site: TensorFlow's attrs as data, and further fields of its NodeDef.

Read once for each watched node, on the thread of a run.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pyfuncdbg.hooks.graph_context import GRAPH, graph_number
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import missing_line_reason
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import is_constant, shape_list
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCOPE
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import outermost, prefix

_HIDDEN = ('_output_shapes', '_class')
_MOST_ELEMENTS = 6
"""Number of a constant's elements that are reported."""
_LONGEST = 60
_MOST_NEIGHBORS = 20
"""Number of a node's control inputs and constants that are reported."""


def node_context(op: Any) -> dict[str, Any]:
    """The number of a node's outermost graph; '_device', '_control' (inputs by name), '_constants' and '_no_line' (reason of
    a missing line) if it has any."""
    context: dict[str, Any] = {GRAPH: graph_number(outermost(op.graph))}
    if (reason := missing_line_reason(op)) is not None:
        context['_no_line'] = reason
    if op.device:
        context['_device'] = op.device
    within = prefix(op.graph)
    control = [within + other.name for other in op.control_inputs if not other.name.startswith(SCOPE)]
    if control:
        context['_control'] = control[:_MOST_NEIGHBORS]
    constants = [[within + tensor.name, *_content(tensor.op)] for tensor in op.inputs[:_MOST_NEIGHBORS]
                 if is_constant(tensor.op)]
    if constants:
        context['_constants'] = constants
    return context


def _content(op: Any) -> list[Any]:
    """[dtype, shape, first elements] of a constant, as far as its proto holds them."""
    proto = op.get_attr('value')
    tensor = op.outputs[0]
    shape = [size.size for size in proto.tensor_shape.dim]
    dtype = tensor.dtype
    if dtype.name == 'string':
        return [dtype.name, shape, [bytes(each)[:_LONGEST] for each in proto.string_val[:_MOST_ELEMENTS]]]
    item = dtype.as_numpy_dtype
    size = np.dtype(item).itemsize
    if proto.tensor_content:
        first = np.frombuffer(proto.tensor_content[:size * _MOST_ELEMENTS], item).tolist()
    else:
        tensors: Any = sys.modules['tensorflow.python.framework.tensor_util']
        first = tensors.MakeNdarray(proto).flat[:_MOST_ELEMENTS].tolist()
    return [dtype.name, shape, [each for each in first if isinstance(each, (bool, int, float, str, bytes))]]


def plain_attrs(op: Any) -> dict[str, Any]:
    """The attrs of a node as data, for display."""
    attrs = {}
    for name in op.node_def.attr:
        if name not in _HIDDEN:
            attrs[name] = _plain(op.get_attr(name))
    return dict(sorted(attrs.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    kind = type(value).__name__
    if kind == 'TensorShapeProto':
        shape = shape_list(value)
        return '<unknown>' if shape is None else '(' + ', '.join('?' if size < 0 else str(size) for size in shape) + ')'
    if kind == 'TensorProto':
        return f'tensor of {value.ByteSize()} bytes'
    name = getattr(value, 'name', None)
    return name if isinstance(name, str) else kind
