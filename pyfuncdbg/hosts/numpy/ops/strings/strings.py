"""Strings: tensors of dtype string, whose values are object arrays of bytes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import OutOfRangeError
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Kernel, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import SCALAR, UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    broadcast_shapes,
    check_attr_type,
    check_eager_types,
    int_attr,
    ints,
    invalid,
    same_rule,
    text,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import scalar
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_STRING = (dtypes.string,)


def _scalar_kernel(function: Callable[..., Any], dtype: Any = object) -> Kernel:
    """A kernel that calls `function` with each element (of several tensors, broadcast) and the attrs."""
    def kernel(*values: Any, **attrs: Any) -> Any:
        compute = np.frompyfunc(lambda *items: function(*items, **attrs), len(values), 1)
        return scalar(np.asarray(compute(*values)).astype(dtype))
    return kernel


# ---------------------------------------------------------------- one string at a time
def _define(op: str, function: Callable[..., Any], attrs: tuple[str, ...] = (), dtype: DType = dtypes.string) -> None:
    register(OpDef(op, _scalar_kernel(function, dtype.array), same_rule(op, _STRING, 'input', dtype), no_gradient,
                   kernel_attrs=attrs))


def _length(value: bytes, unit: str = 'BYTE') -> int:
    return len(value) if unit == 'BYTE' else len(value.decode('utf-8', 'replace'))


def _lower(value: bytes, encoding: str = '') -> bytes:
    return value.decode(encoding, 'replace').lower().encode(encoding) if encoding else value.lower()


def _upper(value: bytes, encoding: str = '') -> bytes:
    return value.decode(encoding, 'replace').upper().encode(encoding) if encoding else value.upper()


def _texts(op: str, value: Any) -> Tensor:
    """The input of an op on strings."""
    if not isinstance(value, Tensor):
        return convert_to_tensor(value, dtypes.string)
    if value.dtype is not dtypes.string and current_graph() is None:
        raise invalid(f'cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a '
                      f'{value.dtype.kernel_name} tensor [Op:{op}] name: ')
    return value


_define('StringLength', _length, ('unit',), dtypes.int32)
_define('StringLower', _lower, ('encoding',))
_define('StringUpper', _upper, ('encoding',))
_define('StringStrip', bytes.strip)


@overridable
def length(input: Any, unit: str = 'BYTE', name: str | None = None) -> Tensor:
    """The number of bytes (`unit` 'UTF8_CHAR': of characters) of each string, int32."""
    if unit not in ('BYTE', 'UTF8_CHAR') and current_graph() is None:
        raise invalid(f"Value for attr 'unit' of \"{unit}\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"")
    return apply('StringLength', (_texts('StringLength', input),), {'unit': unit}, name)


@overridable
def lower(input: Any, encoding: str = '', name: str | None = None) -> Tensor:
    """Lower case; of ASCII letters only unless `encoding` is 'utf-8'."""
    return apply('StringLower', (_texts('StringLower', input),), {'encoding': encoding}, name)


@overridable
def upper(input: Any, encoding: str = '', name: str | None = None) -> Tensor:
    """Upper case; of ASCII letters only unless `encoding` is 'utf-8'."""
    return apply('StringUpper', (_texts('StringUpper', input),), {'encoding': encoding}, name)


@overridable
def strip(input: Any, name: str | None = None) -> Tensor:
    """Each string without white space at both ends."""
    return apply('StringStrip', (_texts('StringStrip', input),), None, name)


def _substr_one(value: bytes, pos: int, len: int, unit: str = 'BYTE') -> bytes:
    text: Any = value if unit == 'BYTE' else value.decode('utf-8', 'replace')
    size = text.__len__()
    if not -size <= pos <= size:
        raise invalid(f'pos {pos} out of range for string b{value.decode("latin-1")!r}')
    start = pos if pos >= 0 else size + pos
    part = text[start:start + len]
    return part if unit == 'BYTE' else part.encode()


def _substr_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(dtypes.string, broadcast_shapes(inputs[0].shape, inputs[1].shape))]


register(OpDef('Substr', _scalar_kernel(_substr_one), _substr_types, no_gradient, kernel_attrs=('unit',)))


@overridable
def substr(input: Any, pos: Any, len: Any, unit: str = 'BYTE', name: str | None = None) -> Tensor:
    """`len` bytes (or characters) of each string from `pos` on; negative positions count from the end."""
    first = convert_to_tensor(pos)
    count = convert_to_tensor(len, None if isinstance(len, Tensor) else first.dtype)        # of one type
    return apply('Substr', [convert_to_tensor(input), first, count], {'unit': unit}, name)


# ---------------------------------------------------------------- several strings
def _join(*values: Any, separator: str = '') -> Any:
    shapes = [value.shape for value in values if value.ndim]
    other = next((shape for shape in shapes if shape != shapes[0]), None)
    if other is not None:
        raise invalid(f'Input shapes do not match: {text(TensorShape.of(shapes[0]))} vs. {text(TensorShape.of(other))}')
    glue = separator.encode() if isinstance(separator, str) else separator
    return _scalar_kernel(lambda *items: glue.join(items))(*values)


def _join_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    shape: TensorShape = SCALAR
    for x in inputs:
        if x.shape.rank != 0:
            shape = x.shape if shape.rank == 0 else shape.merge_with(x.shape)
    return [(dtypes.string, shape)]


register(OpDef('StringJoin', _join, _join_types, no_gradient, kernel_attrs=('separator',)))


def join(inputs: Sequence[Any], separator: str = '', name: str | None = None) -> Tensor:
    """Join the elements of several tensors (scalars, or of one shape) elementwise."""
    if not isinstance(inputs, (list, tuple)) and not isinstance(inputs, Tensor):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    parts = [convert_to_tensor(x, dtypes.string) for x in inputs]
    return apply('StringJoin', parts, {'N': len(parts), 'separator': separator}, name)


def _reduce_join(x: Any, axes: Any, keep_dims: bool = False, separator: str = '') -> Any:
    glue = separator.encode()
    for axis in np.atleast_1d(axes).tolist():
        if not -x.ndim <= axis < x.ndim:
            raise OutOfRangeError(None, None, f'Invalid reduction dimension {axis} for input with {x.ndim} dimension(s)')
    for axis in sorted((int(a) % x.ndim for a in np.atleast_1d(axes)), reverse=True):
        moved = np.moveaxis(x, axis, -1)
        joined = np.empty(moved.shape[:-1], object)
        for at in np.ndindex(joined.shape):
            joined[at] = glue.join(moved[at])
        x = np.expand_dims(joined, axis) if keep_dims else joined
    return x


def _reduce_join_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    sizes, axes = inputs[0].shape.sizes, ints(inputs[1])
    if sizes is None or axes is None:
        return [(dtypes.string, UNKNOWN)]
    reduced_axes = {a % len(sizes) for a in axes}
    keep = attrs.get('keep_dims')
    result_sizes = [1 if i in reduced_axes else n for i, n in enumerate(sizes) if keep or i not in reduced_axes]
    return [(dtypes.string, TensorShape.of(tuple(result_sizes)))]


register(OpDef('ReduceJoin', _reduce_join, _reduce_join_types, no_gradient, kernel_attrs=('keep_dims', 'separator')))


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = '',
                name: str | None = None) -> Tensor:
    """Join the strings of a tensor along `axis` (all axes)."""
    x = convert_to_tensor(inputs)
    check_eager_types('ReduceJoin', (x,))
    axes = np.arange(x.shape.rank or 0) if axis is None else np.atleast_1d(axis)
    return apply('ReduceJoin', (x, convert_to_tensor(axes.astype(np.int32))),
                 {'keep_dims': keepdims, 'separator': separator}, name)


# ---------------------------------------------------------------- strings and numbers
def _as_string(x: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
               fill: str = '') -> Any:
    kind = x.dtype.kind
    if kind == 'O':
        return x
    if scientific and shortest:
        raise invalid('Cannot select both scientific and shortest notation')
    if precision >= 0 and kind in 'iu':
        raise invalid(f'precision not supported for datatype {as_dtype(x.dtype).kernel_name}')
    pad = f'{fill}{width}' if width >= 0 else fill
    form = f'.{precision}' if precision >= 0 else ''
    letter = 'e' if scientific else 'g' if shortest else 'f'

    def number(value: float) -> str:
        if value != value or value in (np.inf, -np.inf):
            return f'%{pad}s' % ('nan' if value != value else 'inf' if value > 0 else '-inf')
        return f'%{pad}{form}{letter}' % value

    def one(value: Any) -> bytes:
        if kind == 'b':
            text = f'%{pad}s' % ('true' if value else 'false')
        elif kind in 'iu':
            text = f'%{pad}d' % value
        elif kind == 'c':
            text = f'({number(value.real)},{number(value.imag)})'
        else:
            text = number(float(value))
        return text.encode()
    return _scalar_kernel(one)(x if kind != 'V' else x.astype(np.float32))


register(OpDef('AsString', _as_string, same_rule('AsString', None, 'input', dtypes.string), no_gradient,
               kernel_attrs=('precision', 'scientific', 'shortest', 'width', 'fill')))


@overridable
def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = '',
              name: str | None = None) -> Tensor:
    """Each number as text, by C's printf rules."""
    attrs = {'precision': int_attr(precision, 'precision'), 'scientific': scientific, 'shortest': shortest,
             'width': int_attr(width, 'width'), 'fill': fill}
    return apply('AsString', (convert_to_tensor(input),), attrs, name)


