"""Diagonals and bands of matrices: extraction, construction, masking."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import at_least_rank, ints, invalid, merged, text
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_ALIGN = 'RIGHT_LEFT'


def _bounds(k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal that `k` names."""
    low, *rest = np.asarray(k).reshape(-1).tolist()
    high = rest[-1] if rest else low
    if low > high:
        raise invalid(f'lower_diag_index must not be larger than upper_diag_index: {low} > {high}')
    return low, high


def _length(d: int, rows: int, columns: int) -> int:
    return min(rows + min(d, 0), columns - max(d, 0))


def _places(low: int, high: int, rows: int, columns: int, align: str) -> Iterator[tuple[Any, slice, Any, Any]]:
    """For each diagonal, from the highest: its row and offset in the packed form; its row and column
    numbers in the matrix."""
    above, below = (part == 'LEFT' for part in align.split('_'))
    longest = max(_length(d, rows, columns) for d in (low, high, min(max(0, low), high)))
    for i, d in enumerate(range(high, low - 1, -1)):
        n = _length(d, rows, columns)
        start = 0 if (d >= 0 and above) or (d <= 0 and below) else longest - n
        at = np.arange(n)
        yield i, slice(start, start + n), at - min(d, 0), at + max(d, 0)


def _check_band(low: int, high: int, rows: int, columns: int) -> None:
    for name, d in (('lower', low), ('upper', high)):
        if not -rows < d < columns and d != 0:
            raise invalid(f'{name}_diag_index is out of bound: {d}. It must be between {-rows} and {columns}')


# ---------------------------------------------------------------- from diagonals to a matrix
def _sizes(length: int | None, low: int, high: int, rows: int, columns: int) -> tuple[int | None, int | None]:
    """The sizes of the matrix; -1 means the smallest possible."""
    if length is None:
        return (None if rows == -1 else rows), (None if columns == -1 else columns)
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    return (least_rows if rows == -1 else rows), (least_columns if columns == -1 else columns)


def _diag(diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding: Any, align: str = _ALIGN) -> Any:
    low, high = _bounds(k)
    several = low != high
    if diagonal.ndim < 1 + several:
        raise invalid(f'diagonal must be at least {1 + several}-dim, received shape: {text(TensorShape(diagonal.shape))}')
    if several and diagonal.shape[-2] != high - low + 1:
        raise invalid(f'The number of diagonals provided in the input does not match the lower_diag_index and '
                      f'upper_diag_index range: {diagonal.shape[-2]} given, {high - low + 1} expected.')
    rows, columns = _sizes(diagonal.shape[-1], low, high, int(num_rows), int(num_cols))
    assert rows is not None and columns is not None
    if max(_length(d, rows, columns) for d in (low, high, min(max(0, low), high))) != diagonal.shape[-1]:
        raise invalid('The number of rows is too small.' if int(num_rows) != -1 or int(num_cols) != -1 else
                      'The diagonals do not fit.')
    result = np.full((*diagonal.shape[:-1 - several], rows, columns), padding, diagonal.dtype)
    for i, part, r, c in _places(low, high, rows, columns, align):
        result[..., r, c] = diagonal[..., i, part] if several else diagonal[..., part]
    return result


def _diag_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    diagonal, k, rows, columns, _ = inputs
    band, m, n = ints(k), ints(rows), ints(columns)
    if diagonal.shape.sizes is None or band is None:
        return [(diagonal.dtype, UNKNOWN)]
    several = band[0] != band[-1]
    sizes = at_least_rank(diagonal.shape, 1 + several).sizes
    assert sizes is not None
    outer = sizes[:-1 - several]
    if m is None or n is None:
        return [(diagonal.dtype, TensorShape.of((*outer, None, None)))]
    return [(diagonal.dtype, TensorShape.of((*outer, *_sizes(sizes[-1], band[0], band[-1], m[0], n[0]))))]


def _diag_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    return [_part_of(grad, node.inputs[1], node.attrs.get('align', _ALIGN)), None, None, None, None]


def _part_of(x: Any, k: Any, align: str) -> Any:
    return apply('MatrixDiagPartV3', (x, k, constant(0, x.dtype)), {'align': align})


register(OpDef('MatrixDiagV3', _diag, _diag_types, _diag_gradient, kernel_attrs=('align',)))


