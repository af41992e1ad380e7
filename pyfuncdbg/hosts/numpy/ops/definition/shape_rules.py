"""Static types of outputs: the rules that ops share, and the checks on dtypes with TensorFlow's texts.

A rule is `infer(inputs, attrs)` of an `OpDef`. `Graph.create_op` calls it once per node and completes a ValueError with
the node and its input shapes; functions here that end in `_rule` make such rules.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT, Attrs, Output, TypedInput
from pyfuncdbg.hosts.numpy.graph.known_value import captured_tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, broadcast, unknown
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant_value

Rule = Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]
Allowed = tuple[DType, ...]

FLOAT: Allowed = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
COMPLEX: Allowed = (dtypes.complex64, dtypes.complex128)
INTEGER: Allowed = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
                    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
BOOL: Allowed = (dtypes.bool,)
REAL: Allowed = FLOAT + INTEGER
FIELD: Allowed = FLOAT + COMPLEX
NUMBER: Allowed = REAL + COMPLEX


def invalid(text: str) -> InvalidArgumentError:
    """InvalidArgumentError for a kernel; the runtime adds its node."""
    return InvalidArgumentError(None, None, text)


def check_dtype(op: str, parameter: str, dtype: DType, allowed: Allowed | None) -> None:
    """Refuse a dtype that the op does not take.

    Raises:
        TypeError: `dtype` is not one of `allowed` (None: all are).
    """
    if allowed is None or dtype in allowed:
        return
    if len(allowed) == 1:
        raise TypeError(f"Input '{parameter}' of '{op}' Op has type {dtype.name} that does not match expected type of "
                        f'{allowed[0].name}.')
    raise TypeError(f"Value passed to parameter '{parameter}' has DataType {dtype.name} not in list of allowed values: "
                    + ', '.join(d.name for d in _listed(op, parameter) or allowed))


def _listed(op: str, parameter: str) -> Sequence[DType]:
    """The entry of TensorFlow's registry for an input."""
    from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature  # takes 1 ms, and eager programs do without
    sig = signature(op)
    argument = next((a for a in sig.inputs if a.name == parameter), None) if sig is not None else None
    return sig.allowed(argument.type) if sig is not None and argument is not None else ()


_permitted: dict[str, frozenset[int]] = {}
_names: dict[str, Allowed] = {}


def permit(op: str, allowed: Allowed | None) -> None:
    """Set the dtypes that `check_eager` accepts; None: all."""
    # By identity: hashing a DType is a call of Python code, and every eager op asks.
    permitted = dtypes.ALL if allowed is None else allowed
    _permitted[op], _names[op] = frozenset(map(id, permitted)), permitted


def permits(op: str, dtype: DType) -> bool:
    """Whether an op takes a dtype."""
    return id(dtype) in _permitted[op]


def check_eager(op: str, x: Any) -> None:
    """Refuse a dtype that an op does not take; in a graph its shape rule does.

    Raises:
        InvalidArgumentError: With TensorFlow's text.
    """
    if id(x.dtype) not in _permitted[op] and current_graph() is None:
        check_types(op, (x,))
        allowed = ', '.join(d.kernel_name for d in _names[op])
        raise invalid(f"Value for attr 'T' of {x.dtype.kernel_name} is not in the list of allowed values: {allowed}\n\t; "
                      f"NodeDef: "
                      f'{{{{node {op}}}}} [Op:{op}] name: ')


def check_types(op: str, inputs: Sequence[Any]) -> None:
    """Refuse dtypes that TensorFlow's registry does not allow, in eager mode; in a graph the shape rule does.

    Raises:
        InvalidArgumentError: With TensorFlow's text.
    """
    from pyfuncdbg.hosts.numpy.graph.definitions.dtype_errors import fault  # takes 1 ms, and eager programs do without
    problem = fault(op, inputs)
    if problem:
        raise invalid(problem)


def check_eager_types(op: str, inputs: Sequence[Any]) -> None:
    """`check_types`, unless a graph is being built.

    Raises:
        InvalidArgumentError: With TensorFlow's text.
    """
    if current_graph() is None:
        check_types(op, inputs)


def check_attr_type(op: str, attr: str, dtype: DType) -> None:
    """Refuse a dtype that TensorFlow's registry does not allow for an attr, in eager mode.

    Raises:
        InvalidArgumentError: With TensorFlow's text.
    """
    from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature  # takes 1 ms, and eager programs do without
    sig = signature(op)
    allowed = sig.allowed(attr) if sig is not None else ()
    if allowed and dtype not in allowed and current_graph() is None:
        raise invalid(f"Value for attr '{attr}' of {dtype.kernel_name} is not in the list of allowed values: "
                      f"{', '.join(d.kernel_name for d in allowed)}\n\t; NodeDef: {{{{node {op}}}}} [Op:{op}] name: ")