def _to_number(value: bytes, out_type: DType = dtypes.float32) -> Any:
    try:
        text = value.strip()
        return int(text) if out_type.is_integer else float(text)
    except ValueError:
        raise invalid(f'StringToNumberOp could not correctly convert string: {value.decode(errors="replace")}') from None


register(OpDef('StringToNumber', lambda x, out_type=dtypes.float32: _scalar_kernel(_to_number, out_type.array)(
    x, out_type=out_type), lambda inputs, attrs: [(attrs['out_type'], inputs[0].shape)], no_gradient,
               kernel_attrs=('out_type',)))


@overridable
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The number in each string.

    Raises:
        InvalidArgumentError: A string is no number.
    """
    check_attr_type('StringToNumber', 'out_type', as_dtype(out_type))
    return apply('StringToNumber', (_texts('StringToNumber', input),), {'out_type': as_dtype(out_type)}, name)


def string_to_number_v1(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
                        input: Any = None) -> Tensor:
    """`to_number` with TensorFlow 1's arguments."""
    return to_number(string_tensor if input is None else input, out_type, name)


# ---------------------------------------------------------------- formatting
def _format(*values: Any, template: str, placeholder: str = '{}', summarize: int = 3) -> Any:
    parts = template.split(placeholder)
    text = parts[0]
    for value, rest in zip(values, parts[1:], strict=True):
        text += value_text(value, summarize) + rest
    return np.asarray(text.encode(), object)


