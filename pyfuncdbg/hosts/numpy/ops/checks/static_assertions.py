"""Static assertions on ranks, shapes and dtypes; where these are unknown, a node checks at run time."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import executing_eagerly
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import rank as rank_of, shape as shape_of
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert, label
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.variables.handles import no_op
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _start(message: str | None) -> str:
    return f'{message}.  ' if message else ''


# ---------------------------------------------------------------- ranks
def _of_rank(x: Any, ranks: Sequence[Any], op: str, rank_text: str, fits: Callable[[int], bool], message: str | None,
             name: str | None, default: str) -> Any:
    for rank in ranks:
        if np.ndim(rank):
            raise ValueError('Rank must be a scalar.')
        kind = convert_to_tensor(rank).dtype
        if kind not in (dtypes.int32, dtypes.int64):
            raise TypeError(f'tensor must be of type {dtypes.int32!r}; got {kind!r}')
    x = convert_to_tensor(x)
    shape = x.shape
    if shape.rank is None:
        with scope(name, default):
            data = [f'{_start(message)}Tensor {label(x)} must have rank {rank_text}', *ranks, 'Received shape: ',
                    shape_of(x)]
            verdicts = [apply(op, (rank_of(x), convert_to_tensor(rank))) for rank in ranks]
            holds = verdicts[0]
            for verdict in verdicts[1:]:
                holds = apply('LogicalOr', (holds, verdict))
            return Assert(holds, data)
    if not fits(shape.rank):
        raise ValueError(f'{_start(message)}Tensor {label(x)} must have rank {rank_text}.  Received rank '
                         f'{shape.rank}, shape {shape}')
    return None if executing_eagerly() else no_op('static_checks_determined_all_ok')


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Any:
    """Assert that `x` has a rank.

    Raises:
        ValueError: It is known to have another.
    """
    return _of_rank(x, [rank], 'Equal', str(rank), lambda found: found == rank, message, name, 'assert_rank')


def assert_rank_at_least(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Any:
    """Assert that `x` has this rank or a higher one.

    Raises:
        ValueError: It is known to have a lower one.
    """
    return _of_rank(x, [rank], 'GreaterEqual', f'at least {rank}', lambda found: found >= rank, message, name,
                    'assert_rank_at_least')


def assert_rank_in(x: Any, ranks: Sequence[int], message: str | None = None, name: str | None = None) -> Any:
    """Assert that `x` has one of some ranks.

    Raises:
        ValueError: It is known to have none of them.
    """
    return _of_rank(x, list(ranks), 'Equal', f'in {tuple(ranks)}', lambda found: found in ranks, message, name,
                    'assert_rank_in')


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """Assert that a tensor has rank 0.

    Raises:
        ValueError: It is known to have another rank.
    """
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank not in (None, 0):
        named = f' for {label(tensor)}' if label(tensor) else ''
        raise ValueError(f'{_start(message)}Expected scalar shape{named}, saw shape: {tensor.shape}.')
    return None if executing_eagerly() else tensor


# ---------------------------------------------------------------- dtypes
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Assert that a tensor, also a sparse or ragged one, has a dtype.

    Raises:
        TypeError: It has another.
    """
    dtype, expected = _dtype(tensor), as_dtype(tf_type)
    if dtype is not expected:
        named = f'{label(tensor)} ' if label(tensor) else ''
        raise TypeError(f'{_start(message)}{named}tensor must be of type {expected!r}; got {dtype!r}')
    return None if executing_eagerly() else no_op('statically_determined_correct_type')