def check_least(op: str, attr: str, value: int) -> None:
    """Refuse an attr below its minimum in TensorFlow's registry.

    Raises:
        InvalidArgumentError: In eager mode.
        ValueError: In a graph.
    """
    from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature  # takes 1 ms, and eager programs do without
    sig = signature(op)
    least = sig.least(attr) if sig is not None else None
    if least is not None and value < least:
        text = f"Value for attr '{attr}' of {value} must be at least minimum {least}\n\t; NodeDef: {{{{node {op}}}}}"
        raise invalid(f'{text} [Op:{op}] name: ') if current_graph() is None else ValueError(text)


def int_attr(value: Any, argument: str) -> int:
    """A number that becomes an attr of a node.

    Raises:
        TypeError: It is no number.
    """
    if isinstance(value, (int, float, np.number)):
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"Expected int for argument '{argument}' not {value!r}.") from None


def check_same_dtype(op: str, names: Sequence[str], inputs: Sequence[TypedInput]) -> None:
    """Refuse inputs whose dtypes differ.

    Raises:
        TypeError: One has another dtype than the first.
    """
    first = inputs[0].dtype
    for name, tensor in zip(names[1:], inputs[1:], strict=False):
        if tensor.dtype is not first:
            raise TypeError(f"Input '{name}' of '{op}' Op has type {tensor.dtype.name} that does not match type "
                            f"{first.name} of argument '{names[0]}'.")


def same_rule(op: str, allowed: Allowed | None = None, parameter: str = 'x', dtype: DType | None = None) -> Rule:
    """The first input's shape, and its dtype or `dtype`."""
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        source = inputs[0]
        check_dtype(op, parameter, source.dtype, allowed)
        return [(dtype or source.dtype, source.shape)]
    return infer


def merge_rule(op: str, allowed: Allowed | None, names: tuple[str, ...]) -> Rule:
    """All inputs have one dtype and one shape, which is the output's."""
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        check_dtype(op, names[0], inputs[0].dtype, allowed)
        check_same_dtype(op, names, inputs)
        shape = inputs[0].shape
        for tensor in inputs[1:]:
            shape = merged(shape, tensor.shape)
        return [(inputs[0].dtype, shape)]
    return infer


def merge_all_rule(op: str, allowed: Allowed | None) -> Rule:
    """Any number of inputs of one dtype and one shape, which is the output's."""
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        return list(merge_rule(op, allowed, tuple(f'inputs[{i}]' for i in range(len(inputs))))(inputs, attrs))
    return infer


def broadcast_rule(op: str, allowed: Allowed | None, names: tuple[str, str] = ('x', 'y'),
                   dtype: DType | None = None) -> Rule:
    """Two inputs of one dtype, broadcast against each other."""
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        x, y = inputs
        check_dtype(op, names[0], x.dtype, allowed)
        check_same_dtype(op, names, inputs)
        return [(dtype or x.dtype, broadcast_shapes(x.shape, y.shape))]
    return infer