# ---------------------------------------------------------------- from a matrix to diagonals
def _diag_part(x: Any, k: Any, padding: Any, align: str = _ALIGN) -> Any:
    low, high = _bounds(k)
    if x.ndim < 2:
        raise invalid(f'input must be at least 2-dim, received shape: {text(TensorShape(x.shape))}')
    rows, columns = x.shape[-2:]
    _check_band(low, high, rows, columns)
    longest = max(_length(d, rows, columns) for d in (low, high, min(max(0, low), high)))
    result = np.full((*x.shape[:-2], high - low + 1, longest), padding, x.dtype)
    for i, part, r, c in _places(low, high, rows, columns, align):
        result[..., i, part] = x[..., r, c]
    return result if low != high else result[..., 0, :]


def _diag_part_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, band = inputs[0], ints(inputs[1])
    sizes = at_least_rank(x.shape, 2).sizes
    if sizes is None or band is None:
        return [(x.dtype, UNKNOWN)]
    rows, columns = sizes[-2:]
    low, high = band[0], band[-1]
    longest = None if rows is None or columns is None else max(
        _length(d, rows, columns) for d in (low, high, min(max(0, low), high)))
    several = () if low == high else (high - low + 1,)
    return [(x.dtype, TensorShape.of((*sizes[:-2], *several, longest)))]


def _diag_part_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, k, _ = node.inputs
    attrs = {'align': node.attrs.get('align', _ALIGN)}
    sizes = x.shape.sizes
    if sizes is not None and None not in sizes[-2:]:
        rows, columns = (constant(np.int32(n)) for n in sizes[-2:])
        return [apply('MatrixDiagV3', (grad, k, rows, columns, constant(0, grad.dtype)), attrs), None, None]
    return [apply('MatrixSetDiagV3', (apply('ZerosLike', (x,)), grad, k), attrs), None, None]


register(OpDef('MatrixDiagPartV3', _diag_part, _diag_part_types, _diag_part_gradient, kernel_attrs=('align',)))


# ---------------------------------------------------------------- diagonals replaced
def _set_diag(x: Any, diagonal: Any, k: Any, align: str = _ALIGN) -> Any:
    low, high = _bounds(k)
    if x.ndim < 2:
        raise invalid(f'input must be at least 2-dim, received shape: {text(TensorShape(x.shape))}')
    rows, columns = x.shape[-2:]
    _check_band(low, high, rows, columns)
    longest = max(_length(d, rows, columns) for d in (low, high, min(max(0, low), high)))
    several = (high - low + 1,) if low != high else ()
    expected = (*x.shape[:-2], *several, longest)
    if diagonal.shape != expected:
        raise invalid('Either first dimensions of diagonal don\'t match input.shape[:-2], or diagonal.shape[:-1] is not '
                      'equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n'
                      f'Input shape: {text(TensorShape(x.shape))}\nDiagonal shape: {text(TensorShape(diagonal.shape))}\n'
                      f'Expected diagonal shape: {text(TensorShape(expected))}')
    result = x.copy()
    for i, part, r, c in _places(low, high, rows, columns, align):
        result[..., r, c] = diagonal[..., i, part] if several else diagonal[..., part]
    return result


def _set_diag_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, diagonal, _ = inputs
    shape = at_least_rank(x.shape, 2)
    if shape.sizes is None:
        return [(x.dtype, unknown(None))]
    if diagonal.shape.sizes is not None and len(diagonal.shape.sizes) == len(shape.sizes) - 1:
        shape = merged(shape[:-2], diagonal.shape[:-1]).concatenate(shape[-2:])
    return [(x.dtype, shape)]


def _set_diag_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    _, diagonal, k = node.inputs
    align = node.attrs.get('align', _ALIGN)
    rest = apply('MatrixSetDiagV3', (grad, apply('ZerosLike', (diagonal,)), k), {'align': align})
    return [rest, _part_of(grad, k, align), None]


register(OpDef('MatrixSetDiagV3', _set_diag, _set_diag_types, _set_diag_gradient, kernel_attrs=('align',)))


# ---------------------------------------------------------------- bands
def _band(x: Any, lower: Any, upper: Any) -> Any:
    if x.ndim < 2:
        raise invalid(f'input must be at least 2-dim, received shape: {text(TensorShape(x.shape))}')
    rows, columns = x.shape[-2:]
    for name, n, most in (('num_lower', lower, rows), ('num_upper', upper, columns)):
        if n > most:
            what = 'number of rows' if name == 'num_lower' else 'number of columns'
            raise invalid(f'{name} must be negative or less or equal to {what} ({most}) got: {n}')
    r, c = np.ogrid[:rows, :columns]
    in_band = ((lower < 0) | (r - c <= lower)) & ((upper < 0) | (c - r <= upper))
    return np.where(in_band, x, x.dtype.type(0))


