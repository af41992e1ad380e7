"""Tensors made from nothing but sizes and scalars: zeros, ranges, one-hot rows, masks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_max, reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, reshape, shape as shape_of
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, axis_in, ints, invalid, same_rule
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _zero(dtype: DType) -> Any:
    return b'' if dtype.array.kind == 'O' else dtype.as_numpy_dtype(0)


def _zeros_like(x: Any) -> Any:
    if isinstance(x, TensorList):
        return x.zeros()
    if x.dtype.hasobject:
        return np.full(x.shape, b'', object)
    return np.zeros(x.shape, x.dtype) if x.ndim else x.dtype.type(0)


register(OpDef('ZerosLike', _zeros_like, same_rule('ZerosLike'), no_gradient))
register(OpDef('OnesLike', lambda x: np.ones(x.shape, x.dtype) if x.ndim else x.dtype.type(1), same_rule('OnesLike'),
               no_gradient))


# ---------------------------------------------------------------- fill
def _fill(dims: Any, value: Any) -> Any:
    sizes = (dims if dims.ndim == 1 else dims.reshape(-1)).tolist()     # TensorFlow counts elements, not axes
    for n in sizes:
        if n < 0:
            raise invalid(f'Dimension {n} must be >= 0')
    if not sizes:
        return value
    return np.full(sizes, value if value.dtype != object else value[()], value.dtype)


def _fill_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(inputs[1].dtype, as_static_shape(inputs[0], captures=True))]


def _fill_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    return [None, reduce_sum(grad)]


register(OpDef('Fill', _fill, _fill_types, _fill_gradient))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` with `value` in every place."""
    if isinstance(dims, float) and current_graph() is None:
        convert_to_tensor(dims, dtypes.int32)           # refuses it
    return call('Fill', {'dims': dims, 'value': value}, None, name, dims=dtypes.int32)


def _filled(shape: Any, dtype: Any, name: str | None, default: str, one: bool) -> Tensor:
    kind = as_dtype(dtype)
    value = np.asarray(b'' if kind == dtypes.string else kind.as_numpy_dtype(one))
    if not isinstance(shape, Tensor):
        try:
            sizes: Any = TensorShape(shape).as_list()
            if None in sizes:
                raise ValueError(sizes)
        except (TypeError, ValueError):
            exact = dtypes.int32 if isinstance(shape, (str, bytes)) else None
            shape = convert_to_tensor(shape, exact, dtype_hint=dtypes.int32)     # a list with tensors in it
        else:
            return constant(value if kind == dtypes.string else value[()], kind, sizes, name or default)
    return apply('Fill', (shape, constant(value if kind == dtypes.string else value[()])), None, name or default)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (strings: empty, bool: False)."""
    return _filled(shape, dtype, name, 'zeros', False)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones."""
    return _filled(shape, dtype, name, 'ones', True)


def _like(x: Any, dtype: Any, name: str | None, default: str, op: str, one: bool) -> Tensor:
    x = convert_to_tensor(x)
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if x.shape.is_fully_defined():
        return _filled(x.shape, kind, name, default, one)
    if kind is x.dtype:
        return apply(op, (x,), None, name or default)
    return _filled(shape_of(x), kind, name, default, one)


@overridable
def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of `input`."""
    return _like(input, dtype, name, 'zeros_like', 'ZerosLike', False)


@overridable
def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones in the shape of `input`."""
    return _like(input, dtype, name, 'ones_like', 'OnesLike', True)