register(OpDef('StringFormat', _format, lambda inputs, attrs: [(dtypes.string, SCALAR)], no_gradient,
               kernel_attrs=('template', 'placeholder', 'summarize')))


def value_text(value: Any, summarize: int = 3) -> str:
    """A value as `tf.print` shows it: the first and last `summarize` elements of each axis (-1: all)."""
    array = np.asarray(value)
    if not array.ndim:
        return _element(array[()])
    length = len(array)
    separator = ' ' if array.ndim == 1 else '\n' * (array.ndim - 1) + ' '

    def inside(item: Any) -> str:
        return value_text(item, summarize).replace('\n', '\n ') if array.ndim > 1 else _element(item)
    if summarize < 0 or length <= 2 * summarize:
        return '[' + separator.join(inside(item) for item in array) + ']'
    head = separator.join(inside(item) for item in array[:summarize])
    tail = separator.join(inside(item) for item in array[length - summarize:])
    return f'[{head}{separator}...{separator}{tail}]'


def _element(item: Any) -> str:
    if isinstance(item, bytes):
        return '"' + item.decode(errors='replace') + '"'
    if isinstance(item, (bool, np.bool_)):
        return '1' if item else '0'
    if isinstance(item, np.complexfloating):
        return f'({_number(item.real)},{_number(item.imag)})'
    return str(item) if isinstance(item, (int, np.integer)) else _number(item)


def _number(item: Any) -> str:
    """C's '%g' with the digits that a float always preserves or, if that reads back as another float, with all digits."""
    short, full = (15, 17) if isinstance(item, np.float64) else (6, 9)
    value = float(item)
    text = f'%.{short}g' % value
    return text if value != value or type(item)(float(text)) == item else f'%.{full}g' % value


def format(template: str, inputs: Any, placeholder: str = '{}', summarize: int = 3, name: str | None = None) -> Tensor:
    """A string with tensors for the placeholders.

    Raises:
        ValueError: The numbers of placeholders and tensors differ.
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    count = template.count(placeholder)
    if count != len(values):
        raise ValueError(f'The template expects {count} tensors, but the inputs only has {len(values)}. Please ensure the '
                         f'number of placeholders in template matches inputs length.')
    attrs = {'template': template, 'placeholder': placeholder, 'summarize': summarize}
    return apply('StringFormat', [convert_to_tensor(v) for v in values], attrs, name)