register(OpDef('MatrixBandPart', _band,
               lambda inputs, attrs: [(inputs[0].dtype, at_least_rank(inputs[0].shape, 2))],
               lambda node, grad: [apply('MatrixBandPart', (grad, *node.inputs[1:])), None, None]))


# ---------------------------------------------------------------- public functions
def _k(k: Any) -> Any:
    return convert_to_tensor(k, dtype_hint=dtypes.int32, name='k')


def diag(diagonal: Any, name: str = 'diag', k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0,
         align: str = _ALIGN) -> Tensor:
    """Matrices with these diagonals.

    Args:
        diagonal: The last axis runs along the diagonal; for several diagonals the last but one has the highest first.
        name: Of the node.
        k: Which diagonal, or the lowest and the highest of several; 0 is the main one, positive are above it.
        num_rows: Rows of the result, -1 for as few as fit.
        num_cols: Columns of the result, -1 for as few as fit.
        padding_value: Value of all other elements.
        align: Alignment of shorter diagonals in their rows of `diagonal`.
    """
    diagonal = convert_to_tensor(diagonal)
    padding = padding_value if isinstance(padding_value, Tensor) else constant(padding_value, diagonal.dtype)
    arguments = {'diagonal': diagonal, 'k': _k(k), 'num_rows': num_rows, 'num_cols': num_cols, 'padding_value': padding}
    return call('MatrixDiagV3', arguments, {'align': align}, name)


def diag_part(input: Any, name: str = 'diag_part', k: Any = 0, padding_value: Any = 0, align: str = _ALIGN) -> Tensor:
    """The diagonals of matrices; `k` as in `diag`."""
    x = convert_to_tensor(input)
    padding = padding_value if isinstance(padding_value, Tensor) else constant(padding_value, x.dtype)
    return call('MatrixDiagPartV3', {'input': x, 'k': _k(k), 'padding_value': padding}, {'align': align}, name)


def set_diag(input: Any, diagonal: Any, name: str = 'set_diag', k: Any = 0, align: str = _ALIGN) -> Tensor:
    """The matrices with replaced diagonals; `k` as in `diag`."""
    x = convert_to_tensor(input)
    arguments = {'input': x, 'diagonal': convert_to_tensor(diagonal, dtype_hint=x.dtype), 'k': _k(k)}
    return call('MatrixSetDiagV3', arguments, {'align': align}, name)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """The matrices with 0 outside of a band: `num_lower` diagonals below, `num_upper` above the main one, -1 for all."""
    if current_graph() is None and not isinstance(num_lower, Tensor):
        num_lower = convert_to_tensor(num_lower)
        num_upper = convert_to_tensor(num_upper, num_lower.dtype)      # of one type
    return call('MatrixBandPart', {'input': input, 'num_lower': num_lower, 'num_upper': num_upper}, None, name)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the main diagonals."""
    with scope(name, 'Trace') as full:
        return reduce_sum(diag_part(convert_to_tensor(x)), [-1], name=full)


def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with `diagonal` on its diagonal, 0 elsewhere."""
    with scope(name, 'diag'):
        diagonal = convert_to_tensor(diagonal)
        sizes = sizes_of(diagonal)
        square = diag(apply('Reshape', (diagonal, constant(np.array([-1], np.int32)))))
        return apply('Reshape', (square, apply('ConcatV2', (sizes, sizes, constant(np.int32(0))))))


def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor whose first half of axes has the sizes of the second.

    Raises:
        ValueError: The rank is unknown or odd, or the halves differ.
    """
    with scope(name, 'diag_part'):
        x = convert_to_tensor(input)
        count = x.shape.rank
        if not count or count % 2 or not x.shape[:count // 2].is_compatible_with(x.shape[count // 2:]):
            raise ValueError(f'Input must have even rank and two equal halves of shape. Received shape: {x.shape}')
        half = sizes_of(x)[:count // 2]
        length = cast(apply('Prod', (half, constant(np.int32(0))), {'keep_dims': False}), dtypes.int32)
        square = apply('Reshape', (x, apply('Pack', (length, length), {'axis': 0, 'N': 2})))
        return apply('Reshape', (diag_part(square), half))