def broadcast_shapes(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape of an elementwise op of two tensors.

    Raises:
        ValueError: They cannot be broadcast against each other.
    """
    try:
        return broadcast(a, b)
    except ValueError:
        for m, n in zip(reversed(a.as_list()), reversed(b.as_list()), strict=False):
            if m is not None and n is not None and m != n and 1 not in (m, n):
                raise ValueError(f'Dimensions must be equal, but are {m} and {n}') from None
        raise


def merged(a: TensorShape, b: TensorShape) -> TensorShape:
    """Two static shapes of one tensor, merged.

    Raises:
        ValueError: They contradict each other.
    """
    if a.sizes is None or b.sizes is None or a.is_compatible_with(b):
        return a.merge_with(b)
    if len(a.sizes) != len(b.sizes):
        raise ValueError(f'Shapes must be equal rank, but are {len(a.sizes)} and {len(b.sizes)}')
    i, m, n = next((i, m, n) for i, (m, n) in enumerate(zip(a.sizes, b.sizes, strict=True))
                   if m != n and m is not None and n is not None)
    raise ValueError(f'Dimension {i} in both shapes must be equal, but are {m} and {n}. Shapes are {text(a)} and {text(b)}.')


def with_rank(shape: TensorShape, rank: int) -> TensorShape:
    """The shape, known to have this rank.

    Raises:
        ValueError: It has another rank.
    """
    if shape.sizes is None:
        return unknown(rank)
    if len(shape.sizes) != rank:
        raise ValueError(f'Shape must be rank {rank} but is rank {len(shape.sizes)}')
    return shape


def at_least_rank(shape: TensorShape, rank: int) -> TensorShape:
    """The shape, if it has at least this rank or none is known; ValueError otherwise."""
    if shape.sizes is not None and len(shape.sizes) < rank:
        raise ValueError(f'Shape must be at least rank {rank} but is rank {len(shape.sizes)}')
    return shape


def axis_in(axis: int, rank: int) -> int:
    """A non-negative axis.

    Raises:
        ValueError: It is not one of a tensor of this rank.
    """
    if not -rank <= axis < rank:
        raise ValueError(f'Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}')
    return axis % rank


def text(shape: TensorShape) -> str:
    """A shape as TensorFlow's messages show it: '[2,?]'."""
    if shape.sizes is None:
        return '<unknown>'
    return '[' + ','.join('?' if n is None else str(n) for n in shape.sizes) + ']'


def ints(tensor: TypedInput) -> list[int] | None:
    """The static value of a rank 0 or 1 integer tensor as a list, None if it is not known."""
    value = constant_value(tensor)
    return None if value is None else value.reshape(-1).tolist()


def as_static_shape(tensor: TypedInput, captures: bool = False) -> TensorShape:
    """The static shape for a tensor of sizes (of Reshape, Fill, BroadcastTo); -1 is an unknown size.

    Args:
        tensor: The sizes.
        captures: Use values of captured tensors in a function, as TensorFlow's Python functions do and its ops do not.
    """
    value = ints(tensor)
    if value is not None:
        for n in value:
            if n < -1:
                raise ValueError(f'Dimension {n} must be >= 0')
        return TensorShape.of(tuple([None if n == -1 else n for n in value]))
    partial = partial_sizes(tensor, captures)
    if partial is not None:
        return TensorShape.of(tuple(partial))
    length = tensor.shape.sizes
    return UNKNOWN if length is None or len(length) != 1 else unknown(length[0])


def partial_sizes(tensor: Any, captures: bool = False) -> list[int | None] | None:
    """The static elements of a vector of sizes that nodes compute (Shape, Pack, ConcatV2, Cast, a slice of one):
    None for an unknown element; None if there are none. `captures` is as for `as_static_shape`."""
    value = ints(tensor)
    if value is not None:
        return [None if n < 0 else n for n in value]
    op = getattr(tensor, 'op', None)
    if op is not None and captures and op.type == INPUT:
        outer = captured_tensor(tensor)
        return None if outer is None else partial_sizes(outer, True)
    if op is None or op.type not in _PARTIAL:
        return None
    return _PARTIAL[op.type](op, captures)


def _shape_partial(op: Any, captures: bool) -> list[int | None] | None:
    sizes = op.inputs[0].shape.sizes
    return None if sizes is None else list(sizes)


def _pack_partial(op: Any, captures: bool) -> list[int | None] | None:
    if any(t.shape.rank != 0 for t in op.inputs):
        return None
    values: list[int | None] = []
    for tensor in op.inputs:
        value = partial_scalar(tensor)
        values.append(value)
    return values


def partial_scalar(tensor: Any) -> int | None:
    """One size: a constant, or an element of a shape (`tf.shape(x)[0]`) that is known statically."""
    value = ints(tensor)
    if value is not None:
        return value[0] if value[0] >= 0 else None
    op = getattr(tensor, 'op', None)
    if op is None or op.type != 'StridedSlice' or op.attrs.get('shrink_axis_mask') != 1:
        return None
    source, begin = partial_sizes(op.inputs[0]), ints(op.inputs[1])
    return None if source is None or begin is None or not -len(source) <= begin[0] < len(source) else source[begin[0]]


def _concat_partial(op: Any, captures: bool) -> list[int | None] | None:
    values: list[int | None] = []
    for tensor in op.inputs[:-1]:
        part = partial_sizes(tensor, captures)
        if part is None:
            length = tensor.shape.sizes
            if length is None or len(length) != 1 or length[0] is None:
                return None
            part = [None] * length[0]
        values += part
    return values


def _slice_partial(op: Any, captures: bool) -> list[int | None] | None:
    attrs = op.attrs
    if any(attrs.get(k) for k in ('shrink_axis_mask', 'new_axis_mask', 'ellipsis_mask')):
        return None
    source = partial_sizes(op.inputs[0], captures)
    begin, end, step = (ints(t) for t in op.inputs[1:4])
    if source is None or begin is None or end is None or step is None or len(begin) != 1:
        return None
    return source[slice(None if attrs.get('begin_mask') else begin[0], None if attrs.get('end_mask') else end[0], step[0])]


_PARTIAL: dict[str, Callable[[Any, bool], list[int | None] | None]] = {
    'Shape': _shape_partial, 'Pack': _pack_partial, 'ConcatV2': _concat_partial, 'StridedSlice': _slice_partial,
    'ExpandDims': lambda op, _: [partial_scalar(op.inputs[0])] if op.inputs[0].shape.rank == 0 else None,
    'Cast': lambda op, captures: partial_sizes(op.inputs[0], captures),
    'Identity': lambda op, _: partial_sizes(op.inputs[0]),
}