def _dtype(x: Any) -> DType:
    dtype = getattr(x, 'dtype', None)
    return dtype if isinstance(dtype, DType) else convert_to_tensor(x).dtype


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Assert that `x` has an integer dtype.

    Raises:
        TypeError: It has another.
    """
    dtype = _dtype(x)
    if not dtype.is_integer:
        raise TypeError(f'{_start(message)}Expected "x" to be integer type.  Found: {label(x)}tensor of dtype {dtype}'
                        if executing_eagerly() else
                        f'{_start(message)}Expected "x" to be integer type.  Found: {label(x)} of dtype {dtype}')
    return None if executing_eagerly() else no_op('statically_determined_was_integer')


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    return isinstance(tensor, Tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex)


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """The one float dtype of some tensors, float32 for none.

    Raises:
        ValueError: They differ, or it is no float dtype.
    """
    expected = None if dtype is None else as_dtype(dtype)
    first = None
    for tensor in tensors or ():
        if expected is None:
            expected, first = tensor.dtype, tensor
        elif tensor.dtype is not expected:
            like = '' if first is None else f' as {first!s}'
            raise ValueError(f'{tensor!s}, type={tensor.dtype}, must be of the same type ({expected}){like}.')
    expected = expected or dtypes.float32
    if not expected.is_floating:
        raise ValueError(f'Expected floating point type, got {expected}.')
    return expected


def assert_proper_iterable(values: Any) -> None:
    """Assert that `values` is a collection of things: no tensor, array or string.

    Raises:
        TypeError: It is one of these, or cannot be iterated.
    """
    if isinstance(values, (Tensor, np.ndarray, bytes, str)) or hasattr(values, 'dense_shape'):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, '__iter__'):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


# ---------------------------------------------------------------- shapes with letters
def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                  name: str | None = None) -> None:
    """Check static shapes in which each letter is one size throughout.

    Args:
        shapes: Dict or pairs of (tensor, shape); a size is an int, None or '.' (any) or a letter, and the first may be
            '...' or '*' for any number of axes.
        data: Not used.
        summarize: Not used.
        message: Start of the error text.
        name: Not used.

    Raises:
        ValueError: A shape that is known does not fit.
    """
    sizes_by_symbol: dict[Any, tuple[int, str]] = {}
    for x, sizes in shapes.items() if isinstance(shapes, Mapping) else shapes:
        tensor = convert_to_tensor(x)
        expected_sizes = list(sizes) if isinstance(sizes, (str, tuple, list)) or hasattr(sizes, '__iter__') else [sizes]
        shape = tensor.shape
        if shape.rank is None:
            continue
        open_ended = bool(expected_sizes) and expected_sizes[0] in (Ellipsis, '*', '...')
        if open_ended:
            expected_sizes = expected_sizes[1:]
            if shape.rank < len(expected_sizes):
                assert_rank_at_least(tensor, len(expected_sizes), message)
        elif len(expected_sizes) < 2:
            assert_rank_in(tensor, (0, 1), message)     # a size alone may be that of a scalar, as in TensorFlow
        else:
            assert_rank(tensor, len(expected_sizes), message)
        if shape.rank:
            _check_sizes(tensor, expected_sizes, open_ended, sizes_by_symbol, message)


def _check_sizes(tensor: Any, expected_sizes: Sequence[Any], open_ended: bool, sizes_by_symbol: dict[Any, tuple[int, str]],
                 message: str | None) -> None:
    sizes = tensor.shape.as_list()[-len(expected_sizes):] if expected_sizes else []
    named = f'{label(tensor)} ' if label(tensor) else ''
    what = f'{named}shape={tensor.shape} dtype={tensor.dtype.name}'
    for place, (size, symbol) in enumerate(zip(sizes, expected_sizes, strict=True)):
        if size is None or symbol is None or symbol == '.':
            continue
        axis = place - len(expected_sizes) if open_ended else place
        if isinstance(symbol, str):
            at = len(tensor.shape) - len(expected_sizes) + place
            expected, by = sizes_by_symbol.setdefault(symbol, (size, f'by tensor {what} dimension {at}'))
        else:
            expected, by = symbol, 'explicitly'
        if expected != size:
            raise ValueError(f'{_start(message)}Specified {by}.  Tensor {what} dimension {axis} must have size {expected}.  '
                             f'Received size {size}, shape {tensor.shape}')
