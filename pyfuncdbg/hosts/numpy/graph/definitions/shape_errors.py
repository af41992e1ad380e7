"""Errors of shape rules, completed with the node and its input shapes with TensorFlow's text.

`Graph.create_op` calls it when a rule has raised; errors of eager ops have no node.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.attributes import displayed_attrs, short_shape, summary
from pyfuncdbg.hosts.numpy.graph.known_value import known_value

_LOOKS_AT = frozenset(('GatherV2', 'Sum', 'Mean', 'Max', 'Min', 'Prod', 'All', 'Any', 'ExpandDims', 'Split', 'SplitV',
                       'Transpose', 'Tile', 'Slice', 'StridedSlice', 'Pad', 'PadV2', 'BroadcastTo', 'Fill', 'Range',
                       'OneHot', 'TopKV2', 'ReverseV2', 'MirrorPad'))
"""Op types whose shape depends on the values of inputs."""


def complete_shape_error(error: ValueError, op: str, name: str, inputs: Sequence[Any], control: Sequence[Any],
                         attrs: Mapping[str, Any]) -> ValueError:
    """The error of `create_op` for an exception of the shape rule of `op`.

    Args:
        error: Raised by the rule.
        op: The op type.
        name: Full name of the new node.
        inputs: Its input tensors.
        control: Its control inputs.
        attrs: Attributes of the op.
    """
    if '{{node ' in str(error):
        return error
    names = [t.name.removesuffix(':0') for t in inputs] + [f'^{c.name}' for c in control]
    settings = summary(displayed_attrs(op, inputs, (), attrs))
    text = (f"{error} for '{{{{node {name}}}}} = {op}[{settings}]({', '.join(names)})' with input shapes: "
            + ', '.join('?' if t.shape.rank is None else short_shape(t.shape) for t in inputs))
    constants = [f'input[{i}] = <{_value(t)}>' for i, t in enumerate(inputs) if op in _LOOKS_AT and _is_small_constant(t)]
    return ValueError(text + (f' and with computed input tensors: {", ".join(constants)}' if constants else '') + '.')


def _is_small_constant(tensor: Any) -> bool:
    return tensor.dtype.is_integer and 0 < np.size(known_value(tensor)) <= 256 and known_value(tensor) is not None


def _value(tensor: Any) -> str:
    return str(known_value(tensor)).replace('\n', '')
