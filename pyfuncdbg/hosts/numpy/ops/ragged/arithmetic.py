"""Elementwise ops on ragged tensors: the op on the flat values. Other operands are broadcast to the rows.

The ops dispatch ragged operands here; it installs Python's operators on `RaggedTensor`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int64
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather_nd
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.checks.assertions import assert_equal
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import not_equal
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.dense import places
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor, as_values, is_ragged


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` on the flat values of the ragged tensors among the arguments, in the same rows.

    Raises:
        ValueError: Rows, or the numbers of values, differ.
    """
    raggeds: list[RaggedTensor] = []
    result_args, result_kwargs = _flat(args, raggeds), _flat(kwargs, raggeds)
    if not raggeds:
        return op(*args, **kwargs)
    counts = {r.flat_values.shape[0] for r in raggeds} - {None}
    if len(counts) > 1:
        raise ValueError("Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: "
                         f'{counts}')
    if len({r.row_splits.dtype for r in raggeds}) > 1:
        raise ValueError('Input RaggedTensors have mismatched row partition dtypes; use '
                         'RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.')
    result = op(*result_args, **result_kwargs)
    if counts and not result.shape[:1].is_compatible_with(list(counts)):
        raise ValueError('tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as '
                         f'flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: '
                         f'{next(iter(counts))})')
    if len({r.ragged_rank for r in raggeds}) > 1:
        raise ValueError('All ragged inputs must have the same ragged_rank.')
    return raggeds[0].with_flat_values(result)


def _flat(value: Any, raggeds: list[RaggedTensor]) -> Any:
    if is_ragged(value):
        ragged = as_values(value)
        raggeds.append(ragged)
        return ragged.flat_values
    if isinstance(value, (list, tuple)):
        return type(value)([_flat(item, raggeds) for item in value])
    if isinstance(value, Mapping):
        return {key: _flat(item, raggeds) for key, item in value.items()}
    return value


def binary(function: Callable[[Any, Any], Any], x: Any, y: Any) -> RaggedTensor:
    """An elementwise function of two operands, at least one of them ragged, with broadcasting.

    Raises:
        InvalidArgumentError: Rows differ in length and cannot be broadcast.
    """
    x, y = as_values(x) if is_ragged(x) else x, as_values(y) if is_ragged(y) else y
    checks: list[Any] = []
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        x, y = _alike(x, y, checks)
        ragged, flat = x, (x.flat_values, y.flat_values)
    elif isinstance(x, RaggedTensor):
        ragged = x
        flat = x.flat_values, _spread(convert_to_tensor(y, dtype_hint=x.dtype), x, checks)
    else:
        ragged = y
        flat = _spread(convert_to_tensor(x, dtype_hint=y.dtype), y, checks), y.flat_values
    with after(checks):
        return ragged.with_flat_values(function(*flat))


def after(checks: Sequence[Any]) -> AbstractContextManager[Any]:
    """In a graph, new nodes run after the checks; eager checks have already run."""
    graph = context.current_graph()
    return nullcontext() if graph is None else graph.control_dependencies([c for c in checks if c is not None])


def _alike(x: RaggedTensor, y: RaggedTensor, checks: list[Any]) -> tuple[RaggedTensor, RaggedTensor]:
    """Both operands; appends the checks that they have the same rows."""
    if x.row_splits.dtype is not y.row_splits.dtype:
        x, y = x.with_row_splits_dtype(int64), y.with_row_splits_dtype(int64)
    if x.ragged_rank != y.ragged_rank:
        raise invalid(f'Incompatible ragged ranks: {x.ragged_rank} and {y.ragged_rank}')
    for splits_x, splits_y in zip(x.nested_row_splits, y.nested_row_splits, strict=True):
        if splits_x is not splits_y:
            checks.append(assert_equal(shape_of(splits_x, out_type=int64), shape_of(splits_y, out_type=int64)))
            checks.append(assert_equal(splits_x, splits_y))
    return x, y


def _spread(other: Tensor, ragged: RaggedTensor, checks: list[Any]) -> Any:
    """A tensor broadcast to the flat values: each of its elements is repeated for the values of its row."""
    rank, levels = other.shape.rank, ragged.nested_row_splits
    inner = (ragged.flat_values.shape.rank or 1) - 1
    if not rank or rank <= inner:
        return other                                # it broadcasts along the uniform inner axes
    missing = len(levels) + 1 + inner - rank
    sizes, columns = shape_of(other, out_type=int64), places(ragged, int64)
    coordinates = []
    for axis in range(max(0, missing), len(levels) + 1):
        size = sizes[axis - missing]
        size_of_other = other.shape[axis - missing]
        if size_of_other != 1:
            lengths = rows.lengths_of(levels[axis - 1]) if axis else ragged.nrows()
            expected_lengths = size if axis == 0 else fill(shape_of(lengths), size)
            if size_of_other is not None:
                checks.append(assert_equal(cast(lengths, int64), expected_lengths))
        coordinates.append(columns[:, axis] * cast(not_equal(size, constant(1, int64)), int64))
    return gather_nd(other, stack(coordinates, 1))


def _operator(function: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any) -> Any:
        return binary(function, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return binary(function, other, self)
    return forward, reflected


def _install() -> None:
    """Install Python's operators on `RaggedTensor`."""
    for name in ('add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'pow', 'and', 'or', 'xor'):
        method = getattr(Tensor, f'__{name}__')
        forward, reflected = _operator(method)
        setattr(RaggedTensor, f'__{name}__', forward)
        setattr(RaggedTensor, f'__r{name}__', reflected)
    for name in ('lt', 'le', 'gt', 'ge'):
        setattr(RaggedTensor, f'__{name}__', _operator(getattr(Tensor, f'__{name}__'))[0])
    for name in ('neg', 'abs', 'invert'):
        setattr(RaggedTensor, f'__{name}__', _single(getattr(Tensor, f'__{name}__')))


def _single(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: self.map_values(method)


_install()
