"""A node as data: name, op type, inputs, device and attributes, and their text as TensorFlow prints it.

`Operation.node_def` and `str(operation)` come from here; what is read back is plain Python. No state: any thread may
call it.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.graph import dtypes, prototext
from pyfuncdbg.graph.attributes import FunctionName
from pyfuncdbg.graph.dtypes import DType
from pyfuncdbg.graph.prototext import Message, quoted
from pyfuncdbg.graph.shapes import TensorShape

# `make_tensor_proto` writes arrays of these types, when they have more than one element, as raw bytes.
_AS_BYTES = frozenset((
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8, dtypes.int64, dtypes.uint32,
    dtypes.uint64, dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32))
_VALUE_FIELDS: dict[DType, tuple[str, Callable[[Any], str]]] = {
    dtypes.float32: ('float_val', prototext.float32), dtypes.float64: ('double_val', prototext.float64),
    dtypes.int64: ('int64_val', str), dtypes.uint32: ('uint32_val', str), dtypes.uint64: ('uint64_val', str),
    dtypes.bool: ('bool_val', prototext.boolean), dtypes.string: ('string_val', quoted),
}


@dataclass(frozen=True, slots=True)
class AttrValue:
    """One attribute, read by the field that fits its kind, as in TensorFlow's proto.

    Attributes:
        value: An int, float, bool, bytes or str, `DType`, `TensorShape`, ndarray or NumPy scalar (a tensor),
            `FunctionName`, or a list or tuple of one of these.
    """

    value: Any

    @property
    def type(self) -> int:
        return self.value.as_datatype_enum if isinstance(self.value, DType) else 0

    @property
    def s(self) -> bytes:
        value = self.value.encode() if isinstance(self.value, str) else self.value
        return value if isinstance(value, bytes) else b''

    @property
    def i(self) -> int:
        return self.value if type(self.value) is int else 0

    @property
    def f(self) -> float:
        return self.value if isinstance(self.value, float) else 0.0

    @property
    def b(self) -> bool:
        return self.value is True

    @property
    def shape(self) -> TensorShape:
        return self.value if isinstance(self.value, TensorShape) else TensorShape([])

    @property
    def tensor(self) -> Any:
        return self.value if isinstance(self.value, (np.ndarray, np.generic)) else None

    @property
    def list(self) -> Sequence[Any]:
        return self.value if isinstance(self.value, (list, tuple)) else ()

    @property
    def func(self) -> FunctionName | None:
        return self.value if isinstance(self.value, FunctionName) else None

    def __str__(self) -> str:
        return prototext.text(_attr_message(self.value))


@dataclass(frozen=True, slots=True)
class NodeDef:
    """One node, with the fields of TensorFlow's proto; `str()` is its text.

    Attributes:
        name: The name of the node.
        op: Its type.
        input: Names of input tensors ('x' for 'x:0', 'x:1'), then control inputs ('^x').
        device: The device string, or ''.
        attr: Its attributes by name.
    """

    name: str
    op: str
    input: list[str]
    device: str
    attr: dict[str, AttrValue]

    def __str__(self) -> str:
        fields: list[tuple[str, Any]] = [('name', quoted(self.name)), ('op', quoted(self.op))]
        fields += [('input', quoted(name)) for name in self.input]
        if self.device:
            fields.append(('device', quoted(self.device)))
        for key in sorted(self.attr, key=_printed_order):
            fields.append(('attr', [('key', quoted(key)), ('value', _attr_message(self.attr[key].value))]))
        return prototext.text(fields)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class OpDef:
    """The public face of an op type: what `Operation.op_def` gives."""

    name: str
    is_stateful: bool = False

    def __str__(self) -> str:
        fields = [('name', quoted(self.name))]
        if self.is_stateful:
            fields.append(('is_stateful', 'true'))
        return prototext.text(fields)

    __repr__ = __str__


def node_def(name: str, op: str, inputs: Sequence[str], device: str, attrs: Mapping[str, Any]) -> NodeDef:
    """A node as data.

    Args:
        name: The name of the node.
        op: Its type.
        inputs: Names of tensors and control inputs; 'x:0' is written as 'x'.
        device: The device string, or ''.
        attrs: Values as `AttrValue` takes them.

    Raises:
        TypeError: A value has no form in a proto (when the text is asked for).
    """
    names = [n[:-2] if n.endswith(':0') else n for n in inputs]
    return NodeDef(name, op, names, device, {key: AttrValue(value) for key, value in attrs.items()})


def _printed_order(key: str) -> tuple[int, ...]:
    # TensorFlow 2.21 prints the map from the last byte value to the first, a prefix before what it begins.
    return tuple(-b for b in key.encode())


def _attr_message(value: Any) -> Message:
    if isinstance(value, (list, tuple)):
        return [('list', [field for item in value for field in _attr_message(item)])]
    if isinstance(value, (np.ndarray, np.generic)):
        return [('tensor', _tensor_message(value))]
    if isinstance(value, TensorShape):
        return [('shape', _shape_message(value))]
    if isinstance(value, FunctionName):
        return [('func', [('name', quoted(value.name))])]
    if isinstance(value, DType):
        return [('type', value.proto_name)]
    if isinstance(value, bool):
        return [('b', prototext.boolean(value))]
    if isinstance(value, int):
        return [('i', str(int(value)))]
    if isinstance(value, float):
        return [('f', prototext.float32(value))]
    if isinstance(value, (str, bytes)):
        return [('s', quoted(value))]
    raise TypeError(f'An attribute cannot hold {value!r} of type {type(value).__name__}; it holds a number, string, DType, '
                    'TensorShape, array, FunctionName or a list of these.')


def _shape_message(shape: TensorShape) -> Message:
    if shape.sizes is None:
        return [('unknown_rank', 'true')]
    # A proto does not write a zero.
    return [('dim', [] if size == 0 else [('size', str(-1 if size is None else size))]) for size in shape.sizes]


def _tensor_message(value: Any) -> Message:
    array = np.asarray(value)
    dtype = dtypes.of_value(array)
    fields: list[tuple[str, Any]] = [
        ('dtype', dtype.proto_name), ('tensor_shape', _shape_message(TensorShape.of(array.shape)))]
    if array.size > 1 and dtype in _AS_BYTES:
        fields.append(('tensor_content', quoted(array.astype(dtype.array, copy=False).tobytes())))
        return fields
    if not array.size:
        return fields
    flat = array.reshape(-1)
    if dtype.is_complex:
        field = 'scomplex_val' if dtype is dtypes.complex64 else 'dcomplex_val'
        write = prototext.float32 if dtype is dtypes.complex64 else prototext.float64
        fields += [(field, write(part)) for number in flat for part in (number.real, number.imag)]
    elif dtype in (dtypes.float16, dtypes.bfloat16):
        fields += [('half_val', str(int(bits))) for bits in flat.view(np.uint16)]
    elif dtype.is_floating and dtype.size == 1:
        fields.append(('float8_val', quoted(flat.tobytes())))
    else:
        field, write_value = _VALUE_FIELDS.get(dtype, ('int_val', lambda number: str(int(number))))
        fields += [(field, write_value(item)) for item in flat]
    return fields