def zeros_like_v1(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """`zeros_like` of TensorFlow 1."""
    return zeros_like(tensor, dtype, name)


def ones_like_v1(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """`ones_like` of TensorFlow 1."""
    return ones_like(tensor, dtype, name)


# ---------------------------------------------------------------- ranges
_arange: Any = np.arange


def _range(start: Any, limit: Any, delta: Any) -> Any:
    if start.ndim or limit.ndim or delta.ndim:
        start, limit, delta = (_only_element(value, label)
                               for value, label in ((start, 'start'), (limit, 'limit'), (delta, 'delta')))
    _check_range(start, limit, delta)
    return _arange(start, limit, delta, start.dtype)


def _only_element(value: Any, label: str) -> Any:
    """The number in a tensor of one element, whatever its rank, as TensorFlow takes it."""
    if value.size != 1:
        raise invalid(f'{label} must be a scalar, not shape [{",".join(map(str, value.shape))}]')
    return value.reshape(-1)[0]


def _check_range(start: Any, limit: Any, delta: Any) -> None:
    fault = ('Requires delta != 0: 0' if not delta else
             f'Requires start <= limit when delta > 0: {start}/{limit}' if delta > 0 and start > limit else
             f'Requires start >= limit when delta < 0: {start}/{limit}' if delta < 0 and start < limit else '')
    if fault:
        raise invalid(fault)


def _range_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    constants = [constant_value(t) for t in inputs]
    if any(v is None or v.size != 1 for v in constants):
        return [(inputs[0].dtype, unknown(1))]
    start, limit, delta = (v.reshape(-1)[0] for v in constants)
    try:
        _check_range(start, limit, delta)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None
    return [(inputs[0].dtype, TensorShape.of((len(np.arange(start, limit, delta)),)))]


register(OpDef('Range', _range, _range_types, no_gradient))
_RANGE_ORDER = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = 'range') -> Tensor:
    """`start, start + delta, ...` up to but without `limit`; `range(n)` starts at 0."""
    if limit is None:
        start, limit = 0, start
    with scope(name, 'range') as full:
        kind = None if dtype is None else as_dtype(dtype)
        tensors = [value if isinstance(value, Tensor) else convert_to_tensor(value, kind, name=label)
                   for value, label in ((start, 'start'), (limit, 'limit'), (delta, 'delta'))]
        if kind is None:
            assert all(t.dtype in _RANGE_ORDER for t in tensors)        # the error that TensorFlow has for text
            kind = max((t.dtype for t in tensors), key=_RANGE_ORDER.index)
        return apply('Range', [cast(t, kind) for t in tensors], None, full or name)


def _linspace(start: Any, stop: Any, num: Any) -> Any:
    num = _only_element(num, 'num') if num.ndim else num
    if num <= 0:
        raise invalid(f'Requires num > 0: {num}')
    return np.linspace(start, stop, int(num), dtype=start.dtype, axis=0)


def _linspace_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    start, _, num = inputs
    count = ints(num)
    return [(start.dtype, TensorShape.of((None if count is None else count[0],)).concatenate(start.shape))]


def _linspace_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    weight = apply('LinSpace', (constant(grad.dtype.as_numpy_dtype(0)), constant(grad.dtype.as_numpy_dtype(1)),
                                node.inputs[2]))
    weight = reshape(weight, [-1] + [1] * (node.inputs[0].shape.rank or 0))
    return [reduce_sum(grad * (1 - weight), 0), reduce_sum(grad * weight, 0), None]


register(OpDef('LinSpace', _linspace, _linspace_types, _linspace_gradient))


def count(value: Any, label: str, hint: DType | None = None) -> Tensor:
    """A count as an integer tensor.

    Raises:
        TypeError: It is no integer.
    """
    tensor = convert_to_tensor(value, dtype_hint=hint, name=label)
    if not tensor.dtype.is_integer:
        number = constant_value(tensor)
        raise TypeError(f'Argument `tensor` (name: {label}) must be of type integer. Received `tensor` = '
                        f'{tensor if number is None else number} of dtype: {tensor.dtype}')
    return tensor


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, both included, along a new axis."""
    start, stop = convert_together([start, stop], names=('start', 'stop'), op='linspace')
    if start.dtype.is_integer:
        start, stop = cast(start, dtypes.float64), cast(stop, dtypes.float64)
    num = count(num, 'num')
    length = ints(num)
    if length is not None and length[0] <= 0:
        if length[0]:
            range(1, num)                               # refuses it
        return fill([0, *start.shape.as_list()], constant(start.dtype.as_numpy_dtype(0)))
    spaced = apply('LinSpace', (start, stop, num), None, name or 'linspace')
    if not axis:
        return spaced
    rank = spaced.shape.rank or 1
    order = np.arange(1, rank).tolist()
    order.insert(axis_in(axis, rank), 0)
    return apply('Transpose', (spaced, convert_to_tensor(order)))


# ---------------------------------------------------------------- one-hot, eye, masks
def _one_hot(indices: Any, depth: Any, on: Any, off: Any, axis: int = -1) -> Any:
    if depth < 0:
        raise invalid(f'depth must be non-negative, got: {depth}')
    if not -1 <= axis <= np.ndim(indices):
        raise invalid(f'Expected axis to be -1 or between [0, {np.ndim(indices) + 1}).  But received: {axis}')
    place = axis if axis >= 0 else np.ndim(indices)
    hot = np.expand_dims(indices, place) == np.arange(depth).reshape([-1] + [1] * (np.ndim(indices) - place))
    return np.where(hot, on, off)


def _one_hot_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    indices, depth, on = inputs[0], ints(inputs[1]), inputs[2]
    sizes = indices.shape.sizes
    if sizes is None:
        return [(on.dtype, unknown())]
    at = attrs.get('axis', -1)
    at = len(sizes) if at == -1 else at
    return [(on.dtype, TensorShape.of((*sizes[:at], None if depth is None else depth[0], *sizes[at:])))]


register(OpDef('OneHot', _one_hot, _one_hot_types, no_gradient, kernel_attrs=('axis',)))


@overridable
def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None,
            name: str | None = None) -> Tensor:
    """Rows of length `depth` with `on_value` (1) at the index from `indices` and `off_value` (0) elsewhere.

    Raises:
        TypeError: The dtypes of the values and `dtype` differ.
    """
    value_dtype = next((v.dtype for v in (on_value, off_value) if isinstance(v, Tensor)), None)
    kind = as_dtype(dtype) if dtype is not None else value_dtype
    if kind is None:
        kind = dtypes.float32 if on_value is None and off_value is None else convert_to_tensor(
            on_value if on_value is not None else off_value).dtype
    with scope(name, 'one_hot') as full:
        _check_values(on_value, off_value, None if dtype is None else kind)
        on = convert_to_tensor(1 if on_value is None else on_value, kind, name='on_value')
        off = convert_to_tensor(0 if off_value is None else off_value, kind, name='off_value')
        arguments = {'indices': indices, 'depth': depth, 'on_value': on, 'off_value': off}
        return call('OneHot', arguments, {'axis': -1 if axis is None else axis}, full, 'one_hot')


def _check_values(on: Any, off: Any, kind: DType | None) -> None:
    named_dtypes = [(label, convert_to_tensor(value).dtype) for label, value in (('on_value', on), ('off_value', off))
                    if value is not None and current_graph() is None]
    for label, dtype in named_dtypes:
        if kind is not None and dtype is not kind:
            raise TypeError(f'dtype {dtype} of {label} does not match dtype parameter {kind}')
    if len(named_dtypes) == 2 and named_dtypes[0][1] is not named_dtypes[1][1]:
        raise TypeError(f'dtype {named_dtypes[0][1]} of on_value does not match dtype {named_dtypes[1][1]} of off_value')


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> Tensor:
    """Ones on the diagonal, zeros elsewhere; repeated over `batch_shape`."""
    columns = num_rows if num_columns is None else num_columns
    if not all(isinstance(size, (int, np.integer, Tensor)) or hasattr(size, '_as_tensor') for size in (num_rows, columns)):
        raise TypeError('Arguments `num_rows` and `num_columns` must be positive integer values. Received: '
                        f'num_rows={num_rows}, num_columns={columns}')
    if not isinstance(num_rows, Tensor) and not isinstance(columns, Tensor) and min(num_rows, columns) < 0:
        fill([min(num_rows, columns)], 1)               # refuses it
    with scope(name, 'eye'):
        square = one_hot(range(num_rows), columns, dtype=dtype)
        if batch_shape is None:
            return square
        batch = convert_to_tensor(batch_shape, dtype_hint=dtypes.int32)
        repeated = apply('BroadcastTo', (square, apply('ConcatV2', (batch, shape_of(square), constant(np.int32(0))))))
        if not repeated.shape.is_fully_defined():
            repeated.set_shape(as_static_shape(batch, captures=True).concatenate(square.shape))
        return repeated


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """For each length a row that is True below it: shape `lengths.shape + [maxlen]`."""
    with scope(name, 'SequenceMask'):
        lengths = convert_to_tensor(lengths)
        end = reduce_max(lengths) if maxlen is None else convert_to_tensor(maxlen)
        if end.shape.rank not in (None, 0):
            raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen} with shape "
                             f"'{end.shape}' instead")
        if end.dtype is dtypes.string and current_graph() is None:
            convert_to_tensor(0, end.dtype)             # refuses it
        row = range(0, cast(end, lengths.dtype), 1, lengths.dtype)
        mask = apply('Less', (row, expand_dims(lengths, -1)))
        return cast(mask, dtype)


def meshgrid(*args: Any, indexing: str = 'xy', name: str | None = None) -> list[Tensor]:
    """Coordinate tensors of a grid from one vector per axis.

    Raises:
        ValueError: `indexing` is not 'xy' or 'ij'.
    """
    if indexing not in ('xy', 'ij'):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with scope(name, 'meshgrid'):
        vectors = [convert_to_tensor(v) for v in args]
        count = len(vectors)
        order = [1, 0, *np.arange(2, count).tolist()] if indexing == 'xy' and count > 1 else np.arange(count).tolist()
        rows = [reshape(v, [-1 if order[i] == axis else 1 for axis in np.arange(count)]) for i, v in enumerate(vectors)]
        sizes = [apply('Size', (vectors[order[axis]],), {'out_type': dtypes.int32}) for axis in np.arange(count)]
        full_shape = apply('Pack', sizes, {'axis': 0, 'N': count})
        return [apply('BroadcastTo', (row, full_shape)) for row in rows]
