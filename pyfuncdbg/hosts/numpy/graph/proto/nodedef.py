"""Conversion of nodes to NodeDef messages, and of attributes to AttrValue and back.

`Operation.node_def`, the GraphDef of a graph and its import use it. No state: any thread may call it.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.proto.messages import AttrValue, NodeDef, OpDef, shape_proto
from pyfuncdbg.hosts.numpy.graph.proto.tensor_proto import make_ndarray, shape_of, tensor_proto
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

_PRODUCT, _SHAPE_TENSOR = 3, 1005
_OF_INTEGERS = {'int32': 207, 'int64': 208}
"""Numbers of FullTypeId."""


def node_def(name: str, op: str, inputs: Sequence[str], device: str, attrs: Mapping[str, Any]) -> Any:
    """A NodeDef.

    Args:
        name: The name of the node.
        op: Its type.
        inputs: Names of tensors and control inputs; 'x:0' is written as 'x'.
        device: The device string, or ''.
        attrs: Values as `put_attr_value` takes them.

    Raises:
        TypeError: A value has no AttrValue.
    """
    node = NodeDef(name=name, op=op, device=device)
    node.input.extend(n[:-2] if n.endswith(':0') else n for n in inputs)
    for key, value in attrs.items():
        put_attr_value(node.attr[key], value)
    if op == 'Shape' and 'out_type' in attrs:   # the only common op with the full type of outputs in TensorFlow's NodeDef
        full = node.experimental_type
        full.type_id = _PRODUCT
        full.args.add(type_id=_SHAPE_TENSOR).args.add(type_id=_OF_INTEGERS[attrs['out_type'].name])
    return node


def op_def(name: str, is_stateful: bool = False) -> Any:
    """The public description of an op type: `Operation.op_def`."""
    message = OpDef(name=name, is_stateful=is_stateful)
    sig = signature(name)
    if sig is None:
        return message
    for arguments, field in ((sig.inputs, message.input_arg), (sig.outputs, message.output_arg)):
        for argument in arguments:
            added = field.add(name=argument.name, number_attr=argument.number)
            if sig.attrs.get(argument.type) == 'list(type)':
                added.type_list_attr = argument.type
            elif argument.type in sig.attrs:
                added.type_attr = argument.type
            else:
                added.type = as_dtype(argument.type).as_datatype_enum
    for attr, kind in sig.attrs.items():
        attr_def = message.attr.add(name=attr, type=kind)
        if sig.optional(attr):
            put_attr_value(attr_def.default_value, sig.defaults[attr])
    return message


def attr_value(value: Any) -> Any:
    """One attribute as AttrValue."""
    message = AttrValue()
    put_attr_value(message, value)
    return message


def put_attr_value(message: Any, value: Any) -> None:
    """Set an AttrValue.

    Args:
        message: The AttrValue.
        value: A bool, int, float, bytes, str, `DType`, `TensorShape`, array or NumPy scalar (a tensor), `FunctionName`, or a
            list or tuple of these.

    Raises:
        TypeError: The value has another type.
    """
    if not isinstance(value, (list, tuple)):
        field, content = _content(value)
        if field in ('s', 'i', 'f', 'b', 'type'):
            setattr(message, field, content)
        else:
            getattr(message, field).CopyFrom(content)
        return
    message.list.SetInParent()
    for item in value:
        field, content = _content(item)
        getattr(message.list, field).append(content)


def _content(value: Any) -> tuple[str, Any]:
    """The field of an AttrValue, and its content."""
    if isinstance(value, (np.ndarray, np.generic)):
        return 'tensor', tensor_proto(value)
    if isinstance(value, TensorShape):
        return 'shape', shape_proto(value.sizes)
    if isinstance(value, FunctionName):
        return 'func', AttrValue(func={'name': value.name}).func
    if isinstance(value, DType):
        return 'type', value.as_datatype_enum
    if isinstance(value, bool):
        return 'b', value
    if isinstance(value, int):
        return 'i', int(value)
    if isinstance(value, float):
        return 'f', value
    if isinstance(value, (str, bytes)):
        return 's', value.encode() if isinstance(value, str) else value
    raise TypeError(f'An attribute cannot hold {value!r} of type {type(value).__name__}; it holds a number, string, DType, '
                    'TensorShape, array, FunctionName or a list of these.')


def value_of(message: Any) -> Any:
    """The content of an AttrValue, in a form that `put_attr_value` takes; None if empty.

    Raises:
        TypeError, ValueError: A dtype or tensor is invalid.
    """
    field = message.WhichOneof('value')
    if field is None or field == 'placeholder':
        return None
    if field == 'list':
        return [_plain_value(kind.name, item) for kind, items in message.list.ListFields() for item in items]
    return _plain_value(field, getattr(message, field))


def _plain_value(field: str, value: Any) -> Any:
    if field == 'type':
        return as_dtype(value)
    if field == 'shape':
        return shape_of(value)
    if field == 'tensor':
        array = make_ndarray(value)
        return array if array.ndim or array.dtype == object else array[()]
    if field == 'func':
        return FunctionName(value.name)
    if field == 'f':
        # A float32 in the message: the shortest decimal, so that 0.2 is 0.2 again.
        return float(str(np.float32(value)))
    return value
